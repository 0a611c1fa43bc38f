//! Tests of reading what real clients wrote.

use std::path::{Path, PathBuf};

use carryover_core::live::{self};
use carryover_core::transcript::{Body, Entry, FailureKind, Transcript, TranscriptBuilder};

use super::GeminiCli;
use crate::Reader;
use crate::fixtures::{self, ImageCounts};

const FIXTURES: &[&str] = &[
    "0.61.0-compressed.jsonl",
    "0.61.0-hooks.jsonl",
    "0.61.0-limit.jsonl",
    "0.61.0-tools-resumed.jsonl",
    "hand-classic-resumed.jsonl",
    "hand-hybrid-resumed.jsonl",
    "hand-resumed-at-once.jsonl",
];

fn fixture(name: &str) -> PathBuf {
    fixtures::fixture_path(&GeminiCli, name)
}

fn read(path: &Path) -> Transcript {
    fixtures::read_whole(&GeminiCli, path)
}

fn read_lines(lines: &[&str]) -> Transcript {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    let first = r#"{"sessionId":"s","projectHash":"h"}"#;
    std::fs::write(&path, format!("{first}\n{}\n", lines.join("\n"))).unwrap();
    read(&path)
}

/// The live context, a line an entry.
fn live_context(transcript: &Transcript) -> String {
    fixtures::live_lines(transcript, ImageCounts::InOutcomes)
}

fn kinds(transcript: &Transcript) -> Vec<String> {
    let kind = |entry: &Entry| match &entry.body {
        Body::Opaque(opaque) => opaque.name().to_owned(),
        body => body.kind().to_owned(),
    };
    transcript.entries.iter().map(kind).collect()
}

#[test]
fn every_tool_and_a_resume() {
    let transcript = read(&fixture("0.61.0-tools-resumed.jsonl"));
    assert_eq!(transcript.rejected, []);
    let header = &transcript.header;
    assert_eq!(header.title.as_deref(), Some("Fake utility summary of the session"));
    assert_eq!(header.project.as_deref(), Some(Path::new("/home/dv/drive-gemini/repo")));
    assert_eq!(header.model.as_deref(), Some("gemini-2.5-pro"));
    insta::assert_snapshot!(live_context(&transcript));
}

#[test]
fn a_compressed_session() {
    let transcript = read(&fixture("0.61.0-compressed.jsonl"));
    assert_eq!(transcript.entries.iter().filter(|entry| matches!(entry.body, Body::Compacted(_))).count(), 1);
    insta::assert_snapshot!(live_context(&transcript));
}

#[test]
fn hooks_and_a_prompt_that_the_client_forgot() {
    insta::assert_snapshot!(live_context(&read(&fixture("0.61.0-hooks.jsonl"))));
}

#[test]
fn a_prompt_that_met_a_limit_is_taken_back_and_not_forgotten() {
    let transcript = read(&fixture("0.61.0-limit.jsonl"));
    insta::assert_snapshot!(live_context(&transcript));
    let end: Vec<String> = kinds(&transcript).split_off(transcript.entries.len() - 4);
    assert_eq!(end, ["prompt", "session", "failure", "rewind"]);
}

#[test]
fn written_by_hand_and_resumed() {
    insta::assert_snapshot!("hybrid", live_context(&read(&fixture("hand-hybrid-resumed.jsonl"))));
    insta::assert_snapshot!("classic", live_context(&read(&fixture("hand-classic-resumed.jsonl"))));
}

#[test]
fn resumed_in_its_first_minute_a_session_begins_in_its_own_file_once_more() {
    let transcript = read(&fixture("hand-resumed-at-once.jsonl"));
    insta::assert_snapshot!(live_context(&transcript), @r#"
    user prompt: look at a.txt
    agent reasoning: Perhaps.
    agent call: run_shell_command {"command":"cat a.txt"}
    agent outcome: Done 0 images: Output: seven Process Group PGID: 7
    agent reply: It says seven.
    user prompt: and b.txt?
    agent reply: Eight.
    "#);
    assert!(!kinds(&transcript).iter().any(|kind| kind == "rewind"), "{:?}", kinds(&transcript));
}

#[test]
fn what_was_taken_back_may_come_once_more() {
    let call = r#""type":"gemini","content":[{"functionCall":{"id":"c","name":"ls","args":{}}}]}"#;
    let outcome = r#""type":"user","content":[{"functionResponse":{"id":"c","name":"ls","response":{"output":"x"}}}]}"#;
    let [first, second] = [1, 2].map(|turn| {
        let prompt = format!(r#"{{"id":"u{turn}","type":"user","content":"go"}}"#);
        [prompt, format!(r#"{{"id":"g{turn}",{call}"#), format!(r#"{{"id":"o{turn}",{outcome}"#)]
    });
    let lines = [first.as_slice(), &[r#"{"$rewindTo":"u1"}"#.to_owned()], &second].concat();
    let transcript = read_lines(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(live_context(&transcript).lines().count(), 3, "{}", live_context(&transcript));
}

#[test]
fn reading_in_two_steps_is_reading_at_once() {
    let begin = || TranscriptBuilder::new("gemini-cli").keeping_everything();
    let around_line_ends = |bytes: &[u8]| {
        let ends = (0..bytes.len()).filter(|at| bytes[*at] == b'\n');
        ends.flat_map(|at| [at, at + 1, at + 40]).collect()
    };
    for name in FIXTURES {
        fixtures::check_reading_in_steps(&GeminiCli, name, around_line_ends, begin);
    }
}

#[test]
fn truncation_at_every_byte_loses_no_earlier_entry() {
    fixtures::check_truncation(&GeminiCli, "0.61.0-hooks.jsonl");
}

#[test]
fn what_is_live_can_be_loaded_again() {
    for name in FIXTURES {
        let transcript = read(&fixture(name));
        for index in live::context_order(&transcript) {
            let entry = &transcript.entries[index];
            let again = GeminiCli.reload_entries(&transcript.header, entry.key).unwrap();
            let again = again.into_iter().find(|other| other.key == entry.key).unwrap();
            if !matches!(entry.body, Body::Summary(_)) {
                assert_eq!(&again, entry, "{name}");
            }
        }
    }
}

#[test]
fn a_replaced_message_counts_once() {
    let transcript = read_lines(&[
        r#"{"id":"u","type":"user","content":"fix"}"#,
        r#"{"id":"g","type":"gemini","content":"one"}"#,
        r#"{"$set":{"lastUpdated":"2026-11-15T01:00:00.000Z"}}"#,
        r#"{"id":"g","type":"gemini","content":"two"}"#,
        r#"{"id":"u","type":"user","content":"mend"}"#,
    ]);
    insta::assert_snapshot!(live_context(&transcript), @"
    user prompt: mend
    agent reply: two
    ");
}

#[test]
fn a_rewind_takes_back_turns() {
    let transcript = read_lines(&[
        r#"{"id":"a","type":"user","content":"first"}"#,
        r#"{"id":"b","type":"gemini","content":"one"}"#,
        r#"{"id":"c","type":"user","content":"second"}"#,
        r#"{"id":"d","type":"gemini","content":"two"}"#,
        r#"{"$rewindTo":"c"}"#,
        r#"{"id":"e","type":"user","content":"third"}"#,
    ]);
    insta::assert_snapshot!(live_context(&transcript), @"
    user prompt: first
    agent reply: one
    user prompt: third
    ");
    assert_eq!(kinds(&transcript), ["session", "prompt", "reply", "prompt", "reply", "rewind", "prompt"]);
    let unknown = read_lines(&[r#"{"id":"a","type":"gemini","content":"first"}"#, r#"{"$rewindTo":"x"}"#]);
    assert_eq!(live_context(&unknown), "");
}

#[test]
fn a_failed_turn_takes_its_prompt_along() {
    let transcript = read_lines(&[
        r#"{"id":"a","type":"user","content":"first"}"#,
        r#"{"id":"b","type":"gemini","content":"one"}"#,
        r#"{"id":"i","type":"info","content":"shown and never sent"}"#,
        r#"{"id":"c","type":"user","content":"too much"}"#,
        r#"{"$set":{"messages":[{"id":"a","type":"user","content":[{"text":"first"}]},{"id":"b","type":"gemini","content":[{"text":"one"}]}]}}"#,
        r#"{"id":"d","type":"error","content":"Your quota will reset after 1h."}"#,
    ]);
    assert_eq!(kinds(&transcript), ["session", "prompt", "reply", "info", "prompt", "failure", "rewind", "failure"]);
    insta::assert_snapshot!(live_context(&transcript), @"
    user prompt: first
    agent reply: one
    ");
    let Body::Failure(failure) = &transcript.entries[7].body else { panic!("no failure") };
    assert_eq!(failure.kind, FailureKind::RateLimit);
}

#[test]
fn a_call_without_an_outcome_is_answered() {
    let call = r#"{"id":"c","name":"read_file","args":{},"status":"executing"}"#;
    let message = format!(r#"{{"id":"g","type":"gemini","content":"","toolCalls":[{call}]}}"#);
    insta::assert_snapshot!(live_context(&read_lines(&[&message])), @"
    agent call: read_file {}
    answer: [The session ended before what this call gave back was reco…
    ");
}

#[test]
fn an_older_file_is_one_object() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session-2025-09-01T00-00-abcdef01.json");
    let call = r#"{"id":"c","name":"read_file","args":{"absolute_path":"/p/a.png"},"status":"success","result":[{"functionResponse":{"id":"c","name":"read_file","response":{"output":"ok"}}},{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}"#;
    let text = format!(
        "{{\n  \"sessionId\": \"old\",\n  \"projectHash\": \"h\",\n  \"startTime\": \"2025-09-01T00:00:00.000Z\",\n  \"messages\": [\n    {{\"id\":\"1\",\"type\":\"user\",\"content\":\"look\"}},\n    {{\"id\":\"2\",\"type\":\"gemini\",\"content\":\"\",\"toolCalls\":[{call}]}}\n  ]\n}}"
    );
    std::fs::write(&path, &text).unwrap();
    let transcript = read(&path);
    assert_eq!(transcript.header.session.0, "old");
    insta::assert_snapshot!(live_context(&transcript), @r#"
    user prompt: look
    agent call: read_file {"absolute_path":"/p/a.png"}
    agent outcome: Done 1 images: ok
    "#);
    for entry in transcript.entries.iter().filter(|entry| matches!(entry.body, Body::Prompt(_))) {
        let record = GeminiCli.read_record(&transcript.header, entry.key).unwrap();
        assert!(record.starts_with('{') && record.ends_with('}'));
    }
}

#[test]
fn what_an_older_client_wrote_is_read_as_it_resumes_it() {
    insta::assert_snapshot!(live_context(&read(&fixture("0.20.0-document.json"))), @r#"
    user prompt: What is in a.txt
    agent reasoning: Look into it
    agent reply: Let me look.
    agent call: run_shell_command { "command": "cat a.txt", "description": "x" }
    agent outcome: Failed 0 images: Command rejected because it could not be parsed safely
    agent reply: It says hello.
    user prompt: And more?
    agent reply: Second answer.
    "#);
}

#[test]
fn sessions_are_listed_once_and_empty_ones_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let chats = folder.path().join("tmp/repo/chats");
    std::fs::create_dir_all(&chats).unwrap();
    std::fs::write(folder.path().join("tmp/repo/.project_root"), "/home/u/repo").unwrap();
    let tools = fs_err::read_to_string(fixture("0.61.0-tools-resumed.jsonl")).unwrap();
    std::fs::write(chats.join("session-2026-11-15T01-00-3897d7e7.jsonl"), &tools).unwrap();
    let orphan: String = tools.split_inclusive('\n').take(2).collect();
    std::fs::write(chats.join("session-2026-11-15T01-01-3897d7e7.jsonl"), orphan).unwrap();
    let agents = tools.replace("\"kind\":\"main\"", "\"kind\":\"subagent\"");
    std::fs::write(chats.join("session-2026-11-15T01-02-3897d7e8.jsonl"), agents).unwrap();
    let found = fixtures::list_sessions(&GeminiCli, folder.path());
    let [session] = found.as_slice() else { panic!("{} sessions", found.len()) };
    assert_eq!(session.title.as_deref(), Some("Fake utility summary of the session"));
    assert_eq!(session.project.as_deref(), Some(Path::new("/home/u/repo")));
    assert_eq!(session.started_at.unwrap().to_string(), "2026-11-15T01:00:05.001Z");
    assert!(!session.drifted);
}
