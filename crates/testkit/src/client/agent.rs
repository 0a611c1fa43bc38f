//! Which clients are run, and in which versions.

use serde::{Deserialize, Serialize};

/// An agent whose real client can be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agent {
    ClaudeCode,
    Codex,
    GeminiCli,
    Pi,
    QwenCode,
    CopilotCli,
    Opencode,
    Aider,
    Openclaw,
}

impl Agent {
    /// The same id as in `carryover`.
    pub const fn id(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::GeminiCli => "gemini-cli",
            Self::Pi => "pi",
            Self::QwenCode => "qwen-code",
            Self::CopilotCli => "copilot-cli",
            Self::Opencode => "opencode",
            Self::Aider => "aider",
            Self::Openclaw => "openclaw",
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex CLI",
            Self::GeminiCli => "Gemini CLI",
            Self::Pi => "pi",
            Self::QwenCode => "Qwen Code",
            Self::CopilotCli => "Copilot CLI",
            Self::Opencode => "OpenCode",
            Self::Aider => "Aider",
            Self::Openclaw => "OpenClaw",
        }
    }

    pub(super) const fn package(self) -> Package {
        match self {
            Self::ClaudeCode => Package::npm("@anthropic-ai/claude-code", "claude").finished_by("install.cjs"),
            Self::Codex => Package::npm("@openai/codex", "codex"),
            Self::GeminiCli => Package::npm("@google/gemini-cli", "gemini"),
            Self::Pi => Package::npm("@earendil-works/pi-coding-agent", "pi").on_newer_node(),
            Self::QwenCode => Package::npm("@qwen-code/qwen-code", "qwen").on_newer_node(),
            Self::CopilotCli => Package::npm("@github/copilot", "copilot"),
            Self::Opencode => Package::npm("opencode-ai", "opencode").finished_by("postinstall.mjs"),
            Self::Aider => Package { registry: Registry::PyPi, ..Package::npm("aider-chat", "aider") },
            Self::Openclaw => Package::npm("openclaw", "openclaw").on_newer_node(),
        }
    }
}

/// Where a package comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Registry {
    Npm,
    PyPi,
}

/// How a client is had.
#[derive(Clone, Copy, Debug)]
pub(super) struct Package {
    pub(super) registry: Registry,
    pub(super) name: &'static str,
    pub(super) binary: &'static str,
    /// What the package runs after an install, for machines where npm does not run it.
    pub(super) install_step: Option<&'static str>,
    /// It needs a newer Node than machines commonly have.
    pub(super) newer_node: bool,
}

impl Package {
    const fn npm(name: &'static str, binary: &'static str) -> Self {
        Self { registry: Registry::Npm, name, binary, install_step: None, newer_node: false }
    }

    const fn finished_by(mut self, script: &'static str) -> Self {
        self.install_step = Some(script);
        self
    }

    const fn on_newer_node(mut self) -> Self {
        self.newer_node = true;
        self
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

/// Of the first two agents the newest version, and one from before its last change of format; of the others the newest.
pub const PINS: &[Pin] = &[
    Pin { agent: Agent::ClaudeCode, version: "2.1.325", why: "newest" },
    Pin {
        agent: Agent::ClaudeCode,
        version: "2.0.77",
        why: "before sub-agent folders, offloaded outputs and Task records; last with Grep, Glob and TodoWrite",
    },
    Pin { agent: Agent::Codex, version: "0.166.0", why: "newest; paginated files, code mode" },
    Pin { agent: Agent::Codex, version: "0.130.0", why: "legacy files" },
    Pin { agent: Agent::GeminiCli, version: "0.61.0", why: "newest" },
    Pin { agent: Agent::Pi, version: "0.87.1", why: "newest whose dependencies are all published" },
    Pin { agent: Agent::QwenCode, version: "0.24.4", why: "newest" },
    Pin { agent: Agent::CopilotCli, version: "1.0.102", why: "newest; imports sessions" },
    Pin { agent: Agent::Opencode, version: "1.18.33", why: "newest" },
    Pin { agent: Agent::Aider, version: "0.86.2", why: "newest" },
    Pin { agent: Agent::Openclaw, version: "2026.9.6", why: "newest; sessions in SQLite" },
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
