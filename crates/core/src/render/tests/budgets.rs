use proptest::prelude::*;

use super::samples::{self, brief, brief_of, hostile, hostile_text, story, story_of, workspace, workspace_of};
use super::{options, unbroken};
use crate::distill::{Brief, Story, Workspace};
use crate::render::{ResumeOptions, block, resume_prompt};
use crate::tokens::Counter;

#[test]
fn every_budget_holds() {
    let briefs =
        [(brief(), story(400), workspace()), (hostile(80), samples::hostile_story(120), samples::hostile_workspace())];
    for (brief, story, workspace) in &briefs {
        for counter in [Counter::Exact, Counter::Padded] {
            for budget in [600, 601, 650, 700, 800, 1_000, 1_300, 2_000, 4_000, 8_000, 19_000, 32_000, 90_000, 200_000]
            {
                holds(brief, story, workspace, &options(budget, counter));
            }
        }
    }
}

#[track_caller]
fn holds(brief: &Brief, story: &Story, workspace: &Workspace, options: &ResumeOptions<'_>) {
    let rendered = resume_prompt(brief, story, workspace, options).unwrap();
    assert_eq!(rendered.tokens, options.counter.count(&rendered.text));
    assert!(rendered.tokens <= options.budget, "{} of {}", rendered.tokens, options.budget);
    assert!(rendered.text.contains("## Current task"));
    assert!(rendered.dropped.is_empty() || rendered.text.contains("## Left out"));
    assert!(block::insert("", &rendered.text).is_ok());
    unbroken(&rendered.text);
    assert_eq!(resume_prompt(brief, story, workspace, options).unwrap(), rendered);
}

#[test]
fn the_smallest_budget_that_works_is_named() {
    for (brief, story) in
        [(brief(), story(10)), (hostile(20), samples::hostile_story(20)), (samples::empty(), Story::default())]
    {
        for counter in [Counter::Exact, Counter::Padded] {
            let least = resume_prompt(&brief, &story, &workspace(), &options(1, counter)).unwrap_err().least;
            assert!(least <= 600, "{least}");
            assert!(resume_prompt(&brief, &story, &workspace(), &options(least, counter)).is_ok());
            assert!(resume_prompt(&brief, &story, &workspace(), &options(least - 1, counter)).is_err());
        }
    }
}

#[test]
fn more_room_never_shows_fewer_messages() {
    let (brief, story, workspace) = (brief(), story(300), workspace());
    let messages = |budget| {
        let rendered = resume_prompt(&brief, &story, &workspace, &options(budget, Counter::Exact)).unwrap();
        rendered.text.matches("**User:**").count()
    };
    let shown: Vec<usize> = [2_000, 4_000, 8_000, 16_000, 32_000, 64_000].map(messages).to_vec();
    assert!(shown.is_sorted(), "{shown:?}");
    assert!(shown[5] > 100, "{shown:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn budgets_hold_on_hostile_input(
        texts in proptest::collection::vec(hostile_text(), 1..30), budget in 600_u64..20_000, exact: bool,
    ) {
        let counter = if exact { Counter::Exact } else { Counter::Padded };
        holds(&brief_of(&texts), &story_of(&texts), &workspace_of(&texts), &options(budget, counter));
    }
}
