//! What Cursor's other clients and older editors keep: a store for each session, chats of a window, and transcripts.

use std::path::Path;

use rusqlite::{Connection, params};

use crate::lab::{Format, LineFormat, RowFormat, Sample, SampleError, StoreForm};

pub(super) const OTHERS: &[StoreForm] = &[
    StoreForm { name: "command line", is_of_one_session: true, ..StoreForm::of(&COMMAND_LINE) },
    StoreForm { name: "SDK", is_of_one_session: true, write_beside: write_agent_index, ..StoreForm::of(&SDK) },
    StoreForm { name: "chats of a window", is_one_value: true, ..StoreForm::of(&WINDOW_CHATS) },
    StoreForm { name: "transcript", ..StoreForm::of(&TRANSCRIPT) },
];

static COMMAND_LINE: Sample = Sample {
    root: ".cursor",
    root_variable: None,
    file: "chats/99f037927a1f89c0a3ef335b87589ff0/00000000-0000-4000-8000-000000000001/store.db",
    format: Format::Rows(RowFormat {
        changes: &[("the table of messages", "ALTER TABLE blobs RENAME TO pieces;")],
        ..BLOBS
    }),
    other_files: &[],
    companions: &[],
};

/// The same store below an index of agents; the folder is named by a digest of the agent's id.
static SDK: Sample = Sample {
    root: ".cursor",
    root_variable: None,
    file: "projects/p/sdk-agent-store/99f037927a1f89c0a3ef335b87589ff0/agents/agent-358a458ffa3ced520b08fb21a167407d14ae75e41189a3167822d50f28e86a09/store.db",
    format: Format::Rows(BLOBS),
    other_files: &[],
    companions: &[],
};

fn write_agent_index(root: &Path) -> Result<(), SampleError> {
    let index = root.join("projects/p/sdk-agent-store/99f037927a1f89c0a3ef335b87589ff0/index.db");
    let sql = "CREATE TABLE agents (agent_id TEXT PRIMARY KEY, workspace_ref TEXT, latest_checkpoint_ref_json TEXT,
                   name TEXT, created_at TEXT, updated_at TEXT);
               INSERT INTO agents VALUES ('agent-00000000-0000-4000-8000-000000000001', '/p', NULL, 't', '2026-11-15T00:00:00.000Z',
                   '2026-11-15T00:00:01.000Z');";
    Ok(Connection::open(index)?.execute_batch(sql)?)
}

/// A root that lists messages, each a blob. The first message is what the client tells its model.
const BLOBS: RowFormat = RowFormat {
    tables: "CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB); CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);",
    start_sql: r#"INSERT INTO blobs VALUES ('a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0', CAST('{"role":"system","content":"You are an agent."}' AS BLOB));
                 INSERT INTO blobs VALUES ('root', x'0a20a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0');
                 INSERT INTO meta VALUES ('0', hex('{"agentId":"agent-00000000-0000-4000-8000-000000000001","latestRootBlobId":"root","name":"t","mode":"default","createdAt":1794700000000}'));"#,
    exchange_sql: r#"INSERT INTO blobs VALUES ('a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1', CAST('{"role":"user","content":[{"type":"text","text":"<user_query>Fix it.</user_query>"}]}' AS BLOB));
                 INSERT INTO blobs VALUES ('a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2', CAST('{"role":"assistant","id":"1","content":[{"type":"text","text":"Done."}]}' AS BLOB));
                 UPDATE blobs SET data = x'0a20a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a00a20a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a10a20a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2' WHERE id = 'root';"#,
    damaged: r#"INSERT INTO blobs VALUES ('a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3', CAST('{"role:"user","content":[{"type":"text","text":"And more."}]}' AS BLOB));
                 UPDATE blobs SET data = x'0a20a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a00a20a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a10a20a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a20a20a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3a3' WHERE id = 'root';"#,
    changes: &[],
    add_record: add_blob,
    prompt: r#"{"role":"user","content":[{"type":"text","text":"<user_query>{FILL}</user_query>"}]}"#,
};

/// Adds a message at the end of the root.
fn add_blob(connection: &Connection, number: usize, record: &[u8]) -> rusqlite::Result<()> {
    let byte = u8::try_from(number).unwrap_or_default();
    let (digest, name) = ([byte; 32], format!("{byte:02x}").repeat(32));
    let mut root: Vec<u8> = connection.query_row("SELECT data FROM blobs WHERE id = 'root'", [], |row| row.get(0))?;
    root.extend([0x0a, 0x20]);
    root.extend(digest);
    connection.execute("INSERT INTO blobs VALUES (?1, ?2)", params![name, record])?;
    connection.execute("UPDATE blobs SET data = ?1 WHERE id = 'root'", [root])?;
    Ok(())
}

static WINDOW_CHATS: Sample = Sample {
    root: ".config/Cursor/User",
    root_variable: None,
    file: "workspaceStorage/99f037927a1f89c0a3ef335b87589ff0/state.vscdb",
    format: Format::Rows(RowFormat {
        tables: "CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);",
        start_sql: r#"INSERT INTO ItemTable VALUES ('workbench.panel.aichat.view.aichat.chatdata', '{"tabs":[{"tabId":"00000000-0000-4000-8000-000000000001","chatTitle":"t","lastSendTime":1794700000000,"bubbles":[]}]}');"#,
        exchange_sql: r#"UPDATE ItemTable SET value = '{"tabs":[{"tabId":"00000000-0000-4000-8000-000000000001","chatTitle":"t","lastSendTime":1794700000000,"bubbles":[{"type":"user","rawText":"Fix it."},{"type":"ai","rawText":"Done."}]}]}';"#,
        damaged: "UPDATE ItemTable SET value = json_insert(value, '$.tabs[0].bubbles[#]', 7);",
        changes: &[],
        add_record: add_bubble,
        prompt: r#"{"type":"user","rawText":"{FILL}"}"#,
    }),
    other_files: &[],
    companions: &[],
};

/// Adds a bubble to the chat; what is no JSON is text in it.
fn add_bubble(connection: &Connection, _number: usize, record: &[u8]) -> rusqlite::Result<()> {
    let text = String::from_utf8_lossy(record);
    let value: String = connection.query_row("SELECT value FROM ItemTable", [], |row| row.get(0))?;
    let is_json = serde_json::from_str::<&serde_json::value::RawValue>(&text).is_ok();
    let record = if is_json { text.into_owned() } else { serde_json::Value::from(text).to_string() };
    let (before, after) = value.rsplit_once(']').and_then(|(rest, _)| rest.rsplit_once(']')).unwrap_or_default();
    let comma = if before.ends_with('[') { "" } else { "," };
    connection.execute("UPDATE ItemTable SET value = ?1", [format!("{before}{comma}{record}]{after}]}}")])?;
    Ok(())
}

static TRANSCRIPT: Sample = Sample {
    root: ".cursor",
    root_variable: None,
    file: "projects/home-you-calc/agent-transcripts/00000000-0000-4000-8000-000000000001/00000000-0000-4000-8000-000000000001.jsonl",
    format: Format::Lines(LineFormat {
        start_lines: &[],
        exchange: &[
            r#"{"role":"user","message":{"content":[{"type":"text","text":"<user_query>\n{FILL}\n</user_query>"}]}}"#,
            r#"{"role":"assistant","message":{"content":[{"type":"text","text":"Done."}]}}"#,
        ],
        renames: &[(r#""role":"user""#, r#""role":"human""#), (r#""role":"assistant""#, r#""role":"model""#)],
        without_words: &[r#"{"role":"user","message":{"content":[{"type":"text","words":"NEVER"}]}}"#],
    }),
    other_files: &[],
    companions: &[],
};
