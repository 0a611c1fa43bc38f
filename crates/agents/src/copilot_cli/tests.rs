//! Tests of reading what real clients wrote.

use std::path::{Path, PathBuf};

use carryover_core::transcript::{BlobLocation, Part, TitleRank, Transcript, TranscriptBuilder};

use serde_json::json;

use super::CopilotCli;
use crate::fixtures::{self, ImageCounts};
use crate::{Bookmark, Discovery, Reader, Source};

fn fixture(name: &str) -> PathBuf {
    fixtures::fixture_path(&CopilotCli, name)
}

fn read(path: &Path) -> Transcript {
    fixtures::read_session(&CopilotCli, path)
}

/// The live context, a line an entry.
fn live_context(transcript: &Transcript) -> String {
    fixtures::live_context(&CopilotCli, transcript, ImageCounts::InOutcomes)
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
    let listed = fixtures::list_sessions(&CopilotCli, home.path());
    let listed: Vec<_> = listed.into_iter().map(|found| (found.id.0, found.title, found.drifted)).collect();
    assert_eq!(listed, [(id.to_owned(), Some("look".to_owned()), false)]);
    let head = fs_err::read(&path).unwrap();
    assert!(CopilotCli.recognises(&path, &head));
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
        let BlobLocation::Encoded { offset, length, .. } = blob.location else { panic!("not found") };
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
    assert_eq!(fixtures::failure_kinds(&transcript), [carryover_core::transcript::FailureKind::RateLimit]);
    insta::assert_snapshot!(live_context(&transcript));
}

#[test]
fn reading_in_two_steps_is_reading_at_once() {
    let begin = || TranscriptBuilder::new("copilot-cli");
    for name in ["1.0.102-tools.jsonl", "1.0.102-compact.jsonl", "1.0.102-hooks.jsonl", "hand-written.jsonl"] {
        fixtures::check_reading_in_steps(&CopilotCli, name, fixtures::cut_every(331), begin);
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
    let bookmark = CopilotCli.read_session(&source, &Bookmark::Start, &mut builder).unwrap();
    let rewound = [lines[..12].concat(), lines[20..].concat()].concat();
    std::fs::write(&path, rewound).unwrap();
    CopilotCli.read_session(&source, &bookmark, &mut builder).unwrap();
    assert_eq!(builder.finish().entries, read(&path).entries);
}

#[test]
fn truncation_at_every_byte_loses_no_earlier_entry() {
    for name in ["1.0.102-limit.jsonl", "hand-written.jsonl"] {
        fixtures::check_truncation(&CopilotCli, name);
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
    let listed = fixtures::list_sessions(&CopilotCli, store.path());
    let [found] = listed.as_slice() else { panic!("{} sessions", listed.len()) };
    assert_eq!(found.id.0, ID);
    assert_eq!(found.title.as_deref(), Some("Mine: #1"));
    assert_eq!(found.project.as_deref(), Some(Path::new("/home/u/proj")));
    assert_eq!(found.branch.as_deref(), Some("master"));
    assert_eq!(found.started_at.unwrap().to_string(), "2026-11-15T04:05:09.218Z");
    assert_eq!(found.updated_at.unwrap().to_string(), "2026-11-15T04:05:20.885Z");
    assert!(!found.drifted);
    let mut builder = TranscriptBuilder::new("copilot-cli");
    CopilotCli.read_session(&found.source, &Bookmark::Start, &mut builder).unwrap();
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
