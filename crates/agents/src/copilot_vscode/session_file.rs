//! A session as its file holds it: a document, or a log of changes that is replayed.

use std::ops::ControlFlow;
use std::path::Path;

use carryover_core::transcript::surplus::note_rejected;
use carryover_core::transcript::{EntryKey, RejectedRecord};

use super::mutation_log::{self, Change, Tree};
use super::wire::{WireSession, parse_leniently};
use crate::AgentError;
use crate::formats::file;
use crate::formats::jsonl::{self, Line};

/// More of them tell nothing new.
const MAX_UNKNOWN_KINDS: usize = 1_000;

/// The object that a file holds.
#[derive(Debug, Default)]
pub(super) struct SessionState {
    pub session: WireSession,
    /// Each request as JSON, in their order.
    pub requests: Vec<String>,
    /// It has a list of requests, as every session that we know.
    pub is_known: bool,
    /// Kinds of changes that we do not know, in the order in which they came.
    pub unknown_kinds: Vec<Box<str>>,
}

/// What is found in a file.
#[derive(Default)]
pub(super) struct SessionFile {
    /// As a reader at the bookmark had it.
    pub before: Option<SessionState>,
    pub now: SessionState,
    pub rejected: Vec<RejectedRecord>,
    /// How far it was read.
    pub end: u64,
}

/// Whether a path is that of a log; the other form is a document.
pub(super) fn is_log(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "jsonl")
}

/// Reads the file of a session; `start` is how far a reader had come with a log.
pub(super) fn read_file(path: &Path, start: u64) -> Result<SessionFile, AgentError> {
    if is_log(path) { replay_log(path, start) } else { read_document(path) }
}

fn replay_log(path: &Path, start: u64) -> Result<SessionFile, AgentError> {
    let mut found = SessionFile::default();
    let (mut state, mut unknown): (Option<Tree>, Vec<Box<str>>) = (None, Vec::new());
    let parse = |line: Line<'_>| Some((line.key(0), mutation_log::parse_change(line)?));
    found.end = jsonl::scan_records(path, 0, parse, |(key, change)| {
        if start > 0 && found.before.is_none() && key.offset >= start {
            found.before =
                Some(SessionState { unknown_kinds: unknown.clone(), ..SessionState::from_tree(state.as_mut()) });
        }
        if let Change::Unknown(kind) = &change
            && unknown.len() < MAX_UNKNOWN_KINDS
        {
            unknown.push(kind.clone());
        }
        if let Err(reason) = mutation_log::apply_change(&mut state, change) {
            note_rejected(&mut found.rejected, RejectedRecord { key, reason });
        }
        ControlFlow::Continue(())
    })?;
    found.now = SessionState { unknown_kinds: unknown, ..SessionState::from_tree(state.as_mut()) };
    Ok(found)
}

fn read_document(path: &Path) -> Result<SessionFile, AgentError> {
    let text = file::read_text(path, file::MAX_DOCUMENT_BYTES)?;
    let end = text.len() as u64;
    let mut tree = Tree::Text(text.into());
    let mut found = SessionFile { now: SessionState::from_tree(Some(&mut tree)), end, ..SessionFile::default() };
    if matches!(tree, Tree::Text(_)) {
        let key = EntryKey { file: 0, offset: 0, part: 0, length: 0 };
        found.rejected.push(RejectedRecord { key, reason: jsonl::NOT_AN_OBJECT });
    }
    Ok(found)
}

impl SessionState {
    /// Takes a session out of its object, which stays as it is.
    fn from_tree(tree: Option<&mut Tree>) -> Self {
        let Some(tree) = tree else { return Self::default() };
        tree.open();
        let Tree::Object(fields) = tree else { return Self::default() };
        let requests = fields.get_mut("requests").map(|requests| {
            requests.open();
            match requests {
                Tree::Array(items) => Some(items.iter().map(Tree::to_json).collect()),
                _ => None,
            }
        });
        let others = fields.iter().filter(|(name, _)| WireSession::FIELDS.contains(&name.as_str()));
        let others: Vec<String> = others.map(|(name, value)| format!("\"{name}\":{}", value.to_json())).collect();
        let session = parse_leniently(&format!("{{{}}}", others.join(","))).unwrap_or_default();
        let requests: Option<Vec<String>> = requests.flatten();
        let is_known = requests.is_some();
        Self { session, is_known, requests: requests.unwrap_or_default(), unknown_kinds: Vec::new() }
    }
}
