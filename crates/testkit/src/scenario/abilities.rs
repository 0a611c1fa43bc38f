//! What each client can be driven to without a person in front of it.

use crate::client::Agent;

/// A step that not every client can be driven through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ability {
    /// Compact when asked to.
    Compact,
    /// Take a turn back within a session.
    Rewind,
    /// Interrupt a command and keep the session.
    Interrupt,
    /// Take a picture with a prompt.
    Picture,
}

/// The abilities of one client; what it has not is left out of its sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities(&'static [Ability]);

impl Abilities {
    pub fn of(agent: Agent) -> Self {
        use Ability::{Compact, Interrupt, Picture, Rewind};
        Self(match agent {
            Agent::ClaudeCode
            | Agent::Codex
            | Agent::Pi
            | Agent::Opencode
            | Agent::CopilotCli
            | Agent::GeminiCli
            | Agent::QwenCode => &[Compact, Rewind, Interrupt, Picture],
            // What it compacts, it compacts in memory; a picture is a file of the chat, and is not in its history.
            Agent::Aider => &[Interrupt],
            Agent::Openclaw => &[],
        })
    }

    /// What is left out of the client's sessions, for people.
    pub fn missing(self) -> Vec<&'static str> {
        let all = [
            (Ability::Compact, "compaction"),
            (Ability::Rewind, "rewind"),
            (Ability::Interrupt, "interruption"),
            (Ability::Picture, "picture in a prompt"),
        ];
        all.into_iter().filter(|(ability, _)| !self.have(*ability)).map(|(_, about)| about).collect()
    }

    pub fn have(self, ability: Ability) -> bool {
        self.0.contains(&ability)
    }
}
