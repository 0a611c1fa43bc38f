//! Which clients are run, and in which versions.

use serde::{Deserialize, Serialize};

/// An agent whose real client can be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agent {
    ClaudeCode,
    Codex,
}

impl Agent {
    pub const fn id(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex CLI",
        }
    }

    pub(super) const fn package(self) -> &'static str {
        match self {
            Self::ClaudeCode => "@anthropic-ai/claude-code",
            Self::Codex => "@openai/codex",
        }
    }

    pub(super) const fn binary(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude",
            Self::Codex => "codex",
        }
    }

    /// What the package runs after an install, for machines where npm does not run it.
    pub(super) const fn install_step(self) -> Option<&'static str> {
        match self {
            Self::ClaudeCode => Some("install.cjs"),
            Self::Codex => None,
        }
    }
}

/// A client in one version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pin {
    pub agent: Agent,
    pub version: &'static str,
    /// Why this version is in the matrix.
    pub why: &'static str,
}

/// Of each agent the newest version, and one from before its last change of format.
pub const PINS: &[Pin] = &[
    Pin { agent: Agent::ClaudeCode, version: "2.1.325", why: "newest" },
    Pin {
        agent: Agent::ClaudeCode,
        version: "2.0.77",
        why: "before sub-agent folders, offloaded outputs and Task records; last with Grep, Glob and TodoWrite",
    },
    Pin { agent: Agent::Codex, version: "0.166.0", why: "newest; paginated files, code mode" },
    Pin { agent: Agent::Codex, version: "0.130.0", why: "legacy files" },
];

impl Pin {
    /// The pin for an agent's version, or its newest for `None`.
    pub fn find(agent: Agent, version: Option<&str>) -> Option<&'static Self> {
        PINS.iter().find(|pin| pin.agent == agent && version.is_none_or(|version| version == pin.version))
    }

    pub fn label(&self) -> String {
        format!("{}-{}", self.agent.id(), self.version)
    }
}
