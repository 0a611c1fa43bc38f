//! Rules of permission in files of settings: what is allowed, asked or denied without another question.
//!
//! Told to people and programs, and never used.

use std::path::Path;

use serde_json::Value;
use toml_edit::{DocumentMut, Item, Table};

use crate::facts::{PathRule, candidate_paths};
use crate::formats::file::{self, MAX_SETTINGS_BYTES};
use crate::formats::jsonc::strip_comments;
use crate::{Env, Facts};

/// Who has more has no list.
const MAX_RULES: usize = 500;
const MAX_RULE_BYTES: usize = 400;

/// Files of one form that hold rules.
#[derive(Debug)]
pub struct RuleFiles {
    pub places: &'static [PathRule],
    pub form: RuleForm,
}

/// How a file holds them.
#[derive(Debug, Clone, Copy)]
pub enum RuleForm {
    /// Lists of words in JSON with comments, by their pointers; the last name of each says what is decided.
    Lists(&'static [&'static str]),
    /// Tables of TOML named `rule`, each with a decision and with what it is about.
    Policies,
}

impl Facts {
    /// The rules in the files that are there, as `allow Bash(ls)`; none where no file is, and nothing is known.
    pub fn read_permission_rules(&self, env: &Env) -> Option<Vec<String>> {
        let mut rules: Option<Vec<String>> = None;
        for files in self.permission_rules {
            for path in candidate_paths(files.places, env) {
                let Some(found) = files.form.read_file(&path) else { continue };
                let rules = rules.get_or_insert_default();
                for rule in found {
                    if rules.len() < MAX_RULES && rule.len() <= MAX_RULE_BYTES && !rules.contains(&rule) {
                        rules.push(rule);
                    }
                }
            }
        }
        rules
    }
}

impl RuleForm {
    /// The rules in a file; none where it is not there, or says nothing that can be read.
    fn read_file(self, path: &Path) -> Option<Vec<String>> {
        let text = file::read_text(path, MAX_SETTINGS_BYTES).ok()?;
        match self {
            Self::Lists(pointers) => {
                let settings: Value = serde_json::from_str(&strip_comments(&text)).ok()?;
                Some(pointers.iter().flat_map(|pointer| list_rules(&settings, pointer)).collect())
            }
            Self::Policies => {
                let document: DocumentMut = text.parse().ok()?;
                let tables = document.get("rule").and_then(Item::as_array_of_tables);
                Some(tables.into_iter().flatten().flat_map(policy_rules).collect())
            }
        }
    }
}

fn list_rules(settings: &Value, pointer: &str) -> Vec<String> {
    let decision = pointer.rsplit('/').next().unwrap_or_default();
    let words = settings.pointer(pointer).and_then(Value::as_array);
    words.into_iter().flatten().filter_map(Value::as_str).map(|word| format!("{decision} {word}")).collect()
}

/// One rule for each beginning of a command.
fn policy_rules(table: &Table) -> Vec<String> {
    let text = |name: &str| table.get(name).and_then(Item::as_str);
    let Some(decision) = text("decision") else { return Vec::new() };
    let about = [text("mcpName"), text("toolName"), text("argsPattern"), text("commandRegex")];
    let rule = [Some(decision)].into_iter().chain(about).flatten().collect::<Vec<_>>().join(" ");
    let prefixes: Vec<&str> = match table.get("commandPrefix") {
        Some(item) if item.as_array().is_some() => {
            item.as_array().into_iter().flatten().filter_map(toml_edit::Value::as_str).collect()
        }
        item => item.and_then(Item::as_str).into_iter().collect(),
    };
    if prefixes.is_empty() {
        return vec![rule];
    }
    prefixes.into_iter().map(|prefix| format!("{rule} {prefix}")).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::agent_by_name;

    #[expect(clippy::disallowed_methods, reason = "tests make their own files")]
    fn read(agent: &str, files: &[(&str, &str)]) -> Option<Vec<String>> {
        let folder = tempfile::tempdir().unwrap();
        let env = Env {
            home: folder.path().join("home"),
            projects: vec![folder.path().join("work")],
            vars: BTreeMap::new(),
            ..crate::write_fixtures::sample_env()
        };
        for (name, text) in files {
            let path = folder.path().join(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, text).unwrap();
        }
        agent_by_name(agent).unwrap().facts().read_permission_rules(&env)
    }

    #[test]
    fn rules_are_read_where_the_client_keeps_them() {
        let told = read(
            "claude-code",
            &[
                ("work/.claude/settings.local.json", r#"{"permissions":{"allow":["Bash(npm test:*)", 7]}}"#),
                ("work/.claude/settings.json", r#"{"permissions":{"deny":["Read(.env)"],"ask":["Bash(git push:*)"]}}"#),
                ("home/.claude/settings.json", r#"{"permissions":{"allow":["Bash(npm test:*)","WebSearch"]}}"#),
            ],
        );
        let rules = ["ask Bash(git push:*)", "deny Read(.env)", "allow Bash(npm test:*)", "allow WebSearch"];
        assert_eq!(told.unwrap(), rules);
        let told =
            read("qwen-code", &[("work/.qwen/settings.json", "{// mine\n\"permissions\":{\"ask\":[\"Bash(rm)\"]},}")]);
        assert_eq!(told.unwrap(), ["ask Bash(rm)"]);
        let policies = "[[rule]]\ndecision = \"allow\"\ntoolName = \"run_shell_command\"\ncommandPrefix = [\"git status\", \"ls\"]\n\
            [[rule]]\ndecision = \"allow\"\nmcpName = \"m\"\ntoolName = \"t\"\n[[rule]]\nodd = 1\n";
        let settings = r#"{"tools":{"exclude":["web_fetch"]}}"#;
        let told = read(
            "gemini",
            &[("home/.gemini/policies/auto-saved.toml", policies), ("work/.gemini/settings.json", settings)],
        );
        let rules =
            ["exclude web_fetch", "allow run_shell_command git status", "allow run_shell_command ls", "allow m t"];
        assert_eq!(told.unwrap(), rules);
    }

    #[test]
    fn no_file_is_not_the_same_as_no_rule() {
        assert_eq!(read("claude-code", &[]), None);
        assert_eq!(read("claude-code", &[("home/.claude/settings.json", "{")]), None);
        assert_eq!(read("claude-code", &[("home/.claude/settings.json", "{}")]), Some(Vec::new()));
        assert_eq!(read("pi", &[("home/.claude/settings.json", "{}")]), None);
    }
}
