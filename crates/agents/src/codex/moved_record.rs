//! What of a record moves with a session: what was said and done, and where, by name.
//!
//! The client takes approvals, sandbox, folders that it may write to, tools and its own instructions from a session's records
//! where they stand there, whatever its settings say.

use serde_json::Value;

use crate::formats::kept_fields::{Kept, KeptFields};

const LINE: KeptFields = KeptFields {
    whole: &["timestamp", "ordinal", "type", "payload"],
    inside: &[("metadata", Kept::Object(&KeptFields::whole(&["compaction_output"])))],
};

const META: KeptFields = KeptFields {
    whole: &[
        "id",
        "session_id",
        "timestamp",
        "cwd",
        "originator",
        "cli_version",
        "source",
        "thread_source",
        "model_provider",
        "history_mode",
        "multi_agent_version",
    ],
    inside: &[
        ("context_window", Kept::Object(&KeptFields::whole(&["window_id"]))),
        ("git", Kept::Object(&KeptFields::whole(&["commit_hash", "branch", "repository_url"]))),
    ],
};

const TURN: KeptFields = KeptFields {
    whole: &[
        "turn_id",
        "root_turn_id",
        "cwd",
        "model",
        "comp_hash",
        "effort",
        "summary",
        "personality",
        "current_date",
        "timezone",
        "realtime_active",
        "multi_agent_version",
        "truncation_policy",
    ],
    inside: &[("collaboration_mode", Kept::Object(&COLLABORATION))],
};

const COLLABORATION: KeptFields = KeptFields {
    whole: &["mode"],
    inside: &[("settings", Kept::Object(&KeptFields::whole(&["model", "reasoning_effort"])))],
};

const COMPACTION: KeptFields = KeptFields {
    whole: &["message", "window_number", "first_window_id", "previous_window_id", "window_id"],
    inside: &[("replacement_history", Kept::List(&ITEM))],
};

const WORLD: KeptFields = KeptFields::whole(&["full", "state"]);

const USAGE: KeptFields = KeptFields::whole(&[
    "thread_id",
    "turn_id",
    "session_id",
    "root_turn_id",
    "response_id",
    "usage",
    "turn_token_usage",
    "thread_token_usage",
]);

/// Kinds of records that hold one thing.
const KINDS: &[(&str, &KeptFields)] = &[
    ("session_meta", &META),
    ("turn_context", &TURN),
    ("compacted", &COMPACTION),
    ("world_state", &WORLD),
    ("token_usage_record", &USAGE),
];

/// What the model is sent. Not among it: items that bring tools, and states of files that the client would go back to.
const ITEM_KINDS: &[&str] = &[
    "agent_message",
    "compaction",
    "compaction_summary",
    "context_compaction",
    "custom_tool_call",
    "custom_tool_call_output",
    "function_call",
    "function_call_output",
    "image_generation_call",
    "local_shell_call",
    "message",
    "reasoning",
    "web_search_call",
];

const ITEM: KeptFields = KeptFields {
    whole: &[
        "type",
        "id",
        "role",
        "content",
        "status",
        "phase",
        "name",
        "namespace",
        "arguments",
        "call_id",
        "input",
        "output",
        "action",
        "summary",
        "encrypted_content",
        "author",
        "recipient",
        "revised_prompt",
        "result",
    ],
    inside: &[("internal_chat_message_metadata_passthrough", Kept::Object(&ITEM_NOTES))],
};

const ITEM_NOTES: KeptFields =
    KeptFields::whole(&["turn_id", "create_time", "content_item_kinds", "content_item_metadata"]);

/// What the client shows, and by what it counts turns.
const EVENTS: &[(&str, &KeptFields)] = &[
    ("agent_message", &KeptFields::whole(&["type", "message", "phase"])),
    ("agent_reasoning", &KeptFields::whole(&["type", "text"])),
    ("context_compacted", &KeptFields::whole(&["type"])),
    ("error", &KeptFields::whole(&["type", "message", "codex_error_info"])),
    ("exec_command_end", &RAN),
    ("item_completed", &SHOWN),
    ("mcp_tool_call_end", &KeptFields::whole(&["type", "call_id", "invocation", "duration", "result"])),
    ("patch_apply_end", &RAN),
    ("task_complete", &ENDED),
    ("task_started", &STARTED),
    ("thread_name_updated", &KeptFields::whole(&["type", "thread_id", "thread_name"])),
    ("thread_rolled_back", &KeptFields::whole(&["type", "num_turns"])),
    ("token_count", &KeptFields::whole(&["type", "info", "rate_limits"])),
    ("turn_aborted", &ENDED),
    (
        "user_message",
        &KeptFields::whole(&[
            "type",
            "message",
            "images",
            "local_images",
            "text_elements",
            "audio",
            "local_audio",
            "kind",
        ]),
    ),
];

const RAN: KeptFields = KeptFields::whole(&[
    "type",
    "call_id",
    "turn_id",
    "command",
    "cwd",
    "parsed_cmd",
    "stdout",
    "stderr",
    "aggregated_output",
    "exit_code",
    "duration",
    "formatted_output",
    "status",
    "success",
    "changes",
]);

const STARTED: KeptFields = KeptFields::whole(&[
    "type",
    "turn_id",
    "root_turn_id",
    "started_at",
    "model_context_window",
    "collaboration_mode_kind",
]);

const ENDED: KeptFields = KeptFields::whole(&[
    "type",
    "turn_id",
    "root_turn_id",
    "last_agent_message",
    "reason",
    "error",
    "started_at",
    "completed_at",
    "duration_ms",
    "time_to_first_token_ms",
]);

const SHOWN: KeptFields = KeptFields {
    whole: &["type", "thread_id", "turn_id", "started_at_ms", "completed_at_ms"],
    inside: &[("item", Kept::Object(&SHOWN_ITEM))],
};

const SHOWN_ITEM: KeptFields = KeptFields::whole(&[
    "type",
    "id",
    "client_id",
    "content",
    "phase",
    "summary_text",
    "raw_content",
    "process_id",
    "command",
    "cwd",
    "parsed_cmd",
    "source",
    "status",
    "aggregated_output",
    "exit_code",
    "duration",
    "changes",
    "stdout",
    "stderr",
    "server",
    "tool",
    "arguments",
    "result",
    "query",
    "action",
    "path",
]);

/// Keeps what may move of a record; whether any of it may.
pub(super) fn keep_record(record: &mut Value) -> bool {
    if !LINE.keep(record) {
        return false;
    }
    let kind = record["type"].as_str().unwrap_or_default().to_owned();
    let Some(payload) = record.get_mut("payload") else { return false };
    match kind.as_str() {
        "response_item" => keep_item(payload),
        "event_msg" => find_fields(EVENTS, &payload["type"]).is_some_and(|fields| fields.keep(payload)),
        kind => {
            let fields = KINDS.iter().find(|(known, _)| *known == kind);
            fields.is_some_and(|(_, fields)| fields.keep(payload)) && keep_listed_items(payload)
        }
    }
}

fn find_fields(kinds: &'static [(&str, &KeptFields)], kind: &Value) -> Option<&'static KeptFields> {
    kinds.iter().find(|(known, _)| kind == known).map(|(_, fields)| *fields)
}

fn keep_item(item: &mut Value) -> bool {
    ITEM_KINDS.iter().any(|kind| item["type"] == *kind) && ITEM.keep(item)
}

/// A compaction lists what it leaves of the conversation.
fn keep_listed_items(payload: &mut Value) -> bool {
    if let Some(items) = payload.get_mut("replacement_history").and_then(Value::as_array_mut) {
        items.retain_mut(keep_item);
    }
    true
}
