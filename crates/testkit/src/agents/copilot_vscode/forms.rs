//! Sessions that are on the editor's list, and sessions of older editors, which are documents.

use std::path::Path;

use rusqlite::Connection;
use serde_json::json;

use super::{LOG, SAMPLE};
use crate::lab::{BenchStore, DocumentFormat, Format, Sample, SampleError, StoreForm};

pub(super) const OTHERS: &[StoreForm] = &[
    StoreForm { name: "on the list", write_beside: write_index, ..StoreForm::of(&LISTED) },
    StoreForm { name: "document", ..StoreForm::of(&DOCUMENT) },
];

static LISTED: Sample = Sample { format: Format::Lines(LOG), ..SAMPLE };

static DOCUMENT: Sample = Sample {
    file: "workspaceStorage/p/chatSessions/00000000-0000-4000-8000-000000000001.json",
    format: Format::Document(DocumentFormat {
        begin: r#"{"version":3,"responderUsername":"GitHub Copilot","initialLocation":"panel","requests":["#,
        end: r#"],"sessionId":"00000000-0000-4000-8000-000000000001","creationDate":1794700000000,"lastMessageDate":1794700001000}"#,
        exchange: r#"{"requestId":"request_1","timestamp":1794700001000,"message":{"text":"{FILL}","parts":[]},"variableData":{"variables":[]},"response":[{"value":"Done."}]}"#,
        damaged: "7",
        renames: &[(r#""requests""#, r#""turns""#)],
    }),
    ..SAMPLE
};

fn write_index(root: &Path) -> Result<(), SampleError> {
    let session = "00000000-0000-4000-8000-000000000001".to_owned();
    write_list(&root.join("workspaceStorage/p"), &[session])
}

/// The list of the sessions by which the listing is measured.
pub(crate) static BENCH_INDEX: BenchStore = BenchStore {
    agent: "copilot-vscode",
    n_sessions: 0,
    bytes: 0,
    write: |home, sessions| write_list(&home.join(SAMPLE.root).join("workspaceStorage/p"), sessions),
};

fn write_list(workspace: &Path, sessions: &[String]) -> Result<(), SampleError> {
    let entry = |(number, id): (usize, &String)| {
        let at = 1_794_700_002_000 + number;
        let entry = json!({
            "sessionId": id, "title": "By the list", "lastMessageDate": at, "isEmpty": false, "isExternal": false,
            "timing": {"created": 1_794_700_000_000_u64, "lastRequestEnded": at},
        });
        (id.clone(), entry)
    };
    let entries: serde_json::Map<String, serde_json::Value> = sessions.iter().enumerate().map(entry).collect();
    let index = json!({"version": 1, "entries": entries}).to_string();
    let connection = Connection::open(workspace.join("state.vscdb"))?;
    connection.execute_batch("CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")?;
    connection.execute("INSERT INTO ItemTable VALUES ('chat.ChatSessionStore.index', ?1)", [index])?;
    Ok(())
}
