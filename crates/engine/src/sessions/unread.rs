//! Records of a session that could not be read: how many, and where. Whoever reads a session tells of them.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;
use std::path::Path;

use carryover_agents::formats::sqlite;
use carryover_core::distill::History;
use carryover_core::plain::strip_hidden;
use carryover_core::transcript::surplus::MAX_NOTED;
use carryover_core::transcript::{Header, RejectedRecord, Transcript};
use serde::Serialize;

use super::drift::{count_unknown_kinds, name_kind, name_kinds};

/// How many places are named; a file may be damaged from end to end.
const MAX_RECORDS_NAMED: usize = 100;

/// The records that could not be read. Shown, it is a sentence.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Unread {
    /// At least so many.
    pub count: usize,
    /// There are more than are counted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub and_more: bool,
    /// The first of them.
    pub records: Vec<UnreadRecord>,
    /// Records that were read and are not understood, by their kinds.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub unknown_kinds: BTreeMap<String, usize>,
}

/// Where a record stands that could not be read, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnreadRecord {
    pub path: String,
    /// Where it begins; rows of a database begin nowhere.
    pub byte: Option<u64>,
    /// The name by which `show --entry` shows what is left of it.
    pub entry: String,
    pub reason: &'static str,
}

impl Unread {
    /// The records of a transcript that were not read or not understood.
    pub fn from_transcript(transcript: &Transcript) -> Self {
        Self {
            unknown_kinds: count_unknown_kinds(transcript),
            ..Self::from_rejected(&transcript.header, &transcript.rejected)
        }
    }

    /// The same of a history.
    pub fn from_history(history: &History) -> Self {
        let unknown_kinds = history.unknown_kinds.clone();
        Self { unknown_kinds, ..Self::from_rejected(&history.header, &history.rejected) }
    }

    fn from_rejected(header: &Header, rejected: &[RejectedRecord]) -> Self {
        let records = rejected.iter().take(MAX_RECORDS_NAMED).map(|rejected| {
            let RejectedRecord { key, reason } = *rejected;
            let path = header.files.get(usize::from(key.file)).or(header.files.first());
            UnreadRecord {
                path: path.map_or_else(String::new, |path| path.display().to_string()),
                byte: path.filter(|path| is_byte_offset(path, key.offset)).map(|_| key.offset),
                entry: key.reference().to_string(),
                reason,
            }
        });
        Self {
            count: rejected.len().min(MAX_NOTED),
            and_more: rejected.len() > MAX_NOTED,
            records: records.collect(),
            unknown_kinds: BTreeMap::new(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// For the user, where there is something to tell.
    pub fn warnings(&self) -> Vec<String> {
        let unread = (!self.is_empty()).then(|| self.to_string());
        unread.into_iter().chain(self.describe_unknown()).collect()
    }

    /// Records that are not understood, in a sentence.
    pub fn describe_unknown(&self) -> Option<String> {
        let count = self.n_unknown();
        let noun = if count == 1 { "record is of a kind" } else { "records are of kinds" };
        let named = self.unknown_kinds.iter().map(|(kind, count)| (name_kind(kind), *count)).collect();
        let named = name_kinds(&named);
        (count > 0).then(|| format!("{count} {noun} that carryover does not know, and left out ({named})"))
    }

    pub fn n_unknown(&self) -> usize {
        self.unknown_kinds.values().sum()
    }
}

impl fmt::Display for Unread {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (nouns, first) = if self.count == 1 { ("record", "") } else { ("records", "the first ") };
        let more = if self.and_more { "more than " } else { "" };
        write!(out, "{more}{} {nouns} could not be read", self.count)?;
        let Some(UnreadRecord { path, byte, entry, reason }) = self.records.first() else { return Ok(()) };
        match byte {
            Some(byte) => write!(out, ": {first}at byte {byte}")?,
            None => write!(out, ": {first}is entry {entry}")?,
        }
        write!(out, " of {} ({reason})", strip_hidden(path))
    }
}

/// Whether the place of a record is one in its file: in a database, it is a name or a number.
fn is_byte_offset(path: &Path, offset: u64) -> bool {
    let Ok(mut file) = fs_err::File::open(path) else { return false };
    let is_inside = file.metadata().is_ok_and(|metadata| offset < metadata.len());
    let mut head = [0; sqlite::MAGIC.len()];
    is_inside && (file.read_exact(&mut head).is_err() || head != *sqlite::MAGIC)
}
