//! `glances.jsonl`: what was read of sessions, by path, key, size and time. Losing it costs time only.
//!
//! A line is a digest of the session's place, a blank, and a row as JSON: so that loading finds the lines and parses none
//! of them, and a line that is broken costs nothing but itself.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::ops::Range;
use std::path::PathBuf;

use carryover_agents::Source;
use carryover_agents::formats::sqlite;
use serde::{Deserialize, Serialize};

use super::{Glance, StampedGlance};
use crate::context::Context;
use crate::own::files::{self, Stamp};
use crate::own::fingerprint::Fingerprint;

const HEAD_LINE: &str = "carryover.glances/1\n";
const MAX_ROWS: usize = 20_000;
const MAX_BYTES: usize = 64 << 20;

/// Glances that are remembered, to be asked by session.
#[derive(Default)]
pub struct GlanceCache {
    /// The file as it was, oldest row first.
    text: String,
    /// Where in it the row of a place is.
    rows: HashMap<Fingerprint, Range<usize>>,
    /// The rows that were added since, by place, with their turn.
    added: BTreeMap<Fingerprint, (usize, String)>,
}

#[derive(Serialize, Deserialize)]
struct Row {
    path: PathBuf,
    key: Option<String>,
    stamp: Stamp,
    glance: Glance,
    /// More than the number of messages is known.
    whole: bool,
}

impl GlanceCache {
    /// Reads the file; one that is missing, broken or of another form is an empty one.
    pub fn load(context: &Context) -> Self {
        let bytes = files::read_bounded(&cache_path(context), MAX_BYTES as u64).ok().flatten();
        Self::from_text(bytes.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default())
    }

    fn from_text(text: String) -> Self {
        let rows = lines_with_places(&text).map(|(place, line)| (place, line.start + 17..line.end)).collect();
        Self { text, rows, added: BTreeMap::new() }
    }

    /// What is remembered of a session that has not changed since; this looks at its file.
    pub fn find(&self, source: &Source) -> Option<Glance> {
        self.find_fresh(source).filter(|row| row.whole).map(|row| row.glance)
    }

    /// The number of its messages, also where no more is remembered.
    pub fn find_messages(&self, source: &Source) -> Option<u64> {
        self.find_fresh(source).map(|row| row.glance.messages)
    }

    /// Takes in what was read; it is kept by `save`.
    pub fn remember(&mut self, source: &Source, read: &StampedGlance) {
        if let Some(stamp) = read.stamp {
            self.add(source, stamp, read.glance.clone(), true);
        }
    }

    /// Writes what was added to what others may have added meanwhile.
    pub fn save(&mut self, context: &Context) -> io::Result<()> {
        if self.added.is_empty() {
            return Ok(());
        }
        let mut now = Self::load(context);
        now.added = std::mem::take(&mut self.added);
        *self = Self::from_text(now.to_text());
        files::write_cached(&cache_path(context), self.text.as_bytes())
    }

    fn find_fresh(&self, source: &Source) -> Option<Row> {
        let place = place_of(source);
        let added = self.added.get(&place).map(|(_, line)| line.as_str());
        let line = added.or_else(|| self.text.get(self.rows.get(&place)?.clone()))?;
        let row: Row = serde_json::from_str(line).ok()?;
        let is_it = row.path == source.path && row.key == source.key;
        (is_it && stamp_source(source).ok()? == row.stamp).then_some(row)
    }

    fn add(&mut self, source: &Source, stamp: Stamp, glance: Glance, whole: bool) {
        let row = Row { path: source.path.clone(), key: source.key.clone(), stamp, glance, whole };
        // A path that is no text has no row.
        if let Ok(line) = serde_json::to_string(&row) {
            let turn = self.added.len();
            self.added.insert(place_of(source), (turn, line));
        }
    }

    /// The file with what was added, and without the oldest where it would be too long.
    fn to_text(&self) -> String {
        let mut added: Vec<(&Fingerprint, &(usize, String))> = self.added.iter().collect();
        added.sort_by_key(|(_, (turn, _))| *turn);
        let old = lines_with_places(&self.text).filter(|(place, line)| {
            let is_last = self.rows.get(place).is_some_and(|last| last.end == line.end);
            is_last && !self.added.contains_key(place)
        });
        let mut lines: Vec<String> = old.map(|(_, line)| self.text[line].to_owned()).collect();
        lines.extend(added.into_iter().map(|(place, (_, row))| format!("{place} {row}")));
        let mut size = HEAD_LINE.len();
        let fits = |line: &&String| {
            size += line.len() + 1;
            size <= MAX_BYTES
        };
        let n_kept = lines.iter().rev().take(MAX_ROWS).take_while(fits).count();
        let mut text = HEAD_LINE.to_owned();
        for line in &lines[lines.len() - n_kept..] {
            text.push_str(line);
            text.push('\n');
        }
        text
    }
}

/// The rows of a file, as the places that they are about and the lines that they stand in.
fn lines_with_places(text: &str) -> impl Iterator<Item = (Fingerprint, Range<usize>)> + '_ {
    let is_ours = text.starts_with(HEAD_LINE);
    let mut start = 0;
    text.split_inclusive('\n').filter(move |_| is_ours).filter_map(move |line| {
        let range = start..start + line.len();
        start = range.end;
        // What has no end was cut off.
        let line = line.strip_suffix('\n')?;
        let (place, _) = line.split_once(' ').filter(|(place, _)| place.len() == 16)?;
        Some((Fingerprint::parse(place)?, range.start..range.start + line.len()))
    })
}

/// Keeps the number of messages that a full reading found, for later listings.
pub fn remember_messages(context: &Context, source: &Source, messages: u64) -> io::Result<()> {
    let stamp = stamp_source(source)?;
    let mut cache = GlanceCache::load(context);
    match cache.find_fresh(source) {
        Some(row) if row.glance.messages == messages => return Ok(()),
        Some(row) => cache.add(source, stamp, Glance { messages, ..row.glance }, row.whole),
        None => cache.add(source, stamp, Glance { messages, ..Glance::default() }, false),
    }
    cache.save(context)
}

/// Drops what is remembered, with the prompts in it; what is still in its store is read again when it is listed.
pub(crate) fn discard_glances(context: &Context) -> io::Result<()> {
    files::remove_if_there(&cache_path(context))
}

fn cache_path(context: &Context) -> PathBuf {
    context.home.join("glances.jsonl")
}

fn place_of(source: &Source) -> Fingerprint {
    let path = Fingerprint::from_bytes(source.path.as_os_str().as_encoded_bytes());
    path.extend_with(b"\0").extend_with(source.key.as_deref().unwrap_or_default().as_bytes())
}

/// Size and time of a session's file. A database changes in the log beside it first.
pub(super) fn stamp_source(source: &Source) -> io::Result<Stamp> {
    let mut stamp = Stamp::from_path(&source.path)?;
    if source.path.extension().is_some_and(|extension| extension == "jsonl") {
        return Ok(stamp);
    }
    if let Ok(log) = Stamp::from_path(&sqlite::companion_path(&source.path, "-wal")) {
        stamp.size = stamp.size.wrapping_add(log.size);
        stamp.mtime_ms = stamp.mtime_ms.max(log.mtime_ms);
    }
    Ok(stamp)
}
