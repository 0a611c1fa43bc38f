//! The user's words, told from what the client says in the user's place.
//!
//! The client wakes its agents by prompts of its own, puts what has happened meanwhile before what the user says, and
//! makes a sentence of a skill that is called by its name.

use carryover_core::transcript::{Body, Origin, Part};

use crate::formats::tree::bodies::{Bodies, prompt_without_words};

/// How prompts begin that the client makes up.
const CLIENT_PROMPTS: [&str; 3] =
    ["Read HEARTBEAT.md if it exists", "A new session was started via /new or /reset", "[Inter-session message]"];
/// Begins a line about something that has happened meanwhile.
const EVENT_PREFIX: &str = "System: [";
/// A skill that the user called by its name, and what they said to it.
const SKILL_MARKS: (&str, &str, &str) = ("Use the \"", "\" skill for this request.", "User input:\n");

/// Splits a prompt: the client's text first, then the user's own words.
pub(super) fn split_prompt(parts: Vec<Part>) -> Bodies {
    let (mut brought, mut said) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            Part::Text(text) => match injected_end(&text) {
                0 => said.extend(text_part(text)),
                end => {
                    brought.extend(text_part(text[..end].to_owned()));
                    said.extend(text_part(text[end..].trim_start_matches('\n').to_owned()));
                }
            },
            blob @ Part::Blob(_) => said.push(blob),
        }
    }
    let both = [(Origin::Hook, brought), (Origin::User, said)].into_iter().filter(|(_, parts)| !parts.is_empty());
    let bodies: Bodies = both.map(|(origin, parts)| (origin, Body::Prompt(parts))).collect();
    if bodies.is_empty() { vec![prompt_without_words()] } else { bodies }
}

fn text_part(text: String) -> Option<Part> {
    (!text.is_empty()).then_some(Part::Text(text))
}

/// Where what the client brought ends.
fn injected_end(text: &str) -> usize {
    let events: usize =
        text.split_inclusive('\n').take_while(|line| line.starts_with(EVENT_PREFIX)).map(str::len).sum();
    let blank = text[events..].len() - text[events..].trim_start_matches('\n').len();
    let rest = &text[events + blank..];
    if CLIENT_PROMPTS.iter().any(|beginning| rest.starts_with(beginning)) {
        return text.len();
    }
    let called = rest
        .strip_prefix(SKILL_MARKS.0)
        .and_then(|rest| rest.lines().next())
        .is_some_and(|line| line.ends_with(SKILL_MARKS.1));
    if !called {
        return events;
    }
    rest.find(SKILL_MARKS.2).map_or(text.len(), |at| events + blank + at + SKILL_MARKS.2.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split_and_join(text: &str) -> Vec<(Origin, String)> {
        let text_of = |body: &Body| carryover_core::transcript::text_of(body.parts());
        let bodies = split_prompt(vec![Part::Text(text.to_owned())]);
        bodies.iter().map(|(origin, body)| (*origin, text_of(body))).collect()
    }

    #[test]
    fn what_the_client_says_in_the_users_place_is_not_theirs() {
        let own = "Read HEARTBEAT.md if it exists (workspace context). Follow it.";
        assert_eq!(split_and_join(own), [(Origin::Hook, own.to_owned())]);
        let event = "System: [2026-11-15 10:00:00 UTC] Exec completed (a, code 0)\n";
        let typed = [(Origin::Hook, event.to_owned()), (Origin::User, "and now?".to_owned())];
        assert_eq!(split_and_join(&format!("{event}\nand now?")), typed);
        assert_eq!(split_and_join(&format!("{event}\n{own}")), [(Origin::Hook, format!("{event}\n{own}"))]);
        let skill = "Use the \"tidy\" skill for this request.\n\nUser input:\n";
        let typed = [(Origin::Hook, skill.to_owned()), (Origin::User, "only src".to_owned())];
        assert_eq!(split_and_join(&format!("{skill}only src")), typed);
        for plain in ["Use the \"tidy\" thing", "what does System: [x] mean?", "\nfirst"] {
            assert_eq!(split_and_join(plain), [(Origin::User, plain.to_owned())]);
        }
    }
}
