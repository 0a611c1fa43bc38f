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
struct RuleFile {
    #[serde(default)]
    parts: BTreeMap<String, String>,
    #[serde(default)]
    keywords: BTreeMap<String, Vec<String>>,
    rules: Vec<OwnRule>,
}

const RULE_FILES: [&str; 2] = [include_str!("own.toml"), include_str!("vendors.toml")];

/// The rules of both files. They are part of the program, and a test reads them.
pub(super) fn load_rules() -> Vec<OwnRule> {
    RULE_FILES.into_iter().filter_map(|text| parse_file(text).ok()).flat_map(expand_parts).collect()
}

fn parse_file(text: &str) -> Result<RuleFile, toml_edit::de::Error> {
    toml_edit::de::from_str(text)
}

fn expand_parts(file: RuleFile) -> Vec<OwnRule> {
    let RuleFile { parts, keywords, mut rules } = file;
    let parts: Vec<(String, String)> = parts.into_iter().map(|(name, part)| (format!("%{name}%"), part)).collect();
    for rule in &mut rules {
        // A part may be made of others.
        while let Some((mark, part)) = parts.iter().find(|(mark, _)| rule.pattern.contains(mark)) {
            rule.pattern = rule.pattern.replace(mark, part);
        }
        rule.keywords = rule.keywords.iter().flat_map(|keyword| named_keywords(keyword, &keywords)).collect();
    }
    rules
}

/// The keywords that one of a rule stands for.
fn named_keywords(keyword: &str, named: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let name = keyword.strip_prefix('%').and_then(|rest| rest.strip_suffix('%'));
    match name.and_then(|name| named.get(name)) {
        Some(keywords) => keywords.iter().flat_map(|keyword| named_keywords(keyword, named)).collect(),
        None => vec![keyword.to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_files_are_read() {
        for text in RULE_FILES {
            let file = parse_file(text).unwrap();
            assert!(file.rules.len() > 40);
        }
        let is_whole = |text: &String| !["%is%", "%pass%", "%abroad%", "%cjk%"].iter().any(|part| text.contains(part));
        assert!(load_rules().iter().all(|rule| is_whole(&rule.pattern) && rule.keywords.iter().all(is_whole)));
        assert!(load_rules().iter().all(|rule| !rule.keywords.is_empty()));
    }
}
