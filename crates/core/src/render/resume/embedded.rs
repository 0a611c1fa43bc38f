//! A resume prompt read back. A session that was begun with one is handed over in its turn, and what it was begun for
//! stands in that prompt: without the words that we put around it.

use super::sections::{EARLIER_TASK_HEADING, END_LINE, TASK_HEADING, TITLE_FOR, TITLE_LINE};

/// A resume prompt that somebody was given.
pub struct EmbeddedPrompt {
    /// The task in it, in the words of whoever gave it.
    pub task: String,
    /// The text that the prompt stands in, with the task in its place.
    pub whole: String,
}

/// Looks for a resume prompt in a text: one that was pasted, or one that was read from its file.
pub fn find_embedded_prompt(text: &str) -> Option<EmbeddedPrompt> {
    // Every prompt of every session is asked, and hardly one is it.
    memchr::memmem::find(text.as_bytes(), TITLE_LINE.as_bytes())?;
    let lines: Vec<&str> = text.lines().collect();
    let (start, numbering) = lines.iter().enumerate().find_map(|(at, line)| Some((at, line_numbering(line)?)))?;
    let said: Vec<(usize, &str)> =
        unfenced_lines(lines[start..].iter().map(|line| strip_number(line, numbering))).collect();
    let end = said.iter().find(|(_, line)| line.starts_with(END_LINE));
    let end = end.map_or(lines.len(), |(at, _)| start + at + 1);
    let task = find_task(said.into_iter().take_while(|(at, _)| start + at < end).map(|(_, line)| line))?;
    let (before, after) = (lines[..start].join("\n"), lines[end..].join("\n"));
    let parts = [before.trim(), &task, after.trim()];
    let whole = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n");
    Some(EmbeddedPrompt { task, whole })
}

/// The mark between the number of the title's line and the title, where a tool has numbered the lines; empty where
/// none has. None for every other line.
fn line_numbering(line: &str) -> Option<&str> {
    let (before, target) = line.trim_end().split_once(TITLE_LINE)?;
    let before = before.trim_start();
    if !target.is_empty() && !target.starts_with(TITLE_FOR) {
        return None;
    }
    let mark = before.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_number = before.is_empty() || (mark.len() < before.len() && (1..=4).contains(&mark.len()));
    is_number.then_some(mark)
}

/// A line without its number.
fn strip_number<'a>(line: &'a str, mark: &str) -> &'a str {
    if mark.is_empty() {
        return line;
    }
    let rest = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
    rest.strip_prefix(mark).or_else(|| rest.strip_prefix(mark.trim_end())).unwrap_or(line)
}

/// The lines that stand in no fence, with their numbers. What is fenced was printed by a program or lies in a file: it
/// may look like a section of ours, and must not become the user's words.
fn unfenced_lines<'a>(lines: impl Iterator<Item = &'a str>) -> impl Iterator<Item = (usize, &'a str)> {
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

/// The quotation below the heading of the task; where that is a short prompt, what was asked before it comes first.
fn find_task<'a>(lines: impl Iterator<Item = &'a str>) -> Option<String> {
    let lines: Vec<&str> = lines.collect();
    let words: Vec<String> =
        [EARLIER_TASK_HEADING, TASK_HEADING].iter().filter_map(|heading| quotation_below(&lines, heading)).collect();
    (!words.is_empty()).then(|| words.join("\n\n"))
}

fn quotation_below(lines: &[&str], heading: &str) -> Option<String> {
    let below = lines.iter().skip_while(|line| !line.starts_with(heading)).skip(1);
    let quoted = below.skip_while(|line| line.trim().is_empty()).take_while(|line| line.starts_with('>'));
    let words: Vec<&str> = quoted.map(|line| line.strip_prefix("> ").unwrap_or(&line[1..])).collect();
    (!words.is_empty()).then(|| words.join("\n"))
}
