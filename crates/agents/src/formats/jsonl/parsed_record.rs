//! One record of a log, as entries and facts.

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carryover_core::time::Timestamp;
use carryover_core::transcript::{Body, Entry, EntryKey, Fact, Header, Node, Opaque, Origin, RejectedRecord};

use super::line::Line;
use super::open_log::OpenLog;
use crate::{AgentError, Sink};

/// Why a line is no record at all.
pub const NOT_AN_OBJECT: &str = "not a JSON object";

/// The facts and entries of one line; `M` is what only the lines of one agent tell.
#[derive(Debug)]
pub struct ParsedRecord<M = ()> {
    pub key: EntryKey,
    pub facts: Vec<Fact>,
    pub entries: Vec<Entry>,
    pub rejected: Option<&'static str>,
    pub more: M,
}

impl<M: Default> ParsedRecord<M> {
    pub fn empty(key: EntryKey) -> Self {
        Self { key, facts: Vec::new(), entries: Vec::new(), rejected: None, more: M::default() }
    }

    /// A record that cannot be read: it costs one entry, and is told with its reason.
    pub fn new_rejected(key: EntryKey, reason: &'static str) -> Self {
        let body = Body::Opaque(Opaque::Rejected);
        let entry = Entry { key, at: None, origin: Origin::Harness, side: false, node: None, body };
        Self { entries: vec![entry], rejected: Some(reason), ..Self::empty(key) }
    }
}

impl<M> ParsedRecord<M> {
    pub fn rejected_record(&self) -> Option<RejectedRecord> {
        self.rejected.map(|reason| RejectedRecord { key: self.key, reason })
    }

    /// Adds entries that all stand in the record.
    pub fn push_entries(
        &mut self,
        at: Option<Timestamp>,
        side: bool,
        node: Option<Node>,
        bodies: impl IntoIterator<Item = (Origin, Body)>,
    ) {
        let key = self.key;
        self.entries.extend(bodies.into_iter().enumerate().map(|(part, (origin, body))| {
            let key = EntryKey { part: u16::try_from(part).unwrap_or(u16::MAX), ..key };
            Entry { key, at, origin, side, node, body }
        }));
    }

    /// The version of the client that wrote the record, where the record tells it.
    pub fn client_version(&self) -> Option<&str> {
        self.facts.iter().rev().find_map(|fact| match fact {
            Fact::ClientVersion(version) => Some(version.as_str()),
            _ => None,
        })
    }

    pub fn send_to_sink(self, sink: &mut dyn Sink) -> ControlFlow<()> {
        send_to_sink(self.rejected_record(), self.facts, self.entries, sink)
    }
}

/// Hands a record over: first why it could not be read, last what it says.
pub fn send_to_sink(
    rejected: Option<RejectedRecord>,
    facts: Vec<Fact>,
    entries: Vec<Entry>,
    sink: &mut dyn Sink,
) -> ControlFlow<()> {
    rejected.into_iter().try_for_each(|rejected| sink.reject(rejected))?;
    facts.into_iter().try_for_each(|fact| sink.learn(fact))?;
    entries.into_iter().try_for_each(|entry| sink.put(entry))
}

/// Parses a line of its own type. `None`: it ends without a line feed and is not whole.
pub fn parse_line<'a, T: serde::Deserialize<'a>, M: Default>(
    line: Line<'a>,
    file: u16,
    read: impl FnOnce(EntryKey, T) -> ParsedRecord<M>,
) -> Option<ParsedRecord<M>> {
    let key = line.key(file);
    if line.is_too_long() {
        return Some(ParsedRecord::new_rejected(key, "the record is longer than 64 MiB"));
    }
    match parse_record(line.bytes) {
        Ok(record) => Some(read(key, record)),
        Err(_) if line.unterminated => None,
        Err(error) if error.is_data() => Some(ParsedRecord::new_rejected(key, "a field has another type than it had")),
        Err(_) => Some(ParsedRecord::new_rejected(key, NOT_AN_OBJECT)),
    }
}

/// Parses a record as text where it is text: then serde need not check each string again.
pub fn parse_record<'a, T: serde::Deserialize<'a>>(record: &'a [u8]) -> serde_json::Result<T> {
    match simdutf8::basic::from_utf8(record) {
        Ok(text) => serde_json::from_str(text),
        Err(_) => serde_json::from_slice(record),
    }
}

/// Reads the text of the record that a key of a session points to.
pub fn read_record(header: &Header, key: EntryKey) -> Result<String, AgentError> {
    let moved = |path: PathBuf| AgentError::Moved { path, offset: key.offset };
    let path = header.files.get(usize::from(key.file)).ok_or_else(|| moved(PathBuf::new()))?;
    read_record_at(path, key.offset, u64::from(key.length)).map_err(|_| moved(path.clone()))
}

/// Reads one record by its place.
pub fn read_record_at(path: &Path, offset: u64, length: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    OpenLog::open_at(path, offset)?.read_more(length, &mut bytes)?;
    if bytes.len() as u64 != length {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file is shorter than when it was first read"));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "not UTF-8"))
}
