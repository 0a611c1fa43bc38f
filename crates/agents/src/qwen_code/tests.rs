//! Tests of reading what real clients wrote.

use std::path::{Path, PathBuf};

use carryover_core::transcript::{Body, FailureKind, Transcript, TranscriptBuilder};

use super::QwenCode;
use crate::fixtures::{self, ImageCounts};

const FIXTURES: &[&str] = &[
    "0.15.10-compact.jsonl",
    "0.15.10-tools.jsonl",
    "0.24.4-compact.jsonl",
    "0.24.4-images.jsonl",
    "0.24.4-limit.jsonl",
    "0.24.4-resumed.jsonl",
    "0.24.4-tools.jsonl",
    "hand-tree.jsonl",
];

fn fixture(name: &str) -> PathBuf {
    fixtures::fixture_path(&QwenCode, name)
}

fn read(path: &Path) -> Transcript {
    fixtures::read_session(&QwenCode, path)
}

/// The live context, a line an entry.
fn live_context(transcript: &Transcript) -> String {
    fixtures::live_context(&QwenCode, transcript, ImageCounts::Everywhere)
}

#[test]
fn every_tool() {
    insta::assert_snapshot!("tools_0_15", live_context(&read(&fixture("0.15.10-tools.jsonl"))));
    insta::assert_snapshot!("tools_0_24", live_context(&read(&fixture("0.24.4-tools.jsonl"))));
    insta::assert_snapshot!("images_0_24", live_context(&read(&fixture("0.24.4-images.jsonl"))));
}

#[test]
fn a_compaction_holds_the_context_that_it_left() {
    insta::assert_snapshot!("compact_0_15", live_context(&read(&fixture("0.15.10-compact.jsonl"))));
    insta::assert_snapshot!("compact_0_24", live_context(&read(&fixture("0.24.4-compact.jsonl"))));
}

#[test]
fn rewinds_reports_and_asides() {
    let transcript = read(&fixture("hand-tree.jsonl"));
    assert_eq!(transcript.rejected, []);
    assert_eq!(transcript.header.title.as_deref(), Some("By the model"));
    insta::assert_snapshot!(live_context(&transcript));
    assert!(transcript.entries.iter().any(|entry| entry.body == Body::unknown("future_kind")));
}

#[test]
fn limits_are_failures_and_not_context() {
    let transcript = read(&fixture("0.24.4-limit.jsonl"));
    let failures = fixtures::failure_kinds(&transcript);
    assert!(failures.len() > 3 && failures.iter().all(|kind| *kind == FailureKind::RateLimit), "{failures:?}");
    assert_eq!(live_context(&transcript), "user prompt: rate\n");
}

#[test]
fn calls_without_an_outcome_are_answered() {
    let transcript = read(&fixture("0.24.4-resumed.jsonl"));
    assert_eq!(transcript.header.title.as_deref(), Some("QIMP title"));
    insta::assert_snapshot!(live_context(&transcript));
}

#[test]
fn reading_in_two_steps_is_reading_at_once() {
    let begin = || TranscriptBuilder::new("qwen-code");
    for name in FIXTURES {
        fixtures::check_reading_in_steps(&QwenCode, name, fixtures::cut_every(1009), begin);
    }
}

#[test]
fn truncation_at_every_byte_loses_no_earlier_entry() {
    fixtures::check_truncation(&QwenCode, "hand-tree.jsonl");
}

#[test]
fn a_command_of_the_users_own_is_typed_and_its_template_is_not() {
    let line = |uuid: &str, parent: Option<&str>, rest: serde_json::Value| {
        let mut record = serde_json::json!({
            "uuid": uuid, "parentUuid": parent, "sessionId": "s", "timestamp": "2025-12-17T13:50:32.543Z", "cwd": "/r",
            "version": "0.5.0",
        });
        record.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        record.to_string()
    };
    let command = |phase: &str| {
        let payload = serde_json::json!({ "phase": phase, "rawCommand": "/plan.it a clock", "outputHistoryItems": [] });
        serde_json::json!({ "type": "system", "subtype": "slash_command", "systemPayload": payload })
    };
    let template = "---\ndescription: Plan the work.\n---\n\nPlan this: a clock";
    let message = serde_json::json!({ "role": "user", "parts": [{ "text": template }] });
    let lines = [
        line("a", None, command("invocation")),
        line("b", Some("a"), command("result")),
        line("c", Some("b"), serde_json::json!({ "type": "user", "message": message })),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    let transcript = read(&path);
    assert_eq!(transcript.header.title.as_deref(), Some("/plan.it a clock"));
    insta::assert_snapshot!(live_context(&transcript), @r"
    user prompt: /plan.it a clock
    hook prompt: --- description: Plan the work. --- Plan this: a clock
    ");
}
