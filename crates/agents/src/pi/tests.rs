//! Tests of reading what real clients wrote.

use std::path::{Path, PathBuf};

use carryover_core::transcript::{Body, FailureKind, Transcript, TranscriptBuilder};

use super::Pi;
use crate::fixtures::{self, ImageCounts};
use crate::{Agent, Env, Reader};

const FIXTURES: &[&str] = &[
    "0.27.9-compact.jsonl",
    "0.73.1-tools.jsonl",
    "0.73.1-limit.jsonl",
    "0.87.1-tools.jsonl",
    "0.87.1-resumed.jsonl",
    "0.87.1-compact.jsonl",
    "hand-tree.jsonl",
];

fn fixture(name: &str) -> PathBuf {
    fixtures::fixture_path(&Pi, name)
}

fn read(path: &Path) -> Transcript {
    fixtures::read_session(&Pi, path)
}

/// The live context, a line an entry.
fn live_context(transcript: &Transcript) -> String {
    fixtures::live_context(&Pi, transcript, ImageCounts::Everywhere)
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
        let env = Env { home: home.path().to_path_buf(), vars: vars.collect(), ..crate::write_fixtures::sample_env() };
        let mut files = Vec::new();
        for store in Pi.stores(&env) {
            let found = fixtures::list_sessions(&Pi, &store.root).into_iter();
            files.extend(found.map(|found| found.source.path.file_name().unwrap().to_string_lossy().into_owned()));
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
    assert!(transcript.entries.iter().any(|entry| entry.body == Body::unknown("future_kind")));
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
    let record = Pi.read_record(&transcript.header, changed.key).unwrap();
    assert!(record.contains("SHORTENED-1") && !record.contains("LONG-ORIGINAL"));
}

#[test]
fn limits_are_failures_and_not_context() {
    let transcript = read(&fixture("0.73.1-limit.jsonl"));
    assert_eq!(fixtures::failure_kinds(&transcript), [FailureKind::RateLimit; 4]);
    insta::assert_snapshot!(live_context(&transcript));
    let stopped = read(&fixture("hand-tree.jsonl"));
    assert_eq!(fixtures::failure_kinds(&stopped), [FailureKind::Interrupted, FailureKind::Server]);
}

#[test]
fn reading_in_two_steps_is_reading_at_once() {
    let begin = || TranscriptBuilder::new("pi");
    for name in FIXTURES {
        fixtures::check_reading_in_steps(&Pi, name, fixtures::cut_every(1009), begin);
    }
}

#[test]
fn truncation_at_every_byte_loses_no_earlier_entry() {
    fixtures::check_truncation(&Pi, "hand-tree.jsonl");
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
