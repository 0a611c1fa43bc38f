//! Text in the user's place, sorted by who said it.

use carryover_core::transcript::{Body, Failure, FailureKind, Origin, Part};

use super::boilerplate::{self, PromptSource, SortedText};

/// A record of the user's side in the course of being sorted.
pub(super) struct PromptSorter {
    source: PromptSource,
    /// The user's words so far, which are one prompt.
    words: Vec<Part>,
    bodies: Vec<(Origin, Body)>,
}

impl PromptSorter {
    pub(super) fn new(came: PromptSource) -> Self {
        Self { source: came, words: Vec::new(), bodies: Vec::new() }
    }

    pub(super) fn add_text(&mut self, text: &str) {
        for sorted in boilerplate::sort_text(text, self.source) {
            match sorted {
                SortedText::User(words) => self.words.push(Part::Text(words.into_owned())),
                SortedText::Hook(words) => self.push_hook(Part::Text(words.into_owned())),
                SortedText::Harness(text) => self.bodies.push((Origin::Harness, Body::Prompt(vec![text_part(text)]))),
                SortedText::Summary(text) => self.bodies.push((Origin::Agent, Body::Summary(vec![text_part(text)]))),
                SortedText::Interruption(text) => self.push_interruption(text),
            }
        }
    }

    /// Pictures and documents.
    pub(super) fn add_parts(&mut self, parts: impl IntoIterator<Item = Part>) {
        for part in parts {
            match self.source {
                PromptSource::Hidden | PromptSource::External => self.push_hook(part),
                PromptSource::Typed | PromptSource::Unknown => self.words.push(part),
            }
        }
    }

    pub(super) fn add_outcome(&mut self, outcome: Body) {
        self.bodies.push((Origin::Agent, outcome));
    }

    pub(super) fn finish(mut self) -> Vec<(Origin, Body)> {
        self.end_prompt();
        self.bodies
    }

    fn push_hook(&mut self, part: Part) {
        self.end_prompt();
        self.bodies.push((Origin::Hook, Body::Prompt(vec![part])));
    }

    /// The client tells the model in these words; that the turn ended is a fact of its own.
    fn push_interruption(&mut self, text: &str) {
        self.push_hook(text_part(text));
        let failure = Failure { kind: FailureKind::Interrupted, message: text.to_owned(), resets_at: None };
        self.bodies.push((Origin::Harness, Body::Failure(Box::new(failure))));
    }

    fn end_prompt(&mut self) {
        if !self.words.is_empty() {
            self.bodies.push((Origin::User, Body::Prompt(std::mem::take(&mut self.words))));
        }
    }
}

fn text_part(text: &str) -> Part {
    Part::Text(text.to_owned())
}
