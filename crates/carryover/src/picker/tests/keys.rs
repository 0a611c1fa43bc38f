//! What keys do.

use std::collections::BTreeSet;

use super::super::model::{OfferEstimate, PickerOutcome, Way};
use super::super::state::Mode;
use super::super::update::{Effect, Event, update};
use super::sample::{self, key, row, state};
use super::{frame, press, press_all, type_text};

fn selected_id(state: &super::State) -> &str {
    state.selected_row().map_or("", |row| row.key.id.as_str())
}

fn offered(fork: bool) -> Event {
    Event::Offered { session: key("claude-code", "d2f488a7-0001"), fork, answer: Ok(sample::offers()) }
}

#[test]
fn arrows_move_and_stop_at_the_ends() {
    let mut state = state(80, 24);
    press(&mut state, "Up");
    assert_eq!(selected_id(&state), "d2f488a7-0001");
    press(&mut state, "Down");
    assert_eq!(selected_id(&state), "7cba91ff-0002");
    press(&mut state, "Ctrl-n");
    press(&mut state, "Ctrl-p");
    assert_eq!(selected_id(&state), "7cba91ff-0002");
    press(&mut state, "End");
    press(&mut state, "Down");
    assert_eq!(selected_id(&state), "0000dddd-0006");
    press(&mut state, "PgUp");
    press(&mut state, "Home");
    assert_eq!(selected_id(&state), "d2f488a7-0001");
}

#[test]
fn what_is_selected_is_read_once_and_what_is_known_is_not_read_again() {
    let mut state = state(80, 24);
    let effects = press(&mut state, "Down");
    assert_eq!(effects, [Effect::ReadPreview(key("codex", "7cba91ff-0002"))]);
    assert_eq!(press(&mut state, "Up"), []);
}

#[test]
fn letters_filter_and_escape_clears_before_it_leaves() {
    let mut state = state(80, 24);
    type_text(&mut state, "parser");
    assert_eq!((state.n_shown(), selected_id(&state)), (1, "0000aaaa-0003"));
    press(&mut state, "Backspace");
    assert_eq!(state.filter, "parse");
    press(&mut state, "Ctrl-w");
    assert_eq!((state.filter.as_str(), state.n_shown()), ("", 6));
    type_text(&mut state, "zzz");
    assert_eq!(state.n_shown(), 0);
    assert_eq!(press(&mut state, "Enter"), []);
    assert_eq!(press(&mut state, "Esc"), []);
    assert_eq!((state.filter.as_str(), state.n_shown()), ("", 6));
    assert_eq!(press(&mut state, "Esc"), [Effect::End(PickerOutcome::Leave)]);
}

#[test]
fn what_is_pasted_is_one_line_of_the_filter() {
    let mut state = state(80, 24);
    update(&mut state, Event::Paste("the\nparser\u{1b}[31m\n".to_owned()));
    assert_eq!((state.filter.as_str(), selected_id(&state)), ("the parser", "0000aaaa-0003"));
}

#[test]
fn a_question_mark_helps_only_where_it_cannot_be_meant() {
    let mut state = state(80, 24);
    press(&mut state, "?");
    assert!(matches!(state.mode, Mode::Help { .. }));
    press(&mut state, "x");
    assert!(matches!(state.mode, Mode::List) && state.filter.is_empty());
    type_text(&mut state, "why?");
    assert_eq!(state.filter, "why?");
    press(&mut state, "F1");
    assert!(matches!(state.mode, Mode::Help { .. }));
}

#[test]
fn two_returns_continue_the_copy_that_was_gone_on_with() {
    let mut state = state(80, 24);
    let session = key("claude-code", "d2f488a7-0001");
    assert_eq!(press(&mut state, "Enter"), [Effect::MakeOffers { session, fork: false }]);
    // Nothing is offered yet.
    assert_eq!(press(&mut state, "Enter"), []);
    update(&mut state, offered(false));
    let copy = key("codex", "7cba91ff-0002");
    let outcome = PickerOutcome::Resume { session: copy, target: "codex", fork: false, launch: true };
    assert_eq!(press(&mut state, "Enter"), [Effect::End(outcome)]);
}

#[test]
fn another_target_gets_the_session_itself() {
    let mut state = state(80, 24);
    press(&mut state, "Enter");
    update(&mut state, offered(false));
    let session = key("claude-code", "d2f488a7-0001");
    let outcome = PickerOutcome::Resume { session: session.clone(), target: "roo-code", fork: false, launch: true };
    assert_eq!(press_all(&mut state, &["Down", "Down", "Enter"]), [Effect::End(outcome)]);
    // One that is not installed cannot be started.
    let outcome = PickerOutcome::Resume { session: session.clone(), target: "helix", fork: false, launch: false };
    assert_eq!(press_all(&mut state, &["End", "Enter"]), [Effect::End(outcome)]);
    let outcome = PickerOutcome::Handoff { session, target: Some("helix"), launch: false };
    assert_eq!(press(&mut state, "Ctrl-o"), [Effect::End(outcome)]);
    press(&mut state, "Esc");
    assert!(matches!(state.mode, Mode::List));
}

#[test]
fn a_fork_is_asked_for_from_either_side() {
    let mut state = state(80, 24);
    let session = key("claude-code", "d2f488a7-0001");
    assert_eq!(press(&mut state, "Ctrl-f"), [Effect::MakeOffers { session: session.clone(), fork: true }]);
    // An answer to an earlier question is none.
    update(&mut state, offered(false));
    assert_eq!(press(&mut state, "Enter"), []);
    update(&mut state, offered(true));
    let outcome = PickerOutcome::Resume { session: session.clone(), target: "codex", fork: true, launch: true };
    assert_eq!(press_all(&mut state, &["Down", "Enter"]), [Effect::End(outcome)]);
    assert_eq!(press(&mut state, "Ctrl-f"), [Effect::MakeOffers { session, fork: false }]);
}

#[test]
fn estimates_come_one_by_one() {
    let mut state = state(80, 24);
    press(&mut state, "Enter");
    update(&mut state, offered(false));
    let estimate = OfferEstimate { fill: Some((1, 100)), summary: "loses nothing".into(), ..OfferEstimate::default() };
    let session = key("claude-code", "d2f488a7-0001");
    update(&mut state, Event::Estimated { session, fork: false, target: "pi", estimate: estimate.clone() });
    let Mode::Offers(offers) = &state.mode else { panic!("{:?}", state.mode) };
    let list = offers.answer.as_ref().unwrap().as_ref().unwrap();
    assert_eq!(list[4].estimate, Some(estimate));
    assert_eq!((list[3].way.clone(), list[3].estimate.clone()), (Way::OwnClient, None));
}

#[test]
fn control_keys_act_on_the_selected_session() {
    let mut state = state(80, 24);
    let session = key("claude-code", "d2f488a7-0001");
    let end = |outcome| [Effect::End(outcome)];
    assert_eq!(press(&mut state, "Ctrl-s"), end(PickerOutcome::Show { session: session.clone() }));
    assert_eq!(press(&mut state, "Ctrl-o"), end(PickerOutcome::Handoff { session, target: None, launch: false }));
    assert_eq!(press(&mut state, "Ctrl-c"), end(PickerOutcome::Leave));
    assert_eq!(press(&mut state, "Ctrl-z"), [Effect::Suspend]);
}

#[test]
fn taking_back_is_asked_about_and_told_where_there_is_nothing() {
    let mut state = state(80, 24);
    assert_eq!(press_all(&mut state, &["Ctrl-t", "Esc"]), []);
    let outcome = PickerOutcome::Undo { id: "9f8e".to_owned() };
    assert_eq!(press_all(&mut state, &["Ctrl-t", "Enter"]), [Effect::End(outcome)]);
    press(&mut state, "Esc");
    press_all(&mut state, &["Down", "Down", "Ctrl-t"]);
    assert!(matches!(state.mode, Mode::Message(_)));
}

#[test]
fn rows_that_come_later_do_not_move_the_selection_of_who_has_moved() {
    let mut state = state(80, 24);
    press(&mut state, "Down");
    let mut newest = row("pi", "newest", "just begun");
    newest.updated_at = Some(sample::now());
    update(&mut state, Event::Rows(vec![newest.clone()]));
    assert_eq!((selected_id(&state), state.selected_index()), ("7cba91ff-0002", 2));
    // What is gone is gone, and the selection stays where it was.
    let found = BTreeSet::from([newest.key, key("pi", "0000aaaa-0003")]);
    update(&mut state, Event::Listed { found, warnings: Vec::new() });
    assert_eq!((state.n_rows(), selected_id(&state)), (2, "0000aaaa-0003"));
}

#[test]
fn who_has_not_moved_stays_at_the_newest() {
    let mut state = state(80, 24);
    let mut newest = row("pi", "newest", "just begun");
    newest.updated_at = Some(sample::now());
    let effects = update(&mut state, Event::Rows(vec![newest]));
    assert_eq!((selected_id(&state), effects), ("newest", vec![Effect::ReadPreview(key("pi", "newest"))]));
}

#[test]
fn what_is_known_of_a_session_that_did_not_change_is_kept() {
    let mut state = state(80, 24);
    let mut again = sample::rows().remove(2);
    again.limit = None;
    again.messages = Some(31);
    update(&mut state, Event::Rows(vec![again.clone()]));
    let row = state.find_row(&again.key).unwrap();
    assert!(row.limit.is_some() && row.messages == Some(31));
    again.updated_at = Some(sample::now());
    update(&mut state, Event::Rows(vec![again.clone()]));
    assert!(state.find_row(&again.key).unwrap().limit.is_none());
}

#[test]
fn matches_of_a_full_text_search_are_added_to_what_was_typed() {
    let mut state = state(80, 24);
    type_text(&mut state, "xyzzy");
    assert_eq!(state.n_shown(), 0);
    let sessions = vec![key("pi", "0000bbbb-0004")];
    update(&mut state, Event::FoundInText { words: "xyzz".to_owned(), sessions: sessions.clone() });
    assert_eq!(state.n_shown(), 0, "an answer to what was typed before");
    update(&mut state, Event::FoundInText { words: "xyzzy".to_owned(), sessions });
    assert_eq!((state.n_shown(), selected_id(&state)), (1, "0000bbbb-0004"));
    press(&mut state, "Backspace");
    assert_eq!(state.n_shown(), 0);
}

#[test]
fn the_selected_row_is_on_the_screen_whatever_the_size() {
    let mut state = state(60, 20);
    let many = (0..100).map(|n| row("codex", &format!("id-{n:03}"), &format!("title {n:03}"))).collect();
    update(&mut state, Event::Rows(many));
    for names in [&["End"][..], &["PgUp"], &["PgUp", "Up"], &["Home"], &["PgDn", "PgDn", "Down"]] {
        press_all(&mut state, names);
        for height in [20, 5, 60, 9] {
            update(&mut state, Event::Resized(ratatui::layout::Size { width: 60, height }));
            assert!(frame(&state).contains('❯'), "{names:?} at {height} lines:\n{}", frame(&state));
        }
    }
}

#[test]
fn a_whole_preview_scrolls_to_its_end_and_no_further() {
    let mut state = state(60, 20);
    press(&mut state, "Tab");
    press_all(&mut state, &["Down"; 50]);
    let end = frame(&state);
    assert!(end.contains("What would be carried"), "{end}");
    press(&mut state, "Up");
    assert_ne!(frame(&state), end);
    press(&mut state, "Tab");
    assert!(frame(&state).contains('❯'));
}
