//! What of a record moves with a session: the conversation, titles, and what the client had announced, by name.
//!
//! The client takes far more from its records when it resumes than it says of the conversation there: its system prompt, the
//! agent that it is, folders, worktrees, modes, hooks, files to write to. Whoever made the session would decide on them.

use serde_json::{Value, json};

use crate::formats::kept_fields::{Kept, KeptFields};

/// Fields that a kind of record keeps.
struct RecordKind {
    kind: &'static str,
    /// Kinds within it of which alone it may be, and where they are told.
    of: Option<(&'static str, &'static [&'static str])>,
    fields: KeptFields,
}

/// A record of the conversation. Not among them: `slug`, by which the client finds a file of plans that it may write.
macro_rules! chained {
    ($($own:literal),* $(,)?) => {
        &[
            "type", "uuid", "parentUuid", "timestamp", "sessionId", "session_id", "cwd", "version", "gitBranch",
            "isSidechain", "userType", "entrypoint", "agentId", "isMeta", $($own),*
        ]
    };
}

const MESSAGE: KeptFields = KeptFields::whole(&[
    "id",
    "type",
    "role",
    "model",
    "content",
    "stop_reason",
    "stop_sequence",
    "stop_details",
    "usage",
]);

const COMPACTION: KeptFields = KeptFields {
    whole: &[
        "trigger",
        "preTokens",
        "postTokens",
        "durationMs",
        "cumulativeDroppedTokens",
        "messagesSummarized",
        "preservedMessages",
    ],
    inside: &[("preservedSegment", Kept::Object(&SEGMENT))],
};

const SEGMENT: KeptFields = KeptFields::whole(&["headUuid", "anchorUuid", "tailUuid"]);

/// What the client announces once and takes for announced afterwards, what was mentioned, typed or said by hooks, and
/// reminders. All of it is words; the client does as none of it says. The words in which a client has put it (`rendered`) stay
/// behind: the one that goes on puts it in its own, which are the same.
const ATTACHMENTS: &[&str] = &[
    "agent_listing_delta",
    "auto_mode",
    "date",
    "deferred_tools_delta",
    "directory",
    "edited_text_file",
    "environment",
    "file",
    "hook_additional_context",
    "hook_blocking_error",
    "hook_success",
    "instructions",
    "model",
    "opened_file_in_ide",
    "queued_command",
    "remote_session_change",
    "selected_lines_in_ide",
    "session_context",
    "silent_turn_reminder",
    "skill_listing",
    "thinking_stripped",
    "todo_reminder",
    "total_tokens_reminder",
];

const KINDS: &[RecordKind] = &[
    RecordKind {
        kind: "user",
        of: None,
        fields: KeptFields {
            whole: chained!(
                "promptId",
                "promptSource",
                "permissionMode",
                "origin",
                "turnOrigin",
                "turnPosition",
                "toolUseResult",
                "sourceToolAssistantUUID",
                "isCompactSummary",
                "isVisibleInTranscriptOnly",
                "repeatsCompactSummary",
                "summarizedTurnPromptUuids",
                "imagePasteIds",
            ),
            inside: &[("message", Kept::Object(&MESSAGE))],
        },
    },
    RecordKind {
        kind: "assistant",
        of: None,
        fields: KeptFields {
            whole: chained!(
                "requestId",
                "isApiErrorMessage",
                "error",
                "apiError",
                "apiErrorStatus",
                "apiErrorType",
                "apiErrorParams",
                "apiBlockIndex",
                "requestedModel",
                "thinkingDurationMs",
                "thinkingDisplay",
            ),
            inside: &[("message", Kept::Object(&MESSAGE))],
        },
    },
    RecordKind {
        kind: "system",
        of: Some(("/subtype", &["api_error", "compact_boundary", "informational", "local_command", "turn_duration"])),
        fields: KeptFields {
            whole: chained!(
                "subtype",
                "content",
                "level",
                "logicalParentUuid",
                "durationMs",
                "messageCount",
                "error",
                "retryInMs",
                "retryAttempt",
                "maxRetries",
            ),
            inside: &[("compactMetadata", Kept::Object(&COMPACTION))],
        },
    },
    RecordKind {
        kind: "attachment",
        of: Some(("/attachment/type", ATTACHMENTS)),
        fields: KeptFields::whole(chained!("attachment")),
    },
    RecordKind { kind: "summary", of: None, fields: KeptFields::whole(&["type", "summary", "leafUuid"]) },
    RecordKind { kind: "ai-title", of: None, fields: KeptFields::whole(&["type", "aiTitle", "sessionId"]) },
    RecordKind { kind: "custom-title", of: None, fields: KeptFields::whole(&["type", "customTitle", "sessionId"]) },
    RecordKind { kind: "agent-name", of: None, fields: KeptFields::whole(&["type", "agentName", "sessionId"]) },
    RecordKind {
        kind: "last-prompt",
        of: None,
        fields: KeptFields::whole(&["type", "lastPrompt", "leafUuid", "explicit", "rewound", "cutUuid", "sessionId"]),
    },
    RecordKind {
        kind: "queue-operation",
        of: None,
        fields: KeptFields::whole(&["type", "operation", "content", "timestamp", "sessionId"]),
    },
];

/// What stands beside a log of a sub-agent. Not among it: a worktree, which the client would go to.
const SUB_AGENT: KeptFields = KeptFields::whole(&["agentType", "description", "toolUseId", "spawnDepth", "finished"]);

/// A step of a plan.
const STEP: KeptFields =
    KeptFields::whole(&["id", "subject", "description", "activeForm", "status", "blocks", "blockedBy", "owner"]);

/// A record of the client's own on its way back into another session, as far as it may move.
pub(super) fn read_kept(raw: &str) -> Option<Value> {
    let mut record = serde_json::from_str(raw).ok()?;
    keep_record(&mut record).then_some(record)
}

/// Keeps what may move of a record; whether any of it may.
pub(super) fn keep_record(record: &mut Value) -> bool {
    let kind = |known: &&RecordKind| record["type"] == known.kind;
    let Some(known) = KINDS.iter().find(kind) else { return false };
    let is_of = |(pointer, kinds): (&str, &[&str])| {
        let told = record.pointer(pointer).and_then(Value::as_str);
        told.is_some_and(|told| kinds.contains(&told))
    };
    if !known.of.is_none_or(is_of) || !known.fields.keep(record) {
        return false;
    }
    if let Some(message) = record.get_mut("message").and_then(Value::as_object_mut) {
        // The client sends the role that a message names, whoever is said to speak.
        message.insert("role".to_owned(), json!(known.kind));
    }
    true
}

/// Keeps what may move of what is said of a sub-agent beside its log.
pub(super) fn keep_sub_agent(bytes: &[u8]) -> Option<Vec<u8>> {
    keep_document(bytes, &SUB_AGENT)
}

/// Keeps what may move of a step of a plan.
pub(super) fn keep_step(bytes: &[u8]) -> Option<Vec<u8>> {
    keep_document(bytes, &STEP)
}

fn keep_document(bytes: &[u8], fields: &KeptFields) -> Option<Vec<u8>> {
    let mut document: Value = serde_json::from_slice(bytes).ok()?;
    fields.keep(&mut document).then(|| document.to_string().into_bytes())
}
