//! Sessions that real clients wrote, read.

use std::path::{Path, PathBuf};

use carryover_core::live::{self};
use carryover_core::transcript::{Body, Entry, Transcript, TranscriptBuilder};

use super::ClaudeCode;
use crate::fixtures::{self, ImageCounts};
use crate::{Bookmark, Reader, Source};

fn fixture(name: &str) -> PathBuf {
    fixtures::fixture_path(&ClaudeCode, name)
}

fn read_session(path: &Path) -> Transcript {
    fixtures::read_session(&ClaudeCode, path)
}

/// The live context, a line an entry.
fn live_context(transcript: &Transcript) -> String {
    fixtures::live_context(&ClaudeCode, transcript, ImageCounts::InOutcomes)
}

#[test]
fn a_compacted_session_with_hooks() {
    let transcript = read_session(&fixture("2.1.325-compact-hooks.jsonl"));
    assert_eq!(transcript.rejected, []);
    assert_eq!(transcript.header.title.as_deref(), Some("renamed-325"));
    insta::assert_snapshot!(live_context(&transcript));
}

#[test]
fn compactions_of_older_clients() {
    insta::assert_snapshot!("compact_2_0", live_context(&read_session(&fixture("2.0.77-compact.jsonl"))));
    insta::assert_snapshot!("compact_1_0", live_context(&read_session(&fixture("1.0.128-compact.jsonl"))));
}

#[test]
fn every_tool() {
    insta::assert_snapshot!("tools_2_1_325", live_context(&read_session(&fixture("2.1.325-tools.jsonl"))));
    insta::assert_snapshot!("tools_2_1_197", live_context(&read_session(&fixture("2.1.197-tools.jsonl"))));
    insta::assert_snapshot!("tools_1_0", live_context(&read_session(&fixture("1.0.128-tools.jsonl"))));
}

#[test]
fn a_usage_limit_is_a_failure_and_not_context() {
    let transcript = read_session(&fixture("2.1.325-limit.jsonl"));
    let failures: Vec<_> = transcript
        .entries
        .iter()
        .filter_map(|entry| match &entry.body {
            Body::Failure(failure) => Some((failure.kind, failure.resets_at.is_some())),
            _ => None,
        })
        .collect();
    assert_eq!(failures, [(carryover_core::transcript::FailureKind::RateLimit, true)]);
    insta::assert_snapshot!(live_context(&transcript));
}

#[test]
fn reading_in_two_steps_is_reading_at_once() {
    let begin = || TranscriptBuilder::new("claude-code");
    for name in ["2.1.325-compact-hooks.jsonl", "2.0.77-compact.jsonl", "1.0.128-compact.jsonl", "hand-best.jsonl"] {
        fixtures::check_reading_in_steps(&ClaudeCode, name, fixtures::cut_every(331), begin);
    }
}

#[test]
fn truncation_at_every_byte_loses_no_earlier_entry() {
    for name in ["1.0.128-compact.jsonl", "hand-best.jsonl"] {
        fixtures::check_truncation(&ClaudeCode, name);
    }
}

/// A session that is long enough for its past to be passed over: tools again and again, then a compaction.
fn long_session() -> Vec<u8> {
    let tools = fs_err::read(fixture("2.1.325-tools.jsonl")).unwrap();
    let compacted = fs_err::read(fixture("2.1.325-compact-hooks.jsonl")).unwrap();
    let mut bytes = Vec::new();
    while bytes.len() < (6 << 20) {
        bytes.extend_from_slice(&tools);
    }
    bytes.extend_from_slice(&compacted);
    bytes
}

#[test]
fn a_past_that_is_passed_over_is_the_past_that_was_read() {
    let bytes = long_session();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("00000000-0000-4000-8000-000000000001.jsonl");
    std::fs::write(&path, &bytes).unwrap();
    let passed_over = read_session(&path);
    let source = Source { path: path.clone(), key: None };
    let mut builder = TranscriptBuilder::new("claude-code").keeping_everything();
    ClaudeCode.read_session(&source, &Bookmark::Start, &mut builder).unwrap();
    let mut whole = builder.finish();
    assert_eq!(live::context_order(&passed_over), live::context_order(&whole));
    assert_eq!(passed_over.header, whole.header);
    assert_eq!(passed_over.n_messages(), whole.n_messages());
    let barrier = whole.entries.iter().rposition(|entry| matches!(entry.body, Body::Compacted(_))).unwrap();
    whole.entries[..barrier].iter_mut().for_each(Entry::reduce);
    assert_eq!(passed_over.entries, whole.entries);
}
