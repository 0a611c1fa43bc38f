//! Messages that are sealed: encrypted in age's format, and opened for whoever has the key.
//!
//! A conversation that was sealed once stays so, whatever its files say by now: nothing falls back to plain text.

use std::io;
use std::path::{Path, PathBuf};

use carryover_agents::saved::{MESSAGES_FILE, SESSION_FILE, SESSION_FOLDER};
use carryover_agents::{AgentError, agent_by_name};
use carryover_core::render::saved::{SavedMessage, SealedHead};

use super::folder::{Conversation, FOLDER};
use super::store::{find_sealed_note, messages_content, session_content};
use crate::capsule::staging::StagingFolder;
use crate::context::Context;
use crate::own::files;
use crate::own::fingerprint::Fingerprint;
use crate::own::sha256::hex_sha256;
use crate::share::crypt::{CryptError, Encrypted, Key, Lock, Passphrase, decrypt_bytes};
use crate::write::journal::SealedNote;

/// In our own folder: a conversation that is being gone on with.
const STAGING: &str = "unsealing";

#[derive(Debug, thiserror::Error)]
pub enum SealError {
    #[error("could not open {}", path.display())]
    Open {
        path: PathBuf,
        #[source]
        source: CryptError,
    },
    #[error("{} is not, or no longer, in age's format", .0.display())]
    NotSealed(PathBuf),
    #[error("could not seal the messages")]
    Seal(#[source] CryptError),
    #[error("{} was decrypted, and holds no conversation", .0.display())]
    NoConversation(PathBuf),
    #[error(transparent)]
    Saved(#[from] AgentError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// How a conversation was sealed before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LockBefore {
    /// With the passphrase of this file.
    Passphrase(PathBuf),
    /// For these keys, as we know on this machine. A repository is not asked for them: who can write to it is not who may read.
    Recipients(Vec<String>),
    /// For keys that are not known on this machine.
    Unknown,
}

/// How messages are to be sealed.
pub struct NewLock {
    pub lock: Lock,
    /// The public keys, so that the next save on this machine finds them.
    pub recipients: Vec<String>,
    /// The file that the passphrase must open as well, so that a conversation has one.
    pub opens: Option<(PathBuf, Passphrase)>,
}

/// Messages on their way to be sealed.
pub(super) struct Unsealed {
    pub(super) plain_text: Vec<u8>,
    pub(super) before: Option<LockBefore>,
    /// What is in the file already, where that is the same.
    pub(super) is_unchanged: bool,
}

/// What became of them.
pub(super) enum Sealed {
    Unchanged,
    Written { bytes: Vec<u8>, note: SealedNote },
}

impl Unsealed {
    pub(super) fn new(
        context: &Context,
        head: &SealedHead,
        messages: &[SavedMessage],
        earlier: Option<&Conversation>,
        predecessor: Option<&Conversation>,
    ) -> io::Result<Self> {
        let mut plain_text = serde_json::to_vec(head)?;
        plain_text.push(b'\n');
        plain_text.extend(messages_content(messages));
        let before = earlier.into_iter().chain(predecessor).find(|one| one.is_sealed(context));
        let is_unchanged = earlier.is_some_and(|earlier| is_same_content(context, earlier, &plain_text));
        Ok(Self { plain_text, before: before.and_then(|one| lock_before(context, one)), is_unchanged })
    }

    pub(super) fn seal(&self, earlier: &Path, new: &NewLock) -> Result<Sealed, SealError> {
        if let Some((path, passphrase)) = &new.opens {
            let plain = open_file(path, &Key::Passphrase(passphrase.clone()))?;
            if path == earlier && plain == self.plain_text {
                return Ok(Sealed::Unchanged);
            }
        }
        let bytes = new.lock.encrypt_bytes(&self.plain_text).map_err(SealError::Seal)?;
        let note = SealedNote { plain: hex_sha256(&self.plain_text), recipients: new.recipients.clone() };
        Ok(Sealed::Written { bytes, note })
    }
}

impl Conversation {
    /// Whether it is sealed, as any of its files or our own journal says.
    pub(super) fn is_sealed(&self, context: &Context) -> bool {
        self.saved.sealed || self.has_sealed || find_sealed_note(context, self).is_some()
    }
}

/// None where its messages were dropped, and the keys are not known either.
fn lock_before(context: &Context, conversation: &Conversation) -> Option<LockBefore> {
    let path = conversation.sealed_file();
    let is_words = || Encrypted::read(fs_err::File::open(&path).ok()?).ok().map(|file| file.is_locked_by_passphrase());
    if conversation.has_sealed && is_words() == Some(true) {
        return Some(LockBefore::Passphrase(path));
    }
    let keys = find_sealed_note(context, conversation).map(|(note, _)| note.recipients).unwrap_or_default();
    if keys.is_empty() {
        conversation.has_sealed.then_some(LockBefore::Unknown)
    } else {
        Some(LockBefore::Recipients(keys))
    }
}

/// Whether the file is as we left it, and was made of the same content.
fn is_same_content(context: &Context, earlier: &Conversation, plain_text: &[u8]) -> bool {
    let Some((note, left)) = find_sealed_note(context, earlier) else { return false };
    let now = Fingerprint::from_file(&earlier.sealed_file(), None).ok();
    note.plain == hex_sha256(plain_text) && left.is_some_and(|left| now == Some((left.size, left.digest)))
}

/// A conversation that was opened into our own folder. Its files go with it.
pub struct OpenedConversation {
    /// All of it, with its folder in our own.
    pub conversation: Conversation,
    _folder: StagingFolder,
}

/// Whether a passphrase opens a conversation; keys do, where not.
pub fn is_sealed_by_passphrase(conversation: &Conversation) -> Result<bool, SealError> {
    let path = conversation.sealed_file();
    let opened = fs_err::File::open(&path).map_err(CryptError::Io).and_then(Encrypted::read);
    opened.map(|file| file.is_locked_by_passphrase()).map_err(|source| open_error(&path, source))
}

fn open_error(path: &Path, source: CryptError) -> SealError {
    match source {
        CryptError::NotEncrypted => SealError::NotSealed(path.to_owned()),
        source => SealError::Open { path: path.to_owned(), source },
    }
}

/// Opens a sealed conversation. Nothing of it can be had before all of it has proven true.
pub fn open_sealed(context: &Context, conversation: &Conversation, key: &Key) -> Result<OpenedConversation, SealError> {
    let path = conversation.sealed_file();
    let plain = open_file(&path, key)?;
    let (line, messages) = split_first_line(&plain);
    let head = std::str::from_utf8(line).ok().and_then(SealedHead::parse);
    let head = head.ok_or(SealError::NoConversation(path))?;
    let name = agent_by_name(&conversation.saved.agent).map_or("", |agent| agent.facts().name);
    let saved = conversation.saved.clone().join_sealed(head, name);
    let staging = StagingFolder::create(context, STAGING)?;
    let folder = staging.path().join(FOLDER).join(&conversation.date).join(&conversation.id);
    files::create_private_folder(&folder.join(SESSION_FOLDER))?;
    for (name, bytes) in [(SESSION_FILE, session_content(&saved)?), (MESSAGES_FILE, messages.to_vec())] {
        files::write_private(&folder.join(SESSION_FOLDER).join(name), &bytes)?;
    }
    let opened = Conversation { folder, saved, has_messages: true, has_sealed: false, ..conversation.clone() };
    Ok(OpenedConversation { conversation: opened, _folder: staging })
}

fn open_file(path: &Path, key: &Key) -> Result<Vec<u8>, SealError> {
    let open = || {
        let bytes =
            carryover_agents::formats::file::read_bytes(path, carryover_agents::formats::file::MAX_DOCUMENT_BYTES)?;
        // Encrypting only adds to what it is given.
        decrypt_bytes(key, &bytes, bytes.len() as u64)
    };
    open().map_err(|source| open_error(path, source))
}

fn split_first_line(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|byte| *byte == b'\n').map_or(text.len(), |end| end + 1);
    text.split_at(end)
}
