//! Ids as short as a listing allows.

use std::collections::BTreeSet;
use std::ops::Bound;

use carryover_engine::sessions::list::ListedSession;

/// The fewest characters that a short id has.
const MIN_CHARS: usize = 8;

/// Tells how much of an id is needed among these sessions.
///
/// Ids that begin with the time share their first characters within a minute, so eight are not always enough.
#[derive(Default)]
pub(crate) struct ShortIds {
    ids: BTreeSet<String>,
}

impl ShortIds {
    pub(crate) fn from_sessions(sessions: &[ListedSession]) -> Self {
        Self { ids: sessions.iter().map(|session| session.found.id.0.clone()).collect() }
    }

    /// One more session to be told from.
    pub(crate) fn add(&mut self, id: &str) {
        self.ids.insert(id.to_owned());
    }

    /// The beginning of an id that no other id here shares.
    pub(crate) fn shorten<'a>(&self, id: &'a str) -> &'a str {
        let before = self.ids.range::<str, _>((Bound::Unbounded, Bound::Excluded(id))).next_back();
        let after = self.ids.range::<str, _>((Bound::Excluded(id), Bound::Unbounded)).next();
        let shared = [before, after].into_iter().flatten().map(|other| shared_prefix_len(id, other)).max().unwrap_or(0);
        let mut end = MIN_CHARS.max(shared + 1);
        while end < id.len() && (!id.is_char_boundary(end) || id.as_bytes()[end - 1] == b'-') {
            end += 1;
        }
        id.get(..end).unwrap_or(id)
    }
}

/// How many bytes two ids have in common at their beginning.
fn shared_prefix_len(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_short(ids: &[&str], expect: &[&str]) {
        let all = ShortIds { ids: ids.iter().map(|id| (*id).to_owned()).collect() };
        let short: Vec<&str> = ids.iter().map(|id| all.shorten(id)).collect();
        assert_eq!(short, expect);
    }

    #[test]
    fn eight_characters_unless_two_ids_share_them() {
        assert_short(&["d3a03cdd-c689-41e6", "1392e77c-7d87-44c4"], &["d3a03cdd", "1392e77c"]);
        assert_short(&["01a1dcb4-8ab4-7e10", "01a1dcb4-8ab5-7e10"], &["01a1dcb4-8ab4", "01a1dcb4-8ab5"]);
        assert_short(&["01a1dcb4-8ab4", "01a1dcb5-8ab4"], &["01a1dcb4", "01a1dcb5"]);
        assert_short(&["short"], &["short"]);
    }
}
