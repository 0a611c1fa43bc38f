//! What real clients wrote, read.

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carryover_core::live::{self, Alive};
use carryover_core::plain::one_line;
use carryover_core::transcript::{Body, Entry, Origin, Part, Place, TitleRank, Transcript, TranscriptBuilder, text_of};

use serde_json::json;

use super::CopilotCli;
use crate::{Agent, Bookmark, Found, Source, Store};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/copilot_cli/fixtures").join(name)
}

fn read(path: &Path) -> Transcript {
    let mut builder = TranscriptBuilder::new("copilot-cli");
    let source = Source { path: path.to_path_buf(), key: None };
    CopilotCli.read(&source, &Bookmark::Start, &mut builder).unwrap();
    builder.finish()
}

/// The live context, a line an entry.
fn live_context(transcript: &Transcript) -> String {
    let mut transcript = transcript.clone();
    let order = live::order(&transcript);
    for index in &order {
        let key = transcript.entries[*index].key;
        let reloaded = CopilotCli.reload(&transcript.header, key).unwrap();
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
    let what = match &entry.body {
        Body::Reasoning(reasoning) => reasoning.text.clone(),
        Body::Call(call) => format!("{} {}", call.tool, call.input.as_str()),
        Body::Outcome(outcome) => {
            let images = outcome.parts.iter().filter(|part| matches!(part, Part::Blob(_))).count();
            let code = outcome.exit_code.map(|code| format!(" exit {code}")).unwrap_or_default();
            format!("{:?}{code} {images} images: {}", outcome.status, text_of(&outcome.parts))
        }
        body => text_of(body.parts()),
    };
    one_line(&format!("{who} {}: {what}", entry.body.kind()), 110)
}

/// As the code of 0.0.340 writes it.
#[test]
fn a_document_of_the_first_versions_is_read() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("history-session-state");
    fs_err::create_dir_all(&folder).unwrap();
    let id = "5c0a3c0e-6f7e-4f6f-9d55-2f1a7a0a1b11";
    let path = folder.join(format!("session_{id}_1758700000000.json"));
    let call =
        json!({ "id": "c1", "type": "function", "function": { "name": "bash", "arguments": "{\"command\":\"ls\"}" } });
    let picture = json!({ "type": "image_url", "image_url": { "url": "data:image/png;base64,AAAA" } });
    let messages = json!([
        { "role": "system", "content": "You are" },
        { "role": "user", "content": [{ "type": "text", "text": "look\n\n<reminder>x</reminder>" }, picture] },
        { "role": "assistant", "content": "I look.", "tool_calls": [call] },
        { "role": "tool", "tool_call_id": "c1", "content": "a.txt" },
        { "role": "assistant", "content": "Done, 日本." },
    ]);
    let document = json!({
        "sessionId": id, "startTime": "2025-09-24T07:46:40.000Z", "chatMessages": messages, "timeline": [],
        "selectedModel": "claude-sonnet-4",
    });
    fs_err::write(&path, serde_json::to_string_pretty(&document).unwrap()).unwrap();
    let store = Store { root: home.path().to_path_buf() };
    let mut listed = Vec::new();
    let mut tell = |found: Found| {
        listed.push((found.id.0, found.title, found.drifted));
        ControlFlow::Continue(())
    };
    CopilotCli.discover(&store, &mut tell).unwrap();
    assert_eq!(listed, [(id.to_owned(), Some("look".to_owned()), false)]);
    let head = fs_err::read(&path).unwrap();
    assert!(CopilotCli.recognise(&path, &head).is_some());
    let transcript = read(&path);
    assert_eq!(transcript.rejected, []);
    assert_eq!(transcript.header.model.as_deref(), Some("claude-sonnet-4"));
    insta::assert_snapshot!(live_context(&transcript), @r#"
    user prompt: look
    agent reply: I look.
    agent call: bash {"command":"ls"}
    agent outcome: Done 0 images: a.txt
    agent reply: Done, 日本.
    "#);
}

#[test]
fn every_tool_and_images_and_a_sub_agent() {
    let transcript = read(&fixture("1.0.102-tools.jsonl"));
    assert_eq!(transcript.rejected, []);
    assert_eq!(transcript.header.session.0, "c2370cc2-bef7-4b7c-a0e3-f6255bea3b74");
    assert_eq!(transcript.header.project.as_deref(), Some(Path::new("/home/u/proj")));
    assert_eq!(transcript.header.model.as_deref(), Some("gpt-4.1"));
    insta::assert_snapshot!(live_context(&transcript));
}

#[test]
fn images_are_found_where_their_bytes_stand() {
    let path = fixture("1.0.102-tools.jsonl");
    let bytes = fs_err::read(&path).unwrap();
    let transcript = read(&path);
    let mut images = 0;
    for part in transcript.entries.iter().flat_map(|entry| entry.body.parts()) {
        let Part::Blob(blob) = part else { continue };
        let Place::Encoded { offset, length, .. } = blob.place else { panic!("not found") };
        let (start, end) = (usize::try_from(offset).unwrap(), usize::try_from(offset + length).unwrap());
        assert!(bytes[start..end].starts_with(b"iVBORw0KGgo"));
        assert_eq!(bytes[end], b'"');
        images += 1;
    }
    assert_eq!(images, 2);
}

#[test]
fn a_compaction_keeps_the_prompts() {
    insta::assert_snapshot!(live_context(&read(&fixture("1.0.102-compact.jsonl"))));
}

#[test]
fn the_words_of_hooks_are_not_the_users() {
    let transcript = read(&fixture("1.0.102-hooks.jsonl"));
    assert_eq!(transcript.header.permission, carryover_core::transcript::Permission::Everything);
    insta::assert_snapshot!(live_context(&transcript));
}

#[test]
fn a_call_without_an_outcome_is_answered() {
    let text = fs_err::read_to_string(fixture("hand-written.jsonl")).unwrap();
    let until_the_call: String = text.split_inclusive('\n').take(4).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.jsonl");
    std::fs::write(&path, until_the_call).unwrap();
    insta::assert_snapshot!(live_context(&read(&path)));
}

#[test]
fn a_usage_limit_is_a_failure_and_not_context() {
    let transcript = read(&fixture("1.0.102-limit.jsonl"));
    let failures: Vec<_> = transcript
        .entries
        .iter()
        .filter_map(|entry| match &entry.body {
            Body::Failure(failure) => Some(failure.kind),
            _ => None,
        })
        .collect();
    assert_eq!(failures, [carryover_core::transcript::FailureKind::RateLimit]);
    insta::assert_snapshot!(live_context(&transcript));
}

#[test]
fn reading_in_two_steps_is_reading_at_once() {
    for name in ["1.0.102-tools.jsonl", "1.0.102-compact.jsonl", "1.0.102-hooks.jsonl", "hand-written.jsonl"] {
        let bytes = fs_err::read(fixture(name)).unwrap();
        let whole = read(&fixture(name));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        for cut in (0..bytes.len()).step_by(331).chain([bytes.len()]) {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            let source = Source { path: path.clone(), key: None };
            let mut builder = TranscriptBuilder::new("copilot-cli");
            let bookmark = CopilotCli.read(&source, &Bookmark::Start, &mut builder).unwrap();
            std::fs::write(&path, &bytes).unwrap();
            CopilotCli.read(&source, &bookmark, &mut builder).unwrap();
            let stepped = builder.finish();
            assert_eq!(stepped.entries, whole.entries, "{name} cut at {cut}");
            assert_eq!(stepped.rejected, []);
        }
    }
}

/// A rewind cuts the file, and the client goes on behind the cut until it is longer than it was.
#[test]
fn a_file_that_was_rewound_is_read_anew() {
    let bytes = fs_err::read(fixture("1.0.102-compact.jsonl")).unwrap();
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.jsonl");
    let source = Source { path: path.clone(), key: None };
    std::fs::write(&path, lines[..20].concat()).unwrap();
    let mut builder = TranscriptBuilder::new("copilot-cli");
    let bookmark = CopilotCli.read(&source, &Bookmark::Start, &mut builder).unwrap();
    let rewound = [lines[..12].concat(), lines[20..].concat()].concat();
    std::fs::write(&path, rewound).unwrap();
    CopilotCli.read(&source, &bookmark, &mut builder).unwrap();
    assert_eq!(builder.finish().entries, read(&path).entries);
}

#[test]
fn truncation_at_every_byte_loses_no_earlier_entry() {
    for name in ["1.0.102-limit.jsonl", "hand-written.jsonl"] {
        let bytes = fs_err::read(fixture(name)).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        for cut in 0..bytes.len() {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            let whole_lines = bytes[..cut].split(|byte| *byte == b'\n').count() - 1;
            let records: std::collections::BTreeSet<_> =
                read(&path).entries.iter().map(|entry| entry.key.record()).collect();
            assert!(records.len() >= whole_lines, "{name} cut at {cut}");
        }
    }
}

#[test]
fn a_session_is_listed_by_its_table() {
    const ID: &str = "c2370cc2-bef7-4b7c-a0e3-f6255bea3b74";
    let store = tempfile::tempdir().unwrap();
    let folder = store.path().join("session-state").join(ID);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::create_dir_all(store.path().join("session-state/.session-operation-locks")).unwrap();
    std::fs::copy(fixture("1.0.102-tools.jsonl"), folder.join("events.jsonl")).unwrap();
    std::fs::write(folder.join("workspace.yaml"), "id: x\ncwd: /p\nname: 'Mine: #1'\nuser_named: true\n").unwrap();
    std::fs::write(folder.join("inuse.4294967295.lock"), "4294967295").unwrap();
    let mut listed = Vec::new();
    let store = Store { root: store.path().to_path_buf() };
    CopilotCli
        .discover(&store, &mut |found| {
            listed.push(found);
            ControlFlow::Continue(())
        })
        .unwrap();
    let [found] = listed.as_slice() else { panic!("{} sessions", listed.len()) };
    assert_eq!(found.id.0, ID);
    assert_eq!(found.title.as_deref(), Some("Mine: #1"));
    assert_eq!(found.project.as_deref(), Some(Path::new("/home/u/proj")));
    assert_eq!(found.branch.as_deref(), Some("master"));
    assert_eq!(found.started_at.unwrap().to_string(), "2026-11-15T04:05:09.218Z");
    assert_eq!(found.updated_at.unwrap().to_string(), "2026-11-15T04:05:20.885Z");
    assert!(!found.drifted);
    let mut builder = TranscriptBuilder::new("copilot-cli");
    CopilotCli.read(&found.source, &Bookmark::Start, &mut builder).unwrap();
    let header = builder.finish().header;
    assert_eq!((header.title.as_deref(), header.title_rank), (Some("Mine: #1"), TitleRank::Given));
}

#[test]
fn only_what_was_typed_is_the_users() {
    let event = |kind: &str, data: serde_json::Value| {
        json!({ "type": kind, "data": data, "id": "e", "timestamp": "2026-03-21T13:03:04.346Z" }).to_string()
    };
    let sent = "<agent_instructions>\nPlan first.\n</agent_instructions>\n<current_datetime>t</current_datetime>\n\nlook at @a.md\n\n<reminder>\nno tables\n</reminder>";
    let attachment = json!({ "type": "file", "path": "/p/a.md", "displayName": "@a.md" });
    let nudge = "<current_datetime>t</current_datetime>\n\nYou have not yet marked the task as complete.";
    let notice = "<system_notification>\nTask 1 is done.\n</system_notification>";
    let lines = [
        event("session.start", json!({ "sessionId": "s", "copilotVersion": "1.0.10" })),
        event(
            "user.message",
            json!({ "content": "look at @a.md", "transformedContent": sent, "attachments": [attachment] }),
        ),
        event("user.message", json!({ "content": "", "transformedContent": nudge, "attachments": [] })),
        event("system.notification", json!({ "content": notice })),
        event("user.message", json!({ "content": notice, "source": "system" })),
        event("user.message", json!({ "content": "Sort the list.", "source": "skill-tidy" })),
        event("user.message", json!({ "content": "what is <reminder>x</reminder>?" })),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.jsonl");
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    let transcript = read(&path);
    assert_eq!(transcript.header.title.as_deref(), Some("look at @a.md"));
    insta::assert_snapshot!(live_context(&transcript), @r"
    user prompt: look at @a.md
    hook prompt: Plan first.
    hook prompt: [attached /p/a.md]
    hook prompt: Task 1 is done.
    hook prompt: Sort the list.
    user prompt: what is <reminder>x</reminder>?
    ");
}
