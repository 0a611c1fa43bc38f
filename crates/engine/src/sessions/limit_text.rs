//! Limits by the words that a client shows for them, for errors of which it keeps nothing else.
//!
//! Only what a client itself wrote as an error comes here: a prompt, a reply or a tool's output that speaks of limits
//! is about something else.

/// Words that make a sign, with one letter or none between them.
const LIMIT_PHRASES: &[&[&str]] = &[
    &["rate", "limit"],
    &["too", "many", "requests"],
    &["quota", "exceeded"],
    &["token", "limit"],
    &["usage", "limit"],
    &["capacity"],
    &["overloaded"],
];

/// Whether an error's text speaks of a limit.
pub(super) fn mentions_limit(text: &str) -> bool {
    let text = text.to_lowercase();
    let said = |sign: &&[&str]| text.char_indices().any(|(at, _)| starts_with_words(&text[at..], sign));
    LIMIT_PHRASES.iter().any(said) || has_status(&text)
}

fn starts_with_words(text: &str, words: &[&str]) -> bool {
    let [first, rest @ ..] = words else { return true };
    let Some(text) = text.strip_prefix(first) else { return false };
    let mut skipped = text.chars();
    skipped.next();
    starts_with_words(text, rest) || starts_with_words(skipped.as_str(), rest)
}

/// The status of too many requests, and no longer number that contains it.
fn has_status(text: &str) -> bool {
    text.split(|letter: char| !letter.is_ascii_alphanumeric()).any(|word| word == "429")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_that_speak_of_limits_are_told_from_others() {
        for text in [
            "API Error: 429 {\"type\":\"error\"}",
            "Rate limit reached",
            "rate_limit_error",
            "RateLimitError",
            "Too Many Requests",
            "Quota exceeded for this day",
            "Usage limit reached",
            "token-limit",
            "The model is overloaded",
            "at capacity",
        ] {
            assert!(mentions_limit(text), "{text}");
        }
        for text in
            ["", "took 4290 ms", "id 0x429ab", "many requests", "limit of rates", "the operate  limit", "too few"]
        {
            assert!(!mentions_limit(text), "{text}");
        }
    }
}
