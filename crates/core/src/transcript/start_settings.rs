//! How a session was begun, as its client wrote it down.
//!
//! It is told to people and programs, and never used: what a session was allowed to do there says nothing about what it
//! may do elsewhere.

use serde::Serialize;

use crate::plain::one_line;

/// Longer names are no names.
const MAX_NAME_BYTES: usize = 400;
pub(super) const MAX_NAMES: usize = 500;

/// The settings in force when a session began, in the client's own words.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct StartSettings {
    /// The command that the user began with, as it was typed: `/review src`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The form in which the client was started: its terminal program, a library, an editor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entrypoint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval_policy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_style: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub permission_rules: Vec<String>,
    /// The tools that the model was offered.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// The user has said something: what is set from here on is a change.
    #[serde(skip)]
    is_prompted: bool,
}

/// One thing of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartSetting {
    Entrypoint(String),
    PermissionMode(String),
    /// A session that the user had not yet spoken in was begun with the new one.
    ModeChanged {
        before: Option<String>,
        now: String,
    },
    ApprovalPolicy(String),
    Sandbox(String),
    OutputStyle(String),
    PermissionRules(Vec<String>),
    Tools(Vec<String>),
}

impl StartSettings {
    pub fn is_empty(&self) -> bool {
        *self == Self { is_prompted: self.is_prompted, ..Self::default() }
    }

    /// Takes in what the user said; a session whose first prompt is a command was begun with it.
    pub(super) fn note_prompt(&mut self, words: &str) {
        if !self.is_prompted {
            self.is_prompted = true;
            self.command = slash_command(words);
        }
    }

    /// Takes in one more thing. The first telling of each counts: later ones are changes.
    pub(super) fn learn(&mut self, begin: StartSetting) {
        match begin {
            StartSetting::Entrypoint(text) => keep_first(&mut self.entrypoint, text),
            StartSetting::PermissionMode(text) => keep_first(&mut self.permission_mode, text),
            StartSetting::ModeChanged { before, now } => {
                let mode = if self.is_prompted { before } else { Some(now) };
                keep_first(&mut self.permission_mode, mode.unwrap_or_default());
            }
            StartSetting::ApprovalPolicy(text) => keep_first(&mut self.approval_policy, text),
            StartSetting::Sandbox(text) => keep_first(&mut self.sandbox, text),
            StartSetting::OutputStyle(text) => keep_first(&mut self.output_style, text),
            StartSetting::PermissionRules(rules) => keep_first_list(&mut self.permission_rules, rules),
            StartSetting::Tools(tools) => keep_first_list(&mut self.tools, tools),
        }
    }
}

fn keep_first(kept: &mut Option<String>, text: String) {
    if kept.is_none() && !text.trim().is_empty() {
        *kept = Some(bounded_text(text));
    }
}

fn keep_first_list(kept: &mut Vec<String>, list: Vec<String>) {
    if kept.is_empty() {
        *kept = bounded_list(list);
    }
}

pub(super) fn bounded_text(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(MAX_NAME_BYTES));
    text
}

pub(super) fn bounded_list(mut list: Vec<String>) -> Vec<String> {
    list.truncate(MAX_NAMES);
    list.into_iter().map(bounded_text).collect()
}

/// The line of a prompt that is a command with a slash: `/review src`. A path is none.
fn slash_command(prompt: &str) -> Option<String> {
    let line = prompt.lines().next()?.trim_end();
    let name = line.strip_prefix('/')?.split_whitespace().next().filter(|_| !line.starts_with("/ "))?;
    let is_name = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.'));
    // Points part a name from its family; a hidden file or an ellipsis is none.
    let is_parted = name.split('.').all(|part| !part.is_empty());
    (is_name && is_parted).then(|| one_line(line, 200))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_telling_counts_and_none_is_long() {
        let mut begun = StartSettings::default();
        begun.learn(StartSetting::PermissionMode(" ".into()));
        begun.learn(StartSetting::PermissionMode("plan".into()));
        begun.learn(StartSetting::PermissionMode("bypassPermissions".into()));
        begun.learn(StartSetting::Tools(vec!["ü".repeat(1_000); 1_000]));
        assert_eq!(begun.permission_mode.as_deref(), Some("plan"));
        assert!(begun.tools.len() == MAX_NAMES && begun.tools.iter().all(|tool| tool.len() <= MAX_NAME_BYTES));
    }

    #[test]
    fn a_command_is_told_from_a_path() {
        assert_eq!(slash_command("/lab:review src\nand more").as_deref(), Some("/lab:review src"));
        assert_eq!(slash_command("/workspace.plan the move").as_deref(), Some("/workspace.plan the move"));
        for other in ["", "/", "/ x", "/tmp/a.txt is broken", "fix /review", "/etc/hosts", "/.env is wrong", "/..."] {
            assert_eq!(slash_command(other), None, "{other}");
        }
    }
}
