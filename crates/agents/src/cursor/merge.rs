//! One conversation that is in several stores: the richest tells it, and what only another knows is added.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::cli::{self, ChatFolder};
use super::copies::{Addition, Outline};
use super::places::{Places, project_slug};
use super::session::{RawRecord, RecordForm, RecordHead, Session, StoredSession};
use super::{ide, transcript};
use crate::formats::{file, jsonl, sqlite};
use crate::{AgentError, FoundSession};

/// How much of a transcript is looked at to see how the last turn ended.
const ENDING_BYTES: u64 = 64 << 10;

/// The name of the record that the transcript adds.
const ENDING_NAME: &str = "ending";

/// The name of the record that stands for turns of another place which are not told.
const UNPLACED_NAME: &str = "elsewhere";
const UNPLACED: &str = "another of the client's stores has turns of this conversation that this one has not, and nothing tells where they belong";

/// A session with what other places add to it.
pub(super) struct MergedSession<'c> {
    stored: Box<dyn StoredSession + 'c>,
    session: Session,
    heads: Vec<RecordHead>,
    /// Records that stand elsewhere.
    added: BTreeMap<String, RawRecord>,
}

impl<'c> MergedSession<'c> {
    pub(super) fn new(stored: Box<dyn StoredSession + 'c>, path: &Path) -> rusqlite::Result<Self> {
        let places = Places::around(path);
        let (session, heads) = (stored.session().clone(), stored.heads().to_vec());
        let mut merged = Self { stored, session, heads, added: BTreeMap::new() };
        merged.add_copies(&places, path)?;
        if let Some(client) = &places.client {
            let id = &merged.session.id;
            let note = cli::list_chat_folders(client).iter().find(|folder| folder.id == *id).map(ChatFolder::read_note);
            merged.session.complete(note.unwrap_or_default());
            merged.add_transcript(client);
        }
        Ok(merged)
    }

    /// Adds what only the transcript tells: the command line client's store keeps no failures.
    fn add_transcript(&mut self, client: &Path) {
        let Session { id, project, .. } = &self.session;
        let Some(written) = project.as_deref().and_then(|project| transcript_path(client, project, id)) else { return };
        self.session.children.extend(transcript::list_sub_agents(&written));
        if self.heads.iter().any(|head| head.form == RecordForm::Message) {
            let ending = read_failed_ending(&written);
            self.heads.extend(ending.as_ref().map(|_| RecordHead::new(ENDING_NAME, RecordForm::Line)));
            self.added.extend(ending.map(|line| (ENDING_NAME.to_owned(), RawRecord::Text(line))));
        }
    }

    /// Adds the turns that only other stores have.
    fn add_copies(&mut self, places: &Places, path: &Path) -> rusqlite::Result<()> {
        let id = cli::chat_id(path).unwrap_or_else(|| self.session.id.clone());
        let others = list_copies(places, &id).into_iter().filter(|copy| copy.path != path);
        for (number, copy) in others.enumerate() {
            let own = Outline::read(self)?;
            // One that cannot be opened is told by the listing.
            let Ok(Some(found)) = copy.find_addition(&own) else { continue };
            let CopyRecords { session, before, after, is_unplaced } = found;
            let updated = self.session.updated;
            self.session.complete(Session { children: Vec::new(), ..session });
            self.session.updated = updated;
            let before = before.into_iter().map(|(head, raw)| (RecordHead { begins_context: false, ..head }, raw));
            let before = self.take_in(number, before.collect());
            self.heads.splice(0..0, before);
            let after = self.take_in(number, after);
            self.heads.extend(after);
            if is_unplaced {
                let head = RecordHead::new(format!("{number}/{UNPLACED_NAME}"), RecordForm::Bubble);
                self.added.insert(head.name.clone(), RawRecord::Unreadable(UNPLACED));
                self.heads.push(head);
            }
        }
        Ok(())
    }

    /// Keeps records of another copy, whose names may be those of ours.
    fn take_in(&mut self, copy: usize, records: Vec<(RecordHead, RawRecord)>) -> Vec<RecordHead> {
        let mut heads = Vec::new();
        for (mut head, raw) in records {
            head.name = format!("{copy}/{}", head.name);
            self.added.insert(head.name.clone(), raw);
            heads.push(head);
        }
        heads
    }
}

impl StoredSession for MergedSession<'_> {
    fn session(&self) -> &Session {
        &self.session
    }

    fn heads(&self) -> &[RecordHead] {
        &self.heads
    }

    fn read_text(&self, head: &RecordHead) -> rusqlite::Result<RawRecord> {
        match self.added.get(&head.name) {
            Some(record) => Ok(record.clone()),
            None => self.stored.read_text(head),
        }
    }
}

/// A place that holds a conversation.
struct HeldCopy {
    path: PathBuf,
    id: String,
}

/// What another copy adds.
struct CopyRecords {
    session: Session,
    before: Vec<(RecordHead, RawRecord)>,
    after: Vec<(RecordHead, RawRecord)>,
    is_unplaced: bool,
}

/// The stores that hold a conversation: the editor's, and those of the command line client.
fn list_copies(places: &Places, id: &str) -> Vec<HeldCopy> {
    let chats = places.client.iter().flat_map(|client| cli::list_chat_folders(client));
    let stores = chats.filter(|folder| folder.id == id).map(|folder| folder.store());
    let database = places.global_database().filter(|database| !ide::find_held(database, &[id].into()).is_empty());
    let readable = database.into_iter().chain(stores).filter(|path| file::check_regular(path).is_ok());
    readable.map(|path| HeldCopy { path, id: id.to_owned() }).collect()
}

impl HeldCopy {
    fn find_addition(&self, own: &Outline) -> Result<Option<CopyRecords>, AgentError> {
        sqlite::read_database(&self.path, &mut |connection| {
            let stored = match cli::open_store(connection, &self.path)? {
                Some(stored) => Some(stored),
                None => ide::open_session(connection, &self.path, Some(&self.id))?,
            };
            let Some(stored) = stored else { return Ok(None) };
            let addition = own.align(&Outline::read(&*stored)?);
            let read = |range: Range<usize>| -> rusqlite::Result<Vec<(RecordHead, RawRecord)>> {
                stored.heads()[range].iter().map(|head| Ok((head.clone(), stored.read_text(head)?))).collect()
            };
            let (before, after, is_unplaced) = match addition {
                Addition::Nothing => (Vec::new(), Vec::new(), false),
                Addition::Unplaced => (Vec::new(), Vec::new(), true),
                Addition::Around { before, after } => (read(before)?, read(after)?, false),
            };
            Ok(Some(CopyRecords { session: stored.session().clone(), before, after, is_unplaced }))
        })
    }
}

fn transcript_path(client: &Path, project: &Path, id: &str) -> Option<PathBuf> {
    let folder = client.join("projects").join(project_slug(project.to_str()?)).join("agent-transcripts");
    let path = folder.join(id).join(format!("{id}.jsonl"));
    path.is_file().then_some(path)
}

/// The last line of a transcript, where the turn ended badly.
fn read_failed_ending(transcript: &Path) -> Option<String> {
    let tail = jsonl::read_tail(transcript, ENDING_BYTES).ok()?;
    let last = jsonl::whole_lines(&tail).filter(|line| !line.trim_ascii().is_empty()).last()?;
    let line: serde_json::Value = serde_json::from_slice(last).ok()?;
    let is_failed = match line["type"].as_str()? {
        "error" => true,
        "turn_ended" => line["status"] != "success",
        _ => false,
    };
    is_failed.then(|| line.to_string())
}

/// Completes conversations of the editor by the notes of the command line client.
pub(super) fn complete_found(all: &mut [FoundSession], places: &Places) {
    let Some(client) = &places.client else { return };
    let lacks = |found: &FoundSession| found.title.is_none() || found.project.is_none();
    if !all.iter().any(lacks) {
        return;
    }
    let folders: BTreeMap<String, ChatFolder> =
        cli::list_chat_folders(client).into_iter().map(|folder| (folder.id.clone(), folder)).collect();
    for found in all.iter_mut().filter(|found| lacks(found)) {
        let Some(note) = folders.get(&found.id.0).map(ChatFolder::read_note) else { continue };
        found.title = found.title.take().or(note.title);
        found.project = found.project.take().or(note.project);
        found.started_at = found.started_at.or(note.started);
    }
}

/// The projects that are known, by the names of their folders for transcripts: many paths would have the same.
pub(super) fn list_projects(places: &Places) -> BTreeMap<String, PathBuf> {
    let of_notes = places.client.iter().flat_map(|client| cli::list_chat_folders(client));
    let of_windows = places.editor.iter().flat_map(|editor| ide::list_projects(editor));
    let known = of_notes.filter_map(|folder| folder.read_note().project).chain(of_windows);
    known.filter_map(|project| Some((project_slug(project.to_str()?), project))).collect()
}
