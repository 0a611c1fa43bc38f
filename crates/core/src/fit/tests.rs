use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::json::Json;
use crate::transcript::{Call, CallForm, CallId, EntryKey, Outcome, Status, text_of};

const SHOW: &str = "carryover show 0123abcd --full";

fn make_entry(origin: Origin, body: Body) -> Entry {
    Entry { key: EntryKey { file: 0, offset: 0, part: 0, length: 0 }, at: None, origin, side: false, node: None, body }
}

fn text_parts(text: &str) -> Vec<Part> {
    vec![Part::Text(text.to_owned())]
}

fn prompt_entry(words: &str) -> Entry {
    make_entry(Origin::User, Body::Prompt(text_parts(words)))
}

fn reply_entry(words: &str) -> Entry {
    make_entry(Origin::Agent, Body::Reply(text_parts(words)))
}

fn call_entry(id: usize) -> Entry {
    let call = Call {
        id: CallId(id.to_string().into()),
        tool: "sh".into(),
        input: Json::empty_object(),
        form: CallForm::Function,
    };
    make_entry(Origin::Agent, Body::Call(Box::new(call)))
}

fn outcome_entry(id: usize, words: &str) -> Entry {
    let call = CallId(id.to_string().into());
    let outcome = Outcome { call, status: Status::Failed, exit_code: Some(3), parts: text_parts(words) };
    make_entry(Origin::Agent, Body::Outcome(Box::new(outcome)))
}

fn fit_entries(entries: &mut [Entry], window: u64) -> Result<FitResult, CannotFit> {
    let action = Action::Run { command: "make\nall".into(), workdir: None };
    let mut items: Vec<ContextItem<'_>> =
        entries.iter_mut().map(|entry| ContextItem { entry, action: &action }).collect();
    fit_into_window(&mut items, window, SHOW)
}

/// Some turns with calls, whose outputs have the given lengths.
fn make_session(turns: &[(usize, usize, Vec<usize>)]) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (turn, (asked, answered, outputs)) in turns.iter().enumerate() {
        entries.push(prompt_entry(&format!("ask{turn} {}", "ä".repeat(*asked))));
        for (step, length) in outputs.iter().enumerate() {
            entries.push(call_entry(turn * 100 + step));
            entries.push(outcome_entry(turn * 100 + step, &"ö".repeat(*length)));
        }
        entries.push(reply_entry(&format!("reply{turn} {}", "x".repeat(*answered))));
    }
    entries
}

#[test]
fn what_fits_is_left_alone() {
    let before = make_session(&[(10, 10, vec![9_000])]);
    let mut after = before.clone();
    let fit = fit_entries(&mut after, 10_000).unwrap();
    assert_eq!((fit.cut, fit.clipped, fit.brief), (0, vec![], None));
    assert_eq!(before, after);
}

#[test]
fn only_the_biggest_outputs_are_clipped_and_as_little_as_possible() {
    let mut entries = make_session(&[(10, 10, vec![40_000, 500, 30_000])]);
    let fit = fit_entries(&mut entries, 10_000).unwrap();
    assert_eq!((fit.cut, &fit.clipped[..], fit.brief), (0, &[2, 6][..], None));
    assert!((9_990..=10_000).contains(&fit.tokens), "{}", fit.tokens);
    let clipped = text_of(entries[2].body.parts());
    assert!(clipped.contains("bytes left out; `carryover show 0123abcd --full` shows them"));
    assert!(clipped.starts_with("öö") && clipped.ends_with("öö"));
}

#[test]
fn the_older_part_becomes_an_outline() {
    let mut entries = make_session(&[(100, 100, vec![1_000, 1_000]), (100, 100, vec![1_000]), (100, 100, vec![1_000])]);
    entries.insert(0, make_entry(Origin::Harness, Body::Summary(text_parts("what was before"))));
    let fit = fit_entries(&mut entries, 1_600).unwrap();
    let brief = fit.brief.unwrap();
    assert!(matches!(&entries[fit.cut].body, Body::Prompt(parts) if text_of(parts).starts_with("ask1")));
    assert!(brief.starts_with("[carryover's outline of the older part"), "{brief}");
    let summary = brief.find("what was before").unwrap();
    assert!(summary < brief.find("User: ask0 ä").unwrap());
    assert_eq!(brief.matches("- run: make all → failed (exit 3)\n").count(), 2);
    assert!(brief.contains("Agent: reply0 x") && !brief.contains('ö') && !brief.contains("ask1"));
}

#[test]
fn calls_leave_the_outline_before_words_do() {
    let many = vec![10; 200];
    let mut entries = make_session(&[(10, 10, many), (10, 10, vec![])]);
    let fit = fit_entries(&mut entries, 150).unwrap();
    let brief = fit.brief.unwrap();
    assert!(brief.contains("ask0") && brief.contains("reply0") && !brief.contains("- run"));
}

#[test]
fn the_oldest_exchanges_leave_the_outline_last_and_are_counted() {
    let turns: Vec<_> = (0..20).map(|_| (200, 200, vec![])).collect();
    let mut entries = make_session(&turns);
    let fit = fit_entries(&mut entries, 1_000).unwrap();
    let brief = fit.brief.unwrap();
    let (_, rest) = brief.split_once("[The ").unwrap();
    let count: usize = rest.split_once(' ').unwrap().0.parse().unwrap();
    assert!(!brief.contains(&format!("ask{} ", count - 1)) && brief.contains(&format!("ask{count} ")), "{brief}");
    assert!(fit.tokens <= 1_000);
}

#[test]
fn a_turn_that_never_ends_is_cut_between_its_steps() {
    let mut entries = make_session(&[(10, 10, vec![1_000; 80])]);
    let fit = fit_entries(&mut entries, 10_000).unwrap();
    assert!(fit.cut > 1 && fit.brief.unwrap().contains("ask0"));
    assert!(matches!(entries[fit.cut].body, Body::Call(_)));
}

#[test]
fn what_cannot_fit_says_what_it_needs() {
    let mut entries = make_session(&[(10, 10, vec![]), (10_000, 10, vec![])]);
    let error = fit_entries(&mut entries, 100).unwrap_err();
    assert!(error.needed > 100 && error.window == 100);
    assert!(fit_entries(&mut entries, error.needed).is_ok());
    assert!(fit_entries(&mut entries, error.needed / 2).is_err());
}

fn any_turns() -> impl Strategy<Value = Vec<(usize, usize, Vec<usize>)>> {
    let length = prop_oneof![0..40_usize, 0..3_000_usize, 0..30_000_usize];
    let turn = (length.clone(), length.clone(), prop::collection::vec(length, 0..6));
    prop::collection::vec(turn, 1..12)
}

proptest! {
    #[test]
    fn the_window_holds_and_nothing_that_was_said_is_cut(turns in any_turns(), window in 0_u64..60_000) {
        let before = make_session(&turns);
        let mut after = before.clone();
        let Ok(fit) = fit_entries(&mut after, window) else { return Ok(()) };
        prop_assert!(fit.tokens <= window);
        let mut asked = BTreeSet::new();
        for (index, (old, new)) in before.iter().zip(&after).enumerate().skip(fit.cut) {
            match (&old.body, &new.body) {
                (Body::Outcome(old), Body::Outcome(new)) => {
                    prop_assert!(asked.remove(&new.call));
                    prop_assert_eq!(old.parts != new.parts, fit.clipped.contains(&index));
                }
                (old, new) => prop_assert_eq!(old, new),
            }
            if let Body::Call(call) = &new.body {
                asked.insert(&call.id);
            }
        }
        prop_assert!(asked.is_empty());
        prop_assert_eq!(fit.cut > 0, fit.brief.is_some());
        prop_assert!(fit.clipped.iter().all(|index| *index >= fit.cut));
        let cost = estimate_total(&after.iter_mut().skip(fit.cut).map(|entry| ContextItem { entry, action: &Action::Other }).collect::<Vec<_>>(), usize::MAX);
        prop_assert_eq!(fit.tokens, cost + fit.brief.as_deref().map_or(0, estimate_text));
    }
}
