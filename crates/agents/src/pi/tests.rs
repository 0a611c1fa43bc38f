//! What real clients wrote, read.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carryover_core::live::{self, Alive};
use carryover_core::plain::one_line;
use carryover_core::transcript::{Body, Entry, FailureKind, Origin, Part, Transcript, TranscriptBuilder, text_of};

use super::Pi;
use crate::{Agent, Bookmark, Env, Found, Source};

const ALL: &[&str] = &[
    "0.27.9-compact.jsonl",
    "0.73.1-tools.jsonl",
    "0.73.1-limit.jsonl",
    "0.87.1-tools.jsonl",
    "0.87.1-resumed.jsonl",
    "0.87.1-compact.jsonl",
    "hand-tree.jsonl",
];

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/pi/fixtures").join(name)
}

fn read(path: &Path) -> Transcript {
    let mut builder = TranscriptBuilder::new("pi");
    let source = Source { path: path.to_path_buf(), key: None };
    Pi.read(&source, &Bookmark::Start, &mut builder).unwrap();
    builder.finish()
}

/// The live context, a line an entry.
fn live_context(transcript: &Transcript) -> String {
    let mut transcript = transcript.clone();
    let order = live::order(&transcript);
    for index in &order {
        let key = transcript.entries[*index].key;
        let reloaded = Pi.reload(&transcript.header, key).unwrap();
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
    insta::assert_snapshot!("tools_0_73", live_context(&read(&fixture("0.73.1-tools.jsonl"))));
    insta::assert_snapshot!("tools_0_87", live_context(&read(&fixture("0.87.1-tools.jsonl"))));
}

#[test]
fn a_compaction_keeps_what_it_names() {
    let transcript = read(&fixture("0.87.1-compact.jsonl"));
    assert_eq!(transcript.rejected, []);
    assert_eq!(transcript.header.title.as_deref(), Some("Named by me"));
    insta::assert_snapshot!(live_context(&transcript));
}

/// The client of that version, and 0.87.1 when it opens the file, send the same.
#[test]
fn records_without_names_follow_one_another() {
    let transcript = read(&fixture("0.27.9-compact.jsonl"));
    assert_eq!(transcript.rejected, []);
    insta::assert_snapshot!(live_context(&transcript));
}

#[test]
fn sessions_are_found_in_a_folder_that_the_user_named() {
    let home = tempfile::tempdir().unwrap();
    let agent = home.path().join(".pi/agent");
    let [usual, named] = [agent.join("sessions/--p--"), home.path().join("all")];
    for folder in [&usual, &named] {
        fs_err::create_dir_all(folder).unwrap();
    }
    fs_err::copy(fixture("0.73.1-tools.jsonl"), usual.join("a.jsonl")).unwrap();
    fs_err::copy(fixture("0.87.1-tools.jsonl"), named.join("b.jsonl")).unwrap();
    fs_err::write(named.join("notes.jsonl"), "{\"mine\":1}\n").unwrap();
    let found = |vars: &[(&str, &str)]| {
        let vars = vars.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let env = Env { home: home.path().to_path_buf(), vars: vars.collect(), ..crate::foreign::env() };
        let mut files = Vec::new();
        for store in Pi.stores(&env) {
            let mut tell = |found: Found| {
                files.push(found.source.path.file_name().unwrap().to_string_lossy().into_owned());
                ControlFlow::Continue(())
            };
            Pi.discover(&store, &mut tell).unwrap();
        }
        files
    };
    assert_eq!(found(&[]), ["a.jsonl"]);
    assert_eq!(found(&[("PI_CODING_AGENT_SESSION_DIR", "~/all")]), ["a.jsonl", "b.jsonl"]);
    fs_err::write(agent.join("settings.json"), r#"{"sessionDir":"~/all"}"#).unwrap();
    assert_eq!(found(&[]), ["a.jsonl", "b.jsonl"]);
}

#[test]
fn branches_edits_and_extensions() {
    let transcript = read(&fixture("hand-tree.jsonl"));
    insta::assert_snapshot!(live_context(&transcript));
    assert!(transcript.entries.iter().any(|entry| entry.body == Body::Opaque("future_kind".into())));
}

#[test]
fn what_a_compaction_keeps_may_lie_before_an_older_one() {
    let line = |id: &str, parent: &str, rest: &str| format!(r#"{{"id":"{id}","parentId":"{parent}",{rest}}}"#);
    let prompt = |text: &str| format!(r#""type":"message","message":{{"role":"user","content":"{text}"}}"#);
    let compaction =
        |text: &str, kept: &str| format!(r#""type":"compaction","summary":"{text}","firstKeptEntryId":"{kept}""#);
    let lines = [
        r#"{"type":"session","version":3,"id":"s","timestamp":"2026-11-15T00:00:00.000Z","cwd":"/p"}"#.to_owned(),
        line("a", "", &prompt("ghost")),
        line("b", "a", &prompt("kept by both")),
        line("c", "b", &compaction("the older summary is a ghost", "b")),
        line("d", "c", &prompt("kept by the second")),
        line("e", "d", &compaction("the newer summary", "b")),
        line("f", "e", &prompt("the last")),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    insta::assert_snapshot!(live_context(&read(&path)), @r"
    agent summary: the newer summary
    user prompt: kept by both
    user prompt: kept by the second
    user prompt: the last
    ");
}

#[test]
fn a_record_that_was_changed_later_is_written_back_as_it_is_now() {
    let transcript = read(&fixture("hand-tree.jsonl"));
    let changed = transcript.entries.iter().find(|entry| matches!(entry.body, Body::Outcome(_))).unwrap();
    let record = Pi.record(&transcript.header, changed.key).unwrap();
    assert!(record.contains("SHORTENED-1") && !record.contains("LONG-ORIGINAL"));
}

#[test]
fn limits_are_failures_and_not_context() {
    let transcript = read(&fixture("0.73.1-limit.jsonl"));
    let kinds = |transcript: &Transcript| -> Vec<FailureKind> {
        let failures = transcript.entries.iter().filter_map(|entry| match &entry.body {
            Body::Failure(failure) => Some(failure.kind),
            _ => None,
        });
        failures.collect()
    };
    assert_eq!(kinds(&transcript), [FailureKind::RateLimit; 4]);
    insta::assert_snapshot!(live_context(&transcript));
    let stopped = read(&fixture("hand-tree.jsonl"));
    assert_eq!(kinds(&stopped), [FailureKind::Interrupted, FailureKind::Server]);
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
            let mut builder = TranscriptBuilder::new("pi");
            let bookmark = Pi.read(&source, &Bookmark::Start, &mut builder).unwrap();
            std::fs::write(&path, &bytes).unwrap();
            Pi.read(&source, &bookmark, &mut builder).unwrap();
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
fn what_the_user_typed_is_told_from_what_came_with_it() {
    let skill = r#"<skill name=\"tidy\" location=\"/s/SKILL.md\">\nReferences are relative to /s.\n\nTidy.\n</skill>"#;
    let lines = [
        r#"{"type":"session","version":3,"id":"s","timestamp":"2026-11-15T00:00:00.000Z","cwd":"/p"}"#.to_owned(),
        r#"{"type":"message","id":"a","parentId":null,"message":{"role":"bashExecution","command":"ls","output":"x","exitCode":0,"truncated":true,"fullOutputPath":"/t/o"}}"#.to_owned(),
        format!(r#"{{"type":"message","id":"b","parentId":"a","message":{{"role":"user","content":[{{"type":"text","text":"{skill}\n\nonly src"}}]}}}}"#),
        r#"{"type":"message","id":"c","parentId":"b","message":{"role":"assistant","content":[],"stopReason":"error","errorMessage":"Codex error: {\"error\":{\"type\":\"usage_limit_reached\",\"resets_at\":1778532730}}"}}"#.to_owned(),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    let transcript = read(&path);
    insta::assert_snapshot!(live_context(&transcript), @r#"
    hook prompt: Ran `ls` ``` x ``` [Output truncated. Full output: /t/o]
    hook prompt: <skill name="tidy" location="/s/SKILL.md"> References are relative to /s. Tidy. </skill>
    user prompt: only src
    "#);
    assert_eq!(transcript.header.title.as_deref(), Some("only src"));
    let Some(Body::Failure(failure)) = transcript.entries.last().map(|entry| &entry.body) else { panic!("no failure") };
    assert_eq!(failure.kind, FailureKind::RateLimit);
    assert_eq!(failure.resets_at.unwrap().to_string(), "2026-05-11T20:52:10.000Z");
}
