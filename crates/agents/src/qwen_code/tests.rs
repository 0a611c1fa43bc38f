//! What real clients wrote, read.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use carryover_core::live::{self, Alive};
use carryover_core::plain::one_line;
use carryover_core::transcript::{Body, Entry, FailureKind, Origin, Part, Transcript, TranscriptBuilder, text_of};

use super::QwenCode;
use crate::{Agent, Bookmark, Source};

const ALL: &[&str] = &[
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
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/qwen_code/fixtures").join(name)
}

fn read(path: &Path) -> Transcript {
    let mut builder = TranscriptBuilder::new("qwen-code");
    let source = Source { path: path.to_path_buf(), key: None };
    QwenCode.read(&source, &Bookmark::Start, &mut builder).unwrap();
    builder.finish()
}

/// The live context, a line an entry.
fn live_context(transcript: &Transcript) -> String {
    let mut transcript = transcript.clone();
    let order = live::order(&transcript);
    for index in &order {
        let key = transcript.entries[*index].key;
        let reloaded = QwenCode.reload(&transcript.header, key).unwrap();
        transcript.entries[*index] = reloaded.into_iter().find(|entry| entry.key == key).unwrap();
    }
    let mut out = String::new();
    for alive in live::close(&transcript, &order) {
        match alive {
            Alive::Entry(index) => writeln!(out, "{}", line(&transcript.entries[index])).unwrap(),
            Alive::Answer { text, .. } => writeln!(out, "answer: {}", one_line(text, 60)).unwrap(),
        }
    }
    out
}

fn line(entry: &Entry) -> String {
    let who = match entry.origin {
        Origin::User => "user",
        Origin::Agent => "agent",
        Origin::Harness => "harness",
        Origin::Hook => "hook",
    };
    let images = entry.body.parts().iter().filter(|part| matches!(part, Part::Blob(_))).count();
    let what = match &entry.body {
        Body::Reasoning(reasoning) => reasoning.text.clone(),
        Body::Call(call) => format!("{} {}", call.tool, call.input.as_str()),
        Body::Outcome(outcome) => {
            let code = outcome.exit_code.map(|code| format!(" exit {code}")).unwrap_or_default();
            format!("{:?}{code}, {images} images: {}", outcome.status, text_of(&outcome.parts))
        }
        body if images > 0 => format!("{images} images: {}", text_of(body.parts())),
        body => text_of(body.parts()),
    };
    one_line(&format!("{who} {}: {what}", entry.body.kind()), 110)
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
    assert!(transcript.entries.iter().any(|entry| entry.body == Body::Opaque("future_kind".into())));
}

#[test]
fn limits_are_failures_and_not_context() {
    let transcript = read(&fixture("0.24.4-limit.jsonl"));
    let failures = transcript.entries.iter().filter_map(|entry| match &entry.body {
        Body::Failure(failure) => Some(failure.kind),
        _ => None,
    });
    let failures: Vec<FailureKind> = failures.collect();
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
    for name in ALL {
        let bytes = fs_err::read(fixture(name)).unwrap();
        let whole = read(&fixture(name));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        for cut in (0..bytes.len()).step_by(1009).chain([bytes.len()]) {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            let source = Source { path: path.clone(), key: None };
            let mut builder = TranscriptBuilder::new("qwen-code");
            let bookmark = QwenCode.read(&source, &Bookmark::Start, &mut builder).unwrap();
            std::fs::write(&path, &bytes).unwrap();
            QwenCode.read(&source, &bookmark, &mut builder).unwrap();
            let stepped = builder.finish();
            assert_eq!(stepped.entries, whole.entries, "{name} cut at {cut}");
            assert_eq!(stepped.header.title, whole.header.title);
            assert_eq!(stepped.rejected, []);
        }
    }
}

#[test]
fn truncation_at_every_byte_loses_no_earlier_entry() {
    for name in ["hand-tree.jsonl"] {
        let bytes = fs_err::read(fixture(name)).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        for cut in 0..bytes.len() {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            let whole_lines = bytes[..cut].split(|byte| *byte == b'\n').count() - 1;
            let records: BTreeSet<_> = read(&path).entries.iter().map(|entry| entry.key.record()).collect();
            assert!(records.len() >= whole_lines, "{name} cut at {cut}");
        }
    }
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
