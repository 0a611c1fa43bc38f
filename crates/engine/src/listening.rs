//! Words are masked and understood by all processors, while one of them first puts the session in order.
//!
//! Not earlier: reading a session keeps the processors busy by itself.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ScopedJoinHandle};

use carryover_core::distill::Heard;
use carryover_core::redact;
use carryover_core::transcript::EntryKey;

/// So many messages are worth a thread.
const ENOUGH: usize = 64;
/// So many are understood in one go.
const STRETCH: usize = 8;

/// Who speaks.
#[derive(Clone, Copy)]
pub(crate) enum Speaker {
    User,
    Agent,
    /// What a compaction left.
    Summary,
}

/// What was said in a session, and is to be understood.
pub(crate) struct Listening {
    redact: bool,
    messages: BTreeMap<EntryKey, (Speaker, String)>,
}

impl Listening {
    pub(crate) fn new(redact: bool) -> Self {
        Self { redact, messages: BTreeMap::new() }
    }

    /// Takes a message; one of the same place takes the place of an earlier one.
    pub(crate) fn hear(&mut self, key: EntryKey, speaker: Speaker, text: String) {
        self.messages.insert(key, (speaker, text));
    }

    /// Understands all that was said while a thread does something else, and helps with it afterwards.
    ///
    /// Listening takes much memory in small pieces, which the first thread of a program gets cheapest.
    pub(crate) fn finish<T: Send>(self, meanwhile: impl FnOnce() -> T + Send) -> (T, Heard) {
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        let threads = (self.messages.len() / ENOUGH).min(processors.saturating_sub(1));
        self.finish_with(threads, meanwhile)
    }

    fn finish_with<T: Send>(self, threads: usize, meanwhile: impl FnOnce() -> T + Send) -> (T, Heard) {
        let messages: Vec<_> = self.messages.into_iter().collect();
        let room = Room { redact: self.redact, messages: &messages, next: AtomicUsize::new(0) };
        if threads == 0 {
            return (meanwhile(), room.listen());
        }
        thread::scope(|scope| {
            let doing = scope.spawn(|| (meanwhile(), room.listen()));
            let listeners: Vec<_> = (1..threads).map(|_| scope.spawn(|| room.listen())).collect();
            let heard = listeners.into_iter().map(joined).fold(room.listen(), Heard::and);
            let (done, others) = joined(doing);
            (done, heard.and(others))
        })
    }
}

fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// What threads listen to together.
struct Room<'a> {
    redact: bool,
    messages: &'a [(EntryKey, (Speaker, String))],
    next: AtomicUsize,
}

impl Room<'_> {
    /// Understands messages until none is left.
    fn listen(&self) -> Heard {
        let mut heard = Heard::default();
        loop {
            let from = self.next.fetch_add(STRETCH, Ordering::Relaxed);
            let Some(left) = self.messages.get(from..).filter(|left| !left.is_empty()) else { return heard };
            for (key, (speaker, text)) in left.iter().take(STRETCH) {
                self.understand(*key, *speaker, text, &mut heard);
            }
        }
    }

    fn understand(&self, key: EntryKey, speaker: Speaker, text: &str, heard: &mut Heard) {
        let text = if self.redact { redact::redact(text) } else { text.into() };
        match speaker {
            Speaker::User => heard.prompt(key, &text),
            Speaker::Agent => heard.reply(key, &text),
            Speaker::Summary => heard.summary(key, &text),
        }
    }
}

#[cfg(test)]
mod tests {
    use carryover_core::distill::{Deed, Heard, Step, Story, Workspace, distill, distill_heard};
    use carryover_core::time::Timestamp;
    use carryover_core::transcript::EntryKey;

    use super::{Listening, STRETCH, Speaker};

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
        let mut listening = Listening::new(false);
        // What is heard of the same place later counts.
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
        listening.finish_with(threads, || ()).1
    }

    #[test]
    fn many_messages_are_understood_as_few_are() {
        let now = Timestamp::from_millis(0);
        for (messages, threads) in [(0, 1), (2, 1), (STRETCH, 1), (STRETCH + 1, 2), (STRETCH * 40, 3), (STRETCH * 4, 0)]
        {
            let story = story(messages);
            let brief = distill_heard(&story, &heard(&story, threads), &Workspace::default(), now);
            assert_eq!(brief, distill(&story, &Workspace::default(), now));
        }
    }

    #[test]
    fn secrets_are_masked_before_words_are_understood() {
        let text = "We use the token ghp_16C7e42F292c6912E7710c838347Ae178B4a because it is there.";
        let mut story = story(STRETCH * 2);
        let mut listening = Listening::new(true);
        for step in &mut story.steps {
            step.deed = Deed::Prompt { text: text.to_owned(), images: 0 };
            listening.hear(step.key, Speaker::User, text.to_owned());
        }
        let brief = distill_heard(&story, &listening.finish(|| ()).1, &Workspace::default(), Timestamp::from_millis(0));
        assert!(!format!("{brief:?}").contains("ghp_16C7e42F"));
    }
}
