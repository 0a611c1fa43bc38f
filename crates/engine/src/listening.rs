//! Words are masked and understood by threads of their own, while the reader goes on with the session.

use std::num::NonZero;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use carryover_core::distill::Heard;
use carryover_core::redact;
use carryover_core::transcript::EntryKey;

/// A session with fewer messages than this is not worth a thread.
const FEW: usize = 64;
/// More threads than this would wait for the reader.
const MOST: usize = 4;
/// So many messages may wait to be understood by each. The reader keeps their texts as well, so they cost it no more than
/// twice.
const WAITING: usize = 512;

/// Who speaks.
#[derive(Clone, Copy)]
pub(crate) enum Speaker {
    User,
    Agent,
    /// What a compaction left.
    Summary,
}

/// A message to be understood.
struct Message {
    key: EntryKey,
    speaker: Speaker,
    text: String,
}

/// What listens to a session while it is read.
pub(crate) struct Listening {
    redact: bool,
    heard: Heard,
    messages: usize,
    /// How many threads there shall be.
    wanted: usize,
    threads: Vec<Listener>,
}

/// A thread that understands what it is sent.
struct Listener {
    waiting: SyncSender<Message>,
    thread: JoinHandle<Heard>,
}

impl Listening {
    pub(crate) fn new(redact: bool) -> Self {
        // The reader has threads as well.
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        Self::with(redact, (processors / 2).clamp(1, MOST))
    }

    fn with(redact: bool, wanted: usize) -> Self {
        Self { redact, heard: Heard::default(), messages: 0, wanted, threads: Vec::new() }
    }

    /// Takes a message; one of the same place takes the place of an earlier one.
    pub(crate) fn hear(&mut self, key: EntryKey, speaker: Speaker, text: String) {
        let message = Message { key, speaker, text };
        self.messages += 1;
        if self.messages <= FEW {
            return understand(&mut self.heard, &message, self.redact);
        }
        if self.messages == FEW + 1 {
            self.threads = (0..self.wanted).map_while(|_| Listener::start(self.redact)).collect();
        }
        // All that is heard of one place is heard by one thread, so that the later counts.
        let place = usize::try_from(key.offset).unwrap_or_default();
        match self.threads.get(place.checked_rem(self.threads.len()).unwrap_or_default()) {
            // Where the thread has panicked nobody receives, and `finish` tells it.
            Some(listener) => drop(listener.waiting.send(message)),
            None => understand(&mut self.heard, &message, self.redact),
        }
    }

    /// All that was said.
    pub(crate) fn finish(self) -> Heard {
        self.threads.into_iter().map(Listener::finish).fold(self.heard, Heard::then)
    }
}

impl Listener {
    /// None where the system has no thread to give.
    fn start(redact: bool) -> Option<Self> {
        let (waiting, messages) = sync_channel::<Message>(WAITING);
        let listen = move || {
            let mut heard = Heard::default();
            for message in messages {
                understand(&mut heard, &message, redact);
            }
            heard
        };
        let thread = thread::Builder::new().spawn(listen).ok()?;
        Some(Self { waiting, thread })
    }

    fn finish(self) -> Heard {
        drop(self.waiting);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

fn understand(heard: &mut Heard, message: &Message, redact: bool) {
    let Message { key, speaker, text } = message;
    let text = if redact { redact::redact(text) } else { text.as_str().into() };
    match speaker {
        Speaker::User => heard.prompt(*key, &text),
        Speaker::Agent => heard.reply(*key, &text),
        Speaker::Summary => heard.summary(*key, &text),
    }
}

#[cfg(test)]
mod tests {
    use carryover_core::distill::{Deed, Heard, Step, Story, Workspace, distill, distill_heard};
    use carryover_core::time::Timestamp;
    use carryover_core::transcript::EntryKey;

    use super::{FEW, Listening, Speaker, WAITING};

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

    fn heard(story: &Story, threads: usize) -> Heard {
        let mut listening = Listening::with(false, threads);
        // What is heard of the same place later counts, on whichever side of the border it was heard.
        listening.hear(key(0), Speaker::User, "Something else.".to_owned());
        for step in &story.steps {
            match &step.deed {
                Deed::Prompt { text, .. } => listening.hear(step.key, Speaker::User, text.clone()),
                Deed::Reply { text } => listening.hear(step.key, Speaker::Agent, text.clone()),
                _ => {}
            }
        }
        for step in story.steps.iter().take(8) {
            let (Deed::Prompt { text, .. } | Deed::Reply { text }) = &step.deed else { continue };
            let speaker = if matches!(step.deed, Deed::Prompt { .. }) { Speaker::User } else { Speaker::Agent };
            listening.hear(step.key, speaker, "Something else.".to_owned());
            listening.hear(step.key, speaker, text.clone());
        }
        listening.finish()
    }

    #[test]
    fn many_messages_are_understood_as_few_are() {
        let now = Timestamp::from_millis(0);
        for (messages, threads) in [(2, 1), (FEW, 1), (FEW + 1, 1), (WAITING * 2, 1), (FEW * 4, 3), (FEW * 4, 0)] {
            let story = story(messages);
            let brief = distill_heard(&story, &heard(&story, threads), &Workspace::default(), now);
            assert_eq!(brief, distill(&story, &Workspace::default(), now));
        }
    }

    #[test]
    fn secrets_are_masked_before_words_are_understood() {
        let text = "We use the token ghp_16C7e42F292c6912E7710c838347Ae178B4a because it is there.";
        let mut story = story(FEW * 2);
        let mut listening = Listening::new(true);
        for step in &mut story.steps {
            step.deed = Deed::Prompt { text: text.to_owned(), images: 0 };
            listening.hear(step.key, Speaker::User, text.to_owned());
        }
        let brief = distill_heard(&story, &listening.finish(), &Workspace::default(), Timestamp::from_millis(0));
        assert!(!format!("{brief:?}").contains("ghp_16C7e42F"));
    }
}
