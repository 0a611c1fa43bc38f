//! Which conversation is meant.

use super::folder::Conversation;
use super::thread::{latest_saves, thread_name};
use crate::own::config::edit_distance;

/// Shorter words are never taken for the beginning of an id.
const MIN_PREFIX_BYTES: usize = 4;

/// What some words name.
#[derive(Debug)]
pub enum Named<'a> {
    Nothing,
    One(&'a Conversation),
    Several(Vec<&'a Conversation>),
}

impl<'a> Named<'a> {
    fn from_fitting(fitting: Vec<&'a Conversation>) -> Self {
        match fitting.as_slice() {
            [] => Self::Nothing,
            [one] => Self::One(one),
            _ => Self::Several(fitting),
        }
    }
}

/// The conversation with that id, with or without its date, or the beginning of one that is no other's.
pub fn find_by_id<'a>(conversations: &'a [Conversation], words: &str) -> Named<'a> {
    let words = words.trim().trim_start_matches("conversations/").trim_end_matches('/').to_lowercase();
    let fitting = |fits: &dyn Fn(&str) -> bool| -> Vec<&'a Conversation> {
        let is_named = |one: &&Conversation| fits(&one.id.to_lowercase()) || fits(&one.name().to_lowercase());
        conversations.iter().filter(is_named).collect()
    };
    let exact = fitting(&|name| name == words);
    if !exact.is_empty() {
        return Named::from_fitting(exact);
    }
    // It begins with its number: words that do not are a title.
    let is_prefix = words.len() >= MIN_PREFIX_BYTES && words.starts_with(|c: char| c.is_ascii_digit());
    if is_prefix { Named::from_fitting(fitting(&|name| name.starts_with(&words))) } else { Named::Nothing }
}

/// The conversation with these words: as they were typed in its title, else each of them somewhere in what a listing
/// tells, else as they would be without a slip of the finger. Of several saves of one conversation, the last.
pub fn find_by_words<'a>(conversations: &'a [Conversation], words: &str) -> Named<'a> {
    let lower = words.to_lowercase();
    let each: Vec<&str> = lower.split_whitespace().collect();
    let latest = latest_saves(conversations);
    let titled = |one: &&Conversation| one.saved.title.to_lowercase().contains(&lower);
    let mut fitting: Vec<&Conversation> = conversations.iter().filter(titled).collect();
    if fitting.is_empty() {
        let told = |one: &Conversation| {
            let saved = &one.saved;
            [&one.id, &saved.title, &saved.conversation_type, &saved.context_summary, &saved.agent]
                .map(|text| text.to_lowercase())
                .join("\n")
        };
        let holds = |one: &&Conversation| {
            let told = told(one);
            each.iter().all(|word| told.contains(word))
        };
        fitting = conversations.iter().filter(holds).collect();
        if fitting.is_empty() {
            let nearly = |one: &&Conversation| fits_nearly(&told(one), &each);
            fitting = conversations.iter().filter(nearly).collect();
        }
    }
    let threads: Vec<String> = fitting.iter().map(|one| thread_name(one)).collect();
    Named::from_fitting(latest.into_iter().filter(|one| threads.contains(&thread_name(one))).collect())
}

/// Whether each word is that of a text, or the beginning of one, but for a slip.
fn fits_nearly(told: &str, each: &[&str]) -> bool {
    let parts: Vec<&str> = told.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()).collect();
    !each.is_empty() && each.iter().all(|word| parts.iter().any(|part| is_nearly(word, part)))
}

/// Short words are too much like each other.
fn is_nearly(word: &str, part: &str) -> bool {
    let length = word.chars().count();
    let allowed = match length {
        0..=2 => return part.starts_with(word),
        3..=5 => 1,
        _ => 2,
    };
    // A letter more or less in it moves where the beginning ends.
    let beginnings = (length - 1..=length + 1).map(|length| part.chars().take(length).collect::<String>());
    edit_distance(word, part) <= allowed
        || is_swapped(word, part)
        || beginnings.into_iter().any(|beginning| edit_distance(word, &beginning) <= allowed)
}

/// Two letters that changed places are one slip.
fn is_swapped(word: &str, part: &str) -> bool {
    let letters: Vec<char> = word.chars().collect();
    (1..letters.len()).any(|at| {
        let mut swapped = letters.clone();
        swapped.swap(at - 1, at);
        swapped.into_iter().collect::<String>() == part
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_does_not_hide_a_conversation() {
        let told = "2026-11-15/001-plan-fix-the-calculator\nFix the calculator\nplan\nadd a test\nclaude-code";
        for words in ["fix clc", "fxi calc", "calculater", "paln", "fix teh calulator"] {
            assert!(fits_nearly(told, &words.split(' ').collect::<Vec<_>>()), "{words}");
        }
        for words in ["fix parser", "", "zz", "login bug", "deploy"] {
            assert!(!fits_nearly(told, &words.split_whitespace().collect::<Vec<_>>()), "{words}");
        }
    }
}
