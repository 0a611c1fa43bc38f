use proptest::prelude::*;

use super::*;

#[track_caller]
fn round_trip(text: &str) {
    let with = insert(text, "## Carried over\n\n- a").unwrap();
    assert!(find(&with).unwrap().is_some(), "{with:?}");
    assert_eq!(remove(&with).unwrap(), text, "{with:?}");
    assert_eq!(insert(&with, "## Carried over\n\n- a").unwrap(), with);
    let other = insert(&with, "other\n```\nopen").unwrap();
    assert_eq!(remove(&other).unwrap(), text, "{other:?}");
}

#[test]
fn taking_out_is_the_inverse_of_putting_in() {
    for text in [
        "",
        "\n",
        "\n\n",
        "a",
        "a\n",
        "a\n\n",
        "a\r\nb\r\n",
        "a\r\nb",
        "a\nb\r",
        "a\r",
        "\r\n",
        "a\r\nb\n",
        "\u{feff}",
        "\u{feff}a\n",
        "---\ntitle: x\n---\n\ntext",
        "```\nclosed\n```\n",
        "~~~\nopen ```\n",
        "```",
        "text with <!--CARRYOVER:START--> within\n",
        "    ```\nindented code\n",
    ] {
        round_trip(text);
    }
}

#[test]
fn the_block_stands_after_a_blank_line() {
    assert_eq!(insert("# Rules\n", "x").unwrap(), format!("# Rules\n\n{START}\nx\n{END}\n"));
    assert_eq!(insert("# Rules", "x").unwrap(), format!("# Rules\n\n{START}\nx\n{END}"));
    assert_eq!(insert("a\r\n", "x\ny").unwrap(), format!("a\r\n\r\n{START}\r\nx\r\ny\r\n{END}\r\n"));
}

#[test]
fn what_people_add_around_the_block_stays() {
    let with = insert("before\n", "x").unwrap() + "after\n";
    assert_eq!(remove(&with).unwrap(), "before\nafter\n");
    assert_eq!(insert(&with, "y").unwrap(), format!("before\n\n{START}\ny\n{END}\nafter\n"));
}

#[test]
fn a_body_cannot_hold_markers_or_an_open_fence() {
    let with = insert("", &format!("a\n{END}\n```\nb\n{START}")).unwrap();
    assert_eq!(find(&with).unwrap(), Some(0..with.len() - 1));
    assert_eq!(remove(&with).unwrap(), "");
}

#[test]
fn damaged_markers_are_told_and_nothing_is_changed() {
    for (text, want) in [
        (format!("a\n{START}\nb\n"), BlockError::NoEnd { line: 2 }),
        (format!("a\n{END}\n"), BlockError::NoStart { line: 2 }),
        (format!("{START}\n{START}\n{END}\n{END}\n"), BlockError::Second { line: 2 }),
        (format!("{START}\n{END}\n\n{START}\n{END}\n"), BlockError::Second { line: 4 }),
        (format!("```\n{START}\n{END}\n```\n"), BlockError::InFence { line: 2 }),
        (format!("  {START}\nx\n{END}\n"), BlockError::Altered { line: 1 }),
        (format!("{START}\n```\n{END}\n"), BlockError::InFence { line: 3 }),
    ] {
        assert_eq!(find(&text), Err(want));
        assert_eq!(insert(&text, "x"), Err(want));
        assert_eq!(remove(&text), Err(want));
    }
    assert_eq!(insert("---\na: b\n---\n```\nx", "y"), Err(BlockError::OpenFence { line: 4 }));
}

fn file_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("\n".to_owned()),
        Just("\r\n".to_owned()),
        Just("\r".to_owned()),
        Just("```".to_owned()),
        Just("~~~~ info".to_owned()),
        Just("---".to_owned()),
        Just(" ".to_owned()),
        Just("\u{feff}".to_owned()),
        Just(START.to_owned()),
        Just(END.to_owned()),
        "\\PC{0,10}",
    ];
    proptest::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(800))]

    #[test]
    fn nothing_else_changes(text in file_text(), body in file_text(), other in file_text()) {
        let found = find(&text);
        let Ok(with) = insert(&text, &body) else {
            let front_matter = text.trim_start_matches('\u{feff}').starts_with("---");
            prop_assert!(found.is_err() || front_matter);
            return Ok(());
        };
        prop_assert_eq!(insert(&with, &body).unwrap(), with.as_str());
        let range = find(&with).unwrap().unwrap();
        prop_assert!(with[range.clone()].starts_with(START) && with[range].ends_with(END));
        if found == Ok(None) {
            prop_assert_eq!(remove(&with).unwrap(), text.as_str());
            prop_assert_eq!(remove(&insert(&with, &other).unwrap()).unwrap(), text.as_str());
        }
        prop_assert_eq!(find(&remove(&with).unwrap()), Ok(None));
    }

    #[test]
    fn markers_are_balanced_after_any_sequence(text in file_text(), steps in proptest::collection::vec(any::<Option<u8>>(), 0..8)) {
        prop_assume!(find(&text) == Ok(None));
        let mut now = text;
        for step in steps {
            let next = match step {
                Some(n) => insert(&now, &format!("body {n}\n```")),
                None => remove(&now),
            };
            let Ok(next) = next else { return Ok(()) };
            now = next;
            prop_assert!(find(&now).is_ok());
        }
    }
}
