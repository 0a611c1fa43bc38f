//! One conversation that is in several stores: the richest tells it, and what only another knows is added.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::cli::{self, ChatFolder};
use super::places::{Places, project_slug};
use super::session::{RawRecord, RecordForm, RecordHead, Session, StoredSession};
use super::{ide, transcript};
use crate::FoundSession;
use crate::formats::jsonl;

/// How much of a transcript is looked at to see how the last turn ended.
const ENDING_BYTES: u64 = 64 << 10;

/// The name of the record that the transcript adds.
const ENDING_NAME: &str = "ending";

/// A session with what other places add to it.
pub(super) struct MergedSession<'c> {
    stored: Box<dyn StoredSession + 'c>,
    session: Session,
    heads: Vec<RecordHead>,
    /// The transcript's last line, where it tells of a failure: the command line client's store keeps none.
    ending: Option<String>,
}

impl<'c> MergedSession<'c> {
    pub(super) fn new(stored: Box<dyn StoredSession + 'c>, path: &Path) -> Self {
        let mut session = stored.session().clone();
        let mut heads = stored.heads().to_vec();
        let mut ending = None;
        if let Some(client) = Places::around(path).client {
            let same = |folder: &ChatFolder| folder.id == session.id;
            let note = cli::list_chat_folders(&client).iter().find(|folder| same(folder)).map(ChatFolder::read_note);
            session.complete(note.unwrap_or_default());
            let written = session.project.as_deref().and_then(|project| transcript_path(&client, project, &session.id));
            session.children.extend(written.as_deref().map(transcript::list_sub_agents).unwrap_or_default());
            if heads.iter().any(|head| head.form == RecordForm::Message) {
                ending = written.as_deref().and_then(read_failed_ending);
            }
        }
        heads.extend(ending.as_ref().map(|_| RecordHead::new(ENDING_NAME, RecordForm::Line)));
        Self { stored, session, heads, ending }
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
        match &self.ending {
            Some(line) if head.form == RecordForm::Line => Ok(RawRecord::Text(line.clone())),
            _ => self.stored.read_text(head),
        }
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
