//! The index of words, written after the entries and apart from them: nothing that is published waits for it.

use std::collections::BTreeSet;

use rusqlite::params;

use super::stored_text::unpack_text;
use super::words::split_terms;
use super::{Ledger, LedgerError};

/// More different words of one entry are not looked for.
const MAX_TERMS: usize = 6_000;
/// How many entries are indexed in one transaction.
const BATCH_ENTRIES: usize = 4_000;

/// What one step of indexing came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexedCount {
    pub entries: usize,
    /// Nothing is left to index.
    pub is_done: bool,
}

impl Ledger {
    /// Indexes some of the entries that are not yet; each step is a transaction of its own.
    pub fn index_pending(&mut self) -> Result<IndexedCount, LedgerError> {
        let transaction = self.connection.transaction()?;
        let mut last = 0;
        let mut entries = 0;
        {
            let mut next = transaction.prepare_cached(
                "SELECT id, text, revision FROM entry WHERE indexed = 0 AND id > ?1 ORDER BY id LIMIT ?2",
            )?;
            let mut delete = transaction.prepare_cached("DELETE FROM words WHERE rowid = ?1")?;
            let mut insert = transaction.prepare_cached("INSERT INTO words (rowid, terms) VALUES (?1, ?2)")?;
            let mut rows = next.query(params![last, BATCH_ENTRIES])?;
            while let Some(row) = rows.next()? {
                let id: i64 = row.get(0)?;
                // One that says something else now is in the index by its earlier words.
                if row.get::<_, i64>(2)? > 0 {
                    delete.execute([id])?;
                }
                let terms = join_terms(&unpack_text(row.get_ref(1)?)?);
                if !terms.is_empty() {
                    insert.execute(params![id, terms])?;
                }
                last = id;
                entries += 1;
            }
        }
        transaction.execute("UPDATE entry SET indexed = 1 WHERE indexed = 0 AND id <= ?1", [last])?;
        transaction.commit()?;
        Ok(IndexedCount { entries, is_done: entries < BATCH_ENTRIES })
    }
}

/// Every term once: how often a word stands in an entry says little of it, and costs room.
fn join_terms(text: &str) -> String {
    let mut seen = BTreeSet::new();
    let mut terms = String::new();
    split_terms(text, &mut |term| {
        if seen.len() < MAX_TERMS && !term.text.is_empty() && !seen.contains(&term.text) {
            terms.push_str(&term.text);
            terms.push(' ');
            seen.insert(term.text);
        }
    });
    terms
}
