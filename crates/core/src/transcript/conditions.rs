//! The conditions that a session goes on under, as its client last wrote them down.
//!
//! Told to people and programs, and never used. The words of vendors stay where they are: their prompts and the schemas
//! of their tools are known by digests.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::StartSetting;
use super::start_settings::{bounded_list, bounded_text};
use crate::json::Json;

/// Who is told more in the user's place is told by what came last.
const MAX_REMINDERS: usize = 2_000;
const MAX_SETTINGS: usize = 100;

/// A text by its digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextDigest {
    pub bytes: u64,
    /// SHA-256 in hexadecimal digits.
    pub sha256: String,
}

/// A tool that the model was offered; where its schema was seen, with a digest of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferedTool {
    pub name: String,
    /// SHA-256 of the form of its input, as compact JSON with sorted members.
    pub schema_sha256: Option<String>,
}

/// What was in force when the session was last used; a field that its client never told is empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Conditions {
    pub permission_mode: Option<String>,
    pub approval_policy: Option<String>,
    pub sandbox: Option<String>,
    /// Empty where the client said that there are none.
    pub permission_rules: Option<Vec<String>>,
    pub output_style: Option<String>,
    /// Through whom the model is reached.
    pub routing: Option<String>,
    /// Effort, limits and whatever else a request sets.
    pub sampling: Option<BTreeMap<String, Json>>,
    pub system_prompt: Option<TextDigest>,
    pub tools: Option<Vec<OfferedTool>>,
    /// What the harness told besides what stands among the entries.
    pub reminders: Vec<TextDigest>,
    /// The commit that the repository was at.
    pub commit: Option<String>,
}

/// One thing of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    PermissionMode(String),
    ApprovalPolicy(String),
    Sandbox(String),
    PermissionRules(Vec<String>),
    OutputStyle(String),
    Routing(String),
    /// All that a request sets, in the place of what an earlier one did.
    Sampling(BTreeMap<String, Json>),
    /// One setting, beside the others.
    Setting(&'static str, Json),
    /// A setting that is no longer made.
    NoSetting(&'static str),
    SystemPrompt(TextDigest),
    Tools(Vec<OfferedTool>),
    Reminder(TextDigest),
    Commit(String),
}

impl Conditions {
    /// Takes in one more thing; the last telling of each counts.
    pub(super) fn learn(&mut self, condition: Condition) {
        match condition {
            Condition::PermissionMode(text) => replace_text(&mut self.permission_mode, text),
            Condition::ApprovalPolicy(text) => replace_text(&mut self.approval_policy, text),
            Condition::Sandbox(text) => replace_text(&mut self.sandbox, text),
            Condition::PermissionRules(rules) => self.permission_rules = Some(bounded_list(rules)),
            Condition::OutputStyle(text) => replace_text(&mut self.output_style, text),
            Condition::Routing(text) => replace_text(&mut self.routing, text),
            Condition::Sampling(settings) => self.sampling = Some(settings).filter(|all| all.len() <= MAX_SETTINGS),
            Condition::Setting(name, value) => {
                self.sampling.get_or_insert_default().insert(name.to_owned(), value);
            }
            Condition::NoSetting(name) => {
                if let Some(settings) = &mut self.sampling {
                    settings.remove(name);
                }
            }
            Condition::SystemPrompt(digest) => self.system_prompt = Some(digest),
            Condition::Tools(tools) => self.tools = Some(bounded_tools(tools)),
            Condition::Reminder(digest) => {
                self.reminders.push(digest);
                if self.reminders.len() > MAX_REMINDERS {
                    self.reminders.remove(0);
                }
            }
            Condition::Commit(commit) => replace_text(&mut self.commit, commit),
        }
    }

    /// Takes in a setting that a session may begin with: whenever it is told, it is in force from there on.
    pub(super) fn learn_setting(&mut self, setting: &StartSetting) {
        let condition = match setting.clone() {
            StartSetting::PermissionMode(mode) | StartSetting::ModeChanged { now: mode, .. } => {
                Condition::PermissionMode(mode)
            }
            StartSetting::ApprovalPolicy(text) => Condition::ApprovalPolicy(text),
            StartSetting::Sandbox(text) => Condition::Sandbox(text),
            StartSetting::OutputStyle(text) => Condition::OutputStyle(text),
            StartSetting::PermissionRules(rules) => Condition::PermissionRules(rules),
            StartSetting::Tools(_) | StartSetting::Entrypoint(_) => return,
        };
        self.learn(condition);
    }
}

fn replace_text(kept: &mut Option<String>, text: String) {
    if !text.trim().is_empty() {
        *kept = Some(bounded_text(text));
    }
}

fn bounded_tools(mut tools: Vec<OfferedTool>) -> Vec<OfferedTool> {
    tools.truncate(super::start_settings::MAX_NAMES);
    for tool in &mut tools {
        tool.name = bounded_text(std::mem::take(&mut tool.name));
    }
    tools
}

#[cfg(test)]
mod tests {
    use super::super::{Fact, Header};
    use super::*;

    #[test]
    fn what_was_told_last_is_in_force_and_what_began_the_session_stays_told() {
        let mut header = Header::default();
        let told = [
            StartSetting::PermissionMode("plan".into()),
            StartSetting::ApprovalPolicy("untrusted".into()),
            StartSetting::PermissionRules(vec!["write /repo".into()]),
            StartSetting::PermissionMode("acceptEdits".into()),
            StartSetting::PermissionMode(" ".into()),
            StartSetting::ApprovalPolicy("never".into()),
            StartSetting::PermissionRules(Vec::new()),
        ];
        for setting in told {
            header.learn(Fact::StartSetting(setting));
        }
        let (begun, last) = (&header.start_settings, &header.conditions);
        assert_eq!(begun.permission_mode.as_deref(), Some("plan"));
        assert_eq!(last.permission_mode.as_deref(), Some("acceptEdits"));
        assert_eq!(begun.approval_policy.as_deref(), Some("untrusted"));
        assert_eq!(last.approval_policy.as_deref(), Some("never"));
        assert_eq!(begun.permission_rules, ["write /repo"]);
        assert_eq!(last.permission_rules.as_deref(), Some([].as_slice()), "they were told to be none");
        let changed = StartSetting::ModeChanged { before: Some("plan".into()), now: "autopilot".into() };
        header.learn(Fact::StartSetting(changed));
        assert_eq!(header.conditions.permission_mode.as_deref(), Some("autopilot"));
    }

    #[test]
    fn tools_are_told_by_name_from_the_first_and_whole_from_the_last() {
        let tools =
            |name: &str| Condition::Tools(vec![OfferedTool { name: name.into(), schema_sha256: Some("0".repeat(64)) }]);
        let mut header = Header::default();
        header.learn(Fact::Condition(tools("Read")));
        header.learn(Fact::Condition(tools(&"ü".repeat(1_000))));
        let last = &header.conditions.tools.as_ref().unwrap()[0];
        assert!(last.name.starts_with('ü') && last.name.len() <= 400 && last.schema_sha256.is_some());
        assert_eq!(header.start_settings.tools, ["Read"]);
    }

    #[test]
    fn settings_of_a_request_replace_those_before_and_single_ones_stand_beside() {
        let mut last = Conditions::default();
        let number = |text: &str| Json::parse(text).unwrap();
        last.learn(Condition::NoSetting("effort"));
        assert_eq!(last.sampling, None);
        last.learn(Condition::Setting("effort", number(r#""high""#)));
        last.learn(Condition::Setting("summary", number(r#""none""#)));
        last.learn(Condition::NoSetting("effort"));
        assert_eq!(last.sampling.as_ref().unwrap().keys().collect::<Vec<_>>(), ["summary"]);
        last.learn(Condition::Sampling(BTreeMap::from([("max_tokens".to_owned(), number("5"))])));
        assert_eq!(last.sampling.unwrap().keys().collect::<Vec<_>>(), ["max_tokens"]);
    }
}
