//! What a rule says about itself, between two lines of dashes at its beginning: whether it is read at every start.

/// The words by which rules of one kind say so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrontMatter {
    /// At every start with `alwaysApply: true`.
    AlwaysApply,
    /// At every start with `trigger: always_on`.
    Trigger,
    /// At every start unless `paths` names files.
    Paths,
    /// At every start where `applyTo` names all files, or is not there.
    ApplyToOrAlways,
    /// At every start where `applyTo` names all files.
    ApplyTo,
}

/// Patterns that fit every file.
const ALL_FILES: [&str; 3] = ["**", "*", "**/*"];
const FENCE: &str = "---";

impl FrontMatter {
    /// When such a rule is read; none where that is at every start.
    pub fn when(self, text: &str) -> Option<&'static str> {
        let head = split(text).0;
        let value = |key: &str| find_value(head, key);
        let names_all = |patterns: &str| patterns.split(',').any(|pattern| ALL_FILES.contains(&unquote(pattern)));
        let is_always = match self {
            Self::AlwaysApply => value("alwaysApply").is_some_and(|value| value == "true"),
            Self::Trigger => value("trigger").is_some_and(|value| value == "always_on"),
            Self::Paths => value("paths").is_none(),
            Self::ApplyToOrAlways => value("applyTo").is_none_or(names_all),
            Self::ApplyTo => value("applyTo").is_some_and(names_all),
        };
        (!is_always).then(|| self.describe())
    }

    /// The same in words.
    pub fn describe(self) -> &'static str {
        match self {
            Self::AlwaysApply => "where its `alwaysApply`, `globs` or `description` fits",
            Self::Trigger => "where its `trigger` fits",
            Self::Paths => "where its `paths` fit",
            Self::ApplyToOrAlways | Self::ApplyTo => "where its `applyTo` fits",
        }
    }
}

/// What a rule says about itself, and the rest.
pub fn split(text: &str) -> (&str, &str) {
    let whole = text.trim_start_matches('\u{feff}');
    let mut lines = whole.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| line.trim_end() == FENCE) else { return ("", text) };
    let mut at = first.len();
    for line in lines {
        if line.trim_end() == FENCE {
            return (&whole[first.len()..at], &whole[at + line.len()..]);
        }
        at += line.len();
    }
    // It is never closed.
    ("", text)
}

/// The value of a key; several in lines of their own are told as one that is not empty.
fn find_value<'a>(head: &'a str, key: &str) -> Option<&'a str> {
    let mut lines = head.lines();
    let value = lines.find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix(':'))?;
    let value = unquote(value.split(" #").next().unwrap_or_default());
    if !value.is_empty() {
        return Some(value);
    }
    // A list below the key.
    lines.next().and_then(|line| line.trim_start().strip_prefix("- ")).map(unquote)
}

fn unquote(value: &str) -> &str {
    value.trim().trim_matches(['"', '\'']).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_says_itself_whether_it_is_always_read() {
        let is_always = |kind: FrontMatter, head: &str| kind.when(&format!("---\n{head}\n---\nrule\n")).is_none();
        assert!(is_always(FrontMatter::AlwaysApply, "description: x\r\nalwaysApply: true\r"));
        assert!(!is_always(FrontMatter::AlwaysApply, "alwaysApply: false"));
        assert!(!is_always(FrontMatter::AlwaysApply, "globs: '*.rs'"));
        assert!(is_always(FrontMatter::Trigger, "trigger: always_on"));
        assert!(!is_always(FrontMatter::Trigger, "trigger: glob\nglobs: '**'"));
        assert!(is_always(FrontMatter::Paths, "title: x"));
        assert!(!is_always(FrontMatter::Paths, "paths:\n  - 'src/**'"));
        assert!(!is_always(FrontMatter::Paths, "paths: [\"src/**\"]"));
        assert!(is_always(FrontMatter::ApplyTo, "applyTo: '**'"));
        assert!(is_always(FrontMatter::ApplyTo, "applyTo: \"**/*.md, **\""));
        assert!(!is_always(FrontMatter::ApplyTo, "applyTo: '**/*.rs'"));
        assert!(!is_always(FrontMatter::ApplyTo, "x: y") && is_always(FrontMatter::ApplyToOrAlways, "x: y"));
        assert!(FrontMatter::Paths.when("---\npaths: a\n").is_none(), "nothing closes it");
        assert_eq!(split("---\na: b\n---\n\nrule\n"), ("a: b\n", "\nrule\n"));
        assert_eq!(split("rule\n---\n"), ("", "rule\n---\n"));
    }
}
