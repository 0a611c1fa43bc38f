//! A resume prompt read back. A session that was begun with one is handed over in its turn, and what it was begun for
//! stands in that prompt: without the words that we put around it.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::layers::TITLE;

/// The last line of a resume prompt begins with this.
pub(super) const END: &str = "No summary, no request for leave:";

/// What was left to do, as of the handover: the session that was begun with it may have done it since.
const LEFT: &str = "Still to do at the handover: ";
const DECIDED: &str = "Decided: ";

/// What is taken from a section, and what is put before each of its items.
const SECTIONS: &[(&str, &str)] = &[
    ("**In progress (go on here):**", LEFT),
    ("**Next action:**", LEFT),
    ("**Remaining:**", LEFT),
    ("## Decisions that stand", DECIDED),
];

/// A resume prompt that somebody was given.
pub struct TakenOver {
    /// The task in it, in words that a user might have begun the session with.
    pub task: String,
    /// The text that the prompt stands in, with the task in its place.
    pub whole: String,
}

/// Looks for a resume prompt in a text: one that was pasted, or one that was read from its file.
pub fn taken_over(text: &str) -> Option<TakenOver> {
    // Every prompt of every session is asked, and hardly one is it.
    static FINDER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(TITLE));
    FINDER.find(text.as_bytes())?;
    let lines: Vec<&str> = text.lines().collect();
    let (start, numbering) = lines.iter().enumerate().find_map(|(at, line)| Some((at, numbering(line)?)))?;
    let said: Vec<(usize, &str)> = unfenced(lines[start..].iter().map(|line| bare(line, numbering))).collect();
    let end = said.iter().find(|(_, line)| line.contains(END));
    let end = end.map_or(lines.len(), |(at, _)| start + at + 1);
    let task = task(said.into_iter().take_while(|(at, _)| start + at < end).map(|(_, line)| line))?;
    let (before, after) = (lines[..start].join("\n"), lines[end..].join("\n"));
    let parts = [before.trim(), &task, after.trim()];
    let whole = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n");
    Some(TakenOver { task, whole })
}

/// What stands between the number of the title's line and the title, where a tool has numbered the lines; empty where
/// none has. None for every other line.
fn numbering(line: &str) -> Option<&str> {
    let before = line.trim_end().strip_suffix(TITLE)?.trim_start();
    let mark = before.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_number = before.is_empty() || (mark.len() < before.len() && (1..=4).contains(&mark.len()));
    is_number.then_some(mark)
}

/// A line without its number.
fn bare<'a>(line: &'a str, mark: &str) -> &'a str {
    if mark.is_empty() {
        return line;
    }
    let rest = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
    rest.strip_prefix(mark).or_else(|| rest.strip_prefix(mark.trim_end())).unwrap_or(line)
}

/// The lines that stand in no fence, with their numbers. What is fenced was printed by a program or lies in a file: it
/// may look like a section of ours, and must not become the user's words.
fn unfenced<'a>(lines: impl Iterator<Item = &'a str>) -> impl Iterator<Item = (usize, &'a str)> {
    let mut open: Option<&str> = None;
    lines.enumerate().filter(move |(_, line)| {
        let ticks = &line[..line.len() - line.trim_start_matches('`').len()];
        match open {
            Some(fence) if ticks.len() >= fence.len() && line.trim_end() == ticks => open = None,
            Some(_) => {}
            None if ticks.len() >= 3 => open = Some(ticks),
            None => return true,
        }
        false
    })
}

fn task<'a>(lines: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut goal = None;
    let mut items: Vec<String> = Vec::new();
    let mut label = None;
    for line in lines {
        if let Some(words) = line.strip_prefix("**Goal:** ") {
            goal = goal.or(Some(without_additions(words)));
        } else if line.starts_with("**") || line.starts_with("## ") {
            label = SECTIONS.iter().find(|(heading, _)| line == *heading).map(|(_, label)| *label);
        } else if let (Some(label), Some(item)) = (label, item(line)) {
            items.push(format!("{label}{item}"));
        }
    }
    let mut words = goal?.to_owned();
    items.dedup();
    if !items.is_empty() {
        words += "\n\n";
        words += &items.join("\n");
    }
    Some(words)
}

/// A goal without what an earlier handover had put behind it: otherwise it would grow from one to the next.
fn without_additions(goal: &str) -> &str {
    let additions = [LEFT, DECIDED].into_iter().filter_map(|label| goal.find(label));
    let end = additions.filter(|at| *at > 0).min().unwrap_or(goal.len());
    goal[..end].trim_end()
}

/// An item of a list, numbered or not.
fn item(line: &str) -> Option<&str> {
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let item = if digits.len() < line.len() { digits.strip_prefix(". ") } else { line.strip_prefix("- ") };
    item.filter(|item| !item.trim().is_empty())
}
