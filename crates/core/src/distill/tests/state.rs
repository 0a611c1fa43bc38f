use super::*;

#[track_caller]
fn check_state(tale: &HistoryBuilder, kind: StateKind) -> State {
    let state = tale.brief().state;
    assert_eq!(state.kind, kind);
    state
}

#[test]
fn structure_alone_says_how_a_session_stands() {
    check_state(&new_history(), StateKind::Empty);
    check_state(&new_history().user("fix it").agent("Done."), StateKind::Waiting);
    check_state(&new_history().user("fix it").agent("Done.").user("and now?"), StateKind::Unanswered);
    check_state(&new_history().user("fix it").run("make", 0, "ok"), StateKind::MidTurn);
    check_state(&new_history().user("fix it").call("Bash", run_action("make"), None), StateKind::MidTurn);
    check_state(&new_history().user("fix it").asks("Which one?", None), StateKind::AskedUser);
    check_state(&new_history().user("fix it").asks("Which one?", Some("b")), StateKind::MidTurn);
    check_state(&new_history().user("fix it").fails(FailureKind::Interrupted, "", None), StateKind::Interrupted);
    check_state(&new_history().user("fix it").fails(FailureKind::Server, "500", None), StateKind::ServiceError);
}

#[test]
fn words_in_a_turn_that_the_client_says_is_open_are_not_its_end() {
    let mut tale = new_history().user("fix it").agent("Let me look.");
    tale.history.header.is_turn_open = true;
    check_state(&tale, StateKind::MidTurn);
    check_state(&tale.fails(FailureKind::RateLimit, "limit reached", None), StateKind::Limit);
}

#[test]
fn a_limit_is_told_with_its_end_and_a_prompt_after_it_is_no_way_out() {
    let limited = new_history().user("fix it").fails(FailureKind::RateLimit, "limit reached", Some(minute(300)));
    let state = check_state(&limited.user("go on"), StateKind::Limit);
    assert_eq!(state.until, Some(minute(300)));
    assert_eq!(state.detail.unwrap().text, "limit reached");
}

#[test]
fn work_after_a_limit_is_a_way_out() {
    let limited = new_history().user("fix it").fails(FailureKind::RateLimit, "limit reached", None);
    check_state(&limited.user("go on").agent("Done."), StateKind::Waiting);
}

#[test]
fn what_was_typed_ahead_is_told_and_is_next() {
    let mut tale = new_history().user("fix it").run("make", 0, "ok");
    tale.history.queued.push(QueuedPrompt { key: key_at(9), at: None, text: "then push it".to_owned() });
    let brief = tale.brief();
    assert_eq!(item_texts(&brief.state.queued), ["then push it"]);
    assert_eq!(brief.next.unwrap().text, "then push it");
}

#[test]
fn where_all_is_done_no_next_action_is_made_up() {
    let done = [("write it", StepState::Done), ("test it", StepState::Done)];
    let brief = new_history()
        .user("write it and test it, please, both")
        .plan(&done)
        .agent("Both are done. Next: lunch.")
        .brief();
    assert_eq!((brief.next, brief.state.kind), (None, StateKind::Waiting));
}

#[test]
fn what_a_client_did_by_itself_is_no_sign_of_the_end() {
    let mut tale = new_history().user("fix it").agent("Done.").edit("a.rs", "x", "y");
    let Some(Event::Call(call)) = tale.history.steps.last_mut().map(|step| &mut step.event) else { panic!() };
    call.unasked = true;
    check_state(&tale, StateKind::Waiting);
}

#[test]
fn a_step_of_a_plan_that_the_present_work_never_touched_is_not_next() {
    let steps = [("write the first part", StepState::InProgress)];
    let planned = new_history().user("write the first part of the book").plan(&steps).agent("I begin.");
    assert_eq!(planned.brief().next.unwrap().text, "write the first part");
    let later = planned.user("now look at the second part instead").agent("ok").user("and then read the third part");
    assert_eq!(later.agent("Read.").brief().next, None);
}
