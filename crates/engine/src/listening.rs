//! Words are masked and understood by a thread of their own, while the reader goes on with the session.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use carryover_core::distill::Heard;
use carryover_core::redact;
use carryover_core::transcript::EntryKey;

/// A session with fewer messages than this is not worth a thread.
const FEW: usize = 64;
/// So many messages may wait to be understood. The reader keeps their texts as well, so they cost it no more than twice.
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
    thread: Option<(SyncSender<Message>, JoinHandle<Heard>)>,
}

impl Listening {
    pub(crate) fn new(redact: bool) -> Self {
        Self { redact, heard: Heard::default(), messages: 0, thread: None }
    }

    /// Takes a message; one of the same place takes the place of an earlier one.
    pub(crate) fn hear(&mut self, key: EntryKey, speaker: Speaker, text: String) {
        let message = Message { key, speaker, text };
        self.messages += 1;
        if self.messages <= FEW {
            return understand(&mut self.heard, &message, self.redact);
        }
        if self.messages == FEW + 1 {
            self.thread = started(self.redact);
        }
        match &self.thread {
            // Where the thread has panicked nobody receives, and `finish` tells it.
            Some((waiting, _)) => drop(waiting.send(message)),
            None => understand(&mut self.heard, &message, self.redact),
        }
    }

    /// All that was said.
    pub(crate) fn finish(self) -> Heard {
        let Some((waiting, thread)) = self.thread else { return self.heard };
        drop(waiting);
        let later = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        self.heard.then(later)
    }
}

/// A thread that understands what it is sent; none where the system has none to give.
fn started(redact: bool) -> Option<(SyncSender<Message>, JoinHandle<Heard>)> {
    let (send, messages) = sync_channel::<Message>(WAITING);
    let listen = move || {
        let mut heard = Heard::default();
        for message in messages {
            understand(&mut heard, &message, redact);
        }
        heard
    };
    thread::Builder::new().spawn(listen).ok().map(|thread| (send, thread))
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
