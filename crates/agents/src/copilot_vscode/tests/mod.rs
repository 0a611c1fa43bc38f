//! Sessions of every version of the format, and stores of them.

mod finding;
mod meaning;
mod reading;
mod writing;

use carryover_core::transcript::Transcript;

use super::CopilotVscode;
use crate::fixtures::{self, ImageCounts, fixture_path};

pub(super) const AGENT_LOG: &str = include_str!("../fixtures/agent.jsonl");
pub(super) const AGENT_ID: &str = "5f0c3f0e-2b1d-4c55-9b7e-1f6f2f8f0a11";

fn read(name: &str) -> Transcript {
    fixtures::read_session(&CopilotVscode, &fixture_path(&CopilotVscode, name))
}

fn read_whole(name: &str) -> Transcript {
    fixtures::read_whole(&CopilotVscode, &fixture_path(&CopilotVscode, name))
}

fn live_context(transcript: &Transcript) -> String {
    fixtures::live_context(&CopilotVscode, transcript, ImageCounts::Everywhere)
}

fn full_lines(transcript: &Transcript) -> String {
    let lines = transcript.entries.iter().map(|entry| fixtures::long_line(entry, None, 150));
    lines.collect::<Vec<_>>().join("\n")
}
