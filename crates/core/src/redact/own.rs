//! Rules of our own, as data: `own.toml` for names, commands and files, `vendors.toml` for how keys begin.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::check::Check;

/// A rule as it is written.
#[derive(Deserialize)]
pub(super) struct OwnRule {
    pub(super) kind: String,
    pub(super) keywords: Vec<String>,
    pub(super) pattern: String,
    #[serde(default = "token")]
    pub(super) check: Check,
    #[serde(default = "before")]
    pub(super) before: usize,
    #[serde(default = "after")]
    pub(super) after: usize,
    #[cfg(test)]
    pub(super) masks: Vec<String>,
    #[cfg(test)]
    pub(super) keeps: Vec<String>,
}

fn token() -> Check {
    Check::Token
}

/// So much is looked at before a keyword, and so much after it, where a rule does not say otherwise.
fn before() -> usize {
    64
}

fn after() -> usize {
    512
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    parts: BTreeMap<String, String>,
    rules: Vec<OwnRule>,
}

const FILES: [&str; 2] = [include_str!("own.toml"), include_str!("vendors.toml")];

/// The rules of both files. They are part of the program, and a test reads them.
pub(super) fn rules() -> Vec<OwnRule> {
    FILES.into_iter().filter_map(|text| read(text).ok()).flat_map(with_parts).collect()
}

fn read(text: &str) -> Result<File, toml_edit::de::Error> {
    toml_edit::de::from_str(text)
}

fn with_parts(file: File) -> Vec<OwnRule> {
    let File { parts, mut rules } = file;
    for rule in &mut rules {
        for (name, part) in &parts {
            rule.pattern = rule.pattern.replace(&format!("%{name}%"), part);
        }
    }
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_files_are_read() {
        for text in FILES {
            let file = read(text).unwrap();
            assert!(file.rules.len() > 40);
        }
        assert!(rules().iter().all(|rule| !rule.pattern.contains("%is%") && !rule.keywords.is_empty()));
    }
}
