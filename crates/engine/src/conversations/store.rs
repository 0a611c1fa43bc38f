//! The files of a conversation, written so that each is whole or as it was; and what a save wrote, in the journal.

use std::io;
use std::path::{Path, PathBuf};

use carryover_agents::saved::read_saved;
use carryover_agents::{AGENTS, AgentError};
use carryover_core::plain::escaped_json;
use carryover_core::render::saved::{SavedMessage, SavedSession};
use carryover_core::transcript::SessionId;
use sha2::{Digest, Sha256};

use super::folder::Conversation;
use crate::context::Context;
use crate::own::files;
use crate::write::disk::{Disk, RealDisk};
use crate::write::journal::{self, Journal, Lock, SAVED_CONVERSATION, SealedNote, SessionRef, State, WrittenFile};
use crate::write::replaced::ReplacedFile;
use crate::write::undo;

/// A file to be written: its place and its bytes.
pub(super) type NewContent = (PathBuf, Vec<u8>);

/// The files of a conversation as they are to be.
#[derive(Default)]
pub(super) struct FileChanges {
    pub(super) contents: Vec<NewContent>,
    /// Those that go once the others are written.
    pub(super) dropped: Vec<PathBuf>,
    /// How the messages were sealed anew.
    pub(super) sealed: Option<SealedNote>,
}

/// A digest as it is written into `session.json`.
pub(super) fn hash_text(text: &str) -> String {
    let bytes = Sha256::digest(text.as_bytes());
    let digits =
        bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).filter_map(|digit| char::from_digit(digit.into(), 16));
    format!("sha256:{}", digits.collect::<String>())
}

/// The messages of a conversation; none where they are not kept, with how many lines cannot be read.
pub fn read_messages(conversation: &Conversation) -> Result<Option<(Vec<SavedMessage>, usize)>, AgentError> {
    if !conversation.has_messages {
        return Ok(None);
    }
    let lines = read_saved(&conversation.messages_file())?.lines;
    let n_lines = lines.len();
    let messages: Vec<SavedMessage> = lines.into_iter().filter_map(|line| line.message).collect();
    let unread = n_lines - messages.len();
    Ok(Some((messages, unread)))
}

/// The content of `messages.jsonl`: the one place where it is made.
pub(super) fn messages_content(messages: &[SavedMessage]) -> Vec<u8> {
    let lines = messages.iter().filter_map(SavedMessage::to_line);
    let mut text = lines.map(|line| escaped_json(&line).into_owned()).collect::<Vec<_>>().join("\n");
    if !text.is_empty() {
        text.push('\n');
    }
    text.into_bytes()
}

pub(super) fn session_content(saved: &SavedSession) -> io::Result<Vec<u8>> {
    let text = serde_json::to_string_pretty(saved)?;
    Ok(format!("{}\n", escaped_json(&text)).into_bytes())
}

/// What a save wrote.
#[derive(Default)]
pub(super) struct Written {
    /// By which `undo` knows it; none where nothing had changed.
    pub(super) undo_id: Option<String>,
    pub(super) files: Vec<PathBuf>,
    pub(super) warnings: Vec<String>,
}

/// Writes the files of a conversation that have changed. Every save has a journal of its own, which says first what was
/// there before: to take it back is to have the save before it again.
pub(super) fn write_files(
    context: &Context,
    root: &Path,
    conversation: &Conversation,
    changes: &FileChanges,
) -> io::Result<Written> {
    let disk = &mut RealDisk;
    let _lock = Lock::acquire(context)?;
    let warnings = undo::recover(AGENTS, disk, context);
    refuse_links(root, conversation)?;
    let (contents, dropped) = (changes.list_changed(), changes.list_dropped());
    if contents.is_empty() && dropped.is_empty() {
        return Ok(Written { warnings, ..Written::default() });
    }
    let mut journal = begin_journal(context, root, conversation);
    journal.sealed = changes.sealed.clone().or_else(|| find_sealed_note(context, conversation).map(|(note, _)| note));
    for (path, bytes) in &contents {
        let before = ReplacedFile::keep(disk, context, &journal, path, bytes)?;
        journal.replaced.extend(before);
        journal.files.push(WrittenFile::from_bytes(path, bytes));
    }
    for path in &dropped {
        let before = ReplacedFile::keep(disk, context, &journal, path, &[])?;
        journal.replaced.extend(before);
    }
    journal.folders = missing_folders(&conversation.session_file());
    journal::write(disk, context, &journal)?;
    let done = replace_all(disk, root, &journal.folders, &contents).and_then(|()| drop_all(disk, &dropped));
    if let Err(error) = done {
        // The first error is the one to tell; what is not taken back now is with the next write.
        undo::undo_journal(AGENTS, disk, context, &mut journal, false).ok();
        return Err(error);
    }
    journal.state = State::Done;
    journal::write(disk, context, &journal)?;
    let files = contents.iter().map(|(path, _)| path.clone()).collect();
    Ok(Written { undo_id: Some(journal.id), files, warnings })
}

impl FileChanges {
    /// Those of the contents that are not in their files already.
    pub(super) fn list_changed(&self) -> Vec<&NewContent> {
        let is_there = |(path, bytes): &NewContent| {
            files::read_bounded(path, bytes.len() as u64 + 1).ok().flatten().as_deref() == Some(bytes)
        };
        self.contents.iter().filter(|content| !is_there(content)).collect()
    }

    fn list_dropped(&self) -> Vec<&PathBuf> {
        self.dropped.iter().filter(|path| path.symlink_metadata().is_ok()).collect()
    }
}

fn replace_all(disk: &mut dyn Disk, root: &Path, folders: &[PathBuf], contents: &[&NewContent]) -> io::Result<()> {
    for folder in folders {
        disk.create_folder(folder, false)?;
    }
    for (path, bytes) in contents {
        disk.replace_shared(path, bytes, root)?;
    }
    Ok(())
}

fn drop_all(disk: &mut dyn Disk, dropped: &[&PathBuf]) -> io::Result<()> {
    dropped.iter().try_for_each(|path| disk.remove_file(path))
}

/// A clone may bring a link, which would lead us to write elsewhere.
pub(super) fn refuse_links(root: &Path, conversation: &Conversation) -> io::Result<()> {
    let file = conversation.session_file();
    let above = file.ancestors().take_while(|above| *above != root);
    let files = [conversation.messages_file(), conversation.sealed_file(), conversation.document_file()];
    for path in above.chain(files.iter().map(PathBuf::as_path)) {
        if fs_err::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink()) {
            let message = format!("{} is a link, and is not written through", path.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
        }
    }
    Ok(())
}

/// The folders that are missing above a file, the outermost first.
fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let mut missing: Vec<PathBuf> =
        path.ancestors().skip(1).take_while(|folder| !folder.exists()).map(Path::to_owned).collect();
    missing.reverse();
    missing
}

fn begin_journal(context: &Context, root: &Path, conversation: &Conversation) -> Journal {
    let saved = &conversation.saved;
    let source = SessionRef { agent: saved.agent.clone(), session: SessionId(saved.session_id.clone()) };
    let target = SessionRef { agent: SAVED_CONVERSATION.to_owned(), session: SessionId(conversation.name()) };
    Journal { title: Some(saved.title.clone()), ..Journal::begin(context, source, target, root) }
}

/// What is known of the saves of the conversation in a folder, the last first.
pub(super) fn list_journals(context: &Context, folder: &Path) -> Vec<Journal> {
    let is_its = |journal: &Journal| journal.state == State::Done && journal.is_saved() && journal.has_files_in(folder);
    journal::read_all(context).into_iter().filter(is_its).collect()
}

/// How we sealed the messages of a conversation, and the file as we left it.
pub(super) fn find_sealed_note(
    context: &Context,
    conversation: &Conversation,
) -> Option<(SealedNote, Option<WrittenFile>)> {
    let journals = list_journals(context, &conversation.folder);
    let path = conversation.sealed_file();
    let left = journals.iter().flat_map(|journal| &journal.files).find(|written| written.path == path).cloned();
    Some((journals.into_iter().next()?.sealed?, left))
}

/// Whether we sealed what a session held, in the folder of this conversation.
pub(super) fn has_sealed_session(context: &Context, conversation: &Conversation, session: &SessionRef) -> bool {
    let journals = list_journals(context, &conversation.folder);
    journals.iter().any(|journal| journal.sealed.is_some() && journal.source == *session)
}

/// Drops a file of a conversation; what journals have of it goes, too.
pub(super) fn remove_file(context: &Context, conversation: &Conversation, path: &Path) -> io::Result<()> {
    let disk = &mut RealDisk;
    let _lock = Lock::acquire(context)?;
    for mut journal in list_journals(context, &conversation.folder) {
        let copies = journal.replaced.iter().filter(|before| before.path == *path).filter_map(|before| before.copy);
        for copy in copies {
            files::remove_if_there(&journal::backup_path(context, &journal.id, copy))?;
        }
        journal.files.retain(|written| written.path != *path);
        journal.replaced.retain(|before| before.path != *path);
        journal::write(disk, context, &journal)?;
    }
    disk.remove_file(path)
}
