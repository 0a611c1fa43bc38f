//! Which session was carried from which: an index of the journals, which stay the record.

use std::collections::BTreeSet;

use carryover_core::time::Timestamp;
use carryover_core::transcript::SessionId;
use rusqlite::{Connection, Row, TransactionBehavior, params};

use super::{Ledger, LedgerError, tombstone};
use crate::context::Context;
use crate::sessions::copies::{Copies, SessionRef};

/// A session that was carried into another one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineageLink {
    pub source: SessionRef,
    pub target: SessionRef,
    pub at: Timestamp,
}

impl Ledger {
    /// Everything that a session came from and that came of it, however far, the oldest first.
    pub fn lineage_of(&self, session: &SessionRef) -> Result<Vec<LineageLink>, LedgerError> {
        // The links are few, and a journal that was tampered with could make a circle of them.
        let mut links: BTreeSet<LineageLink> = BTreeSet::new();
        let mut seen: BTreeSet<SessionRef> = BTreeSet::from([session.clone()]);
        let mut open = vec![session.clone()];
        let sql = "SELECT source_agent, source, target_agent, target, at FROM lineage
            WHERE (target_agent = ?1 AND target = ?2) OR (source_agent = ?1 AND source = ?2)";
        let mut query = self.connection.prepare_cached(sql)?;
        while let Some(next) = open.pop() {
            for link in query.query_map(params![next.agent, next.session.0], read_link)? {
                let link = link?;
                let ends = [link.source.clone(), link.target.clone()];
                open.extend(ends.into_iter().filter(|end| seen.insert(end.clone())));
                links.insert(link);
            }
        }
        let mut links: Vec<LineageLink> = links.into_iter().collect();
        links.sort_by_key(|link| link.at);
        Ok(links)
    }

    /// Makes the index what the journals say now.
    pub(super) fn index_lineage(&mut self, context: &Context) -> Result<(), LedgerError> {
        let copies = Copies::load(context);
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let known = list_links(&transaction)?;
        let mut links = BTreeSet::new();
        for copy in copies.all() {
            let is_forgotten =
                |named: &SessionRef| tombstone::is_forgotten(&transaction, &named.agent, &named.session.0);
            if !is_forgotten(&copy.source)? && !is_forgotten(&copy.target)? {
                links.insert(LineageLink { source: copy.source.clone(), target: copy.target.clone(), at: copy.at });
            }
        }
        if links == known {
            return Ok(());
        }
        transaction.execute("DELETE FROM lineage", [])?;
        let insert = "INSERT OR REPLACE INTO lineage (source_agent, source, target_agent, target, at)
            VALUES (?1, ?2, ?3, ?4, ?5)";
        for LineageLink { source, target, at } in &links {
            let values = params![source.agent, source.session.0, target.agent, target.session.0, at.millis()];
            transaction.prepare_cached(insert)?.execute(values)?;
        }
        Ok(transaction.commit()?)
    }
}

fn list_links(connection: &Connection) -> rusqlite::Result<BTreeSet<LineageLink>> {
    let sql = "SELECT source_agent, source, target_agent, target, at FROM lineage";
    connection.prepare_cached(sql)?.query_map([], read_link)?.collect()
}

fn read_link(row: &Row<'_>) -> rusqlite::Result<LineageLink> {
    let named = |column: usize| -> rusqlite::Result<SessionRef> {
        Ok(SessionRef { agent: row.get(column)?, session: SessionId(row.get(column + 1)?) })
    };
    Ok(LineageLink { source: named(0)?, target: named(2)?, at: Timestamp::from_millis(row.get(4)?) })
}
