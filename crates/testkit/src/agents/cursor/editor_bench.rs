//! The editor's database as it is after years of use, for measuring: many conversations, and most of it in their bubbles.

use std::path::Path;

use rusqlite::{Connection, Transaction, params};

use super::SAMPLE;
use crate::lab::{BenchStore, Format, SampleError};

pub(crate) static BENCH_STORE: BenchStore =
    BenchStore { agent: "cursor", n_sessions: N_SESSIONS, bytes: N_SESSIONS * N_BUBBLES * BUBBLE_BYTES, write };

const N_SESSIONS: u64 = 350;
const N_BUBBLES: u64 = 800;
const BUBBLE_BYTES: u64 = 4 << 10;

fn write(home: &Path, sessions: &[String]) -> Result<(), SampleError> {
    let path = home.join(SAMPLE.session_path());
    fs_err::create_dir_all(path.parent().unwrap_or(home))?;
    let mut connection = Connection::open(path)?;
    connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")?;
    if let Format::Rows(rows) = &SAMPLE.format {
        connection.execute_batch(rows.tables)?;
    }
    let transaction = connection.transaction()?;
    for (number, session) in sessions.iter().enumerate() {
        write_session(&transaction, number, session)?;
    }
    Ok(transaction.commit()?)
}

fn write_session(transaction: &Transaction<'_>, number: usize, id: &str) -> rusqlite::Result<()> {
    let at = 1_794_700_000_000 + number;
    let place = r#"{"id":"w","uri":{"fsPath":"/home/dev/project"}}"#;
    let head = format!(
        r#"{{"type":"head","composerId":"{id}","name":"Conversation {number}","createdAt":{at},"lastUpdatedAt":{at},"unifiedMode":"agent","isArchived":false,"isDraft":false,"workspaceIdentifier":{place}}}"#
    );
    transaction
        .prepare_cached("INSERT INTO composerHeaders VALUES (?1, 'w', ?2, ?2, 0, 0, ?2, ?2, ?3)")?
        .execute(params![id, at, head])?;
    let mut insert = transaction.prepare_cached("INSERT INTO cursorDiskKV VALUES (?1, ?2)")?;
    let mut heads = Vec::new();
    let filler = "word ".repeat(usize::try_from(BUBBLE_BYTES / 5).unwrap_or_default());
    for bubble in 0..N_BUBBLES {
        let kind = bubble % 2 + 1;
        heads.push(format!(
            r#"{{"bubbleId":"b{bubble}","type":{kind},"grouping":{{"isRenderable":true,"hasText":true}}}}"#
        ));
        let text = format!(r#"{{"_v":3,"type":{kind},"bubbleId":"b{bubble}","text":"{filler}"}}"#);
        insert.execute(params![format!("bubbleId:{id}:b{bubble}"), text])?;
    }
    let heads = heads.join(",");
    let data = format!(
        r#"{{"_v":17,"composerId":"{id}","name":"Conversation {number}","fullConversationHeadersOnly":[{heads}]}}"#
    );
    insert.execute(params![format!("composerData:{id}"), data])?;
    Ok(())
}
