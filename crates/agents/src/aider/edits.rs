//! Edits that the model wrote into its reply, as calls of the client's.
//!
//! The client tells which files it changed, and the reply how. The forms are those of the client: blocks of what to search
//! and what to put in its place, unified diffs, patches, and whole files under their names.

use carryover_core::json::Json;
use carryover_core::transcript::{Action, Body, Call, CallForm, CallId, Change, Hunk, Outcome, Part, Status};
use serde::{Deserialize, Serialize};

/// The tool's name in such a call.
pub(super) const TOOL_NAME: &str = "edit";
/// How the client names a file that it changed.
pub(super) const APPLIED_START: &str = "Applied edit to ";
/// How it begins to tell which edits did not fit.
const MISMATCH_WORDS: &str = "This SEARCH block failed to exactly match lines in ";
const DIFF_MISMATCH_WORDS: [&str; 2] =
    [" does not contain lines that match the diff", " contains multiple sets of lines that match"];
/// The client's words about the rest of them.
const OTHERS_APPLIED_WORDS: &str = " were applied successfully.";

/// Fences that the client lets its model put around code, by what the code itself holds; longer ones first.
const FENCES: [(&str, &str); 7] = [
    ("````", "````"),
    ("```", "```"),
    ("<source>", "</source>"),
    ("<code>", "</code>"),
    ("<pre>", "</pre>"),
    ("<codeblock>", "</codeblock>"),
    ("<sourcecode>", "</sourcecode>"),
];

/// The input of such a call.
#[derive(Serialize, Deserialize)]
struct WireEdit {
    changes: Vec<WireChange>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum WireChange {
    Added { path: String, content: String },
    Changed { path: String, hunks: Vec<WireHunk> },
    Deleted { path: String },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WireHunk {
    pub(super) old: String,
    pub(super) new: String,
}

impl From<WireChange> for Change {
    fn from(change: WireChange) -> Self {
        let hunk = |WireHunk { old, new }| Hunk { context: None, old, new, everywhere: false };
        match change {
            WireChange::Added { path, content } => Self::Add { path, content },
            WireChange::Deleted { path } => Self::Delete { path },
            WireChange::Changed { path, hunks } => {
                Self::Update { path, moved_to: None, hunks: hunks.into_iter().map(hunk).collect() }
            }
        }
    }
}

/// The action of such a call.
pub(super) fn interpret_call(call: &Call) -> Action {
    let Some(edit) = call.input.read_as::<WireEdit>() else { return Action::Other };
    let written = match edit.changes.as_slice() {
        // The model shows whole files, whether they are new or not.
        [WireChange::Added { path, content }] => Some((path.clone(), content.clone())),
        _ => None,
    };
    match written {
        Some((path, content)) => Action::Write { path, content },
        None => Action::Edit(edit.changes.into_iter().map(Change::from).collect()),
    }
}

/// The calls that a line of the client's tells of, each with its end; `offset` is the line's, by which they are named.
pub(super) fn make_bodies(said: &str, reply: &str, offset: u64) -> Vec<Body> {
    if let Some(path) = said.strip_prefix(APPLIED_START) {
        return call_with_outcome(find_change(reply, path), Status::Done, said, &format!("edit-{offset}"));
    }
    let unfit = mismatched_paths(said);
    let failed = unfit.iter().enumerate().flat_map(|(index, path)| {
        call_with_outcome(find_change(reply, path), Status::Failed, said, &format!("edit-{offset}-{index}"))
    });
    let fit = if said.contains(OTHERS_APPLIED_WORDS) { applied_changes(reply, said, &unfit) } else { Vec::new() };
    let fit = fit.into_iter().enumerate().flat_map(|(index, change)| {
        call_with_outcome(change, Status::Done, "applied", &format!("edit-{offset}-other-{index}"))
    });
    failed.chain(fit).collect()
}

fn call_with_outcome(change: WireChange, status: Status, said: &str, id: &str) -> Vec<Body> {
    let Ok(input) = serde_json::to_value(WireEdit { changes: vec![change] }) else { return Vec::new() };
    let (id, tool, form) = (CallId(id.into()), TOOL_NAME.to_owned(), CallForm::Function);
    let parts = vec![Part::Text(said.to_owned())];
    let outcome = Outcome { call: id.clone(), status, exit_code: None, parts };
    let call = Call { id, tool, input: Json::from_value(&input), form };
    vec![Body::Call(Box::new(call)), Body::Outcome(Box::new(outcome))]
}

/// The files whose edits did not fit, each once.
fn mismatched_paths(said: &str) -> Vec<&str> {
    let named = |line| {
        let block = str::split_once(line, MISMATCH_WORDS).map(|(_, path)| path);
        block.or_else(|| DIFF_MISMATCH_WORDS.iter().find_map(|words| line.split_once(words).map(|(path, _)| path)))
    };
    let mut paths: Vec<&str> = said.lines().filter_map(named).map(str::trim).collect();
    paths.sort_unstable();
    paths.dedup();
    paths
}

/// The changes of a reply that fit although others did not, which the client shows again.
fn applied_changes(reply: &str, said: &str, unfit: &[&str]) -> Vec<WireChange> {
    let failed = |block: &EditBlock| {
        unfit.contains(&block.path.as_str()) && said.contains(&format!("SEARCH\n{}=======\n", block.hunk.old))
    };
    let fit: Vec<EditBlock> = parse_blocks(reply).into_iter().filter(|block| !failed(block)).collect();
    let mut paths: Vec<&str> = fit.iter().map(|block| block.path.as_str()).collect();
    paths.dedup();
    paths.into_iter().filter_map(|path| change_in_blocks(&fit, path)).collect()
}

/// The change that a reply makes to a file; the name alone where it does not say.
fn find_change(reply: &str, path: &str) -> WireChange {
    let found = change_in_blocks(&parse_blocks(reply), path)
        .or_else(|| change_in_diffs(reply, path))
        .or_else(|| change_in_listing(reply, path));
    found.unwrap_or_else(|| WireChange::Changed { path: path.to_owned(), hunks: Vec::new() })
}

/// A replacement of one place in a file.
struct EditBlock {
    path: String,
    hunk: WireHunk,
}

fn change_in_blocks(blocks: &[EditBlock], path: &str) -> Option<WireChange> {
    let mut hunks: Vec<WireHunk> =
        blocks.iter().filter(|block| block.path == path).map(|block| block.hunk.clone()).collect();
    let path = path.to_owned();
    match hunks.as_mut_slice() {
        [] => None,
        [only] if only.old.is_empty() => Some(WireChange::Added { path, content: std::mem::take(&mut only.new) }),
        _ => Some(WireChange::Changed { path, hunks }),
    }
}

/// The blocks of what to search and what to put in its place.
fn parse_blocks(reply: &str) -> Vec<EditBlock> {
    let lines: Vec<&str> = reply.split_inclusive('\n').collect();
    let mut found: Vec<EditBlock> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        if !is_mark(lines[at], '<', " SEARCH") {
            at += 1;
            continue;
        }
        let before = found.last().map(|block| block.path.clone());
        let path = name_above(&lines[at.saturating_sub(3)..at]).or(before);
        let middle = find_line(&lines, at + 1, |line| is_mark(line, '=', ""));
        let end = find_line(&lines, middle + 1, |line| is_mark(line, '>', " REPLACE") || is_mark(line, '=', ""));
        if let (Some(path), true) = (path, end < lines.len()) {
            let hunk = WireHunk { old: lines[at + 1..middle].concat(), new: lines[middle + 1..end].concat() };
            found.push(EditBlock { path, hunk });
        }
        at = end + 1;
    }
    found
}

fn find_line(lines: &[&str], from: usize, is_end: impl Fn(&str) -> bool) -> usize {
    let rest = lines.get(from..).unwrap_or_default();
    rest.iter().position(|line| is_end(line)).map_or(lines.len(), |more| from + more)
}

/// Five to nine times a letter, and a word.
fn is_mark(line: &str, letter: char, word: &str) -> bool {
    let line = line.trim();
    let rest = line.trim_start_matches(letter);
    (5..=9).contains(&(line.len() - rest.len())) && rest.trim_end_matches('>') == word
}

/// The name of a file in the lines above a block: the nearest one, looked for as long as there are fences.
fn name_above(lines: &[&str]) -> Option<String> {
    for line in lines.iter().rev() {
        if let Some(name) = file_name_in(line) {
            return Some(name);
        }
        opening_fence(line)?;
    }
    None
}

/// The fence that a line opens, and what closes it.
fn opening_fence(line: &str) -> Option<(&'static str, &'static str)> {
    FENCES.into_iter().find(|(opening, _)| line.starts_with(opening))
}

fn file_name_in(line: &str) -> Option<String> {
    let line = line.trim();
    if let Some((opening, _)) = opening_fence(line) {
        let behind = line.strip_prefix(opening).map(str::to_owned);
        return behind.filter(|name| name.contains(['.', '/']));
    }
    let name = line.trim_end_matches(':').trim_start_matches('#').trim().trim_matches('`').trim_matches('*');
    Some(name.to_owned()).filter(|name| !name.is_empty() && name != "...")
}

/// The changes of a file in unified diffs.
fn change_in_diffs(reply: &str, path: &str) -> Option<WireChange> {
    let mut hunks: Vec<WireHunk> = Vec::new();
    let (mut inside, mut ours) = (false, false);
    for line in reply.split_inclusive('\n') {
        if line.starts_with("```") {
            (inside, ours) = (line.starts_with("```diff"), false);
        } else if let Some(name) = line.strip_prefix("+++ ").filter(|_| inside) {
            ours = name.trim().strip_prefix("b/").unwrap_or(name.trim()) == path;
        } else if ours && line.starts_with("@@") {
            hunks.push(WireHunk { old: String::new(), new: String::new() });
        } else if ours && !line.starts_with("--- ") {
            add_hunk_line(&mut hunks, line);
        }
    }
    hunks.retain(|hunk| hunk.old != hunk.new);
    let path = path.to_owned();
    match hunks.as_mut_slice() {
        [] => None,
        [only] if only.old.is_empty() => Some(WireChange::Added { path, content: std::mem::take(&mut only.new) }),
        _ => Some(WireChange::Changed { path, hunks }),
    }
}

/// One line of a hunk; models leave out the head of the only one.
fn add_hunk_line(hunks: &mut Vec<WireHunk>, line: &str) {
    if hunks.is_empty() {
        hunks.push(WireHunk { old: String::new(), new: String::new() });
    }
    let Some(hunk) = hunks.last_mut() else { return };
    let (sign, text) = line.split_at(usize::from(line.starts_with(['+', '-', ' '])));
    if sign != "+" {
        hunk.old.push_str(text);
    }
    if sign != "-" {
        hunk.new.push_str(text);
    }
}

/// A file that is shown whole, under its name.
fn change_in_listing(reply: &str, path: &str) -> Option<WireChange> {
    let lines: Vec<&str> = reply.split_inclusive('\n').collect();
    let is_named = |line: &str| {
        let name = line.trim().trim_matches('*').trim_end_matches(':').trim_matches('`').trim_start_matches('#');
        name.trim() == path
    };
    let opened = |pair: &[&str]| opening_fence(pair[1]).filter(|_| is_named(pair[0]));
    let (at, (_, closing)) = lines.windows(2).enumerate().find_map(|(at, pair)| Some((at + 2, opened(pair)?)))?;
    let end = find_line(&lines, at, |line| line.starts_with(closing));
    Some(WireChange::Added { path: path.to_owned(), content: lines[at..end].concat() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hunk(old: &str, new: &str) -> WireHunk {
        WireHunk { old: old.into(), new: new.into() }
    }

    fn changed(path: &str, hunks: Vec<WireHunk>) -> WireChange {
        WireChange::Changed { path: path.into(), hunks }
    }

    #[test]
    fn blocks_are_found_by_the_names_above_them() {
        let reply = "Two places.\n\nsrc/a.py\n```python\n<<<<<<< SEARCH\nx = 1\n=======\nx = 2\n>>>>>>> REPLACE\n```\n\n\
                     ```python\n<<<<<<< SEARCH\ny\n=======\n>>>>>>> REPLACE\n```\n\n**new.md**\n```\n<<<<<<< SEARCH\n\
                     =======\n# New\n>>>>>>> REPLACE\n```\n\nThe end, **bold** and a ** b.\n";
        assert_eq!(
            find_change(reply, "src/a.py"),
            changed("src/a.py", vec![hunk("x = 1\n", "x = 2\n"), hunk("y\n", "")])
        );
        let new = WireChange::Added { path: "new.md".into(), content: "# New\n".into() };
        assert_eq!(find_change(reply, "new.md"), new);
        assert_eq!(find_change(reply, "other.py"), changed("other.py", Vec::new()));
    }

    #[test]
    fn diffs_and_whole_files_are_changes_too() {
        let diff = "```diff\n--- a/x.rs\n+++ b/x.rs\n@@ ... @@\n fn f() {\n-    1\n+    2\n }\n@@ @@\n-a\n+b\n```\n";
        let hunks = vec![hunk("fn f() {\n    1\n}\n", "fn f() {\n    2\n}\n"), hunk("a\n", "b\n")];
        assert_eq!(find_change(diff, "x.rs"), changed("x.rs", hunks));
        let source = "show.py\n<source>\n```\nprint(1)\n</source>\n";
        let content = "```\nprint(1)\n".to_owned();
        assert_eq!(find_change(source, "show.py"), WireChange::Added { path: "show.py".into(), content });
        let whole = "Here:\n\n`show.py`:\n```python\nprint(1)\n```\n";
        assert_eq!(
            find_change(whole, "show.py"),
            WireChange::Added { path: "show.py".into(), content: "print(1)\n".into() }
        );
    }
}
