//! Words and who said them: prompts of substance, last words, answers, and how quotations rank where room is short.

mod decisions;
mod printout;
mod questions;
mod ranking;
mod references;
mod requests;
mod sentences;
mod substance;
mod summary;

use super::{Event, History, Item, Plan, Quoting, State, StateKind, Step, Task, Voice};
use crate::time::Timestamp;
use crate::transcript::EntryKey;

use super::work::Work;

/// So many prompts a title may be made of.
const MAX_TITLE_PROMPTS: usize = 2;

/// The words of a session.
pub(super) struct Words<'a> {
    history: &'a History,
    quoting: Quoting,
    /// The user's, in order.
    prompts: Vec<Message<'a>>,
    /// The agent's, in order.
    replies: Vec<Message<'a>>,
}

/// A message.
#[derive(Clone, Copy)]
struct Message<'a> {
    step: usize,
    key: EntryKey,
    at: Option<Timestamp>,
    voice: Voice,
    text: &'a str,
}

impl<'a> Words<'a> {
    pub(super) fn from_history(history: &'a History, quoting: Quoting) -> Self {
        let mut words = Self { history, quoting, prompts: Vec::new(), replies: Vec::new() };
        for (index, Step { key, at, event }) in history.steps.iter().enumerate().skip(history.context_from()) {
            let (list, voice, text) = match event {
                Event::Prompt { text, .. } => (&mut words.prompts, Voice::User, text),
                Event::Reply { text } => (&mut words.replies, Voice::Agent, text),
                _ => continue,
            };
            if !text.trim().is_empty() {
                list.push(Message { step: index, key: *key, at: *at, voice, text });
            }
        }
        words
    }

    /// Prompts and replies, as a reader of the conversation would count them.
    pub(super) fn n_messages(&self) -> usize {
        self.prompts.len() + self.replies.len()
    }

    /// Prompts that the user typed ahead and the agent never saw.
    pub(super) fn queued_items(&self) -> Vec<Item> {
        let queued = self.history.queued.iter().filter(|queued| !queued.text.trim().is_empty());
        queued.map(|queued| self.quoting.quote_item(&queued.text, 1_200, Voice::User, queued.at, queued.key)).collect()
    }

    /// The plan's step in progress, or the prompt that got no answer. Where structure has none, none is made up.
    pub(super) fn next_action(&self, state: &State, plan: &Plan) -> Option<Item> {
        if let Some(queued) = state.queued.first() {
            return Some(queued.clone());
        }
        match state.kind {
            StateKind::Unanswered => state.detail.clone(),
            // A plan that nobody touched in the present work says nothing of what is next.
            _ => plan.in_progress.first().filter(|step| step.at >= self.present_at()).cloned(),
        }
    }

    fn present_at(&self) -> Option<Timestamp> {
        self.history.steps.get(self.present_from()).and_then(|step| step.at)
    }

    fn quote_message(&self, said: &Message<'_>, width: usize) -> Item {
        self.quoting.quote_item(said.text, width, said.voice, said.at, said.key)
    }
}

impl Words<'_> {
    /// The title, which is most often made of a first prompt.
    pub(super) fn quote_title(&self, title: &str) -> String {
        let prompts: Vec<&str> = self.prompts.iter().take(MAX_TITLE_PROMPTS).map(|said| said.text).collect();
        self.quoting.quote_title(title, &prompts)
    }

    pub(super) fn task(&self) -> Task {
        requests::find_task(self)
    }

    pub(super) fn requests(&self) -> Vec<Item> {
        requests::collect_all(self)
    }

    /// The step with which the present work began: the request of substance before the last one.
    pub(super) fn present_from(&self) -> usize {
        requests::present_from(self)
    }

    pub(super) fn last_words(&self) -> Vec<Item> {
        requests::last_words(self)
    }

    pub(super) fn decisions(&self) -> Vec<super::Decision> {
        decisions::collect_from(self)
    }

    pub(super) fn open_questions(&self, state: &State) -> Vec<Item> {
        questions::find_open(self, state)
    }

    pub(super) fn summary(&self) -> Vec<Item> {
        summary::pending_items(self)
    }

    pub(super) fn references(&self, work: &Work<'_>) -> Vec<Item> {
        references::collect_from(self, work)
    }
}
