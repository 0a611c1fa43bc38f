//! The files of a conversation, written so that each is whole or as it was; and what a save wrote, in the journal.

use std::io;
use std::path::{Path, PathBuf};

use carryover_agents::saved::read_saved;
use carryover_agents::{AGENTS, AgentError};
use carryover_core::plain::escaped_json;
use carryover_core::render::saved::{SavedMessage, SavedSession, SavedStatus};
use carryover_core::transcript::SessionId;
use sha2::{Digest, Sha256};

use super::folder::Conversation;
use crate::context::Context;
use crate::own::files;
use crate::write::disk::{Disk, RealDisk};
use crate::write::journal::{self, Journal, Lock, SAVED_CONVERSATION, SealedNote, SessionRef, State, WrittenFile};
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

/// Writes the files of a conversation. What is new is in a journal first, so that it can be taken back; what is written
/// again is noted in the same one.
pub(super) fn write_files(
    context: &Context,
    root: &Path,
    conversation: &Conversation,
    changes: &FileChanges,
) -> io::Result<(Option<String>, Vec<String>)> {
    let FileChanges { contents, dropped, sealed } = changes;
    let disk = &mut RealDisk;
    let _lock = Lock::acquire(context)?;
    let warnings = undo::recover(AGENTS, disk, context);
    refuse_links(root, conversation)?;
    let is_new = !conversation.folder.exists();
    let earlier = find_journal(context, conversation);
    let mut journal = match earlier {
        Some(journal) => journal,
        None if is_new => begin_journal(context, root, conversation),
        // It came with a clone, or was taken back: git knows how it was.
        None => {
            replace_all(disk, root, contents)?;
            drop_all(disk, dropped)?;
            return Ok((None, warnings));
        }
    };
    journal.title = Some(conversation.saved.title.clone());
    for (path, bytes) in contents {
        journal.files.retain(|written| written.path != *path);
        journal.files.push(WrittenFile::from_bytes(path, bytes));
    }
    journal.sealed = sealed.clone().or(journal.sealed);
    if is_new {
        journal.folders = missing_folders(&conversation.session_file());
        journal::write(disk, context, &journal)?;
        for folder in &journal.folders {
            disk.create_folder(folder, false)?;
        }
    }
    replace_all(disk, root, contents)?;
    drop_all(disk, dropped)?;
    journal.files.retain(|written| !dropped.contains(&written.path));
    journal.state = State::Done;
    journal::write(disk, context, &journal)?;
    Ok((Some(journal.id), warnings))
}

fn replace_all(disk: &mut dyn Disk, root: &Path, contents: &[NewContent]) -> io::Result<()> {
    for (path, bytes) in contents {
        for folder in missing_folders(path) {
            disk.create_folder(&folder, false)?;
        }
        if files::read_bounded(path, bytes.len() as u64 + 1).ok().flatten().as_deref() != Some(bytes) {
            disk.replace_shared(path, bytes, root)?;
        }
    }
    Ok(())
}

fn drop_all(disk: &mut dyn Disk, dropped: &[PathBuf]) -> io::Result<()> {
    for path in dropped.iter().filter(|path| path.symlink_metadata().is_ok()) {
        disk.remove_file(path)?;
    }
    Ok(())
}

/// A clone may bring a link, which would lead us to write elsewhere.
fn refuse_links(root: &Path, conversation: &Conversation) -> io::Result<()> {
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
    Journal::begin(context, source, target, root)
}

fn find_journal(context: &Context, conversation: &Conversation) -> Option<Journal> {
    let session = conversation.session_file();
    journal::read_all(context).into_iter().find(|journal| {
        journal.state == State::Done
            && journal.target.agent == SAVED_CONVERSATION
            && journal.files.iter().any(|written| written.path == session)
    })
}

/// How we sealed the messages of a conversation, and the file as we left it.
pub(super) fn find_sealed_note(
    context: &Context,
    conversation: &Conversation,
) -> Option<(SealedNote, Option<WrittenFile>)> {
    let journal = find_journal(context, conversation)?;
    let path = conversation.sealed_file();
    let left = journal.files.iter().find(|written| written.path == path).cloned();
    Some((journal.sealed?, left))
}

/// Notes how a conversation stands; one without `session.json` has no place for it.
pub fn set_status(context: &Context, root: &Path, conversation: &Conversation, status: SavedStatus) -> io::Result<()> {
    if !conversation.has_session || conversation.saved.status == status {
        return Ok(());
    }
    let saved = SavedSession { status, ..conversation.saved.clone() };
    let contents = vec![(conversation.session_file(), session_content(&saved)?)];
    write_files(context, root, conversation, &FileChanges { contents, ..FileChanges::default() })?;
    Ok(())
}

/// Drops a file of a conversation; what is noted of it in a journal goes, too.
pub(super) fn remove_file(context: &Context, conversation: &Conversation, path: &Path) -> io::Result<()> {
    let disk = &mut RealDisk;
    let _lock = Lock::acquire(context)?;
    if let Some(mut journal) = find_journal(context, conversation) {
        journal.files.retain(|written| written.path != *path);
        journal::write(disk, context, &journal)?;
    }
    disk.remove_file(path)
}
