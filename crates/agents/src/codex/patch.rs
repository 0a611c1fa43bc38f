//! The patch format of `apply_patch`: parsed into changes, and changes written as a patch.
//!
//! ```text
//! *** Begin Patch
//! *** Update File: src/a.rs
//! *** Move to: src/b.rs
//! @@ fn main() {
//!  kept
//! -old
//! +new
//! *** End of File
//! *** Add File: notes.md
//! +text
//! *** Delete File: c.rs
//! *** End Patch
//! ```

use carryover_core::transcript::{Change, Hunk};

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File: ";
const DELETE: &str = "*** Delete File: ";
const UPDATE: &str = "*** Update File: ";
const MOVE: &str = "*** Move to: ";
/// Where it applies, if there are several such places; it changes nothing about what is changed.
const ENVIRONMENT: &str = "*** Environment ID:";
const END_OF_FILE: &str = "*** End of File";

/// Reads a patch; `None` where it is not one, or holds what we do not know.
pub(crate) fn parse(text: &str) -> Option<Vec<Change>> {
    let begin = text.find(BEGIN)?;
    let mut lines = text[begin + BEGIN.len()..].lines().skip(1).peekable();
    let mut changes = Vec::new();
    while let Some(line) = lines.next() {
        if line.trim() == END {
            return (!changes.is_empty()).then_some(changes);
        }
        let mut take_while = |goes_on: &dyn Fn(&str) -> bool| {
            let mut taken = Vec::new();
            while let Some(line) = lines.next_if(|line| goes_on(line)) {
                taken.push(line);
            }
            taken
        };
        if let Some(path) = line.strip_prefix(ADD) {
            let added = take_while(&|line| line.starts_with('+'));
            let content = added.iter().flat_map(|line| [&line[1..], "\n"]).collect();
            changes.push(Change::Add { path: path.trim().to_owned(), content });
        } else if let Some(path) = line.strip_prefix(DELETE) {
            changes.push(Change::Delete { path: path.trim().to_owned() });
        } else if let Some(path) = line.strip_prefix(UPDATE) {
            let moved_to = take_while(&|line| line.starts_with(MOVE)).first().map(|line| line[MOVE.len()..].trim());
            let body = take_while(&|line| !line.starts_with("*** ") || line.trim_end() == END_OF_FILE);
            let moved_to = moved_to.map(str::to_owned);
            changes.push(Change::Update { path: path.trim().to_owned(), moved_to, hunks: parse_hunks(&body)? });
        } else if !line.trim().is_empty() && !line.starts_with(ENVIRONMENT) {
            return None;
        }
    }
    None
}

/// The changes with their paths as seen from outside the folder in which the patch applies.
pub(super) fn prefix_paths(mut changes: Vec<Change>, folder: Option<&str>) -> Vec<Change> {
    for change in &mut changes {
        match change {
            Change::Update { path, moved_to, .. } => {
                *path = join_path(folder, path);
                *moved_to = moved_to.take().map(|moved_to| join_path(folder, &moved_to));
            }
            Change::Add { path, .. } | Change::Delete { path } => *path = join_path(folder, path),
        }
    }
    changes
}

/// A path inside a folder; one from the root on stays as it is.
pub(super) fn join_path(folder: Option<&str>, path: &str) -> String {
    let is_absolute = path.starts_with(['/', '\\', '~']) || path.get(1..2) == Some(":");
    match folder.map(|folder| folder.trim_end_matches('/')).filter(|folder| !matches!(*folder, "" | ".")) {
        Some(folder) if !is_absolute => format!("{folder}/{}", path.strip_prefix("./").unwrap_or(path)),
        _ => path.to_owned(),
    }
}

/// A hunk begins with `@@`; the first may go without.
fn parse_hunks(lines: &[&str]) -> Option<Vec<Hunk>> {
    let mut hunks: Vec<Hunk> = Vec::new();
    let empty = |context: Option<String>| Hunk { context, old: String::new(), new: String::new(), everywhere: false };
    for line in lines {
        if let Some(context) = line.strip_prefix("@@") {
            let context = context.trim();
            match hunks.last_mut() {
                // Several `@@` in a row name a place more closely: a class, then its method.
                Some(last) if last.old.is_empty() && last.new.is_empty() => {
                    let outer = last.context.take().map(|outer| outer + "\n").unwrap_or_default();
                    last.context = Some(outer + context);
                }
                _ => hunks.push(empty((!context.is_empty()).then(|| context.to_owned()))),
            }
            continue;
        }
        if line.trim_end() == END_OF_FILE {
            continue;
        }
        if hunks.is_empty() {
            hunks.push(empty(None));
        }
        let hunk = hunks.last_mut()?;
        // Models forget the blank before an empty line.
        let (sign, rest) = if line.is_empty() { (' ', "") } else { (line.chars().next()?, line.get(1..)?) };
        if matches!(sign, ' ' | '-') {
            hunk.old.push_str(rest);
            hunk.old.push('\n');
        }
        if matches!(sign, ' ' | '+') {
            hunk.new.push_str(rest);
            hunk.new.push('\n');
        }
        if !matches!(sign, ' ' | '+' | '-') {
            return None;
        }
    }
    Some(hunks)
}

/// Writes changes as a patch that applies; `None` where one of them cannot be said in it.
pub(super) fn render(changes: &[Change], spell: impl Fn(&str) -> String) -> Option<String> {
    let mut out = format!("{BEGIN}\n");
    for change in changes {
        match change {
            // Every added line ends with a line feed; what does not cannot be said.
            Change::Add { content, .. } if content.contains('\r') || !content.ends_with('\n') => return None,
            Change::Add { path, content } => {
                push_line(&mut out, ADD, &spell(path));
                content.lines().for_each(|line| push_line(&mut out, "+", line));
            }
            Change::Delete { path } => push_line(&mut out, DELETE, &spell(path)),
            // The replaced lines are not known: an empty patch would claim that nothing was replaced.
            Change::Update { moved_to: None, hunks, .. } if hunks.is_empty() => return None,
            Change::Update { path, moved_to, hunks } => {
                push_line(&mut out, UPDATE, &spell(path));
                if let Some(moved_to) = moved_to {
                    push_line(&mut out, MOVE, &spell(moved_to));
                }
                for hunk in hunks {
                    push_hunk(&mut out, hunk)?;
                }
            }
        }
    }
    out.push_str(END);
    out.push('\n');
    Some(out)
}

fn push_line(out: &mut String, start: &str, rest: &str) {
    out.push_str(start);
    out.push_str(rest);
    out.push('\n');
}

/// A replacement everywhere has no place in a patch; one without old text would go to the end of the file.
fn push_hunk(out: &mut String, hunk: &Hunk) -> Option<()> {
    if hunk.everywhere || hunk.old.is_empty() || hunk.old.contains('\r') || hunk.new.contains('\r') {
        return None;
    }
    match &hunk.context {
        Some(context) => context.lines().for_each(|line| push_line(out, "@@ ", line)),
        None => out.push_str("@@\n"),
    }
    let diff = similar::TextDiff::from_lines(&hunk.old, &hunk.new);
    for change in diff.iter_all_changes() {
        let sign = match change.tag() {
            similar::ChangeTag::Equal => " ",
            similar::ChangeTag::Delete => "-",
            similar::ChangeTag::Insert => "+",
        };
        push_line(out, sign, change.value().trim_end_matches('\n'));
    }
    Some(())
}

/// One change as a unified diff of its hunks, for display; line numbers are not known, so they count from 1.
pub(super) fn unified_diff(hunks: &[Hunk]) -> String {
    let mut out = String::new();
    let mut line = 1;
    for hunk in hunks {
        let (old, new) = (hunk.old.lines().count(), hunk.new.lines().count());
        push_line(&mut out, "", &format!("@@ -{line},{old} +{line},{new} @@"));
        let diff = similar::TextDiff::from_lines(&hunk.old, &hunk.new);
        for change in diff.iter_all_changes() {
            push_line(&mut out, &change.tag().to_string(), change.value().trim_end_matches('\n'));
        }
        line += old.max(new) + 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hunk(context: Option<&str>, old: &str, new: &str) -> Hunk {
        Hunk { context: context.map(str::to_owned), old: old.to_owned(), new: new.to_owned(), everywhere: false }
    }

    const PATCH: &str = "*** Begin Patch\n*** Update File: calc.py\n*** Move to: lib/calc.py\n@@ def add(a,b):\n def f():\n-    return a-b\n+    return a+b\n@@\n x\n-y\n*** Add File: notes/NOTES.md\n+# notes\n+\n+fixed\n*** Delete File: old.txt\n*** End Patch\n";

    fn changes() -> Vec<Change> {
        vec![
            Change::Update {
                path: "calc.py".to_owned(),
                moved_to: Some("lib/calc.py".to_owned()),
                hunks: vec![
                    hunk(Some("def add(a,b):"), "def f():\n    return a-b\n", "def f():\n    return a+b\n"),
                    hunk(None, "x\ny\n", "x\n"),
                ],
            },
            Change::Add { path: "notes/NOTES.md".to_owned(), content: "# notes\n\nfixed\n".to_owned() },
            Change::Delete { path: "old.txt".to_owned() },
        ]
    }

    #[test]
    fn a_patch_is_parsed_and_written_back() {
        assert_eq!(parse(PATCH), Some(changes()));
        assert_eq!(render(&changes(), str::to_owned).as_deref(), Some(PATCH));
    }

    #[test]
    fn a_heredoc_around_it_does_no_harm() {
        let shell = format!("apply_patch <<'EOF'\n{PATCH}EOF");
        assert_eq!(parse(&shell), Some(changes()));
    }

    #[test]
    fn nested_places_and_the_end_of_a_file_are_understood() {
        let text = "*** Begin Patch\n*** Update File: a\n@@ class A\n@@ def f\n-x\n+y\n*** End of File\n*** End Patch";
        let expected = Change::Update {
            path: "a".to_owned(),
            moved_to: None,
            hunks: vec![hunk(Some("class A\ndef f"), "x\n", "y\n")],
        };
        assert_eq!(parse(text), Some(vec![expected]));
    }

    #[test]
    fn what_is_no_patch_is_none() {
        for text in ["", "*** Begin Patch", "*** Begin Patch\n*** End Patch", "*** Begin Patch\nhello\n*** End Patch"] {
            assert_eq!(parse(text), None, "{text}");
        }
        let everywhere = Hunk { everywhere: true, ..hunk(None, "a\n", "b\n") };
        let update = |hunk| Change::Update { path: "a".to_owned(), moved_to: None, hunks: vec![hunk] };
        assert_eq!(render(&[update(everywhere)], str::to_owned), None);
        assert_eq!(render(&[update(hunk(None, "", "b\n"))], str::to_owned), None);
    }
}
