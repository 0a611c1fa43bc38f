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
    /// The part of the pattern in which one of the keywords stands; else that which tells a password or a key.
    #[serde(default)]
    name: Option<String>,
    /// The rest of the pattern, behind that part.
    #[serde(skip)]
    pub(super) rest: Option<String>,
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
        rule.rest = find_rest(&rule.pattern, rule.name.as_deref());
        for pattern in [Some(&mut rule.pattern), rule.rest.as_mut()].into_iter().flatten() {
            // A part may be made of others.
            while let Some((mark, part)) = parts.iter().find(|(mark, _)| pattern.contains(mark)) {
                *pattern = pattern.replace(mark, part);
            }
        }
        rule.keywords = rule.keywords.iter().flat_map(|keyword| named_keywords(keyword, &keywords)).collect();
    }
    rules
}

/// The first rules: every name of a password and of a key has one of their keywords.
pub(super) const NAME_RULES: usize = 2;
/// What tells a password or a key, in the patterns of most rules.
const NAMES: [&str; 3] = ["(?:%pass%|%key%)", "%pass%", "%key%"];

/// What has to follow a name in a pattern that is one sequence.
fn find_rest(pattern: &str, name: Option<&str>) -> Option<String> {
    let names: &[&str] = name.as_ref().map_or(&NAMES, std::slice::from_ref);
    let (at, name) = names.iter().find_map(|name| Some((pattern.find(name)?, name)))?;
    let rest = &pattern[at + name.len()..];
    let flags = pattern.strip_prefix("(?").and_then(|flags| flags.split_once(')')).map(|(flags, _)| flags);
    let flags = flags.filter(|flags| flags.bytes().all(|flag| flag.is_ascii_lowercase())).unwrap_or_default();
    let flags = if flags.is_empty() { String::new() } else { format!("(?{flags})") };
    let is_repeated = rest.starts_with(['?', '*', '+', '{']);
    let is_sequence = is_sequence(&pattern[..at]) && is_sequence(rest) && !is_repeated;
    is_sequence.then(|| format!("{flags}{rest}"))
}

/// Whether groups are closed in a part of a pattern, which is no alternative to another one.
fn is_sequence(part: &str) -> bool {
    let (mut depth, mut in_class, mut is_escaped) = (0_usize, false, false);
    for byte in part.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b']' => in_class = false,
            _ if in_class => {}
            b'[' => in_class = true,
            b'(' => depth += 1,
            b')' | b'|' if depth == 0 => return false,
            b')' => depth -= 1,
            _ => {}
        }
    }
    depth == 0
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
