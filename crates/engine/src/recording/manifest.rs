//! `recording.json`: whose recording it is.

use std::io;
use std::path::{Path, PathBuf};

use carryover_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::own::files;

pub(super) const SCHEMA: &str = "carryover.recording/1";
pub(super) const FILE_NAME: &str = "recording.json";
const MAX_BYTES: u64 = 1 << 20;

/// A recording, without what was said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    pub schema: String,
    pub id: String,
    pub agent: String,
    /// Where its package tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_version: Option<String>,
    pub project: PathBuf,
    /// The command as it was given, without secrets.
    pub argv: Vec<String>,
    pub services: Vec<Service>,
    pub started_at: Timestamp,
    /// None while it runs, and where it was broken off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// None where a signal ended the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The sessions that it belongs to, as far as facts tell.
    #[serde(default)]
    pub sessions: Vec<MatchedSession>,
}

/// A model service that the client talked to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Service {
    pub name: String,
    pub upstream: String,
}

/// A session that a recording belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatchedSession {
    pub id: String,
    pub by: MatchReason,
}

/// The fact by which a recording was found to belong to a session of its project and its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MatchReason {
    /// A request names the session outside of the conversation.
    SessionId,
    /// The session's first prompt is in a request.
    FirstPrompt,
}

impl MatchReason {
    pub fn name(self) -> &'static str {
        match self {
            Self::SessionId => "its id is in the requests",
            Self::FirstPrompt => "its first prompt is in the requests",
        }
    }
}

impl Manifest {
    pub fn new(id: String, agent: &str, started_at: Timestamp) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            id,
            agent: agent.to_owned(),
            client_version: None,
            project: PathBuf::new(),
            argv: Vec::new(),
            services: Vec::new(),
            started_at,
            ended_at: None,
            exit_code: None,
            sessions: Vec::new(),
        }
    }

    pub(super) fn save(&self, folder: &Path) -> io::Result<()> {
        files::write_private(&folder.join(FILE_NAME), &serde_json::to_vec_pretty(self)?)
    }

    /// The recording in a folder; none where there is none, or one of a schema that we do not know.
    pub(super) fn load(folder: &Path) -> io::Result<Option<Self>> {
        let Some(bytes) = files::read_bounded(&folder.join(FILE_NAME), MAX_BYTES)? else { return Ok(None) };
        let manifest: Self = serde_json::from_slice(&bytes).map_err(io::Error::from)?;
        let is_named_so = folder.file_name().is_some_and(|name| name.to_str() == Some(&manifest.id));
        Ok((manifest.schema == SCHEMA && is_named_so).then_some(manifest))
    }
}
