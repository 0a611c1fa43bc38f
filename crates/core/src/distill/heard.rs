//! Words that are understood already.
//!
//! Splitting words into sentences and judging these is most of the work of a brief, and it needs one message at a time.
//! Who reads a session has it done by all processors, while one of them first puts the session in order.

use super::prose::{self, Line};
use super::request::{self, Kind};
use super::{Deed, Voice, references, words};
use crate::parts::mapped;
use crate::plain::plain;
use crate::redact::redact;
use crate::transcript::EntryKey;

/// So many messages are worth a thread.
pub const MANY: usize = 64;

/// Something that was said.
pub struct Message {
    pub key: EntryKey,
    pub speaker: Speaker,
    pub text: String,
}

/// Who speaks.
#[derive(Clone, Copy)]
pub enum Speaker {
    User,
    Agent,
    /// What a compaction left.
    Summary,
}

/// Messages by the entry that holds them, in the order of these.
#[derive(Default)]
pub struct Heard(Vec<(EntryKey, Understood)>);

/// What a message says.
#[derive(Clone)]
pub(super) struct Understood {
    /// A prompt's own words; of replies only the lines are kept.
    pub(super) text: String,
    pub(super) lines: Vec<Line>,
    /// How a prompt stands to the task.
    pub(super) kind: Kind,
    /// What is referred to; in a summary nothing is.
    pub(super) references: Vec<String>,
}

impl Heard {
    /// Understands what was said, with its secrets masked where the story's will be.
    pub fn of(messages: &[Message], is_masked: bool) -> Self {
        let mut heard = mapped(messages, MANY, |Message { key, speaker, text }| {
            let text = if is_masked { redact(text) } else { text.into() };
            let understood = match speaker {
                Speaker::User => Understood::prompt(&text),
                Speaker::Agent => Understood::reply(&text),
                Speaker::Summary => Understood::summary(&text),
            };
            (*key, understood)
        });
        heard.sort_by_key(|(key, _)| *key);
        Self(heard)
    }

    /// What was understood of a place; `next` is where that stands if this is the place behind the one asked for before.
    pub(super) fn get(&self, key: EntryKey, next: &mut usize) -> Option<&Understood> {
        let is_next = self.0.get(*next).is_some_and(|(known, _)| *known == key);
        let at = if is_next { *next } else { self.0.binary_search_by_key(&key, |(key, _)| *key).ok()? };
        *next = at + 1;
        Some(&self.0[at].1)
    }
}

impl Understood {
    /// What a deed says, where it is done in words.
    pub(super) fn of(deed: &Deed) -> Self {
        match deed {
            Deed::Prompt { text, .. } => Self::prompt(text),
            Deed::Summary { text } => Self::summary(text),
            Deed::Reply { text } => Self::reply(text),
            _ => Self::reply(""),
        }
    }

    fn prompt(text: &str) -> Self {
        let references = references::in_text(&plain(&words::clipped(text)));
        let text = words::own(text);
        let (lines, kind) = request::understood(&text);
        Self { text, lines, kind, references }
    }

    fn reply(text: &str) -> Self {
        let text = words::clipped(text);
        let text = plain(&text);
        Self::by_agent(prose::lines(&text, Voice::Agent), references::in_text(&text))
    }

    fn summary(text: &str) -> Self {
        let text = words::clipped(text);
        // A summary comes with the harness's own words around it.
        let lines = prose::lines(&words::without_notices(&plain(&text)), Voice::Agent);
        Self::by_agent(lines, Vec::new())
    }

    fn by_agent(lines: Vec<Line>, references: Vec<String>) -> Self {
        Self { text: String::new(), lines, kind: Kind::Nod, references }
    }
}

#[cfg(test)]
mod tests {
    use super::{Heard, Message, Speaker};
    use crate::transcript::EntryKey;

    #[test]
    fn what_was_heard_is_found_in_any_order() {
        let key = |offset: u64| EntryKey { file: 0, offset, part: 0, length: 1 };
        let message = |(at, text): (u64, &str)| Message { key: key(at), speaker: Speaker::User, text: text.to_owned() };
        let heard = Heard::of(&[(5, "five"), (1, "one"), (2, "two")].map(message), false);
        let mut next = 0;
        let mut text = |at: u64| heard.get(key(at), &mut next).map(|understood| understood.text.as_str());
        assert_eq!([1, 2, 3, 5].map(&mut text), [Some("one"), Some("two"), None, Some("five")]);
        assert_eq!([5, 9, 1, 1].map(&mut text), [Some("five"), None, Some("one"), Some("one")]);
    }
}
