//! Cursor: an editor and a command line client that do not run here, and the stores of both.

mod editor_bench;
mod forms;

use rusqlite::{Connection, params};

use crate::client::StoreJudge;
use crate::lab::{
    BenchPlace, ClientLab, ConformanceLab, ExpectedReading, Format, Lab, LooseFile, RowFormat, Sample, SessionPlace,
};

pub(super) static LAB: Lab = Lab {
    id: "cursor",
    name: "Cursor",
    client: ClientLab::NOT_RUN,
    conformance: ConformanceLab::lossless(SessionPlace::Folders(&[".cursor/chats"])),
    sample: SAMPLE,
    other_forms: forms::OTHERS,
    readings: &[
        ExpectedReading {
            fixture: "ide-3.12/.config/Cursor/User/globalStorage/state.vscdb",
            tokens: "15234 in (0 from cache), 412 out (0 thought), claude-sonnet-4.6",
            start_settings: r#"{"permission_mode":"agent"}"#,
            messages: "4 messages in 2 prompts and 2 pieces of replies",
        },
        ExpectedReading {
            fixture: "cli/.cursor/chats/d99f037927a1f89c0a3ef335b87589ff/d6176300-924c-5a88-839c-ec4925f5e2c5/store.db",
            tokens: "nothing",
            start_settings: r#"{"permission_mode":"default"}"#,
            messages: "3 messages in 1 prompts and 2 pieces of replies",
        },
    ],
    loose_files: &[LooseFile::from_jsonl("transcript.jsonl")],
    bench: BenchPlace::Lines(".cursor/projects/bench/agent-transcripts/{ID}/{ID}.jsonl"),
};

pub(super) use editor_bench::BENCH_STORE;

/// The vendor's own code for the command line client's store.
pub(super) static JUDGE: StoreJudge = StoreJudge {
    agent: "cursor",
    package: "@cursor/sdk",
    version: "1.0.32",
    script: include_str!("cursor/judge.mjs"),
    fixtures: &[
        "cli/.cursor/chats/d99f037927a1f89c0a3ef335b87589ff/d6176300-924c-5a88-839c-ec4925f5e2c5/store.db",
        "sdk/.cursor/projects/home-dv-proj-cursor/sdk-agent-store/5ad02c38ec0f1fadb547a84248ec5bc3/agents/agent-b1691c0a1190d7657851ac7b8a932fe0bb18e7f13c0939f4759a31091c5dcca9/store.db",
    ],
};

const SAMPLE: Sample = Sample {
    root: ".config/Cursor/User",
    root_variable: None,
    file: "globalStorage/state.vscdb",
    format: Format::Rows(RowFormat {
        tables: "CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
                 CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
                 CREATE TABLE composerHeaders (composerId TEXT PRIMARY KEY, workspaceId TEXT, createdAt INTEGER,
                     lastUpdatedAt INTEGER, isArchived INTEGER, isSubagent INTEGER, recency INTEGER,
                     checkpointAt INTEGER, value TEXT);",
        start_sql: r#"INSERT INTO composerHeaders VALUES ('c1', 'w1', 1, 1, 0, 0, 1, 1, '{"composerId":"c1","workspaceIdentifier":{"id":"w1","uri":{"fsPath":"/p"}}}');
                 INSERT INTO cursorDiskKV VALUES ('composerData:c1', '{"_v":17,"composerId":"c1","fullConversationHeadersOnly":[]}');"#,
        exchange_sql: r#"UPDATE cursorDiskKV SET value = '{"_v":17,"composerId":"c1","name":"t","fullConversationHeadersOnly":[{"bubbleId":"b1","type":1},{"bubbleId":"b2","type":2}]}' WHERE key = 'composerData:c1';
                 INSERT INTO cursorDiskKV VALUES ('bubbleId:c1:b1', '{"_v":3,"type":1,"bubbleId":"b1","text":"Fix it."}');
                 INSERT INTO cursorDiskKV VALUES ('bubbleId:c1:b2', '{"_v":3,"type":2,"bubbleId":"b2","text":"Done."}');"#,
        damaged: r#"UPDATE cursorDiskKV SET value = replace(value, ']}', ',{"bubbleId":"b3","type":2}]}') WHERE key = 'composerData:c1';
                 INSERT INTO cursorDiskKV VALUES ('bubbleId:c1:b3', '{"_v":3,"type:2,"bubbleId":"b3","text":"And more."}');"#,
        changes: &[
            (
                "kinds of bubbles",
                "UPDATE cursorDiskKV SET value = replace(value, '\"type\"', '\"speaker\"') WHERE key >= 'bubbleId:' AND key < 'bubbleId;';",
            ),
            (
                "where the words are",
                "UPDATE cursorDiskKV SET value = replace(value, '\"text\"', '\"words\"') WHERE key >= 'bubbleId:' AND key < 'bubbleId;';",
            ),
            (
                "keys of bubbles",
                "UPDATE composerHeaders SET value = '{\"composerId\":\"c1\",\"name\":\"t\"}';
                 UPDATE cursorDiskKV SET key = replace(key, 'bubbleId:', 'message:');",
            ),
            ("the table of conversations", "ALTER TABLE cursorDiskKV RENAME TO cursorBlobs;"),
        ],
        add_record,
        prompt: r#"{"_v":3,"type":1,"text":"{FILL}"}"#,
    }),
    other_files: &[],
    companions: &[],
};

/// Adds a record as a bubble at the end of the conversation.
fn add_record(connection: &Connection, number: usize, record: &[u8]) -> rusqlite::Result<()> {
    let name = format!("b{number}");
    let append = "UPDATE cursorDiskKV SET value = json_insert(value, '$.fullConversationHeadersOnly[#]',
                      json_object('bubbleId', ?1, 'type', 1)) WHERE key = 'composerData:c1'";
    connection.execute(append, [&name])?;
    connection.execute("INSERT INTO cursorDiskKV VALUES ('bubbleId:c1:' || ?1, ?2)", params![name, record])?;
    Ok(())
}
