//! `workspace.yaml`: what the client lists of a session. A flat table of scalars, read without a YAML parser.

use std::path::{Path, PathBuf};

use carryover_core::time::Timestamp;

/// The keys that we look at.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Workspace {
    pub cwd: Option<PathBuf>,
    pub branch: Option<String>,
    pub name: Option<String>,
    pub user_named: bool,
    pub created_at: Option<Timestamp>,
    pub updated_at: Option<Timestamp>,
}

/// More than a table of a dozen lines is none.
const MAX_TABLE_BYTES: u64 = 16 << 10;

impl Workspace {
    /// The table in the folder of a session's events.
    pub(super) fn read_beside(events: &Path) -> Option<Self> {
        if events.file_name()? != "events.jsonl" {
            return None;
        }
        let bytes = crate::formats::jsonl::read_head(&events.with_file_name("workspace.yaml"), MAX_TABLE_BYTES).ok()?;
        Some(Self::parse(&String::from_utf8_lossy(&bytes)))
    }

    pub(super) fn parse(text: &str) -> Self {
        let mut found = Self::default();
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            let Some((key, rest)) = line.split_once(':').filter(|(key, _)| is_key(key)) else { continue };
            let mut block = Vec::new();
            while let Some(more) = lines.next_if(|next| next.is_empty() || next.starts_with([' ', '\t'])) {
                block.push(more);
            }
            let Some(value) = parse_scalar(rest.trim(), &block) else { continue };
            match key {
                "cwd" => found.cwd = Some(value.into()),
                "branch" => found.branch = Some(value),
                "name" => found.name = Some(value),
                "user_named" => found.user_named = value == "true",
                "created_at" => found.created_at = Timestamp::parse(&value),
                "updated_at" => found.updated_at = Timestamp::parse(&value),
                _ => {}
            }
        }
        found
    }
}

fn is_key(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

/// A value, where it is of a form that the client's serializer uses; of any other we know nothing.
fn parse_scalar(text: &str, block: &[&str]) -> Option<String> {
    match text.as_bytes().first()? {
        b'\'' => block.is_empty().then(|| text.strip_prefix('\'')?.strip_suffix('\'').map(|t| t.replace("''", "'")))?,
        // The escapes that both know are the ones that occur.
        b'"' => block.is_empty().then(|| serde_json::from_str(text).ok())?,
        b'|' => {
            let indent = block.iter().find(|line| !line.trim().is_empty()).map(|line| indent_width(line))?;
            let lines: Vec<&str> = block.iter().map(|line| line.get(indent..).unwrap_or_default()).collect();
            Some(lines.join("\n").trim_end().to_owned())
        }
        b'>' | b'{' | b'[' | b'&' | b'*' | b'!' | b'~' => None,
        _ => (block.is_empty() && text != "null").then(|| text.to_owned()),
    }
}

fn indent_width(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_in_every_form_that_the_client_writes() {
        let check = |yaml: &str, expected: Option<&str>| {
            assert_eq!(Workspace::parse(yaml).name.as_deref(), expected, "{yaml}");
        };
        check("id: x\nname: Please fix add. 日本\ncwd: /p\n", Some("Please fix add. 日本"));
        check("name: 'My: Name #1 ''q'' \"d\"'\n", Some("My: Name #1 'q' \"d\""));
        check("name: \"a\\tb \\u00e4\"\n", Some("a\tb ä"));
        check(
            "name: |-\n  Line one: x\n  two\n\n    - three\nuser_named: true\n",
            Some("Line one: x\ntwo\n\n  - three"),
        );
        check("name: null\n", None);
        check("name: >-\n  folded\n  text\n", None);
        check("name: {a: b}\n", None);
        check("name:\n", None);
    }

    #[test]
    fn what_follows_a_block_is_read() {
        let found = Workspace::parse("name: |-\n  a\nuser_named: true\ncreated_at: 2026-11-15T04:05:09.218Z\n");
        assert!(found.user_named);
        assert_eq!(found.created_at, Timestamp::parse("2026-11-15T04:05:09.218Z"));
    }
}
