//! Assignments and to-dos in prose.

use super::Item;
use super::cues::{Cue, CueSet};
use super::digest::{Digest, Said};
use super::heading::Section;
use super::progress::dedup;
use super::prose::{Line, Mark};
use crate::plain::fields;

/// Items that are told, the newest of them.
const MANY: usize = 40;

pub(super) fn action_items(digest: &Digest<'_>) -> Vec<Item> {
    let mut found = Vec::new();
    for said in digest.said.iter().filter(|said| !said.is_summary) {
        for line in &said.lines {
            in_line(said, line, &mut found);
        }
    }
    dedup(&mut found);
    let extra = found.len().saturating_sub(MANY);
    found.drain(..extra);
    found
}

fn in_line(said: &Said<'_>, line: &Line, found: &mut Vec<Item>) {
    match line.section {
        Section::Actions => found.push(said.item(&line.text)),
        _ if line.mark == Mark::Unchecked => found.push(said.item(&line.text)),
        Section::Done => {}
        _ => {
            let tasks = line.said().filter(|(text, cues)| is_task(text, *cues));
            found.extend(tasks.map(|(text, _)| said.item(text)));
        }
    }
}

fn is_task(text: &str, cues: CueSet) -> bool {
    if text.ends_with('?') {
        return false;
    }
    cues.has(Cue::Task) || names_somebody(text)
}

/// Words that begin a sentence and are nobody's name.
const OTHERS: &str = "It This That We You They There He She What Which The Tests Everything Nothing I A An These Those \
    Users Next Then Now No If Who Someone Somebody";

/// `Anna will send the numbers`, `@ben to check the bill`.
fn names_somebody(text: &str) -> bool {
    // Nobody's name begins otherwise.
    if !text.trim_start().starts_with(|first: char| first == '@' || first.is_uppercase()) {
        return false;
    }
    let mut words = fields(text);
    let (Some(first), Some(second)) = (words.next(), words.next()) else { return false };
    // Nearly every sentence goes on otherwise.
    if !matches!(second, "to" | "will" | "should" | "please" | "can" | "needs" | "owns") {
        return false;
    }
    let is_called = first.len() > 2 && first.starts_with('@');
    let is_name = first.len() > 1
        && first.starts_with(char::is_uppercase)
        && first.chars().skip(1).all(char::is_lowercase)
        && !OTHERS.split(' ').any(|word| word == first);
    let (third, fourth) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let doing = [
        "send", "review", "write", "check", "draft", "update", "prepare", "ask", "talk", "confirm", "own", "handle",
        "take", "follow", "finish", "book", "call", "set", "create", "share", "look", "provide", "fix",
    ];
    is_called
        || is_name
            && matches!(second, "will" | "to" | "should" | "needs")
            && doing.iter().any(|verb| third.starts_with(verb) || second == "needs" && fourth.starts_with(verb))
}

#[cfg(test)]
mod tests {
    use super::names_somebody;

    #[test]
    fn somebody_is_named_or_called() {
        assert!(names_somebody("Anna will send the numbers") && names_somebody(" @ben to check the bill"));
        assert!(names_somebody("Émile needs to review it"));
        assert!(!names_somebody("anna will send the numbers") && !names_somebody("It will send the numbers"));
    }
}
