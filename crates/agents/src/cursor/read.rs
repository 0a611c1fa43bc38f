//! Reading a session.

use std::ops::ControlFlow;
use std::path::Path;

use carryover_core::transcript::{Closing, Entry, EntryKey, Fact, Header, SessionId, StartSetting, TitleRank};

use super::export::{self, ExportedDocument};
use super::merge::{self, MergedSession};
use super::places::Places;
use super::record;
use super::session::{RawRecord, RecordHead, StoredSession};
use super::{Cursor, cli, ide, transcript};
use crate::formats::{file, ids, in_database, jsonl, sqlite};
use crate::{AgentError, Bookmark, ExportedSession, Reader, Sink, Source};

/// What is said in the place of a result in a transcript, which keeps none.
const UNKEPT_RESULT: &str = "[The transcript of this session keeps no results.]";

impl Reader for Cursor {
    fn read_session(&self, source: &Source, from: &Bookmark, sink: &mut dyn Sink) -> Result<Bookmark, AgentError> {
        if is_transcript(&source.path) {
            return read_transcript(&source.path, from, sink);
        }
        let mut begun = false;
        with_session(source, &mut |stored, path| {
            if begun && sink.retract_all().is_break() {
                return Ok(*from);
            }
            let is_first = !begun && *from == Bookmark::Start;
            let from = if begun { &Bookmark::Start } else { from };
            begun = true;
            SessionReader { stored, path, sink: &mut *sink, is_first }.read_from(from)
        })
    }

    fn reload_entries(&self, header: &Header, key: EntryKey) -> Result<Vec<Entry>, AgentError> {
        if header.files.first().is_some_and(|path| is_transcript(path)) {
            let text = jsonl::read_record(header, key)?;
            let line = jsonl::Line::from_bytes(key.offset, text.as_bytes());
            return Ok(transcript::parse_line(line).map(|parsed| parsed.entries).unwrap_or_default());
        }
        let found = with_session(&in_database::header_source(header), &mut |stored, _| {
            let Some(head) = find_head(stored, key) else { return Ok(None) };
            Ok(Some(record::parse_record(head, &stored.read_text(head)?).entries))
        });
        found.map_err(|error| in_database::moved_error(error, key))?.ok_or_else(|| moved(header, key))
    }

    fn read_record(&self, header: &Header, key: EntryKey) -> Result<String, AgentError> {
        if header.files.first().is_some_and(|path| is_transcript(path)) {
            return jsonl::read_record(header, key);
        }
        let found = with_session(&in_database::header_source(header), &mut |stored, _| {
            find_head(stored, key).map(|head| stored.read_text(head)).transpose()
        });
        match found.map_err(|error| in_database::moved_error(error, key))? {
            Some(RawRecord::Text(text)) => Ok(text),
            _ => Err(moved(header, key)),
        }
    }

    fn export_session(&self, source: &Source) -> Result<Option<ExportedSession>, AgentError> {
        if is_transcript(&source.path) {
            return Ok(None);
        }
        with_session(source, &mut |stored, _| export::write_pieces(stored)).map(Some)
    }
}

fn moved(header: &Header, key: EntryKey) -> AgentError {
    AgentError::Moved { path: in_database::header_source(header).path, offset: key.offset }
}

fn is_transcript(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "jsonl")
}

fn find_head(stored: &dyn StoredSession, key: EntryKey) -> Option<&RecordHead> {
    stored.heads().iter().find(|head| ids::digest_name(&head.name) == key.offset)
}

/// Looks something up in a session.
type SessionCallback<'a, T> = dyn FnMut(&dyn StoredSession, &Path) -> rusqlite::Result<T> + 'a;

/// Opens a session, wherever it is kept.
fn with_session<T>(source: &Source, look: &mut SessionCallback<'_, T>) -> Result<T, AgentError> {
    let (path, key) = in_database::split_source(source);
    let refuse = |reason| AgentError::NotASession { agent: "cursor", path: path.clone(), reason };
    let head = jsonl::read_head(&path, 1024)?;
    if !sqlite::is_database(&head) {
        let text = file::read_text(&path, file::MAX_DOCUMENT_BYTES)?;
        let document = ExportedDocument::parse(&text).ok_or_else(|| refuse("it is no whole export"))?;
        return look(&document, &path).map_err(|source| AgentError::Database { path: path.clone(), source });
    }
    let found = sqlite::read_database(&path, &mut |connection| {
        let stored = match cli::open_store(connection, &path)? {
            Some(stored) => Some(stored),
            None => ide::open_session(connection, &path, key.as_deref())?,
        };
        stored.map(|stored| look(&MergedSession::new(stored, &path)?, &path)).transpose()
    })?;
    found.ok_or_else(|| refuse("no such session is in it"))
}

fn read_transcript(path: &Path, from: &Bookmark, sink: &mut dyn Sink) -> Result<Bookmark, AgentError> {
    // Some clients write the whole of it anew.
    let start = jsonl::find_resume_point(path, from, jsonl::digest_all, sink)?;
    let mut facts = vec![Fact::Closing(Closing::Answer(UNKEPT_RESULT))];
    if *from == Bookmark::Start {
        let id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        facts.extend([Fact::Session(SessionId(id)), Fact::File(path.to_path_buf())]);
        let mut projects = merge::list_projects(&Places::around(path));
        let project = transcript::project_folder(path).and_then(|folder| projects.remove(folder));
        facts.extend(project.map(Fact::Project));
        facts.extend(transcript::list_sub_agents(path).into_iter().map(Fact::Child));
    }
    if facts.into_iter().try_for_each(|fact| sink.learn(fact)).is_break() {
        return Ok(*from);
    }
    let end = jsonl::scan_records(path, start, transcript::parse_line, |parsed| parsed.send_to_sink(sink))?;
    Ok(jsonl::make_bookmark(path, end, jsonl::digest_all)?)
}

/// Hands a session over.
struct SessionReader<'a> {
    stored: &'a dyn StoredSession,
    path: &'a Path,
    sink: &'a mut dyn Sink,
    /// The sink knows nothing yet.
    is_first: bool,
}

impl SessionReader<'_> {
    fn read_from(mut self, from: &Bookmark) -> rusqlite::Result<Bookmark> {
        let heads = self.stored.heads();
        let mut digest = ids::digest_name(&self.stored.session().id);
        let mut start = 0;
        if let Bookmark::Rows { count, digest: before } = *from {
            for head in heads.iter().take(usize::try_from(count).unwrap_or(usize::MAX)) {
                digest = extend_digest(digest, head, &self.stored.read_text(head)?);
                start += 1;
            }
            if (start as u64, digest) != (count, before) {
                start = 0;
            }
        }
        if start == 0 {
            digest = ids::digest_name(&self.stored.session().id);
            if *from != Bookmark::Start && self.sink.retract_all().is_break() {
                return Ok(*from);
            }
        }
        let mark = |count: usize, digest| Bookmark::Rows { count: count as u64, digest };
        if self.send_first_facts().is_break() {
            return Ok(mark(start, digest));
        }
        let live_from = self.find_live_start(heads);
        for (index, head) in heads.iter().enumerate().skip(start) {
            let raw = self.stored.read_text(head)?;
            let mut parsed = record::parse_record(head, &raw);
            if index < live_from {
                parsed.entries.iter_mut().for_each(Entry::reduce);
            }
            if parsed.send_to_sink(self.sink).is_break() {
                return Ok(mark(index, digest));
            }
            digest = extend_digest(digest, head, &raw);
        }
        Ok(mark(heads.len(), digest))
    }

    /// Where what may be live begins, where the past is not wanted.
    fn find_live_start(&self, heads: &[RecordHead]) -> usize {
        let begins = |head: &RecordHead| head.begins_context;
        if self.sink.wants_full_history() { 0 } else { heads.iter().rposition(begins).unwrap_or(0) }
    }

    fn send_first_facts(&mut self) -> ControlFlow<()> {
        let session = self.stored.session();
        let mut facts = vec![Fact::Session(SessionId(session.id.clone())), Fact::Closing(Closing::Drop)];
        if self.is_first {
            facts.push(Fact::File(self.path.to_owned()));
            facts.extend(session.children.iter().cloned().map(Fact::Child));
        }
        facts.extend(session.started.map(Fact::StartedAt));
        facts.extend(session.project.clone().map(Fact::Project));
        facts.extend(session.title.clone().map(|title| Fact::Title(TitleRank::Generated, title)));
        facts.extend(session.branch.clone().map(Fact::Branch));
        facts.extend(session.model.clone().map(Fact::Model));
        facts.extend(session.mode.clone().map(|mode| Fact::StartSetting(StartSetting::PermissionMode(mode))));
        facts.extend(session.parent.clone().map(|parent| Fact::Parent(SessionId(parent))));
        facts.into_iter().try_for_each(|fact| self.sink.learn(fact))
    }
}

fn extend_digest(digest: u64, head: &RecordHead, raw: &RawRecord) -> u64 {
    let named = ids::extend_digest(digest, head.name.as_bytes());
    let begins = ids::extend_digest(named, &[u8::from(head.begins_context), head.form as u8]);
    ids::extend_digest(begins, raw.as_text().as_bytes())
}
