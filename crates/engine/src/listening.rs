//! Words are masked and understood by all processors, while one of them first puts the session in order.
//!
//! Not earlier: reading a session keeps the processors busy by itself. The words are taken out of the transcript for that
//! long, and given to the story in the end, so that they are copied nowhere.

use carryover_core::distill::{Deed, Heard, MANY_MESSAGES, Message, Speaker, Story};
use carryover_core::parts::both;
use carryover_core::transcript::{Body, Entry, Origin, Part, Transcript, into_text};

/// What was said in a session, and is to be understood.
pub(crate) struct Listening {
    /// In the order of their places.
    messages: Vec<Message>,
}

impl Listening {
    /// Takes the words out of a transcript.
    pub(crate) fn to(transcript: &mut Transcript) -> Self {
        let mut messages: Vec<Message> = transcript.entries.iter_mut().filter_map(taken).collect();
        messages.sort_by_key(|message| message.key);
        Self { messages }
    }

    /// Understands all that was said, masked where that is asked for, while the rest of the story is told, by as many
    /// threads as there are. The story gets the words.
    pub(crate) fn finish(mut self, is_masked: bool, tell: impl FnOnce() -> Story + Send) -> (Story, Heard) {
        // Understanding takes much memory in small pieces, which the first thread of a program gets cheapest: it begins
        // with that, and another one with the other thing.
        let listen = || Heard::of(&self.messages, is_masked);
        let (heard, mut story) = both(self.messages.len() >= MANY_MESSAGES, listen, tell);
        self.give(&mut story);
        (story, heard)
    }

    fn give(&mut self, story: &mut Story) {
        let mut next = 0;
        for step in &mut story.steps {
            let (Deed::Prompt { text, .. } | Deed::Reply { text } | Deed::Summary { text }) = &mut step.deed else {
                continue;
            };
            // Nearly all come in their order.
            if self.messages.get(next).is_none_or(|message| message.key != step.key) {
                next = self.messages.partition_point(|message| message.key < step.key);
            }
            // A key is of one entry; where two had the same, each gets words that have not been given yet.
            let mut same = self.messages[next..].iter_mut().take_while(|message| message.key == step.key);
            if let Some(message) = same.find(|message| !message.text.is_empty()) {
                *text = std::mem::take(&mut message.text);
                next += 1;
            }
        }
    }
}

/// Takes the words of an entry, where it says something; what else it has stays.
fn taken(entry: &mut Entry) -> Option<Message> {
    let (speaker, parts) = match &mut entry.body {
        Body::Prompt(parts) if entry.origin == Origin::User => (Speaker::User, parts),
        Body::Reply(parts) => (Speaker::Agent, parts),
        Body::Summary(parts) => (Speaker::Summary, parts),
        _ => return None,
    };
    if entry.side {
        return None;
    }
    let is_text = |part: &Part| matches!(part, Part::Text(_));
    let is_all = parts.iter().all(is_text);
    let texts = if is_all { std::mem::take(parts) } else { parts.extract_if(.., |part| is_text(part)).collect() };
    Some(Message { key: entry.key, speaker, text: into_text(texts) })
}

#[cfg(test)]
mod tests {
    use carryover_core::distill::{Deed, Step, Story, Workspace, distill, distill_heard};
    use carryover_core::time::Timestamp;
    use carryover_core::transcript::{Blob, Body, Entry, EntryKey, Origin, Part, Place, Transcript, text_of};

    use super::{Listening, MANY_MESSAGES as MANY, Message, Speaker};

    const NOW: Timestamp = Timestamp::EPOCH;

    fn story(messages: usize, text: impl Fn(usize) -> String) -> Story {
        let steps = (0..messages).map(|at| {
            let text = text(at);
            let deed = if at % 2 == 0 { Deed::Prompt { text, images: 0 } } else { Deed::Reply { text } };
            Step { key: EntryKey { file: 0, offset: at as u64, part: 0, length: 1 }, at: None, deed }
        });
        Story { steps: steps.collect(), ..Story::default() }
    }

    /// Listens to a story, which is without its words then.
    fn listening(story: &mut Story) -> Listening {
        let taken = story.steps.iter_mut().filter_map(|step| {
            let (speaker, text) = match &mut step.deed {
                Deed::Prompt { text, .. } => (Speaker::User, text),
                Deed::Reply { text } => (Speaker::Agent, text),
                _ => return None,
            };
            Some(Message { key: step.key, speaker, text: std::mem::take(text) })
        });
        Listening { messages: taken.collect() }
    }

    #[test]
    fn only_words_are_taken_and_only_those_of_the_conversation() {
        let entry = |offset: u64, origin: Origin, side: bool, body: Body| {
            let key = EntryKey { file: 0, offset, part: 0, length: 1 };
            Entry { key, at: None, origin, side, node: None, body }
        };
        let words = |text: &str| vec![Part::Text(text.to_owned())];
        let place = Place::Remote("there".to_owned());
        let image = Part::Blob(Blob { media_type: "image/png".to_owned(), name: None, place });
        let shown = vec![words("What is").remove(0), image.clone(), words("this?").remove(0)];
        let entries = vec![
            entry(7, Origin::User, false, Body::Prompt(shown)),
            entry(3, Origin::Agent, false, Body::Reply(words("A cat."))),
            entry(5, Origin::Hook, false, Body::Prompt(words("It is noon."))),
            entry(4, Origin::Agent, true, Body::Reply(words("Aside."))),
        ];
        let mut transcript = Transcript { entries, ..Transcript::default() };
        let listening = Listening::to(&mut transcript);
        let taken: Vec<(u64, &str)> =
            listening.messages.iter().map(|message| (message.key.offset, message.text.as_str())).collect();
        assert_eq!(taken, [(3, "A cat."), (7, "What is\n\nthis?")]);
        let left = transcript.entries.iter().map(|entry| match &entry.body {
            Body::Prompt(parts) | Body::Reply(parts) => (text_of(parts), parts.contains(&image)),
            _ => Default::default(),
        });
        let left: Vec<(String, bool)> = left.collect();
        let left: Vec<(&str, bool)> = left.iter().map(|(text, has_image)| (text.as_str(), *has_image)).collect();
        assert_eq!(left, [("", true), ("", false), ("It is noon.", false), ("Aside.", false)]);
    }

    #[test]
    fn many_messages_are_understood_as_few_are() {
        for messages in [0, 2, MANY, 2 * MANY - 1, 2 * MANY, 10 * MANY + 1] {
            let said = |at: usize| format!("We went with option {at} because number {at} is smaller.");
            let (whole, mut silent) = (story(messages, said), story(messages, said));
            let (told, heard) = listening(&mut silent).finish(false, || silent);
            assert_eq!(told, whole);
            let brief = distill_heard(&told, &heard, &Workspace::default(), NOW);
            assert_eq!(brief, distill(&whole, &Workspace::default(), NOW));
        }
    }

    #[test]
    fn words_are_given_back_in_whatever_order() {
        let mut whole = story(5, |at| format!("Message {at}."));
        whole.steps.rotate_left(2);
        whole.steps[3].key = whole.steps[0].key;
        let mut silent = whole.clone();
        let mut listening = listening(&mut silent);
        listening.messages.sort_by_key(|message| message.key);
        assert_ne!(silent, whole);
        assert_eq!(listening.finish(false, || silent).0, whole);
    }

    #[test]
    fn secrets_are_masked_before_words_are_understood() {
        let said = |_| "We use the token ghp_16C7e42F292c6912E7710c838347Ae178B4a because it is there.".to_owned();
        let mut silent = story(2 * MANY, said);
        let (told, heard) = listening(&mut silent).finish(true, || silent);
        let brief = distill_heard(&told, &heard, &Workspace::default(), NOW);
        assert!(!format!("{brief:?}").contains("ghp_16C7e42F"));
    }
}
