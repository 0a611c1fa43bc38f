//! Words are masked and understood by all processors, while one of them first puts the session in order.
//!
//! Not earlier: reading a session keeps the processors busy by itself.

use std::ops::Range;

use carryover_core::distill::Heard;
use carryover_core::parts::{both, gathered, start};
use carryover_core::redact;
use carryover_core::transcript::EntryKey;

/// So many messages are worth a thread.
const ENOUGH: usize = 64;

/// Who speaks.
#[derive(Clone, Copy)]
pub(crate) enum Speaker {
    User,
    Agent,
    /// What a compaction left.
    Summary,
}

/// Something that was said.
struct Message {
    key: EntryKey,
    speaker: Speaker,
    /// Where its words are.
    place: Range<usize>,
}

/// What was said in a session, and is to be understood.
pub(crate) struct Listening {
    redact: bool,
    /// In the order of their places.
    messages: Vec<Message>,
    /// The words of all of them, one behind the other: so many small pieces would be in the way of what comes later.
    words: String,
}

impl Listening {
    pub(crate) fn new(redact: bool) -> Self {
        Self { redact, messages: Vec::new(), words: String::new() }
    }

    /// Takes a message; one of the same place takes the place of an earlier one.
    pub(crate) fn hear(&mut self, key: EntryKey, speaker: Speaker, text: &str) {
        let from = self.words.len();
        self.words.push_str(text);
        let message = Message { key, speaker, place: from..self.words.len() };
        if self.messages.len() == ENOUGH {
            start();
        }
        // Nearly all come in their order.
        if self.messages.last().is_none_or(|last| last.key < key) {
            self.messages.push(message);
            return;
        }
        match self.messages.binary_search_by_key(&key, |message| message.key) {
            Ok(at) => self.messages[at] = message,
            Err(at) => self.messages.insert(at, message),
        }
    }

    /// Understands all that was said while something else is done, by as many threads as there are.
    pub(crate) fn finish<T: Send>(self, meanwhile: impl FnOnce() -> T + Send) -> (T, Heard) {
        let Self { redact, messages, words } = self;
        let understand = |heard: &mut Heard, _, Message { key, speaker, place }: &Message| {
            let text = &words[place.clone()];
            let text = if redact { redact::redact(text) } else { text.into() };
            match speaker {
                Speaker::User => heard.prompt(*key, &text),
                Speaker::Agent => heard.reply(*key, &text),
                Speaker::Summary => heard.summary(*key, &text),
            }
        };
        // Understanding takes much memory in small pieces, which the first thread of a program gets cheapest: it begins
        // with that, and another one with the other thing.
        let listen = || gathered(&messages, ENOUGH, understand, Heard::and);
        let (heard, done) = both(messages.len() >= ENOUGH, listen, meanwhile);
        (done, heard)
    }
}

#[cfg(test)]
mod tests {
    use carryover_core::distill::{Deed, Heard, Step, Story, Workspace, distill, distill_heard};
    use carryover_core::time::Timestamp;
    use carryover_core::transcript::EntryKey;

    use super::{ENOUGH, Listening, Speaker};

    fn key(at: usize) -> EntryKey {
        EntryKey { file: 0, offset: at as u64, part: 0, length: 1 }
    }

    fn story(messages: usize) -> Story {
        let steps = (0..messages).map(|at| {
            let text = format!("We went with option {at} because number {at} is smaller.");
            let deed = if at % 2 == 0 { Deed::Prompt { text, images: 0 } } else { Deed::Reply { text } };
            Step { key: key(at), at: None, deed }
        });
        Story { steps: steps.collect(), ..Story::default() }
    }

    fn heard(story: &Story) -> Heard {
        let mut listening = Listening::new(false);
        // What is heard of the same place later counts.
        listening.hear(key(0), Speaker::User, "Something else.");
        for step in &story.steps {
            match &step.deed {
                Deed::Prompt { text, .. } => listening.hear(step.key, Speaker::User, text),
                Deed::Reply { text } => listening.hear(step.key, Speaker::Agent, text),
                _ => {}
            }
        }
        for step in story.steps.iter().take(8) {
            let (Deed::Prompt { text, .. } | Deed::Reply { text }) = &step.deed else { continue };
            let speaker = if matches!(step.deed, Deed::Prompt { .. }) { Speaker::User } else { Speaker::Agent };
            listening.hear(step.key, speaker, "Something else.");
            listening.hear(step.key, speaker, text);
        }
        listening.finish(|| ()).1
    }

    #[test]
    fn many_messages_are_understood_as_few_are() {
        let now = Timestamp::from_millis(0);
        for messages in [0, 2, ENOUGH, 2 * ENOUGH - 1, 2 * ENOUGH, 10 * ENOUGH + 1] {
            let story = story(messages);
            let brief = distill_heard(&story, &heard(&story), &Workspace::default(), now);
            assert_eq!(brief, distill(&story, &Workspace::default(), now));
        }
    }

    #[test]
    fn secrets_are_masked_before_words_are_understood() {
        let text = "We use the token ghp_16C7e42F292c6912E7710c838347Ae178B4a because it is there.";
        let mut story = story(2 * ENOUGH);
        let mut listening = Listening::new(true);
        for step in &mut story.steps {
            step.deed = Deed::Prompt { text: text.to_owned(), images: 0 };
            listening.hear(step.key, Speaker::User, text);
        }
        let brief = distill_heard(&story, &listening.finish(|| ()).1, &Workspace::default(), Timestamp::from_millis(0));
        assert!(!format!("{brief:?}").contains("ghp_16C7e42F"));
    }
}
