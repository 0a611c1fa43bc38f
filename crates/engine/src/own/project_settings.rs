//! `.carryover.toml`: what a project says of itself.
//!
//! It comes with a clone, so whoever wrote it is not the user: it may only narrow what the user's own settings allow.

use std::path::Path;

use carryover_agents::Target;
use carryover_core::render::Protocol;
use serde::Deserialize;

use crate::own::files;
use crate::sessions::project::resolve_inside;

/// The file's name.
pub const FILE_NAME: &str = ".carryover.toml";
/// A longer one is not what its name says.
const MAX_BYTES: u64 = 64 << 10;

/// What is published in a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PublishTarget {
    /// `.carryover/handoff.md`.
    Handoff,
    /// The pointers to it in files of instructions.
    Pointers,
}

/// The file, as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProjectSettings {
    /// Nothing of this project is published, or given to an agent.
    pub ignore: bool,
    protocol: Option<ProtocolName>,
    /// Only sessions of these agents count; all where nothing is said.
    pub agents: Option<Vec<String>>,
    /// Only these; all where nothing is said.
    publish: Option<Vec<PublishTarget>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ProtocolName {
    Ask,
    Brief,
    Silent,
}

#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}", path.display())]
pub struct ProjectSettingsError {
    path: std::path::PathBuf,
    reason: String,
}

impl ProjectSettings {
    /// Reads a project's file; where there is none, it narrows nothing.
    pub fn load(project: &Path) -> Result<Self, ProjectSettingsError> {
        let path = project.join(FILE_NAME);
        let failed = |reason: String| ProjectSettingsError { path: path.clone(), reason };
        // A clone may bring a link to somebody's own file.
        let real = resolve_inside(project, FILE_NAME).map_err(|error| failed(error.to_string()))?;
        let real = real.ok_or_else(|| failed("the file leads out of the project".to_owned()))?;
        let bytes = files::read_bounded(&real, MAX_BYTES).map_err(|error| failed(error.to_string()))?;
        let Some(bytes) = bytes else { return Ok(Self::default()) };
        let text = String::from_utf8(bytes).map_err(|_| failed("the file is not UTF-8".to_owned()))?;
        let mut settings: Self = toml_edit::de::from_str(&text).map_err(|error| failed(error.message().to_owned()))?;
        for name in settings.agents.iter_mut().flatten() {
            let agent =
                Target::by_name(name).ok_or_else(|| failed(format!("`{name}` is no agent that carryover knows")))?;
            agent.id.clone_into(name);
        }
        Ok(settings)
    }

    /// The user's protocol, or a stricter one.
    pub fn narrow_protocol(&self, users: Protocol) -> Protocol {
        let own = match self.protocol {
            Some(ProtocolName::Ask) => Protocol::Ask,
            Some(ProtocolName::Brief) => Protocol::Brief,
            Some(ProtocolName::Silent) | None => Protocol::Silent,
        };
        match (users, own) {
            (Protocol::Ask, _) | (_, Protocol::Ask) => Protocol::Ask,
            (Protocol::Brief, _) | (_, Protocol::Brief) => Protocol::Brief,
            _ => Protocol::Silent,
        }
    }

    pub fn covers_agent(&self, agent: &str) -> bool {
        self.agents.as_ref().is_none_or(|agents| agents.iter().any(|named| named == agent))
    }

    pub fn publishes(&self, target: PublishTarget) -> bool {
        !self.ignore && self.publish.as_ref().is_none_or(|targets| targets.contains(&target))
    }
}

#[cfg(test)]
mod tests {
    use carryover_agents::AGENTS;

    use super::*;

    fn load(text: &str) -> Result<ProjectSettings, String> {
        let folder = tempfile::tempdir().unwrap();
        files::write_private(&folder.path().join(FILE_NAME), text.as_bytes()).unwrap();
        ProjectSettings::load(folder.path()).map_err(|error| error.reason)
    }

    #[test]
    fn a_project_makes_the_protocol_stricter_and_never_looser() {
        let narrowed = |own: &str, users| load(&format!("protocol = \"{own}\"")).unwrap().narrow_protocol(users);
        assert_eq!(narrowed("silent", Protocol::Ask), Protocol::Ask);
        assert_eq!(narrowed("ask", Protocol::Silent), Protocol::Ask);
        assert_eq!(narrowed("brief", Protocol::Silent), Protocol::Brief);
        assert_eq!(ProjectSettings::default().narrow_protocol(Protocol::Silent), Protocol::Silent);
    }

    #[test]
    fn what_is_published_and_whose_sessions_count_can_be_narrowed() {
        let [one, other] = [AGENTS[0], AGENTS[1]].map(|agent| agent.facts().id);
        let settings = load(&format!("agents = [\"{one}\"]\npublish = [\"handoff\"]\n")).unwrap();
        assert!(settings.covers_agent(one) && !settings.covers_agent(other));
        assert!(settings.publishes(PublishTarget::Handoff) && !settings.publishes(PublishTarget::Pointers));
        assert!(!load("ignore = true").unwrap().publishes(PublishTarget::Handoff));
    }

    #[test]
    fn a_key_that_is_not_known_is_told() {
        assert!(load("remotes = []").unwrap_err().contains("unknown field `remotes`"));
    }
}
