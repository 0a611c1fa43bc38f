//! Small sessions as the client writes them, and who speaks in them.

use std::fmt::Write as _;

use carryover_core::live;
use carryover_core::transcript::{
    Body, FailureKind, Note, Origin, QueueChange, Status, Transcript, TranscriptBuilder, text_of,
};
use serde_json::{Value, json};

use super::ClaudeCode;
use crate::{Bookmark, Reader, Source};

/// Reads records that hang one on the other, unless they name their parent; records of the queue are beside the chain.
fn read_records(records: &[Value]) -> Transcript {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("00000000-0000-4000-8000-000000000001.jsonl");
    let mut lines = String::new();
    let mut parent = Value::Null;
    for (at, record) in records.iter().enumerate() {
        let mut record = record.clone();
        if record["type"] != "queue-operation" {
            let uuid = record.get("uuid").cloned().unwrap_or_else(|| json!(format!("u{at}")));
            let parent_uuid = record.get("parentUuid").cloned().unwrap_or(parent);
            record["uuid"] = uuid.clone();
            record["parentUuid"] = parent_uuid;
            record["sessionId"] = json!("00000000-0000-4000-8000-000000000001");
            parent = uuid;
        }
        writeln!(lines, "{record}").unwrap();
    }
    std::fs::write(&path, lines).unwrap();
    let mut builder = TranscriptBuilder::new("claude-code");
    ClaudeCode.read_session(&Source { path, key: None }, &Bookmark::Start, &mut builder).unwrap();
    builder.finish()
}

fn user_record(content: impl Into<Value>) -> Value {
    json!({ "type": "user", "message": { "role": "user", "content": content.into() } })
}

fn with_field(mut record: Value, field: &str, value: impl Into<Value>) -> Value {
    record[field] = value.into();
    record
}

fn attachment_record(attachment: &Value) -> Value {
    json!({ "type": "attachment", "attachment": attachment })
}

fn call_record(message: &str, id: &str, tool: &str) -> Value {
    let block = json!({ "type": "tool_use", "id": id, "name": tool, "input": {} });
    json!({ "type": "assistant", "message": { "id": message, "role": "assistant", "model": "m", "content": [block] } })
}

fn outcome_record(id: &str, text: &str, failed: bool) -> Value {
    user_record(json!([{ "type": "tool_result", "tool_use_id": id, "content": text, "is_error": failed }]))
}

/// Who says what of what is live.
fn live_words(transcript: &Transcript) -> Vec<String> {
    let told = |index: &usize| {
        let entry = &transcript.entries[*index];
        let who = match (entry.origin, entry.body.kind()) {
            (Origin::User, _) => "user",
            (Origin::Hook, _) => "hook",
            (_, kind) => kind,
        };
        format!("{who}: {}", text_of(entry.body.parts()))
    };
    live::context_order(transcript).iter().map(told).collect()
}

fn check_live(records: &[Value], expected: &[&str]) {
    let transcript = read_records(records);
    assert_eq!(transcript.rejected, []);
    assert_eq!(live_words(&transcript), expected);
}

fn queue_changes(records: &[Value]) -> Vec<String> {
    let told = |change: &QueueChange| match change {
        QueueChange::Added(words) => format!("added: {words}"),
        QueueChange::Taken => "taken".to_owned(),
        QueueChange::Removed(words) => format!("removed: {words}"),
        QueueChange::Cleared => "cleared".to_owned(),
    };
    let transcript = read_records(records);
    let changes = transcript.entries.iter().filter_map(|entry| match &entry.body {
        Body::Note(Note::Queue(change)) => Some(told(change)),
        _ => None,
    });
    changes.collect()
}

#[test]
fn what_a_command_or_a_skill_expands_to_is_not_the_users() {
    let command = "<command-message>fix</command-message>\n<command-name>/fix</command-name>\n\
                   <command-args>issue 12</command-args>";
    let expanded = user_record(json!([{ "type": "text", "text": "Mend the issue with number issue 12." }]));
    let skill =
        user_record(json!([{ "type": "text", "text": "Base directory for this skill: /h/skills/a\n\nDo it so." }]));
    let transcript =
        read_records(&[user_record(command), with_field(expanded, "isMeta", true), with_field(skill, "isMeta", true)]);
    assert_eq!(
        live_words(&transcript),
        [
            "user: /fix issue 12",
            "hook: Mend the issue with number issue 12.",
            "hook: Base directory for this skill: /h/skills/a\n\nDo it so.",
        ]
    );
    assert_eq!(transcript.header.title.as_deref(), Some("/fix issue 12"));
}

#[test]
fn a_document_that_the_client_shows_the_model_is_not_the_users() {
    let source = json!({ "type": "base64", "media_type": "application/pdf", "data": "AAAA" });
    let shown = with_field(user_record(json!([{ "type": "document", "source": source }])), "isMeta", true);
    let transcript = read_records(&[user_record("read it"), shown]);
    assert_eq!(transcript.entries.last().map(|entry| entry.origin), Some(Origin::Hook));
}

#[test]
fn a_task_that_ended_is_not_the_user() {
    let notice = "<task-notification>\n<task-id>b1</task-id>\n</task-notification>\nRead the output file: /t/b1.output";
    let other = with_field(user_record("the other agent is done"), "origin", json!({ "kind": "coordinator" }));
    let hook = format!("hook: {notice}");
    check_live(&[user_record(notice), other], &[&hook, "hook: the other agent is done"]);
}

#[test]
fn shell_commands_are_typed_and_follow_what_was_said_before() {
    // 1.0 hangs each of them on the same caveat.
    let old = |content: &str| with_field(user_record(content), "version", "1.0.17");
    let caveat = with_field(
        old("Caveat: The messages below were generated by the user while running local commands."),
        "isMeta",
        true,
    );
    let records = [
        with_field(caveat, "uuid", "caveat"),
        old("<bash-input>make</bash-input>"),
        old("<bash-stdout></bash-stdout><bash-stderr>no rule</bash-stderr>"),
        old("why is there no rule?"),
        with_field(old("<bash-input>make all</bash-input>"), "parentUuid", "caveat"),
        old("<bash-stdout>made</bash-stdout><bash-stderr></bash-stderr>"),
    ];
    check_live(
        &records,
        &[
            "user: ! make",
            "hook: <bash-stdout></bash-stdout><bash-stderr>no rule</bash-stderr>",
            "user: why is there no rule?",
            "user: ! make all",
            "hook: <bash-stdout>made</bash-stdout><bash-stderr></bash-stderr>",
        ],
    );
}

#[test]
fn a_turn_that_the_user_stopped_is_a_failure_told_by_the_client() {
    let stopped = user_record(json!([{ "type": "text", "text": "[Request interrupted by user for tool use]" }]));
    let transcript = read_records(&[user_record("go"), stopped, user_record("not so")]);
    let words = ["user: go", "hook: [Request interrupted by user for tool use]", "user: not so"];
    assert_eq!(live_words(&transcript), words);
    let failures = transcript.entries.iter().filter_map(|entry| match &entry.body {
        Body::Failure(failure) => Some(failure.kind),
        _ => None,
    });
    assert_eq!(failures.collect::<Vec<_>>(), [FailureKind::Interrupted]);
}

#[test]
fn what_an_editor_says_stands_beside_the_users_words() {
    let opened = "<ide_opened_file>The user opened the file /p/a.rs in the IDE.</ide_opened_file>";
    let blocks = json!([{ "type": "text", "text": opened }, { "type": "text", "text": "what is this?" }]);
    let hook = format!("hook: {opened}");
    check_live(&[user_record(blocks)], &[&hook, "user: what is this?"]);
}

#[test]
fn a_summary_without_a_mark_is_a_summary() {
    let text = "This session is being continued from a previous conversation that ran out of context. It was so.";
    let summary = format!("summary: {text}");
    check_live(&[user_record(text), user_record("go on")], &[&summary, "user: go on"]);
}

#[test]
fn prompts_wait_and_notices_do_not_count() {
    let queue = |operation: &str, content: Option<&str>| match content {
        Some(content) => json!({ "type": "queue-operation", "operation": operation, "content": content }),
        None => json!({ "type": "queue-operation", "operation": operation }),
    };
    let records = [
        queue("enqueue", Some("first")),
        queue("enqueue", Some("second")),
        queue("enqueue", Some("<task-notification>\n<task-id>b1</task-id>\n</task-notification>")),
        queue("enqueue", Some(r#"{"task_id":"b2","tool_use_id":"t","task_type":"local_bash"}"#)),
        queue("enqueue", Some("/rate-limit-options")),
        queue("enqueue", Some("/fix 12")),
        queue("enqueue", None),
        queue("dequeue", None),
        queue("remove", None),
        queue("remove", Some("/fix 12")),
        queue("remove", Some("<task-notification>\n<task-id>b1</task-id>\n</task-notification>")),
        queue("popAll", Some("second")),
        queue("popAll", None),
    ];
    let expected = [
        "added: first",
        "added: second",
        "added: /fix 12",
        "taken",
        "taken",
        "removed: /fix 12",
        "removed: second",
        "cleared",
    ];
    assert_eq!(queue_changes(&records), expected);
}

#[test]
fn what_waited_is_the_users_where_the_user_typed_it() {
    let queued = |prompt: &str, mode: &str, kind: &str| {
        attachment_record(&json!({
            "type": "queued_command", "prompt": prompt, "commandMode": mode, "origin": { "kind": kind },
        }))
    };
    let old = |prompt: &str| attachment_record(&json!({ "type": "queued_command", "prompt": prompt }));
    check_live(
        &[
            queued("and test it", "prompt", "human"),
            queued("a task is done", "task-notification", "task-notification"),
            old("and name it"),
            old("<task-notification>b1</task-notification>"),
        ],
        &[
            "user: and test it",
            "hook: a task is done",
            "user: and name it",
            "hook: <task-notification>b1</task-notification>",
        ],
    );
}

#[test]
fn what_a_hook_of_a_tool_prints_is_for_the_screen_and_its_context_for_the_model() {
    let hook = |kind: &str, event: &str, content: Value| {
        attachment_record(&json!({ "type": kind, "hookEvent": event, "toolUseID": "t", "content": content }))
    };
    let objection = json!({
        "type": "hook_blocking_error", "hookEvent": "PostToolUse", "toolUseID": "t",
        "blockingError": { "blockingError": "[lint]: too long", "command": "lint" },
    });
    check_live(
        &[
            hook("hook_success", "PostToolUse", json!("printed")),
            hook("hook_additional_context", "PostToolUse", json!(["mind the style"])),
            hook("hook_success", "UserPromptSubmit", json!("it is Monday")),
            attachment_record(&objection),
        ],
        &["hook: mind the style", "hook: it is Monday", "hook: [lint]: too long"],
    );
}

#[test]
fn folders_and_changed_files_come_with_the_users_words() {
    let folder = json!({ "type": "directory", "path": "/p/src", "content": "a.rs\nb.rs", "displayPath": "src" });
    let changed = json!({ "type": "edited_text_file", "filename": "/p/a.rs", "snippet": "1\tfn a() {}" });
    check_live(
        &[user_record("see @src"), attachment_record(&folder), attachment_record(&changed)],
        &["user: see @src", "hook: [folder /p/src]\na.rs\nb.rs", "hook: [file /p/a.rs was changed]\n1\tfn a() {}"],
    );
}

/// The shape that 2.1.50 wrote for three calls of one message with hooks, and that 2.1.325 resumed with all three.
#[test]
fn calls_that_hang_on_what_hooks_wrote_meanwhile_are_live() {
    let progress = || json!({ "type": "progress", "data": { "type": "hook_progress", "hookEvent": "PreToolUse" } });
    let named = |record: Value, uuid: &str| with_field(record, "uuid", uuid);
    let answer = |id: &str, text: &str, parent: &str| with_field(outcome_record(id, text, false), "parentUuid", parent);
    check_live(
        &[
            user_record("go"),
            named(call_record("m1", "a", "Bash"), "call a"),
            progress(),
            named(call_record("m1", "b", "Bash"), "call b"),
            progress(),
            named(call_record("m1", "c", "Bash"), "call c"),
            progress(),
            answer("b", "B", "call b"),
            progress(),
            answer("c", "C", "call c"),
            progress(),
            answer("a", "A", "call a"),
            user_record("and then?"),
        ],
        &["user: go", "call: ", "call: ", "call: ", "outcome: B", "outcome: C", "outcome: A", "user: and then?"],
    );
}

#[test]
fn a_plan_is_done_where_it_was_approved() {
    let refused = "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nno";
    let records = [
        call_record("m1", "p1", "ExitPlanMode"),
        outcome_record("p1", refused, true),
        call_record("m2", "p2", "ExitPlanMode"),
        outcome_record("p2", "User has approved your plan.", false),
    ];
    let transcript = read_records(&records);
    let states = transcript.entries.iter().filter_map(|entry| match &entry.body {
        Body::Outcome(outcome) => Some(outcome.status),
        _ => None,
    });
    assert_eq!(states.collect::<Vec<_>>(), [Status::Interrupted, Status::Done]);
}
