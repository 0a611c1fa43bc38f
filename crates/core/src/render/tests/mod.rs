//! What holds for every rendering: limits, quoting, and the same bytes for the same input.

mod budgets;
mod captured;
mod context;
mod conversation;
mod handoff;
mod limits;
mod prompt;
mod remarks;
mod samples;
mod secrets;
mod taken;

use super::{HandoffOptions, Protocol, ResumeOptions};
use crate::distill::Brief;
use crate::tokens::Counter;

const SHOW: &str = "carryover show 019a8e4c-7b1d-7f00-8c1e-2f3a4b5c6d7e --full";

fn handoff_of(brief: &Brief, protocol: Protocol) -> String {
    super::handoff(brief, &HandoffOptions { agent_name: "Agent One", protocol, show_command: SHOW })
}

fn options(budget: u64, counter: Counter) -> ResumeOptions<'static> {
    ResumeOptions { agent_name: "Agent One", target_name: Some("Agent Two"), budget, counter, show_command: SHOW }
}

#[track_caller]
fn within_limits(text: &str) {
    assert!(text.lines().count() <= 50, "{} lines", text.lines().count());
    assert!(text.chars().count() <= 8_000, "{} characters", text.chars().count());
    assert!(Counter::Exact.count(text) <= 2_000, "{} tokens", Counter::Exact.count(text));
}

/// Headings, fences and markers are ours, whatever the input says.
#[track_caller]
fn unbroken(text: &str) {
    assert!(!text.contains("<!--"), "a comment");
    let mut fence: Option<usize> = None;
    for line in text.lines() {
        let ticks = line.bytes().take_while(|byte| *byte == b'`').count();
        match fence {
            Some(length) if ticks >= length && line.len() == ticks => fence = None,
            Some(_) => {}
            None if ticks >= 3 => fence = Some(ticks),
            // Outside of fences, other people's words never begin a line; a path in a heading is quoted.
            None => assert!(!line.starts_with('#') || !line.contains("PLANTED") || line.contains('`'), "{line}"),
        }
    }
    assert_eq!(fence, None, "an open fence");
}
