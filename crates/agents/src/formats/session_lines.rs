//! Lines of a session in the making: a JSON value each, named by the one before, with the entries that it holds.

use std::collections::BTreeSet;
use std::path::PathBuf;

use carryover_core::time::Timestamp;
use carryover_core::transcript::SessionId;
use serde_json::Value;

use super::ids::Ids;
use crate::{Loss, Origins, ResumeCommand, TargetView, WriteOp, WritePlan, WrittenEntry};

/// A line and the entries that it holds.
pub(crate) struct SessionLine {
    pub value: Value,
    pub entries: Vec<usize>,
}

/// Lines one after another.
pub(crate) struct LineChain {
    pub lines: Vec<SessionLine>,
    /// The name of the last line.
    pub parent: Option<String>,
    /// When the last line was written.
    pub at: Timestamp,
    pub ids: Ids,
    make_name: fn(&mut Ids) -> String,
    /// Names must not occur twice.
    used_names: BTreeSet<String>,
}

impl LineChain {
    pub(crate) fn new(ids: Ids, make_name: fn(&mut Ids) -> String, at: Timestamp) -> Self {
        Self { lines: Vec::new(), parent: None, at, ids, make_name, used_names: BTreeSet::new() }
    }

    /// A name that no line has yet.
    pub(crate) fn new_name(&mut self) -> String {
        loop {
            let name = (self.make_name)(&mut self.ids);
            if !self.used_names.contains(&name) {
                return name;
            }
        }
    }

    /// The name that a record had, or a new one where that is taken or none.
    pub(crate) fn keep_name(&mut self, name: &Value) -> String {
        let own = name.as_str().filter(|name| !self.used_names.contains(*name)).map(str::to_owned);
        own.unwrap_or_else(|| self.new_name())
    }

    /// Adds a line, which the next one follows.
    pub(crate) fn push_line(&mut self, value: Value, name: String, entries: Vec<usize>) {
        self.used_names.insert(name.clone());
        self.parent = Some(name);
        self.lines.push(SessionLine { value, entries });
    }

    /// Goes on to the time of an entry. No line is as old as the one before: some clients go on from the newest, and of
    /// two that are equal from the first.
    pub(crate) fn advance_time(&mut self, at: Option<Timestamp>) {
        self.at = later_time(self.at, at);
    }

    /// Goes on to the time of an entry, or of a record that keeps its own; time never runs back.
    pub(crate) fn raise_time(&mut self, at: Option<Timestamp>) {
        self.at = at.map_or(self.at, |at| at.max(self.at));
    }

    /// The last line that is of such a kind.
    pub(crate) fn last_line(&mut self, is_meant: impl Fn(&Value) -> bool) -> Option<&mut SessionLine> {
        self.lines.iter_mut().rev().find(|line| is_meant(&line.value))
    }
}

/// The time of an entry, or at least a millisecond after the one before.
pub(crate) fn later_time(before: Timestamp, at: Option<Timestamp>) -> Timestamp {
    let next = before.plus_millis(1);
    at.map_or(next, |at| at.max(next))
}

/// The time that a record tells.
pub(crate) fn record_time(record: &Value) -> Option<Timestamp> {
    record.get("timestamp").and_then(Value::as_str).and_then(Timestamp::parse)
}

/// Bytes of a file, and where in it which entries are.
#[derive(Default)]
pub(crate) struct LineWriter {
    bytes: Vec<u8>,
    origins: Origins,
}

impl LineWriter {
    pub(crate) fn write_line(&mut self, value: &Value) {
        // Without spaces: some clients look for titles by their text.
        self.bytes.extend_from_slice(value.to_string().as_bytes());
        self.bytes.push(b'\n');
    }

    /// Lines whose entries are found by the place of the line.
    pub(crate) fn write_lines(&mut self, lines: &[SessionLine]) {
        for line in lines {
            self.note_entries(&line.entries, self.offset());
            self.write_line(&line.value);
        }
    }

    /// Where the next line begins.
    pub(crate) fn offset(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Notes by which offset, or digest of a name, entries are found again.
    pub(crate) fn note_entries(&mut self, entries: &[usize], offset: u64) {
        self.origins.extend(entries.iter().map(|entry| WrittenEntry { entry: *entry, offset }));
    }

    pub(crate) fn finish(mut self, losses: Vec<Loss>, translated: usize) -> WrittenFile {
        self.origins.sort_by_key(|written| written.entry);
        WrittenFile { bytes: self.bytes, origins: self.origins, losses, translated }
    }
}

/// A file that holds a session.
pub(crate) struct WrittenFile {
    pub bytes: Vec<u8>,
    pub origins: Origins,
    pub losses: Vec<Loss>,
    pub translated: usize,
}

impl WrittenFile {
    /// The plan to create the file, as the one that was changed last: with that, clients go on.
    pub(crate) fn into_plan(
        self,
        target: &TargetView<'_>,
        session: SessionId,
        file: PathBuf,
        resume: ResumeCommand,
    ) -> WritePlan {
        let modified = target.env.now;
        WritePlan {
            ops: vec![WriteOp::Create { path: file.clone(), bytes: self.bytes, private: true, modified }],
            key: None,
            session,
            file,
            resume,
            translated: self.translated,
            losses: self.losses,
            origins: self.origins,
        }
    }
}
