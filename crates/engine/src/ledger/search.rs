//! Finding what was said: all words must be in one entry, the last may be a beginning.

use std::collections::{BTreeMap, BTreeSet, btree_map};
use std::path::{Path, PathBuf};

use carryover_core::time::Timestamp;
use carryover_core::transcript::EntryKey;
use rusqlite::{Row, ToSql};

use super::ingest::plain_offset;
use super::kept_session::KeptSession;
pub use super::snippet::SnippetPart;
use super::snippet::make_snippet;
use super::stored_text::unpack_text;
use super::words::{Term, TermKind, split_terms};
use super::{Ledger, LedgerError};
use crate::sessions::project::ProjectMatcher;

/// How many entries are looked at.
const MAX_CANDIDATES: usize = 2_000;
/// Of more than that, the newest stand at both ends of the index: what was taken in last, and what the first sync took in
/// first, which begins with the newest.
const CANDIDATES_PER_END: usize = MAX_CANDIDATES / 2;
/// Words that are in fewer entries are looked for as beginnings, too, however many sessions have them.
const MIN_WHOLE_HITS: usize = 100;
/// The place of a session that is counted and not shown.
const NOT_SHOWN: usize = usize::MAX;
/// How many places are shown of one session.
const ENTRIES_PER_SESSION: usize = 3;

/// What to look for, and where.
#[derive(Clone, Default)]
pub struct SearchRequest {
    pub words: String,
    /// Only sessions of this agent.
    pub agent: Option<&'static str>,
    /// Only sessions of this project.
    pub project: Option<PathBuf>,
    /// Only what was said from then on.
    pub since: Option<Timestamp>,
    /// How many sessions are told.
    pub limit: usize,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchResults {
    /// Those in which it was said before those in which it was done, each newest first.
    pub sessions: Vec<FoundInSession>,
    /// How many sessions have it, as far as was looked.
    pub n_sessions: usize,
    /// Even more entries have it than were looked at.
    pub is_cut: bool,
}

/// What was found in one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundInSession {
    pub session: KeptSession,
    /// How many entries have it, as far as was looked.
    pub n_entries: usize,
    /// The best of them.
    pub entries: Vec<FoundEntry>,
}

/// One entry that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundEntry {
    pub key: EntryKey,
    pub kind: String,
    pub origin: String,
    pub at: Option<Timestamp>,
    /// Said in a sub-agent's conversation.
    pub side: bool,
    /// Its store does not tell it any more: it was taken back, or written over.
    pub retracted: bool,
    pub snippet: Vec<SnippetPart>,
}

/// The words of a query, split.
pub(super) struct Query {
    terms: Vec<QueryTerm>,
    /// Runs of a writing without blanks, which must stand in the text as they are.
    runs: Vec<String>,
}

struct QueryTerm {
    text: String,
    ending: Ending,
}

/// What may follow a term.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Nothing,
    /// It was typed last: it may be whole, or a beginning.
    Open,
    /// It is one letter of a writing without blanks, which the index knows with its neighbours.
    Letters,
}

impl Query {
    pub(super) fn parse(words: &str) -> Self {
        let words = words.trim_end();
        let mut found: Vec<Term> = Vec::new();
        split_terms(words, &mut |term| found.push(term));
        let end = found.iter().map(|term| term.range.end).max().unwrap_or(0);
        // Only what was typed last may still be unfinished.
        let is_open = end == words.len();
        let runs = find_runs(words, &found);
        let term = |term: Term| {
            let is_last = is_open && term.range.end == end && !matches!(term.kind, TermKind::Part | TermKind::Pair);
            let ending = match term.kind {
                TermKind::Letter => Ending::Letters,
                _ if is_last => Ending::Open,
                _ => Ending::Nothing,
            };
            QueryTerm { ending, text: term.text }
        };
        let is_wanted = |term: &Term| term.kind != TermKind::LastLetter && !term.text.is_empty();
        Self { terms: found.into_iter().filter(is_wanted).map(term).collect(), runs }
    }

    /// The query as the index takes it; terms are letters and digits alone. Where beginnings are not asked for, what was
    /// typed last is a whole word.
    fn to_match(&self, with_beginnings: bool) -> String {
        let is_prefix =
            |term: &QueryTerm| term.ending == Ending::Letters || (with_beginnings && term.ending == Ending::Open);
        let quoted = |term: &QueryTerm| format!("\"{}\"{}", term.text, if is_prefix(term) { " *" } else { "" });
        self.terms.iter().map(quoted).collect::<Vec<_>>().join(" AND ")
    }

    pub(super) fn unspaced_runs(&self) -> impl Iterator<Item = &str> {
        self.runs.iter().map(String::as_str)
    }

    /// Which of its terms a term of a text is.
    pub(super) fn position_of(&self, text: &str) -> Option<usize> {
        let fits = |term: &QueryTerm| match term.ending {
            Ending::Nothing => text == term.text,
            Ending::Open | Ending::Letters => text.starts_with(&term.text),
        };
        self.terms.iter().position(fits)
    }
}

/// Runs of three and more letters: two are found by the index itself.
fn find_runs(words: &str, terms: &[Term]) -> Vec<String> {
    let mut runs: Vec<std::ops::Range<usize>> = Vec::new();
    for term in terms.iter().filter(|term| term.kind == TermKind::Pair) {
        match runs.last_mut() {
            Some(run) if term.range.start < run.end => run.end = term.range.end,
            _ => runs.push(term.range.clone()),
        }
    }
    runs.into_iter().map(|run| words[run].to_owned()).collect()
}

/// The entries that a query finds.
struct Candidates {
    entries: Vec<Candidate>,
    /// There may be more of them.
    is_cut: bool,
}

/// A row of the index with whose it is.
struct Candidate {
    session: i64,
    entry: FoundEntry,
    row: i64,
}

impl Ledger {
    /// Looks for words in everything that is indexed.
    pub fn search(&self, request: &SearchRequest) -> Result<SearchResults, LedgerError> {
        let query = Query::parse(&request.words);
        let mut results = SearchResults { sessions: Vec::new(), n_sessions: 0, is_cut: false };
        if query.terms.is_empty() {
            return Ok(results);
        }
        let Candidates { entries: candidates, is_cut } = self.find_candidates(&query, request)?;
        results.is_cut = is_cut;
        let mut by_session: BTreeMap<i64, usize> = BTreeMap::new();
        let mut kept: Vec<FoundInSession> = Vec::new();
        for candidate in candidates {
            let known = by_session.get(&candidate.session).copied();
            let is_full = kept.len() >= request.limit;
            match known.and_then(|index| kept.get_mut(index)) {
                // Counted; what it says is not looked at.
                Some(found) if found.entries.len() >= ENTRIES_PER_SESSION => found.n_entries += 1,
                None if known.is_some() => {}
                None if is_full => drop(by_session.insert(candidate.session, NOT_SHOWN)),
                _ => self.add_candidate(&query, candidate, &mut by_session, &mut kept)?,
            }
        }
        results.n_sessions = by_session.len();
        results.sessions = kept;
        Ok(results)
    }

    /// The sessions that have the words in an entry, by agent and id, the best first. Nothing is shown of the entries, so
    /// they are read only where the index alone cannot tell.
    pub fn sessions_with_words(&self, words: &str, limit: usize) -> Result<Vec<(String, String)>, LedgerError> {
        let query = Query::parse(words);
        if query.terms.is_empty() {
            return Ok(Vec::new());
        }
        let request = SearchRequest { words: words.to_owned(), limit, ..SearchRequest::default() };
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        let mut name = self.connection.prepare_cached("SELECT agent, session FROM session WHERE id = ?1")?;
        for candidate in self.find_candidates(&query, &request)?.entries {
            if found.len() >= limit {
                break;
            }
            if seen.contains(&candidate.session) || !self.holds_runs(&query, candidate.row)? {
                continue;
            }
            seen.insert(candidate.session);
            found.push(name.query_row([candidate.session], |row| Ok((row.get(0)?, row.get(1)?)))?);
        }
        Ok(found)
    }

    /// Whether the entry has the runs of the query, of which the index knows pairs only.
    fn holds_runs(&self, query: &Query, row: i64) -> Result<bool, LedgerError> {
        if query.runs.is_empty() {
            return Ok(true);
        }
        let text = self.read_text(row)?;
        Ok(query.unspaced_runs().all(|run| text.contains(run)))
    }

    fn add_candidate(
        &self,
        query: &Query,
        candidate: Candidate,
        by_session: &mut BTreeMap<i64, usize>,
        kept: &mut Vec<FoundInSession>,
    ) -> Result<(), LedgerError> {
        let Some(snippet) = make_snippet(&self.read_text(candidate.row)?, query) else { return Ok(()) };
        if let btree_map::Entry::Vacant(place) = by_session.entry(candidate.session) {
            let mut sessions = self.query_sessions("WHERE s.id = ?1", &[&candidate.session])?;
            let Some(session) = sessions.pop() else { return Ok(()) };
            place.insert(kept.len());
            kept.push(FoundInSession { session, n_entries: 0, entries: Vec::new() });
        }
        let Some(found) = by_session.get(&candidate.session).and_then(|index| kept.get_mut(*index)) else {
            return Ok(());
        };
        found.n_entries += 1;
        // The same command again is the same place to look at.
        if found.entries.iter().any(|shown| shown.snippet == snippet) {
            return Ok(());
        }
        found.entries.push(FoundEntry { snippet, ..candidate.entry });
        Ok(())
    }

    /// Looks for whole words first. A beginning that many words have takes long, and adds nothing where the words
    /// themselves are in many entries and in as many sessions as are asked for.
    fn find_candidates(&self, query: &Query, request: &SearchRequest) -> Result<Candidates, LedgerError> {
        if query.terms.iter().any(|term| term.ending == Ending::Open) {
            let entries = self.match_entries(&query.to_match(false), request)?;
            let sessions: BTreeSet<i64> = entries.iter().map(|candidate| candidate.session).collect();
            if entries.len() >= MIN_WHOLE_HITS && sessions.len() >= request.limit {
                return Ok(Candidates { entries, is_cut: true });
            }
        }
        let entries = self.match_entries(&query.to_match(true), request)?;
        let is_cut = entries.len() >= MAX_CANDIDATES;
        Ok(Candidates { entries, is_cut })
    }

    fn match_entries(&self, text: &str, request: &SearchRequest) -> Result<Vec<Candidate>, LedgerError> {
        let since = request.since.map(Timestamp::millis);
        let mut conditions = vec!["true".to_owned()];
        let mut values: Vec<&dyn ToSql> = vec![&text];
        if let Some(agent) = &request.agent {
            values.push(agent);
            conditions.push(format!("s.agent = ?{}", values.len()));
        }
        if let Some(since) = &since {
            values.push(since);
            conditions.push(format!("coalesce(e.at, s.updated_at) >= ?{}", values.len()));
        }
        if let Some(project) = &request.project {
            let sessions = self.sessions_of_project(project)?;
            let list = sessions.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            conditions.push(format!("s.id IN ({list})"));
        }
        // Where nothing is left out, the newest are known by the index alone, and no other entry is looked at.
        let end = |order: &str| {
            format!(
                "SELECT * FROM (SELECT rowid AS hit FROM words WHERE words MATCH ?1 ORDER BY rowid {order} LIMIT {CANDIDATES_PER_END})"
            )
        };
        let hits = match conditions.len() {
            1 => format!("{} UNION {}", end("DESC"), end("ASC")),
            _ => "SELECT rowid AS hit FROM words WHERE words MATCH ?1".to_owned(),
        };
        let conditions = conditions.join(" AND ");
        let sql = format!(
            "SELECT e.session, e.id, e.file, e.offset, e.part, e.length, e.kind, e.origin, e.at, e.side, e.retracted
             FROM ({hits}) AS w
             JOIN entry AS e ON e.id = w.hit JOIN session AS s ON s.id = e.session
             WHERE {conditions}
             ORDER BY e.kind = 'call', coalesce(e.at, s.updated_at) DESC, e.id DESC LIMIT {MAX_CANDIDATES}"
        );
        let mut query = self.connection.prepare(&sql)?;
        let rows = query.query_map(values.as_slice(), read_candidate)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// The sessions of a project, also of one that is gone.
    pub(super) fn sessions_of_project(&self, project: &Path) -> Result<Vec<i64>, LedgerError> {
        let mut here = ProjectMatcher::new(project);
        let sessions = self.query_sessions("WHERE s.project IS NOT NULL", &[])?;
        let is_here = |session: &KeptSession| session.project.as_deref().is_some_and(|own| here.matches(own));
        Ok(sessions.into_iter().filter(is_here).map(|session| session.row).collect())
    }

    fn read_text(&self, row: i64) -> Result<String, LedgerError> {
        let mut query = self.connection.prepare_cached("SELECT text FROM entry WHERE id = ?1")?;
        let mut rows = query.query([row])?;
        rows.next()?.map_or(Ok(String::new()), |row| unpack_text(row.get_ref(0)?))
    }
}

fn read_candidate(row: &Row<'_>) -> rusqlite::Result<Candidate> {
    let key = EntryKey { file: row.get(2)?, offset: plain_offset(row.get(3)?), part: row.get(4)?, length: row.get(5)? };
    let entry = FoundEntry {
        key,
        kind: row.get(6)?,
        origin: row.get(7)?,
        at: row.get::<_, Option<i64>>(8)?.map(Timestamp::from_millis),
        side: row.get(9)?,
        retracted: row.get(10)?,
        snippet: Vec::new(),
    };
    Ok(Candidate { session: row.get(0)?, row: row.get(1)?, entry })
}
