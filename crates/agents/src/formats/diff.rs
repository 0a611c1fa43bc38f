//! Unified diffs as clients show them, read into hunks of whole lines.

use carryover_core::transcript::Hunk;

/// The hunks of a diff; what stands before the first `@@` names files only.
pub(crate) fn parse_hunks(diff: &str) -> Vec<Hunk> {
    let mut hunks: Vec<Hunk> = Vec::new();
    for line in diff.lines() {
        if line.starts_with("@@") {
            hunks.push(empty_hunk());
        } else if let Some(hunk) = hunks.last_mut() {
            add_signed_line(hunk, line);
        }
    }
    hunks
}

pub(crate) fn empty_hunk() -> Hunk {
    Hunk { context: None, old: String::new(), new: String::new(), everywhere: false }
}

/// A line with its sign before it. "\ No newline at end of file" is on neither side.
pub(crate) fn add_signed_line(hunk: &mut Hunk, line: &str) {
    if let Some(sign) = line.bytes().next().filter(u8::is_ascii) {
        add_line(hunk, sign, &line[1..]);
    }
}

/// A line on the sides that its sign names.
pub(crate) fn add_line(hunk: &mut Hunk, sign: u8, text: &str) {
    for (side, sign_of_side) in [(&mut hunk.old, b'-'), (&mut hunk.new, b'+')] {
        if sign == b' ' || sign == sign_of_side {
            side.push_str(text);
            side.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stand_on_the_sides_that_their_sign_names() {
        let diff = "--- a\n+++ a\n@@ -1,2 +1,2 @@\n both\n-old\n+new\n\\ No newline at end of file\n@@ -9 +9 @@\n-日\n";
        let hunks = parse_hunks(diff);
        assert_eq!((hunks[0].old.as_str(), hunks[0].new.as_str()), ("both\nold\n", "both\nnew\n"));
        assert_eq!((hunks[1].old.as_str(), hunks[1].new.as_str()), ("日\n", ""));
    }
}
