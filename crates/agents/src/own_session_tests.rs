//! Whatever stands in the records of a session that is moved as a whole: nothing breaks, and only records come out.

use std::path::Path;

use carryover_core::transcript::{Header, SessionId};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::write_fixtures::{moved_request, sample_env, write_file};
use crate::{AGENTS, Agent, AgentError, OwnSession, Source, Store, TargetView, WriteOp, WritePlan};

const ID: &str = "01a1f09e-40a8-7372-92bc-8d5de9e426d6";

/// Agents whose sessions move as a whole, and what one of theirs is called in a store.
const MOVING: &[(&str, &str)] = &[
    ("claude-code", "projects/-old/01a1f09e-40a8-7372-92bc-8d5de9e426d6.jsonl"),
    ("codex", "sessions/2026/11/15/rollout-2026-11-15T00-00-00-01a1f09e-40a8-7372-92bc-8d5de9e426d6.jsonl"),
    ("gemini-cli", "tmp/old/chats/session-2026-11-15T00-00-01a1f09e.jsonl"),
    ("opencode", "session.json"),
    ("aider", ".aider.chat.history.md"),
];

/// Names that records of one of them have, and kinds of records.
const NAMES: &[&str] = &[
    "type",
    "subtype",
    "payload",
    "uuid",
    "parentUuid",
    "leafUuid",
    "sessionId",
    "message",
    "content",
    "attachment",
    "rendered",
    "permissionMode",
    "compactMetadata",
    "preservedSegment",
    "tailUuid",
    "toolUseResult",
    "input",
    "ordinal",
    "arguments",
    "replacement_history",
    "metadata",
    "collaboration_mode",
    "settings",
    "$set",
    "$rewindTo",
    "messages",
    "toolCalls",
    "args",
    "functionCall",
    "projectHash",
    "id",
    "info",
    "permission",
    "pattern",
    "action",
    "role",
];
const WORDS: &[&str] = &[
    "user",
    "assistant",
    "system",
    "attachment",
    "environment",
    "prompt_snapshot",
    "compact_boundary",
    "last-prompt",
    "tool_use",
    "session_meta",
    "turn_context",
    "compacted",
    "world_state",
    "response_item",
    "event_msg",
    "function_call",
    "item_completed",
    "gemini",
    "deny",
    "a",
    "b",
    ID,
    "/old/x",
    "{\"workdir\":\"/old\"}",
];

fn any_value() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(WORDS).prop_map(|word| json!(word));
    let leaf = prop_oneof![6 => word, 1 => Just(json!(5)), 1 => Just(Value::Null), 1 => Just(json!(true))];
    leaf.prop_recursive(5, 40, 8, |inside| {
        let fields = prop::collection::vec((prop::sample::select(NAMES), inside.clone()), 0..8);
        let object = fields.prop_map(|fields| {
            let named = fields.into_iter().map(|(name, value)| (name.to_owned(), value));
            Value::Object(named.collect::<Map<_, _>>())
        });
        prop_oneof![4 => object, 1 => prop::collection::vec(inside, 0..4).prop_map(Value::Array)]
    })
}

const BROKEN: &[&str] = &["{\"a\":\"\\ud800\"}", "{\"a\":1e999}", "no json", "", "5", "[]", "null", "{\"cut\":"];

fn any_line() -> impl Strategy<Value = String> {
    let broken = prop::sample::select(BROKEN).prop_map(str::to_owned);
    prop_oneof![8 => any_value().prop_map(|value| value.to_string()), 1 => broken]
}

fn agent(id: &str) -> &'static dyn Agent {
    *AGENTS.iter().find(|agent| agent.facts().id == id).unwrap()
}

/// Plans the move of a log of these lines.
fn plan_lines(id: &str, name: &str, text: &str) -> Result<Option<WritePlan>, AgentError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    write_file(&path, text.as_bytes());
    let (env, store) = (sample_env(), Store { root: "/home/u/store".into() });
    let program = Path::new("/bin/client");
    let target = TargetView { env: &env, store: &store, program: Some(program), version: None };
    let header = Header { session: SessionId(ID.into()), files: vec![path.clone()], ..Header::default() };
    let source = Source::file(&path);
    let own =
        OwnSession { source: &source, root: folder.path(), header: &header, old_home: Some(Path::new("/home/other")) };
    agent(id).writer().unwrap().plan_own(&own, &moved_request(&[], None), &target)
}

/// The first line by which each client knows its log.
fn head(id: &str) -> String {
    match id {
        "codex" => json!({"type": "session_meta", "payload": {"id": ID}}).to_string() + "\n",
        "gemini-cli" => json!({"sessionId": ID, "projectHash": "h"}).to_string() + "\n",
        _ => String::new(),
    }
}

fn assert_only_records(plan: &WritePlan) {
    for op in &plan.ops {
        let WriteOp::Create { path, bytes, .. } = op else { continue };
        if path.extension().is_some_and(|end| end == "jsonl") {
            let lines = std::str::from_utf8(bytes).unwrap().lines();
            lines.for_each(|line| assert!(serde_json::from_str::<Value>(line).unwrap().is_object(), "{line}"));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_lines_move_or_stay_behind(lines in prop::collection::vec(any_line(), 0..12)) {
        for (id, name) in MOVING {
            // What is no session at all is an error, and nothing else.
            let plan = plan_lines(id, name, &(head(id) + &lines.join("\n") + "\n"));
            if let Ok(Some(plan)) = plan {
                assert_only_records(&plan);
            }
        }
    }
}

/// Records that once made a client's reader, or ours, fall over.
#[test]
fn records_of_any_form_are_no_fault() {
    let lines = [
        "5",
        "[]",
        "null",
        r#"{"timestamp":"2026-11-15T00:00:00.000Z","type":"session_meta","payload":"x"}"#,
        r#"{"type":"compacted","payload":"x"}"#,
        r#"{"type":"compacted","payload":{"replacement_history":[5,{"type":"message","content":5}]}}"#,
        r#"{"type":"turn_context","payload":[]}"#,
        r#"{"type":"user","message":"x","uuid":5}"#,
        r#"{"type":"user","id":"a","content":5,"toolCalls":[5,{"args":5}]}"#,
        r#"{"$set":5}"#,
        r#"{"$set":{"messages":[5,{"type":"user","content":"x"}]}}"#,
    ];
    for (id, name) in MOVING {
        for line in lines {
            let plan = plan_lines(id, name, &format!("{}{line}\n", head(id)));
            assert!(plan.is_ok(), "{id}: {line}: {plan:?}");
        }
    }
}

#[test]
fn these_agents_move_sessions_and_no_other() {
    for agent in AGENTS.iter().filter(|agent| agent.writer().is_some()) {
        let id = agent.facts().id;
        let name = MOVING.iter().find(|(moving, _)| *moving == id);
        // What it would take for its own it is asked to move by these tests, too.
        let moves =
            plan_lines(id, name.map_or("session.jsonl", |(_, name)| name), &head(id)).is_ok_and(|plan| plan.is_some());
        assert!(!moves || name.is_some(), "{id}");
    }
}
