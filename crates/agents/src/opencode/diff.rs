//! The changes that the client notes beside an edit: unified diffs, from which it takes the common indentation.

use carryover_core::transcript::Hunk;

use crate::formats::diff;

/// The hunks of a diff in whole lines; `None` where it cannot be told what the lines were.
///
/// `old` is the text that was replaced: the only evidence of how far its lines were indented.
pub(super) fn parse_hunks(diff: &str, old: &str) -> Option<Vec<Hunk>> {
    let mut hunks = diff::parse_hunks(diff);
    let mut places = diff.lines().filter_map(|line| line.strip_prefix("@@ "));
    let begins_with_the_file = places.any(|place| ["-1,", "-1 ", "-0,0"].iter().any(|first| place.starts_with(first)));
    // The first lines of a file are hardly ever all indented.
    let indentation = if begins_with_the_file { String::new() } else { find_indentation(&hunks, old)? };
    if !indentation.is_empty() {
        for hunk in &mut hunks {
            hunk.old = indent_lines(&hunk.old, &indentation);
            hunk.new = indent_lines(&hunk.new, &indentation);
        }
    }
    (!hunks.is_empty()).then_some(hunks)
}

/// The indentation that was taken from every line: a line of the old text that is known whole tells.
fn find_indentation(hunks: &[Hunk], old: &str) -> Option<String> {
    let whole: Vec<&str> = old.lines().skip(1).filter(|line| !line.trim().is_empty()).collect();
    // The last line may go on after what was replaced.
    let whole = if old.ends_with('\n') { &whole[..] } else { whole.split_last()?.1 };
    let line = whole.first()?;
    let is_there = |text: &str| hunks.iter().any(|hunk| hunk.old.lines().any(|line| line == text));
    let blanks = line.len() - line.trim_start().len();
    (0..=blanks).find(|cut| line.is_char_boundary(*cut) && is_there(&line[*cut..])).map(|cut| line[..cut].to_owned())
}

fn indent_lines(text: &str, indentation: &str) -> String {
    let line = |line: &str| if line.trim().is_empty() { format!("{line}\n") } else { format!("{indentation}{line}\n") };
    text.lines().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_at_the_beginning_of_a_file_are_taken_as_they_are() {
        let diff =
            "Index: a\n===\n--- a\n+++ a\n@@ -1,2 +1,2 @@\n def add(a, b):\n-    return a - b\n+    return a + b\n";
        let hunks = parse_hunks(diff, "a - b").unwrap();
        assert_eq!(hunks[0].old, "def add(a, b):\n    return a - b\n");
        assert_eq!(hunks[0].new, "def add(a, b):\n    return a + b\n");
    }

    #[test]
    fn indentation_that_was_taken_is_given_back_where_it_is_known() {
        let diff = "--- a\n+++ a\n@@ -40,3 +40,3 @@\n if x:\n     one\n-    two\n+    three\n";
        let told = parse_hunks(diff, "if x:\n        one\n        two\n").unwrap();
        assert_eq!(told[0].old, "    if x:\n        one\n        two\n");
        assert_eq!(parse_hunks(diff, "two"), None);
    }
}
