//! What a tree of git holds, and what is changed in it.

use super::runner::Input;

/// A file of a tree.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TreeEntry {
    pub(super) key: String,
    pub(super) id: String,
    pub(super) bytes: u64,
}

/// One object more or less.
pub(super) enum TreeChange<'a> {
    Add(Input<'a>),
    Remove,
}

impl TreeChange<'_> {
    pub(super) fn is_addition(&self) -> bool {
        matches!(self, Self::Add(_))
    }

    pub(super) fn message(&self) -> &'static str {
        if self.is_addition() { "carryover: add an object" } else { "carryover: delete an object" }
    }
}

/// Reads what `ls-tree -l -z` lists. Links and submodules are no objects.
pub(super) fn parse_entries(listed: &[u8]) -> Vec<TreeEntry> {
    listed.split(|byte| *byte == 0).filter_map(parse_entry).collect()
}

fn parse_entry(line: &[u8]) -> Option<TreeEntry> {
    let (head, key) = std::str::from_utf8(line).ok()?.split_once('\t')?;
    let mut words = head.split_ascii_whitespace();
    let (mode, kind, id, bytes) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let is_file = kind == "blob" && mode.starts_with("100");
    Some(TreeEntry { key: key.to_owned(), id: id.to_owned(), bytes: bytes.parse().ok()? }).filter(|_| is_file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_objects_and_nothing_else_is() {
        let listed = [
            "100644 blob aa11      12\ta/one",
            "120000 blob bb22       4\tlink",
            "040000 tree cc33       -\ta",
            "160000 commit dd44       -\tsub",
            "100755 blob ee55 0\tb",
            "",
        ];
        let listed = listed.join("\0");
        let entry = |key: &str, id: &str, bytes| TreeEntry { key: key.to_owned(), id: id.to_owned(), bytes };
        assert_eq!(parse_entries(listed.as_bytes()), [entry("a/one", "aa11", 12), entry("b", "ee55", 0)]);
    }
}
