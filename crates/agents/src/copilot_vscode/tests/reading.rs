//! Reading sessions.

use std::path::Path;

use carryover_core::transcript::{Body, EntryKey, Note, QueueChange, Transcript, TranscriptBuilder};
use serde_json::Value;

use super::super::CopilotVscode;
use super::super::mutation_log::{Tree, apply_change, parse_change};
use super::{AGENT_LOG, full_lines, live_context, read, read_whole};
use crate::fixtures::{self, failure_kinds, fixture_path};
use crate::formats::jsonl::Line;
use crate::{Bookmark, Reader, Source};

/// Replays a log, with how many lines were refused.
fn replay(log: &str) -> (Option<Tree>, usize) {
    let (mut state, mut refused) = (None, 0);
    for line in log.lines() {
        let change = parse_change(Line::from_bytes(0, line.as_bytes())).unwrap();
        refused += usize::from(apply_change(&mut state, change).is_err());
    }
    (state, refused)
}

fn to_value(state: Option<Tree>) -> Value {
    serde_json::from_str(&state.unwrap().to_json()).unwrap()
}

#[test]
fn a_log_is_replayed_as_the_editors_own_code_does() {
    for (log, state) in [("agent.jsonl", "replayed/agent.json"), ("replayed/changes.jsonl", "replayed/changes.json")] {
        let text = |name: &str| fs_err::read_to_string(fixture_path(&CopilotVscode, name)).unwrap();
        let (replayed, refused) = replay(&text(log));
        let expected: Value = serde_json::from_str(&text(state)).unwrap();
        assert_eq!((to_value(replayed), refused), (expected, 0), "{log}");
    }
}

#[test]
fn a_change_that_cannot_be_made_changes_nothing() {
    let before = r#"{"kind":0,"v":{"requests":[{"a":1}],"title":"t"}}"#;
    let far = format!(r#"{{"kind":1,"k":[{}"x"],"v":1}}"#, r#""a","#.repeat(40));
    let refused = [
        r#"{"kind":1,"k":["requests",7],"v":1}"#,
        r#"{"kind":1,"k":["requests",18446744073709551615,"a"],"v":1}"#,
        r#"{"kind":2,"k":["requests"],"v":[1],"i":99999999999}"#,
        r#"{"kind":2,"k":["title"],"v":[1]}"#,
        r#"{"kind":2,"k":[],"v":[1]}"#,
        r#"{"kind":1,"k":["title","x"],"v":1}"#,
        r#"{"kind":1,"k":["no","x"],"v":1}"#,
        r#"{"kind":2,"k":["requests"],"v":7}"#,
        r#"{"kind":0}"#,
        &far,
    ];
    let (state, count) = replay(&[&[before], &refused[..]].concat().join("\n"));
    assert_eq!((to_value(state), count), (to_value(replay(before).0), refused.len()));
    assert_eq!(replay(refused[0]).1, 1, "there is no session yet");
}

#[test]
fn a_later_state_replaces_everything() {
    let (state, _) =
        replay("{\"kind\":0,\"v\":{\"a\":1}}\n{\"kind\":1,\"k\":[\"b\"],\"v\":2}\n{\"kind\":0,\"v\":{\"c\":3}}");
    assert_eq!(to_value(state), serde_json::json!({ "c": 3 }));
}

#[test]
fn the_live_context_begins_with_the_last_summary() {
    insta::assert_snapshot!(live_context(&read("agent.jsonl")), @r#"
    agent summary: <analysis>greet became hello</analysis>
    user prompt: Mend the test, and ask me if you must
    agent call: vscode_askQuestions {"questions":[{"header":"Name","question":"Which name?","options":[{"label":"…
    agent outcome: Done, 0 images: {"answers":{"Name":{"selected":["hello"],"freeText":null,"skipped":false},"Doc…
    agent call: runSubagent {"prompt":"Who calls greet?","description":"Find callers"}
    agent outcome: Done, 0 images: Nobody.
    hook prompt: Mind the tests.
    agent call: read_file {"filePath":"/home/dev/work/demo-app/gone.py"}
    agent outcome: Failed, 0 images: ERROR while calling tool: cannot open file Please check your input and try a…
    agent reply: The test is mended.
    user prompt: Now the docs
    agent reply: I will write `api.md`.
    user prompt: Go on
    "#);
}

#[test]
fn everything_that_happened_is_told() {
    insta::assert_snapshot!(full_lines(&read_whole("agent.jsonl")), @r#"
    harness opaque session
    user prompt "Add a greeting and test it" <image/png Some("shot.png") Inline(8 bytes)>
    hook prompt "<attachment id=\"app.py\">\ndef greet\n</attachment>"
    agent reasoning reasoning(11 bytes)
    agent reply "I will look at the file."
    agent call Call { id: CallId("call_read"), tool: "read_file", input: Json(76 bytes), form: Function }
    agent outcome call_read Done None "File: app.py\ndef greet():"
    agent call Call { id: CallId("call_edit"), tool: "replace_string_in_file", input: Json(97 bytes), form: Function }
    agent call Call { id: CallId("call_test"), tool: "run_in_terminal", input: Json(74 bytes), form: Function }
    agent outcome call_edit Done None "The following files were successfully edited:\n/home/dev/work/demo-app/src/app.py"
    agent outcome call_test Failed Some(1) "1 failed"
    agent call Call { id: CallId("call_todo"), tool: "manage_todo_list", input: Json(127 bytes), form: Function }
    agent outcome call_todo Done None "Successfully wrote todo list"
    agent reply "The greeting is there, and one test fails."
    harness compaction Compaction { kept: None, anchor: None, keeps_prompts: false, repeats: false }
    agent summary "<analysis>greet became hello</analysis>"
    agent note note[]
    user prompt "Mend the test, and ask me if you must"
    agent call Call { id: CallId("call_ask"), tool: "vscode_askQuestions", input: Json(145 bytes), form: Function }
    agent outcome call_ask Done None "{\"answers\":{\"Name\":{\"selected\":[\"hello\"],\"freeText\":null,\"skipped\":false},\"Docs\":{\"selected\":[],\"fr
    agent call Call { id: CallId("call_sub"), tool: "runSubagent", input: Json(58 bytes), form: Function }
    agent outcome call_sub Done None "Nobody."
    hook prompt "Mind the tests."
    harness call Call { id: CallId("call_inner"), tool: "copilot_findTextInFiles", input: Json(2 bytes), form: Function }
    harness outcome call_inner Done None 
    agent call Call { id: CallId("call_bad"), tool: "read_file", input: Json(46 bytes), form: Function }
    agent outcome call_bad Failed None "ERROR while calling tool: cannot open file\nPlease check your input and try again."
    agent reply "The test is mended."
    agent note note[]
    user prompt "Now the docs"
    agent reply "I will write `api.md`."
    harness call Call { id: CallId("call_make"), tool: "run_in_terminal", input: Json(26 bytes), form: Function }
    harness outcome call_make Done Some(0) "ok\r\n"
    harness call Call { id: CallId("edit-4"), tool: "textEditGroup", input: Json(157 bytes), form: Function }
    harness outcome edit-4 Done None 
    harness failure Interrupted "the request was canceled" None
    user prompt "Go on"
    harness failure RateLimit "Sorry, you have been rate-limited. Please wait a moment before trying again." None
    user prompt "Delete everything"
    agent reply "Are you sure?"
    harness rewind Rewound(1 turns)
    user note note[]
    "#);
}

#[test]
fn the_first_version_is_read() {
    insta::assert_snapshot!(full_lines(&read_whole("v1.json")), @r#"
    harness opaque session
    user prompt "What does greet do?"
    agent reply "It prints `hi`."
    user prompt "@workspace Where is it called?"
    agent reply "In `/home/dev/work/demo-app/src/app.py` only."
    user prompt "Rename it"
    harness failure Other "Sorry, your request failed. Please try again." None
    user prompt "Rename it please"
    agent reply "I would "
    harness failure Interrupted "the request was canceled" None
    "#);
}

#[test]
fn the_second_version_is_read() {
    let transcript = read_whole("v2.json");
    assert_eq!(transcript.header.title.as_deref(), Some("What app.py does"));
    insta::assert_snapshot!(full_lines(&transcript), @r#"
    harness opaque session
    user prompt "Explain app.py"
    hook prompt "/home/dev/work/demo-app/src/app.py"
    agent reply "It greets."
    user prompt "Never mind"
    agent reply "Fine."
    harness rewind Rewound(1 turns)
    "#);
}

#[test]
fn the_third_version_is_read() {
    let transcript = read_whole("v3.json");
    assert_eq!(transcript.header.model.as_deref(), Some("claude-sonnet-4.6"));
    insta::assert_snapshot!(full_lines(&transcript), @r#"
    harness opaque session
    user prompt "Rename greet to hello in app.py"
    hook prompt "/home/dev/work/demo-app/src/app.py"
    agent reasoning reasoning(11 bytes)
    agent reply "I'll look at the file first."
    agent call Call { id: CallId("toolu_01read"), tool: "read_file", input: Json(76 bytes), form: Function }
    agent outcome toolu_01read Done None "def greet():\n    print('hi')\n"
    agent call Call { id: CallId("toolu_02edit"), tool: "replace_string_in_file", input: Json(97 bytes), form: Function }
    agent outcome toolu_02edit Done None "The following files were successfully edited:\n/home/dev/work/demo-app/src/app.py"
    harness call Call { id: CallId("toolu_03term"), tool: "run_in_terminal", input: Json(23 bytes), form: Function }
    harness outcome toolu_03term Done Some(0) "4 passed\r\n"
    agent reply "Renamed `greet` to `hello`."
    user prompt "Now update the docs"
    harness failure RateLimit "Sorry, you have been rate-limited. Please wait a moment before trying again." None
    user prompt "try again"
    harness failure Billing "You've reached your monthly chat messages quota." None
    "#);
}

#[test]
fn a_log_that_others_wrote_is_read() {
    insta::assert_snapshot!(full_lines(&read_whole("log.jsonl")), @r#"
    harness opaque session
    user prompt "Rename greet to hello in app.py"
    hook prompt "/home/dev/work/demo-app/src/app.py"
    agent reasoning reasoning(11 bytes)
    agent reply "I'll look at the file first."
    agent call Call { id: CallId("toolu_01read"), tool: "read_file", input: Json(76 bytes), form: Function }
    agent outcome toolu_01read Done None "def greet():\n    print('hi')\n"
    agent call Call { id: CallId("toolu_02edit"), tool: "replace_string_in_file", input: Json(97 bytes), form: Function }
    agent outcome toolu_02edit Done None "The following files were successfully edited:\n/home/dev/work/demo-app/src/app.py"
    harness call Call { id: CallId("toolu_03term"), tool: "run_in_terminal", input: Json(23 bytes), form: Function }
    harness outcome toolu_03term Done Some(0) "4 passed\r\n"
    agent reply "Renamed `greet` to `hello`."
    user prompt "Now update the docs"
    harness failure RateLimit "Sorry, you have been rate-limited. Please wait a moment before trying again." None
    "#);
}

#[test]
fn a_session_that_the_editor_wrote_is_read() {
    let transcript = read_whole("1.139.1-tools.jsonl");
    assert_eq!(transcript.rejected, []);
    insta::assert_snapshot!(full_lines(&transcript), @r#"
    harness opaque session
    user prompt "READFILE please"
    agent reply "I will use read_file.  "
    agent call Call { id: CallId("call_1"), tool: "read_file", input: Json(74 bytes), form: Function }
    agent outcome call_1 Done None "def greet():\n    print(\"hi\")\n"
    agent reply "Done after 1 results."
    agent note note[]
    "#);
}

#[test]
fn a_command_that_waits_for_the_users_word_has_not_run() {
    insta::assert_snapshot!(full_lines(&read_whole("1.139.1-waiting.jsonl")), @r#"
    harness opaque session
    user prompt "MAKEFILE please"
    agent reply "I will use create_file.  "
    agent call Call { id: CallId("call_1"), tool: "create_file", input: Json(70 bytes), form: Function }
    agent outcome call_1 Done None "The following files were successfully edited:\n/home/dv/judge/my-project/hello.txt\n"
    agent reply "Done after 1 results."
    agent note note[]
    user prompt "RUNIT please"
    agent reply "I will use run_in_terminal.  "
    agent call Call { id: CallId("call_3"), tool: "run_in_terminal", input: Json(34 bytes), form: Function }
    agent note note[]
    "#);
}

#[test]
fn a_session_that_the_editor_compacted_is_read_as_its_next_request_was_sent() {
    insta::assert_snapshot!(live_context(&read("1.139.1-compacted.jsonl")), @r"
    agent summary: Plain answer 6.
    user prompt: /compact keep the names
    user prompt: And now?
    agent reply: Plain answer 7.
    ");
}

#[test]
fn a_transcript_that_the_editor_wrote_is_read() {
    insta::assert_snapshot!(live_context(&read("1.139.1-transcript.jsonl")), @r#"
    agent reply: I will use read_file.
    agent call: read_file {"filePath":"/home/dv/judge/my-project/app.py","startLine":1,"endLine":10}
    agent outcome: Done, 0 images:
    agent reply: Done after 1 results.
    user prompt: And now?
    "#);
}

#[test]
fn a_turn_goes_on_until_the_editor_says_that_it_is_over() {
    let is_open = |name| read(name).header.is_turn_open;
    assert!(is_open("1.139.1-waiting.jsonl"));
    assert!(!is_open("1.139.1-tools.jsonl") && !is_open("agent.jsonl") && !is_open("v1.json"));
}

#[test]
fn a_transcript_for_hooks_is_read() {
    insta::assert_snapshot!(live_context(&read("hook-transcript.jsonl")), @r#"
    user prompt: Rename greet to hello in app.py
    agent reasoning: Read first.
    agent reply: I'll look at the file first.
    agent call: read_file {"filePath":"a"}
    agent outcome: Done, 0 images: def greet():
    "#);
}

#[test]
fn limits_and_interruptions_are_failures() {
    insta::assert_snapshot!(format!("{:?}", failure_kinds(&read_whole("agent.jsonl"))), @"[Interrupted, RateLimit]");
    insta::assert_snapshot!(format!("{:?}", failure_kinds(&read_whole("v3.json"))), @"[RateLimit, Billing]");
}

#[test]
fn a_prompt_that_waits_is_in_the_queue() {
    let transcript = read("agent.jsonl");
    let waiting = transcript.entries.iter().filter_map(|entry| match &entry.body {
        Body::Note(Note::Queue(QueueChange::Added(words))) => Some(words.as_str()),
        _ => None,
    });
    assert_eq!(waiting.collect::<Vec<_>>(), ["and the readme"]);
}

#[test]
fn reading_in_two_steps_is_reading_at_once() {
    for whole in [false, true] {
        let begin = || {
            let builder = TranscriptBuilder::new("copilot-vscode");
            if whole { builder.keeping_everything() } else { builder }
        };
        fixtures::check_reading_in_steps(&CopilotVscode, "agent.jsonl", fixtures::cut_every(97), begin);
    }
}

fn read_on(path: &Path, builder: &mut TranscriptBuilder, from: &Bookmark) -> Bookmark {
    CopilotVscode.read_session(&Source::file(path), from, builder).unwrap()
}

fn read_path(path: &Path) -> Transcript {
    fixtures::read_session(&CopilotVscode, path)
}

#[test]
fn a_log_that_the_editor_writes_anew_is_read_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    std::fs::write(&path, AGENT_LOG).unwrap();
    let mut builder = TranscriptBuilder::new("copilot-vscode");
    let bookmark = read_on(&path, &mut builder, &Bookmark::Start);
    let state = to_value(replay(AGENT_LOG).0);
    let more = r#"{"kind":2,"k":["requests"],"v":[{"message":{"text":"One more"}}]}"#;
    std::fs::write(&path, format!("{{\"kind\":0,\"v\":{state}}}\n{more}\n")).unwrap();
    read_on(&path, &mut builder, &bookmark);
    let stepped = builder.finish();
    assert_eq!(stepped.entries, read_path(&path).entries);
    assert!(live_context(&stepped).ends_with("user prompt: One more\n"));
}

#[test]
fn a_document_that_changed_is_read_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json");
    let document = include_str!("../fixtures/v2.json");
    std::fs::write(&path, document).unwrap();
    let mut builder = TranscriptBuilder::new("copilot-vscode");
    let bookmark = read_on(&path, &mut builder, &Bookmark::Start);
    assert_eq!(read_on(&path, &mut builder, &bookmark), bookmark);
    std::fs::write(&path, document.replace("It greets.", "It waves..")).unwrap();
    read_on(&path, &mut builder, &bookmark);
    let stepped = builder.finish();
    assert_eq!(stepped.entries, read_path(&path).entries);
    assert!(live_context(&stepped).contains("It waves.."));
}

#[test]
fn a_damaged_line_costs_itself_and_a_growing_one_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    let mut lines: Vec<&str> = AGENT_LOG.lines().collect();
    lines.insert(5, "{\"kind\":2,\"k\":[\"requests\"");
    std::fs::write(&path, lines.join("\n") + "\n{\"kind\":2,\"k\":[\"requests\"],\"v\":[{\"mess").unwrap();
    let damaged = read_path(&path);
    assert_eq!(damaged.rejected.len(), 1);
    assert_eq!(live_context(&damaged), live_context(&read("agent.jsonl")));
}

#[test]
fn damage_is_told_once_in_however_many_steps() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    let mut lines: Vec<&str> = AGENT_LOG.lines().collect();
    lines.insert(20, "damage");
    lines.insert(3, "damage");
    let mut builder = TranscriptBuilder::new("copilot-vscode");
    let mut bookmark = Bookmark::Start;
    for end in 1..=lines.len() {
        std::fs::write(&path, lines[..end].join("\n") + "\n").unwrap();
        bookmark = read_on(&path, &mut builder, &bookmark);
    }
    let (stepped, whole) = (builder.finish(), read_path(&path));
    assert_eq!(stepped.rejected.len(), 2);
    assert_eq!((stepped.rejected, stepped.entries), (whole.rejected, whole.entries));
}

#[test]
fn a_document_that_is_none_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json");
    for text in ["no", "[1]", "{\"requests\":"] {
        std::fs::write(&path, text).unwrap();
        let transcript = read_path(&path);
        assert!(transcript.rejected.len() == 1 || transcript.entries[0].body.is_unknown(), "{text}");
    }
    std::fs::write(&path, r#"{"requests":[7,{"message":{"text":"hi"}},null]}"#).unwrap();
    let transcript = read_path(&path);
    assert_eq!((transcript.rejected.len(), live_context(&transcript).as_str()), (2, "user prompt: hi\n"));
}

#[test]
fn a_record_is_the_request() {
    let transcript = read("agent.jsonl");
    let key = EntryKey { file: 0, offset: 4, part: 0, length: 0 };
    let request: Value = serde_json::from_str(&CopilotVscode.read_record(&transcript.header, key).unwrap()).unwrap();
    assert_eq!(request["message"]["text"], "Go on");
    let gone = EntryKey { offset: 99, ..key };
    assert!(CopilotVscode.read_record(&transcript.header, gone).is_err());
    assert!(CopilotVscode.reload_entries(&transcript.header, gone).is_err());
}

#[test]
fn results_of_calls_behind_the_limit_of_a_turn_stand_in_the_next() {
    let round = r#"{"id":"r","response":"","toolCalls":[{"id":"c","name":"read_file","arguments":"{}"}]}"#;
    let first = format!(
        r#"{{"message":"a","result":{{"metadata":{{"toolCallRounds":[{round}],"maxToolCallsExceeded":true}}}}}}"#
    );
    let next = r#"{"message":"b","result":{"metadata":{"toolCallRounds":[{"id":"s","response":"ok"}],"toolCallResults":{"c":{"content":[{"value":"text"}]}}}}}"#;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json");
    std::fs::write(&path, format!(r#"{{"requests":[{first},{next}]}}"#)).unwrap();
    insta::assert_snapshot!(live_context(&read_path(&path)), @r"
    user prompt: a
    agent call: read_file {}
    agent outcome: Done, 0 images: text
    user prompt: b
    agent reply: ok
    ");
}
