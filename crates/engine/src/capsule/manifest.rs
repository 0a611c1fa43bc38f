//! The manifest: what a capsule is, and every member of it by its digest.

use std::collections::{BTreeMap, BTreeSet};

use carryover_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::CapsuleError;
use super::limits;
use super::member_path::check_path;
use super::workspace::FilesMode;
use crate::own::sha256::hex_sha256;

pub const SCHEMA: &str = "carryover.capsule/1";
const SCHEMA_PREFIX: &str = "carryover.capsule/";
const VERSION: u32 = 1;

pub(super) const MANIFEST: &str = "manifest.json";
pub(super) const BOUNDARY: &str = "boundary.json";
pub(super) const TRANSCRIPT: &str = "transcript.jsonl";
pub(super) const WORKSPACE: &str = "workspace/metadata.json";
pub(super) const SNAPSHOT: &str = "workspace/snapshot.tar.zst";
/// The folder of whatever the source wrote itself.
pub(super) const SOURCE: &str = "source/";
pub(super) const RAW: &str = "source/raw/";
/// The body of the last request of a session that was recorded.
pub(super) const REQUEST: &str = "source/recording/request.json";

/// A capsule as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    pub schema: String,
    /// The beginning of a digest over everything else that stands here.
    pub id: String,
    /// When the session was last used: the same session gives the same bytes.
    pub created_at: Option<String>,
    pub source: SourceSession,
    pub model: Option<String>,
    /// The folder that was worked in, on the machine where it was.
    pub project: Option<String>,
    /// The digest over the configuration in the boundary.
    pub config_hash: String,
    /// Secrets were masked, and files that hold any left out.
    pub redacted: bool,
    /// How often each kind of secret was masked; capsules from before that was counted do not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub masked: Option<BTreeMap<String, usize>>,
    pub files: FilesMode,
    /// The source's own record of the session, among the raw ones.
    pub raw_session: Option<String>,
    /// The home folder that the raw records speak of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_home: Option<String>,
    pub members: Vec<MemberRecord>,
}

/// Where the session comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceSession {
    pub agent: String,
    pub client_version: Option<String>,
    pub session_id: String,
    pub title: Option<String>,
    pub started_at: Option<String>,
    pub updated_at: Option<String>,
    pub messages: u64,
}

/// One member, by which it is known again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberRecord {
    pub name: String,
    pub bytes: u64,
    pub sha256: String,
}

/// What every version of a manifest has.
#[derive(Deserialize)]
struct ManifestHead {
    schema: String,
}

impl Manifest {
    /// Gives it the name that its content has.
    #[must_use]
    pub(super) fn with_id(mut self) -> Self {
        self.id = self.compute_id();
        self
    }

    fn compute_id(&self) -> String {
        let unnamed = Self { id: String::new(), ..self.clone() };
        let mut id = hex_sha256(&serde_json::to_vec(&unnamed).unwrap_or_default());
        id.truncate(16);
        id
    }

    /// Reads a manifest, and checks everything that it says of itself.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, CapsuleError> {
        let broken = |_| CapsuleError::NoCapsule("its manifest is not that of a capsule".into());
        let head: ManifestHead = serde_json::from_slice(bytes).map_err(broken)?;
        let version = head.schema.strip_prefix(SCHEMA_PREFIX).and_then(|version| version.parse::<u32>().ok());
        match version {
            Some(found) if found > VERSION => return Err(CapsuleError::Newer { found, known: VERSION }),
            Some(1..) => {}
            _ => return Err(CapsuleError::NoCapsule("its manifest is not that of a capsule".into())),
        }
        let manifest: Self = serde_json::from_slice(bytes).map_err(broken)?;
        manifest.check()?;
        Ok(manifest)
    }

    fn check(&self) -> Result<(), CapsuleError> {
        if self.id != self.compute_id() {
            return Err(CapsuleError::damaged(MANIFEST, "is not as it was written"));
        }
        if self.members.len() > limits::MAX_MEMBERS {
            return Err(CapsuleError::refused(MANIFEST.as_bytes(), "names more members than a capsule may have"));
        }
        let mut names = BTreeSet::new();
        let mut total = 0_u64;
        for MemberRecord { name, bytes, .. } in &self.members {
            check_path(name.as_bytes()).map_err(|reason| CapsuleError::refused(name.as_bytes(), reason))?;
            if !is_member_name(name) {
                return Err(CapsuleError::refused(name.as_bytes(), "is no member of a capsule"));
            }
            if !names.insert(name) {
                return Err(CapsuleError::refused(name.as_bytes(), "is named twice"));
            }
            total = total.saturating_add(*bytes);
        }
        if total > limits::MAX_TOTAL_BYTES {
            return Err(CapsuleError::refused(MANIFEST.as_bytes(), "names more bytes than a capsule may have"));
        }
        if let Some(missing) = [BOUNDARY, TRANSCRIPT, WORKSPACE].iter().find(|name| self.find(name).is_none()) {
            return Err(CapsuleError::damaged(missing, "is missing"));
        }
        let is_raw = |name: &String| name.starts_with(RAW) && self.find(name).is_some();
        if self.raw_session.as_ref().is_some_and(|name| !is_raw(name)) {
            return Err(CapsuleError::damaged(MANIFEST, "names a record of the source that is not there"));
        }
        Ok(())
    }

    pub(super) fn find(&self, name: &str) -> Option<&MemberRecord> {
        self.members.iter().find(|member| member.name == name)
    }

    /// The time that its members have in an archive.
    pub(super) fn modified_seconds(&self) -> u64 {
        let at = self.created_at.as_deref().and_then(Timestamp::parse);
        at.and_then(|at| u64::try_from(at.seconds()).ok()).unwrap_or(0)
    }

    /// Whether the source's own records are few and short enough to move as a whole, for which all are in memory at once.
    pub(super) fn raw_records_fit(&self) -> bool {
        let raw = || self.members.iter().filter(|member| member.name.starts_with(RAW));
        let total = raw().fold(0_u64, |total, member| total.saturating_add(member.bytes));
        raw().count() <= limits::MAX_RAW_RECORDS && total <= limits::MAX_RAW_BYTES
    }

    /// Whether the source's own records came along.
    pub fn has_raw_records(&self) -> bool {
        self.raw_session.is_some()
    }
}

fn is_member_name(name: &str) -> bool {
    [BOUNDARY, TRANSCRIPT, WORKSPACE, SNAPSHOT].contains(&name) || name.starts_with(SOURCE)
}

/// The most that a member of this name may be long.
pub(super) fn max_member_bytes(name: &str) -> u64 {
    match name {
        MANIFEST | BOUNDARY | WORKSPACE => limits::MAX_DOCUMENT_BYTES,
        TRANSCRIPT => limits::MAX_TRANSCRIPT_BYTES,
        _ => limits::MAX_TOTAL_BYTES,
    }
}
