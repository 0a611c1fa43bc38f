use proptest::prelude::*;

use super::*;

#[test]
fn every_budget_holds_or_says_what_it_needs() {
    for tale in [usual_session(), hostile_session(60), new_history()] {
        for budget in [60, 150, 400, 900, 2_000, 8_000, 32_000, 120_000] {
            match prompt_of(&tale, &make_workspace(), budget) {
                Ok(rendered) => {
                    assert_eq!(rendered.tokens, estimate(&rendered.text));
                    assert!(rendered.tokens <= budget, "{} of {budget}", rendered.tokens);
                    assert_unbroken(&rendered.text);
                }
                Err(small) => assert!(small.least > budget && prompt_of(&tale, &make_workspace(), small.least).is_ok()),
            }
        }
    }
}

#[test]
fn the_same_session_gives_the_same_bytes() {
    let render = || {
        (
            prompt_of(&hostile_session(60), &make_workspace(), 8_000),
            handoff_of(&hostile_session(60).brief(), Protocol::Ask),
        )
    };
    assert_eq!(render(), render());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn any_words_fit(words in prop::collection::vec("\\PC{0,300}", 1..30), budget in 500_u64..6_000) {
        let tale = words.iter().enumerate().fold(new_history(), |tale, (at, text)| match at % 3 {
            0 => tale.user(text),
            1 => tale.agent(text),
            _ => tale.run(text, 1, text),
        });
        if let Ok(rendered) = prompt_of(&tale, &make_workspace(), budget) {
            prop_assert!(rendered.tokens <= budget);
        }
        assert_within_limits(&handoff_of(&tale.brief_in(&make_workspace()), Protocol::Ask));
    }
}
