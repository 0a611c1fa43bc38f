//! The two ends of a log, which tell enough of a session for a listing.

use std::fs::Metadata;
use std::io;
use std::path::Path;

use carryover_core::time::Timestamp;
use carryover_core::transcript::{Body, Entry, Fact, Header, SessionId};

use super::line::Line;
use super::open_log::{OpenLog, is_compressed};
use crate::formats::drift;
use crate::formats::file::modified_at;
use crate::{FoundSession, Liveness, Source};

/// The facts that the ends of a session's file tell.
#[derive(Default)]
pub struct EndsScan {
    pub header: Header,
    /// How many records were of a kind that we know.
    pub known: usize,
    pub unknown: usize,
    /// Something was said in it.
    pub has_messages: bool,
    /// It belongs to a session that is told elsewhere.
    pub is_sub_agent: bool,
}

impl EndsScan {
    /// Reads the ends of a file, and more of its beginning where they hold nothing that we know. `None` for a file in
    /// which nothing was said: that is no session.
    pub fn read(
        path: &Path,
        metadata: &Metadata,
        head: u64,
        tail: u64,
        mut take: impl FnMut(&mut Self, Line<'_>),
    ) -> io::Result<Option<Self>> {
        let size = metadata.len();
        let mut ends = Self::default();
        ends.scan_lines(&read_head(path, head)?, &mut take);
        if size > head {
            ends.scan_lines(&read_tail(path, tail.min(size - head))?, &mut take);
            if ends.has_drifted() {
                ends = Self::default();
                ends.scan_lines(&read_head(path, drift::CHECK_BYTES)?, &mut take);
            }
        }
        Ok(ends.is_session(size <= head).then_some(ends))
    }

    /// Whether a file is a session; `is_whole` where all of it was looked at.
    pub fn is_session(&self, is_whole: bool) -> bool {
        let says_nothing = !self.has_messages && is_whole && !self.has_drifted();
        !self.is_sub_agent && self.known + self.unknown > 0 && !says_nothing
    }

    pub fn has_drifted(&self) -> bool {
        drift::has_drifted(self.known, self.unknown, self.has_messages)
    }

    /// Takes every whole line of some bytes that holds anything.
    pub fn scan_lines(&mut self, bytes: &[u8], mut take: impl FnMut(&mut Self, Line<'_>)) {
        let lines = whole_lines(bytes).map(|line| Line::from_bytes(0, line));
        lines.filter(|line| !line.is_empty_value()).for_each(|line| take(self, line));
    }

    /// Takes what a record says; `is_known_message` tells whether it is of a kind that we know.
    pub fn scan_record(&mut self, is_known: bool, entries: &[Entry], facts: Vec<Fact>) {
        if is_known {
            self.known += 1;
        } else {
            self.unknown += 1;
        }
        self.has_messages |= entries.iter().any(|entry| {
            matches!(entry.body, Body::Prompt(_) | Body::Reply(_) | Body::Call(_) | Body::Outcome(_) | Body::Summary(_))
        });
        self.add_facts(entries.iter().filter_map(|entry| entry.at), facts);
    }

    pub fn add_facts(&mut self, times: impl Iterator<Item = Timestamp>, facts: Vec<Fact>) {
        times.for_each(|at| self.header.note_time(at));
        for fact in facts {
            self.header.learn(fact);
        }
    }

    /// The session as a listing shows it. Where no record names a time, that of the file is the nearest.
    pub fn into_found(self, path: &Path, metadata: &Metadata, id: SessionId) -> FoundSession {
        let drifted = self.has_drifted();
        let header = self.header;
        FoundSession {
            source: Source { path: path.to_path_buf(), key: None },
            id,
            title: header.title,
            project: header.project,
            branch: header.branch,
            started_at: header.started_at,
            updated_at: header.updated_at.or_else(|| modified_at(metadata)),
            messages: None,
            bytes: metadata.len(),
            model: header.model,
            live: Liveness::Unknown,
            drifted,
        }
    }
}

/// The room to begin reading with: a buffer that grows from nothing asks the system ten times for a small file.
fn first_room(bytes: u64) -> usize {
    const MAX_FIRST_BYTES: u64 = 16 << 10;
    usize::try_from(bytes.min(MAX_FIRST_BYTES)).unwrap_or(0)
}

/// The whole lines in the first bytes of a log.
pub fn read_head(path: &Path, bytes: u64) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(first_room(bytes));
    OpenLog::open_at(path, 0)?.read_more(bytes, &mut head)?;
    Ok(head)
}

/// The last bytes of a log, from the first whole line on. Compressed logs have no cheap end.
pub fn read_tail(path: &Path, bytes: u64) -> io::Result<Vec<u8>> {
    if is_compressed(path) {
        return Ok(Vec::new());
    }
    let size = fs_err::metadata(path)?.len();
    let from = size.saturating_sub(bytes);
    let mut tail = Vec::with_capacity(first_room(bytes));
    OpenLog::open_at(path, from)?.read_more(bytes, &mut tail)?;
    if from > 0 {
        let begin = memchr::memchr(b'\n', &tail).map_or(tail.len(), |end| end + 1);
        tail.drain(..begin);
    }
    Ok(tail)
}

/// The lines of some bytes, the last one being left out where it is not whole.
pub fn whole_lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"))
}
