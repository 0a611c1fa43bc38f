//! Where a session was carried from and to, in few letters: `← claude-code d2f488a7`, `→ codex 7cba1f02`.

use carryover_core::plain::one_line;
use carryover_core::transcript::SessionId;
use carryover_engine::sessions::copies::{Copies, SessionRef};
use serde::Serialize;

use crate::short_id::ShortIds;

/// So many copies are named; of the others, how many there are.
const MAX_NAMED: usize = 2;
const MAX_ID_CHARS: usize = 40;

/// A session by whose it is and what it is called, as `--json` tells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct SessionName {
    pub(crate) agent: String,
    pub(crate) id: String,
}

/// Where a session came from, and where it went.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LineageNote {
    pub(crate) from: Option<SessionName>,
    /// Newest first.
    pub(crate) to: Vec<SessionName>,
}

impl LineageNote {
    /// Looks a session up among the copies that are known.
    pub(crate) fn find(copies: &Copies, agent: &str, session: &SessionId) -> Self {
        Self {
            from: copies.origin_of(agent, session).map(|copy| SessionName::from(&copy.told_source)),
            to: copies.copies_of(agent, session).map(|copy| SessionName::from(&copy.target)).collect(),
        }
    }

    /// A piece of text for each session that it names; none where there is no lineage.
    pub(crate) fn marks(&self, ids: &ShortIds) -> Vec<String> {
        let name = |arrow: &str, named: &SessionName| {
            format!(
                "{arrow} {} {}",
                one_line(&named.agent, MAX_ID_CHARS),
                one_line(ids.shorten(&named.id), MAX_ID_CHARS)
            )
        };
        let from = self.from.iter().map(|named| name("←", named));
        let to = self.to.iter().take(MAX_NAMED).map(|named| name("→", named));
        let more = self.to.len().saturating_sub(MAX_NAMED);
        from.chain(to).chain((more > 0).then(|| format!("→ {more} more"))).collect()
    }
}

impl From<&SessionRef> for SessionName {
    fn from(named: &SessionRef) -> Self {
        Self { agent: named.agent.clone(), id: named.session.0.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_copies_are_named_in_part() {
        let name = |agent: &str, id: &str| SessionName { agent: agent.to_owned(), id: id.to_owned() };
        let to = ["one", "two", "three", "four"].map(|agent| name(agent, "0123456789")).to_vec();
        let note = LineageNote { from: Some(name("zero\u{1b}[2J", "d2f488a7-aaaa")), to };
        let marks = note.marks(&ShortIds::default());
        assert_eq!(marks, ["← zero d2f488a7", "→ one 01234567", "→ two 01234567", "→ 2 more"]);
        assert_eq!(LineageNote::default().marks(&ShortIds::default()), Vec::<String>::new());
    }
}
