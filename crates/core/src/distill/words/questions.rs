//! Questions that wait for the user: only in the agent's last words, and only if nothing was said since.

use super::sentences::split_sentences;
use super::{Item, State, StateKind, Voice, Words};

/// Questions that are told.
const MAX_QUESTIONS: usize = 8;
const QUESTION_CHARS: usize = 400;

pub(super) fn find_open(words: &Words<'_>, state: &State) -> Vec<Item> {
    if state.kind == StateKind::AskedUser {
        return state.detail.iter().cloned().collect();
    }
    let waits = matches!(state.kind, StateKind::Waiting | StateKind::Limit | StateKind::ServiceError);
    let last_prompt = words.prompts.last().map_or(0, |prompt| prompt.step);
    let Some(reply) = words.replies.last().filter(|reply| waits && reply.step >= last_prompt) else {
        return Vec::new();
    };
    let said = words.quoting.mask_whole(reply.text);
    let asked = split_sentences(&said).into_iter().filter(|sentence| is_question(sentence));
    let asked: Vec<&str> = asked.filter(|sentence| sentence.chars().count() <= QUESTION_CHARS).collect();
    let newest = asked.len().saturating_sub(MAX_QUESTIONS);
    let item = |text: &&str| words.quoting.quote_item(text, QUESTION_CHARS, Voice::Agent, reply.at, reply.key);
    asked[newest..].iter().map(item).collect()
}

fn is_question(sentence: &str) -> bool {
    let end = sentence.trim_end_matches(['*', '_', '`', ')', '"', '”', '»', '\'']);
    end.ends_with(['?', '？', '؟', ';']) && (!end.ends_with(';') || is_greek(end))
}

/// The Greek question mark looks like a semicolon, and is one where the sentence is Greek.
fn is_greek(sentence: &str) -> bool {
    sentence.chars().any(|letter| matches!(u32::from(letter), 0x0370..=0x03ff))
}
