//! The agent's own account of a context that was compacted: what it called pending or next, quoted as such.

use super::{Event, Item, Step, Voice, Words};

/// So many prompts may have come since.
const MAX_PROMPTS_SINCE: usize = 4;
/// How much of it is quoted, in characters.
const PART_CHARS: usize = 1_500;
/// The end of an account that has no such heading.
const END_CHARS: usize = 1_000;

/// Words in headings of pending work.
const PENDING_WORDS: &[&str] =
    &["pending", "next step", "remaining", "current work", "to do", "todo", "in progress", "open work"];

/// The parts of the newest summary that speak of pending work; its end, where none is called so.
pub(super) fn pending_items(words: &Words<'_>) -> Vec<Item> {
    let steps = words.history.steps.iter().rev();
    let found = steps.filter_map(|step| match &step.event {
        Event::Summary { text } if !text.trim().is_empty() => Some((step, text.as_str())),
        _ => None,
    });
    let Some((step, text)) = found.take(1).next() else { return Vec::new() };
    // A summary is of its time: where much was asked since, it says little of how things stand.
    if words.prompts.iter().filter(|prompt| prompt.key > step.key).count() > MAX_PROMPTS_SINCE {
        return Vec::new();
    }
    let text = &words.quoting.mask_whole(text);
    let parts = pending_parts(text);
    let quoted = |text: &str, width: usize| words.quoting.quote_item(text, width, Voice::Agent, step.at, step.key);
    if parts.is_empty() {
        vec![quote_end(step, text, words)]
    } else {
        parts.iter().map(|part| quoted(part, PART_CHARS)).collect()
    }
}

fn quote_end(step: &Step, text: &str, words: &Words<'_>) -> Item {
    let n_chars = text.chars().count();
    let start = text.char_indices().nth(n_chars.saturating_sub(END_CHARS)).map_or(0, |(at, _)| at);
    let start = text[start..].find('\n').filter(|_| start > 0).map_or(start, |at| start + at + 1);
    words.quoting.quote_item(&text[start..], END_CHARS, Voice::Agent, step.at, step.key)
}

/// From each heading of pending work to the next heading.
fn pending_parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if is_heading(line) {
            parts.extend(start.take().map(|start: usize| text[start..at].trim()));
            start = is_pending(line).then_some(at);
        }
        at += line.len();
    }
    parts.extend(start.map(|start| text[start..].trim()));
    parts.retain(|part| part.lines().count() > 1 || part.len() > 60);
    parts
}

/// `## Next steps`, `**Pending:**`, `7. Pending Tasks:`.
fn is_heading(line: &str) -> bool {
    let line = line.trim_end();
    let bare = line.trim_start_matches(|first: char| first.is_ascii_digit() || matches!(first, '.' | ' ' | '*' | '#'));
    let is_marked =
        line.starts_with('#') || line.starts_with("**") || line.starts_with(|first: char| first.is_ascii_digit());
    let head = bare.split(':').next().unwrap_or_default();
    is_marked && head.chars().count() < 60 && (line.starts_with('#') || bare.contains(':') || line.ends_with("**"))
}

fn is_pending(line: &str) -> bool {
    let head = line.split_inclusive(':').next().unwrap_or_default().to_lowercase();
    PENDING_WORDS.iter().any(|word| head.contains(word))
}

#[cfg(test)]
mod tests {
    use super::pending_parts;

    #[test]
    fn what_is_called_pending_is_quoted_to_the_next_heading() {
        let text = "1. Primary Request:\n - all\n\n7. Pending Tasks:\n   - write the docs\n   - ask Ann\n8. Notes:\n - x\n9. Optional Next Step:\n   Run it.";
        assert_eq!(
            pending_parts(text),
            ["7. Pending Tasks:\n   - write the docs\n   - ask Ann", "9. Optional Next Step:\n   Run it."]
        );
    }
}
