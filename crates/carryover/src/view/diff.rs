//! Changes of files as a diff: what was there, and what came in its place.

use std::fmt;

use carryover_core::plain::{one_line, strip_hidden};
use carryover_core::transcript::{Action, Change, Hunk};
use similar::{ChangeTag, TextDiff};

/// Lines around a change that tell where it is.
const CONTEXT_LINES: usize = 3;

/// Two texts with more lines than these are not compared: the one goes, the other comes. The time for it would grow
/// with the square of what somebody else wrote.
const MAX_COMPARED_LINES: usize = 2_000;

/// What a line of a diff is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    /// A file, or a place in it.
    Heading,
    Same,
    Added,
    Removed,
}

/// One line of a diff, made plain.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DiffLine {
    pub(super) kind: LineKind,
    text: String,
}

impl fmt::Display for DiffLine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.kind {
            LineKind::Heading => "",
            LineKind::Same => " ",
            LineKind::Added => "+",
            LineKind::Removed => "-",
        };
        write!(out, "{sign}{}", self.text)
    }
}

/// What an action changes in files; nothing for one that changes none. Of a long one the beginning, and how much is left.
pub(super) fn diff_lines(action: &Action, max_lines: usize) -> Vec<DiffLine> {
    let mut diff = Diff { lines: Vec::new(), max_lines, n_left: 0 };
    match action {
        Action::Write { content, .. } => diff.push_all(LineKind::Added, content.lines()),
        Action::Edit(changes) => changes.iter().for_each(|change| diff.push_change(change, changes.len() > 1)),
        _ => {}
    }
    diff.finish()
}

/// Whether a call changes a file in a way that it does not tell itself.
pub(super) fn lacks_hunks(action: &Action) -> bool {
    let is_untold = |change: &Change| matches!(change, Change::Update { hunks, .. } if hunks.is_empty());
    matches!(action, Action::Edit(changes) if changes.iter().any(is_untold))
}

struct Diff {
    lines: Vec<DiffLine>,
    max_lines: usize,
    n_left: usize,
}

impl Diff {
    fn push(&mut self, kind: LineKind, text: &str) {
        if self.lines.len() < self.max_lines {
            self.lines.push(DiffLine { kind, text: strip_hidden(text).into_owned() });
        } else {
            self.n_left += 1;
        }
    }

    fn push_all<'a>(&mut self, kind: LineKind, lines: impl Iterator<Item = &'a str>) {
        lines.for_each(|line| self.push(kind, line));
    }

    /// A change of one file, which is named where the call changes several.
    fn push_change(&mut self, change: &Change, is_named: bool) {
        let name = one_line(change.path(), 160);
        let mut heading = |what: &str| self.push(LineKind::Heading, &format!("--- {name}{what}"));
        match change {
            Change::Add { content, .. } => {
                heading(" (new)");
                self.push_all(LineKind::Added, content.lines());
            }
            Change::Delete { .. } => heading(" (deleted)"),
            Change::Update { moved_to, hunks, .. } => {
                match moved_to {
                    Some(to) => heading(&format!(" → {}", one_line(to, 160))),
                    None if is_named => heading(""),
                    None => {}
                }
                for hunk in hunks {
                    self.push_hunk(hunk, hunks.len() > 1);
                }
            }
        }
    }

    fn push_hunk(&mut self, hunk: &Hunk, is_one_of_many: bool) {
        let place = hunk.context.as_deref().and_then(|context| context.lines().next()).unwrap_or_default();
        let place = place.trim_start_matches("@@").trim();
        let everywhere = if hunk.everywhere { "every occurrence" } else { "" };
        if is_one_of_many || !place.is_empty() || hunk.everywhere {
            let words: Vec<&str> = ["@@", place, everywhere].into_iter().filter(|word| !word.is_empty()).collect();
            self.push(LineKind::Heading, &words.join(" "));
        }
        if hunk.old.lines().count() + hunk.new.lines().count() > MAX_COMPARED_LINES {
            self.push_all(LineKind::Removed, hunk.old.lines());
            self.push_all(LineKind::Added, hunk.new.lines());
            return;
        }
        self.push_compared(&hunk.old, &hunk.new);
    }

    fn push_compared(&mut self, old: &str, new: &str) {
        let diff = TextDiff::from_lines(old, new);
        for (index, group) in diff.grouped_ops(CONTEXT_LINES).iter().enumerate() {
            if index > 0 {
                self.push(LineKind::Heading, "@@");
            }
            for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
                let kind = match change.tag() {
                    ChangeTag::Equal => LineKind::Same,
                    ChangeTag::Delete => LineKind::Removed,
                    ChangeTag::Insert => LineKind::Added,
                };
                self.push(kind, change.value().trim_end_matches(['\n', '\r']));
            }
        }
    }

    fn finish(mut self) -> Vec<DiffLine> {
        let more = match self.n_left {
            0 => return self.lines,
            1 => "… 1 more line (`--full` shows it)".to_owned(),
            left => format!("… {left} more lines (`--full` shows them)"),
        };
        self.lines.push(DiffLine { kind: LineKind::Heading, text: more });
        self.lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(action: &Action, max_lines: usize) -> String {
        let lines: Vec<String> = diff_lines(action, max_lines).iter().map(ToString::to_string).collect();
        lines.join("\n") + "\n"
    }

    fn hunk(old: &str, new: &str) -> Hunk {
        Hunk { context: None, old: old.to_owned(), new: new.to_owned(), everywhere: false }
    }

    fn update(path: &str, hunks: Vec<Hunk>) -> Change {
        Change::Update { path: path.to_owned(), moved_to: None, hunks }
    }

    #[test]
    fn an_edit_shows_what_goes_and_what_comes() {
        let edit = Action::Edit(vec![update(
            "calc.py",
            vec![hunk("def add(a, b):\n    return a - b", "def add(a, b):\n    return a + b")],
        )]);
        insta::assert_snapshot!(render(&edit, 40), @r"
         def add(a, b):
        -    return a - b
        +    return a + b
        ");
    }

    #[test]
    fn several_files_are_named() {
        let edit = Action::Edit(vec![
            update("a.rs", vec![Hunk { context: Some("@@ fn main".to_owned()), ..hunk("x", "y") }]),
            Change::Add { path: "b.rs".to_owned(), content: "one\ntwo\n".to_owned() },
            Change::Delete { path: "c.rs".to_owned() },
        ]);
        insta::assert_snapshot!(render(&edit, 40), @r"
        --- a.rs
        @@ fn main
        -x
        +y
        --- b.rs (new)
        +one
        +two
        --- c.rs (deleted)
        ");
    }

    #[test]
    fn a_long_change_is_cut_and_says_so() {
        let content = "1\n2\n3\n4\n5\n6\n7\n8\n9\n".to_owned();
        let write = Action::Write { path: "a".to_owned(), content };
        assert_eq!(render(&write, 2), "+1\n+2\n… 7 more lines (`--full` shows them)\n");
        assert_eq!(render(&write, 8).lines().last(), Some("… 1 more line (`--full` shows it)"));
        assert_eq!(render(&write, 9).lines().count(), 9);
    }

    #[test]
    fn an_edit_that_is_too_big_to_compare_is_still_shown() {
        let (old, new) = ("a\n".repeat(1_500), "b\n".repeat(1_500));
        let shown = render(&Action::Edit(vec![update("x", vec![hunk(&old, &new)])]), usize::MAX);
        assert_eq!((shown.matches("-a\n").count(), shown.matches("+b\n").count()), (1_500, 1_500));
    }

    #[test]
    fn hostile_lines_are_made_plain() {
        let write = Action::Write { path: "a".to_owned(), content: "\u{1b}[31mred\u{fdd2}\u{202e}".to_owned() };
        assert_eq!(render(&write, 5), "+red\n");
    }
}
