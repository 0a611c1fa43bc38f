//! `config.toml`: read, checked, written with its comments kept.
//!
//! A key that we do not know is an error: a setting that is silently ignored is worse than none.

mod check;
mod edit;
mod keys;
mod place;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::own::files;

pub(crate) use check::edit_distance;
pub use check::{find_nearest, is_address, unknown_key};
pub use edit::{remove_remote, set, unset};
pub use keys::{
    Key, MAX_INTERVAL_SECONDS, NOTIFICATIONS, PROTOCOLS, ValueKind, all_keys, find_by_name as find_key, json_schema,
};

const MAX_BYTES: u64 = 1 << 20;

/// The configuration, with its defaults.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Agents to look at; empty means all.
    pub agents: Vec<String>,
    /// More places to look for stores, by agent id.
    pub stores: BTreeMap<String, Vec<PathBuf>>,
    pub resume: ResumeConfig,
    pub handoff: HandoffConfig,
    pub conversations: ConversationsConfig,
    pub daemon: DaemonConfig,
    pub watch: WatchConfig,
    pub ledger: LedgerConfig,
    /// Places that carry capsules, by the names that the user gave them.
    pub remotes: BTreeMap<String, RemoteConfig>,
}

/// A remote.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RemoteConfig {
    pub url: String,
}

/// Defaults of `resume`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ResumeConfig {
    /// The agent to go on in, where the command names none.
    pub target: Option<String>,
    /// The token budget, where the command names none.
    pub tokens: Option<u64>,
    /// Whether the target is started; where nothing is said, the command line prints the command only.
    pub launch: Option<bool>,
    /// Whether sessions are written into editors' own databases, of editors that take them there; nothing is where nothing is
    /// said.
    pub into_editor: Option<bool>,
}

/// Defaults of `handoff`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HandoffConfig {
    /// The token budget of a resume prompt, where the command names none.
    pub tokens: Option<u64>,
    /// How the next agent treats a handoff: `ask`, `brief` or `silent`.
    pub protocol: Option<String>,
    /// Whether files of instructions get a pointer to it; they do where nothing is said.
    pub pointers: Option<bool>,
    /// Days after which it is no longer given to an agent at its start.
    pub max_age: Option<u64>,
}

/// Settings of conversations that are saved in projects.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ConversationsConfig {
    /// Messages that are told whole where a conversation goes on from a prompt.
    pub recent_messages: Option<u64>,
    /// Public keys that a conversation is sealed for, where the command names none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recipients: Vec<String>,
    /// Whether agents are told that they may offer to save; they are where nothing is said.
    pub suggest: Option<bool>,
}

impl ConversationsConfig {
    pub fn n_recent(&self) -> usize {
        const DEFAULT_RECENT: u64 = 20;
        usize::try_from(self.recent_messages.unwrap_or(DEFAULT_RECENT)).unwrap_or(usize::MAX)
    }
}

/// Settings of the daemon.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DaemonConfig {
    /// The port on loopback; 0 opens none.
    pub port: Option<u16>,
}

/// The daemon's port where nobody says otherwise.
pub const DEFAULT_PORT: u16 = 47_823;

impl DaemonConfig {
    /// The port to listen at; none where it is switched off.
    pub fn listening_port(&self) -> Option<u16> {
        Some(self.port.unwrap_or(DEFAULT_PORT)).filter(|port| *port != 0)
    }
}

/// Defaults of `watch`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WatchConfig {
    /// Agents to watch; empty means those that are looked at.
    pub agents: Vec<String>,
    /// Seconds between two snapshots.
    pub interval: Option<u64>,
    /// How a limit is told, besides showing it: `off`, `bell` or `desktop`.
    pub notify: Option<String>,
}

/// Settings of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LedgerConfig {
    /// Whether sessions are kept in it; they are where nothing is said.
    pub enabled: Option<bool>,
    /// Days after its last use that a session is kept; 0 keeps all.
    pub retention: Option<u64>,
}

impl LedgerConfig {
    pub fn is_enabled(&self) -> bool {
        self.enabled.unwrap_or(true)
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("could not read {}", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("could not write {}", path.display())]
    Write {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{} is not TOML", path.display())]
    Syntax {
        path: PathBuf,
        #[source]
        source: toml_edit::TomlError,
    },
    #[error("{place}unknown key `{key}`")]
    UnknownKey {
        place: Place,
        key: String,
        /// The known key that is nearest to it.
        suggestion: Option<String>,
    },
    #[error("{place}`{key}` must be {expected}")]
    WrongType { place: Place, key: String, expected: &'static str },
    #[error("{place}`{key}` names `{agent}`, which is no agent that carryover knows")]
    UnknownAgent { place: Place, key: String, agent: String, suggestion: Option<String> },
}

/// Where a mistake stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In what was asked for: the file is fine.
    Argument,
    File {
        path: PathBuf,
        /// From 1; none where it is not known.
        line: Option<usize>,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argument => Ok(()),
            Self::File { path, line: Some(line) } => write!(f, "{}:{line}: ", path.display()),
            Self::File { path, line: None } => write!(f, "{}: ", path.display()),
        }
    }
}

impl ConfigError {
    /// The key that is wrong, and where it stands.
    pub fn wrong_key(&self) -> Option<(&str, &Place)> {
        match self {
            Self::UnknownKey { key, place, .. }
            | Self::WrongType { key, place, .. }
            | Self::UnknownAgent { key, place, .. } => Some((key, place)),
            _ => None,
        }
    }

    /// The same mistake in another place.
    fn with_place(mut self, at: Place) -> Self {
        if let Self::UnknownKey { place, .. } | Self::WrongType { place, .. } | Self::UnknownAgent { place, .. } =
            &mut self
        {
            *place = at;
        }
        self
    }

    /// The nearest known name, for "did you mean".
    pub fn suggestion(&self) -> Option<&str> {
        match self {
            Self::UnknownKey { suggestion, .. } | Self::UnknownAgent { suggestion, .. } => suggestion.as_deref(),
            _ => None,
        }
    }
}

/// The configuration file in our own folder.
pub fn file_path(home: &Path) -> PathBuf {
    home.join("config.toml")
}

/// Reads the configuration in our own folder; where there is none, the defaults hold. `~/` means `user_home`.
pub fn load(home: &Path, user_home: &Path) -> Result<Config, ConfigError> {
    let path = file_path(home);
    let mut config = check::check_document(&read_document(&path)?).map_err(|error| place::in_file(&path, error))?;
    for store in config.stores.values_mut().flatten() {
        if let Ok(below) = store.strip_prefix("~") {
            *store = user_home.join(below);
        }
    }
    Ok(config)
}

fn read_document(path: &Path) -> Result<toml_edit::DocumentMut, ConfigError> {
    read_text(path)?.parse().map_err(|source| ConfigError::Syntax { path: path.to_owned(), source })
}

fn read_text(path: &Path) -> Result<String, ConfigError> {
    let failed = |source| ConfigError::Read { path: path.to_owned(), source };
    let bytes = files::read_bounded(path, MAX_BYTES).map_err(failed)?.unwrap_or_default();
    String::from_utf8(bytes).map_err(|_| failed(io::Error::new(io::ErrorKind::InvalidData, "the file is not UTF-8")))
}

/// The value of a dotted key, as `set` would take it; `None` where it is not set or not known.
pub fn format_value(config: &Config, key: &str) -> Option<String> {
    match key {
        "agents" => Some(config.agents.join(",")).filter(|agents| !agents.is_empty()),
        "watch.agents" => Some(config.watch.agents.join(",")).filter(|agents| !agents.is_empty()),
        "watch.interval" => config.watch.interval.map(|seconds| seconds.to_string()),
        "watch.notify" => config.watch.notify.clone(),
        "ledger.enabled" => config.ledger.enabled.map(|enabled| enabled.to_string()),
        "ledger.retention" => config.ledger.retention.map(|days| days.to_string()),
        "handoff.pointers" => config.handoff.pointers.map(|on| on.to_string()),
        "handoff.max_age" => config.handoff.max_age.map(|days| days.to_string()),
        "daemon.port" => config.daemon.port.map(|port| port.to_string()),
        "handoff.tokens" => config.handoff.tokens.map(|tokens| tokens.to_string()),
        "handoff.protocol" => config.handoff.protocol.clone(),
        "resume.target" => config.resume.target.clone(),
        "resume.launch" => config.resume.launch.map(|launch| launch.to_string()),
        "resume.into_editor" => config.resume.into_editor.map(|on| on.to_string()),
        "resume.tokens" => config.resume.tokens.map(|tokens| tokens.to_string()),
        _ if key.starts_with("remotes.") => {
            let name = key.strip_prefix("remotes.")?.strip_suffix(".url")?;
            config.remotes.get(name).map(|remote| remote.url.clone())
        }
        _ => {
            let stores = config.stores.get(key.strip_prefix("stores.")?)?;
            Some(stores.iter().map(|store| store.display().to_string()).collect::<Vec<_>>().join(","))
        }
    }
}

#[cfg(test)]
mod tests;
