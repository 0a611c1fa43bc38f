//! What was pushed: an object for each push, by which a capsule is found and put together.

use serde::{Deserialize, Serialize};

use super::RemoteError;
use super::address::is_address;
use super::cutter::MAX_PIECE_BYTES;
use super::push::folder_name;
use crate::capsule::manifest::Manifest;
use crate::capsule::workspace::FilesMode;
use crate::capsule::{MAX_CAPSULE_BYTES, MAX_MANIFEST_BYTES};

const SCHEMA_PREFIX: &str = "carryover.pushed-capsule/";
pub(super) const SCHEMA: &str = "carryover.pushed-capsule/1";
pub(super) const PREFIX: &str = "index/";
/// So many pieces of the shortest length are a capsule of the greatest.
pub(super) const MAX_INDEX_BYTES: usize = 16 << 20;
const MAX_PIECES: usize = 100_000;
const CAPSULE_ID_CHARS: usize = 16;

/// A capsule in a remote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PushedCapsule {
    pub(super) schema: String,
    pub pushed_at: String,
    pub capsule: String,
    pub agent: String,
    pub session_id: String,
    pub title: Option<String>,
    /// The name of the folder that was worked in.
    pub project: Option<String>,
    pub folder: Option<String>,
    pub model: Option<String>,
    pub started_at: Option<String>,
    pub updated_at: Option<String>,
    pub messages: u64,
    pub files_mode: FilesMode,
    pub files: u64,
    pub file_bytes: u64,
    pub redacted: bool,
    pub raw: bool,
    /// Some of the user's words.
    pub prompts: Vec<String>,
    /// All that the capsule holds.
    pub bytes: u64,
    /// Its members come one after another, this many bytes of manifest first.
    pub(super) manifest_bytes: u64,
    pub(super) pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Piece {
    pub(super) address: String,
    pub(super) bytes: u64,
}

/// What every version has.
#[derive(Deserialize)]
struct Head {
    schema: String,
}

impl PushedCapsule {
    /// Reads what an object of the index holds, and believes nothing of it.
    pub(super) fn parse(object: &str, content: &[u8]) -> Result<Self, RemoteError> {
        let refused = |reason| RemoteError::Refused { object: object.to_owned(), reason };
        let head: Head = serde_json::from_slice(content).map_err(|_| refused("it is no part of an index"))?;
        if head.schema != SCHEMA {
            let is_known_kind = head.schema.starts_with(SCHEMA_PREFIX);
            let schema = carryover_core::plain::one_line(&head.schema, 60);
            let newer = || RemoteError::Newer { object: object.to_owned(), schema };
            return Err(if is_known_kind { newer() } else { refused("it is no part of an index") });
        }
        let pushed: Self = serde_json::from_slice(content).map_err(|_| refused("it is no part of an index"))?;
        pushed.find_fault().map_or(Ok(pushed), |reason| Err(refused(reason)))
    }

    fn find_fault(&self) -> Option<&'static str> {
        let is_id = self.capsule.len() == CAPSULE_ID_CHARS && self.capsule.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_piece =
            |piece: &Piece| is_address(&piece.address) && (1..=MAX_PIECE_BYTES as u64).contains(&piece.bytes);
        let total = self.pieces.iter().fold(0_u64, |total, piece| total.saturating_add(piece.bytes));
        if !is_id {
            return Some("it names a capsule that is none");
        }
        if self.pieces.len() > MAX_PIECES || !self.pieces.iter().all(is_piece) {
            return Some("it names pieces that are none");
        }
        if total != self.bytes || total > MAX_CAPSULE_BYTES {
            return Some("its pieces are not as long as the capsule");
        }
        if self.manifest_bytes == 0 || self.manifest_bytes > total.min(MAX_MANIFEST_BYTES) {
            return Some("its manifest is not as long as a manifest is");
        }
        None
    }

    /// The name of the object: when it was pushed, and what it holds.
    pub(super) fn object_key(&self, address: &str) -> String {
        let digits: String = self.pushed_at.chars().filter(char::is_ascii_digit).collect();
        format!("{PREFIX}{digits}-{address}")
    }

    /// Whether it tells of this very capsule, and the truth. What is told of it decides who fetches it.
    pub(super) fn is_of(&self, manifest: &Manifest) -> bool {
        let source = &manifest.source;
        let folder = manifest.project.as_deref();
        self.capsule == manifest.id
            && self.session_key() == (source.agent.as_str(), source.session_id.as_str())
            && (&self.title, self.folder.as_deref()) == (&source.title, folder)
            && self.project == folder.and_then(folder_name)
            && (&self.started_at, &self.updated_at) == (&source.started_at, &source.updated_at)
            && self.messages == source.messages
    }

    pub fn n_pieces(&self) -> usize {
        self.pieces.len()
    }

    /// The session that it is of, whatever state it was in.
    pub fn session_key(&self) -> (&str, &str) {
        (&self.agent, &self.session_id)
    }
}

/// Whether a name can be that of an object in the index.
pub(super) fn is_index_key(key: &str) -> bool {
    const MAX_DIGITS: usize = 20;
    let parts = key.strip_prefix(PREFIX).and_then(|name| name.split_once('-'));
    parts.is_some_and(|(digits, address)| {
        (1..=MAX_DIGITS).contains(&digits.len())
            && digits.bytes().all(|byte| byte.is_ascii_digit())
            && is_address(address)
    })
}
