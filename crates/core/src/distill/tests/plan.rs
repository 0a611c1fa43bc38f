use super::telling::{Telling, key, telling};
use super::texts;
use crate::distill::{Brief, Deed};
use crate::transcript::{StepChange, StepState};

fn add(id: &str, text: &str) -> StepChange {
    StepChange::Add { id: Some(id.to_owned()), text: text.to_owned() }
}

fn set(id: &str, state: StepState) -> StepChange {
    StepChange::Update { id: id.to_owned(), text: None, state: Some(state) }
}

fn told(changes: Vec<StepChange>) -> Telling {
    changes.into_iter().fold(telling().user("Mend the importer."), |told, change| told.step(change, 0))
}

/// What is done, in progress and remaining.
fn progress(brief: &Brief) -> [Vec<&str>; 3] {
    [texts(&brief.done), texts(&brief.in_progress), texts(&brief.remaining)]
}

#[test]
fn steps_made_and_changed_one_by_one_are_replayed_in_order() {
    let brief = told(vec![
        add("1", "Read the rows"),
        add("2", "Skip bad rows"),
        add("3", "Write the guide"),
        add("4", "Ship it"),
        set("1", StepState::InProgress),
        set("1", StepState::Done),
        set("2", StepState::InProgress),
        StepChange::Update { id: "2".to_owned(), text: Some("Report bad rows".to_owned()), state: None },
        StepChange::Drop { id: "4".to_owned() },
    ])
    .brief();
    assert_eq!(progress(&brief), [vec!["Read the rows"], vec!["Report bad rows"], vec!["Write the guide"]]);
    // The prompt is the first step: the call that made it, and those that changed it.
    assert_eq!(brief.done[0].cites, [key(1), key(5), key(6)]);
    assert_eq!(brief.in_progress[0].cites, [key(2), key(7), key(8)]);
    assert_eq!(brief.remaining[0].cites, [key(3)]);
}

#[test]
fn a_change_that_failed_or_never_came_back_changes_nothing() {
    let told = told(vec![add("1", "Read the rows"), add("2", "Skip bad rows")])
        .step(set("1", StepState::Done), 1)
        .step(add("3", "Refused"), 1)
        .step(StepChange::Drop { id: "2".to_owned() }, 1)
        .step(set("9", StepState::Done), 0);
    let action = crate::transcript::Action::Step(set("2", StepState::Done));
    let brief = told.deed(Deed::Call { tool: "step".to_owned(), action, ended: None }).brief();
    assert_eq!(progress(&brief), [vec![], vec![], vec!["Read the rows", "Skip bad rows"]]);
}

#[test]
fn a_name_that_is_given_again_means_the_newer_step() {
    let brief = told(vec![
        add("1", "Read the rows"),
        set("1", StepState::Done),
        add("1", "Write the guide"),
        set("1", StepState::InProgress),
    ])
    .brief();
    assert_eq!(progress(&brief), [vec!["Read the rows"], vec!["Write the guide"], vec![]]);
}

#[test]
fn a_list_written_whole_takes_the_place_of_the_steps_before_it() {
    let brief = told(vec![add("1", "Read the rows"), set("1", StepState::Done)])
        .plan(&[("Skip bad rows", StepState::Pending)])
        .step(add("2", "Write the guide"), 0)
        .step(set("1", StepState::InProgress), 0)
        .brief();
    assert_eq!(progress(&brief), [vec![], vec![], vec!["Skip bad rows", "Write the guide"]]);
}

#[test]
fn steps_that_were_over_before_the_task_changed_are_history() {
    let turned = |changes| told(changes).agent("Done.").user("New task: set up continuous integration.");
    let over = || vec![add("1", "Read the rows"), set("1", StepState::Done)];
    assert!(turned(over()).agent("Sure.").brief().done.is_empty());

    let brief = turned(over()).step(add("2", "Write the workflow"), 0).brief();
    assert_eq!(progress(&brief), [vec![], vec![], vec!["Write the workflow"]]);

    let open = vec![add("1", "Read the rows"), set("1", StepState::Done), add("2", "Skip bad rows")];
    let brief = turned(open).brief();
    assert_eq!(progress(&brief), [vec!["Read the rows"], vec![], vec!["Skip bad rows"]]);
}
