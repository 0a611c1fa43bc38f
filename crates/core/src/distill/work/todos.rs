//! TODO and FIXME that this session put into files, and that are still there.

use std::collections::BTreeMap;

use super::Work;
use super::changes::{FileEffect, FileTouch};
use crate::distill::{Item, Voice};
use crate::transcript::EntryKey;

const TODO_MARKS: &[&str] = &["TODO", "FIXME", "XXX", "HACK"];

/// Added marks, a line each: `src/a.rs: TODO handle the empty list`.
pub(super) fn collect_from(work: &Work<'_>) -> Vec<Item> {
    let mut open: BTreeMap<(String, String), (EntryKey, usize)> = BTreeMap::new();
    for touch in &work.touches {
        let call = &work.calls[touch.call];
        let gone = removed_marks(touch, &open);
        for key in gone {
            open.remove(&key);
        }
        for text in added_marks(touch) {
            open.entry((touch.path.clone(), text)).or_insert((call.key, touch.call));
        }
    }
    let mut found: Vec<(usize, Item)> = Vec::new();
    for ((path, text), (key, index)) in open {
        let now = work.workspace.files.iter().find(|file| work.roots.relative_path(&file.path) == path);
        let is_gone =
            now.is_some_and(|file| !file.exists || file.text.as_ref().is_some_and(|now| !now.contains(&text)));
        if !is_gone {
            let call = &work.calls[index];
            let text = work.quoting.quote_line(&format!("{path}: {text}"), 240);
            found.push((index, Item { text, voice: Voice::Agent, at: call.at, entries: vec![key] }));
        }
    }
    found.sort_by_key(|(index, _)| *index);
    found.into_iter().map(|(_, item)| item).collect()
}

fn added_marks(touch: &FileTouch<'_>) -> Vec<String> {
    match &touch.effect {
        FileEffect::Whole(text) | FileEffect::Add(text) => find_marks(text, &touch.path),
        FileEffect::Hunks(hunks) => {
            let new = hunks.iter().flat_map(|hunk| {
                let old = find_marks(&hunk.old, &touch.path);
                find_marks(&hunk.new, &touch.path).into_iter().filter(move |text| !old.contains(text))
            });
            new.collect()
        }
        _ => Vec::new(),
    }
}

fn removed_marks(touch: &FileTouch<'_>, open: &BTreeMap<(String, String), (EntryKey, usize)>) -> Vec<(String, String)> {
    let of_file = open.keys().filter(|(path, _)| *path == touch.path);
    match &touch.effect {
        FileEffect::Whole(_) | FileEffect::Add(_) | FileEffect::Delete | FileEffect::MovedAway => {
            of_file.cloned().collect()
        }
        FileEffect::Hunks(hunks) => {
            let is_gone = |text: &str| hunks.iter().any(|hunk| hunk.old.contains(text) && !hunk.new.contains(text));
            of_file.filter(|(_, text)| is_gone(text)).cloned().collect()
        }
        _ => Vec::new(),
    }
}

/// A file has no more marks than these that are told; of a longer text or line no more is searched.
const MAX_MARKS: usize = 50;
const MAX_TEXT_BYTES: usize = 512 * 1024;
const MAX_LINE_BYTES: usize = 2_000;

/// The marks of a text, each from the mark to the end of its line.
fn find_marks(text: &str, path: &str) -> Vec<String> {
    let bounded = &text[..text.floor_char_boundary(MAX_TEXT_BYTES)];
    let is_prose = [".md", ".txt", ".rst", ".adoc"].iter().any(|end| path.ends_with(end));
    let mut found: Vec<String> = Vec::new();
    for line in bounded.lines().filter(|line| line.len() <= MAX_LINE_BYTES) {
        let mark = TODO_MARKS.iter().find_map(|mark| mark_in(line, mark, is_prose));
        found.extend(mark.filter(|mark| !found.contains(mark)));
        if found.len() == MAX_MARKS {
            break;
        }
    }
    found
}

/// The first mark of a line, where it is one: the word in a string or in a name is none.
fn mark_in(line: &str, mark: &str, is_prose: bool) -> Option<String> {
    let at = line.find(mark)?;
    let before = &line[..at];
    let in_comment =
        ["//", "#", "/*", "--", "<!--", ";", "%", "*", "\"\"\"", "'''"].iter().any(|open| before.contains(open));
    let rest = line[at + mark.len()..].trim_end_matches("*/").trim_end_matches("-->").trim_end();
    let is_word = !before.ends_with(|c: char| c.is_alphanumeric() || c == '_')
        && !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let is_quoted = before.matches('"').count() % 2 == 1 || before.matches('`').count() % 2 == 1;
    let says = rest.chars().filter(|c| c.is_alphabetic()).count() > 2;
    ((in_comment || is_prose) && is_word && !is_quoted && says)
        .then(|| line[at..at + mark.len() + rest.len()].to_owned())
}
