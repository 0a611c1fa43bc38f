//! What stands in the user's place, sorted by who said it.

use carryover_core::transcript::{Body, Failure, FailureKind, Origin, Part};

use super::boilerplate::{self, Came, Sorted};

/// A record of the user's side in the course of being sorted.
pub(super) struct Heard {
    came: Came,
    /// The user's words so far, which are one prompt.
    words: Vec<Part>,
    bodies: Vec<(Origin, Body)>,
}

impl Heard {
    pub(super) fn new(came: Came) -> Self {
        Self { came, words: Vec::new(), bodies: Vec::new() }
    }

    pub(super) fn text(&mut self, text: &str) {
        for sorted in boilerplate::sort(text, self.came) {
            match sorted {
                Sorted::User(words) => self.words.push(Part::Text(words.into_owned())),
                Sorted::Hook(words) => self.brought(Part::Text(words.into_owned())),
                Sorted::Harness(text) => self.bodies.push((Origin::Harness, Body::Prompt(vec![part(text)]))),
                Sorted::Summary(text) => self.bodies.push((Origin::Agent, Body::Summary(vec![part(text)]))),
                Sorted::Interruption(text) => self.interruption(text),
            }
        }
    }

    /// Pictures and documents.
    pub(super) fn parts(&mut self, parts: impl IntoIterator<Item = Part>) {
        for part in parts {
            match self.came {
                Came::Hidden | Came::Brought => self.brought(part),
                Came::Typed | Came::Unknown => self.words.push(part),
            }
        }
    }

    pub(super) fn outcome(&mut self, outcome: Body) {
        self.bodies.push((Origin::Agent, outcome));
    }

    pub(super) fn finish(mut self) -> Vec<(Origin, Body)> {
        self.end_prompt();
        self.bodies
    }

    fn brought(&mut self, part: Part) {
        self.end_prompt();
        self.bodies.push((Origin::Hook, Body::Prompt(vec![part])));
    }

    /// The client tells the model in these words; that the turn ended is a fact of its own.
    fn interruption(&mut self, text: &str) {
        self.brought(part(text));
        let failure = Failure { kind: FailureKind::Interrupted, message: text.to_owned(), resets_at: None };
        self.bodies.push((Origin::Harness, Body::Failure(Box::new(failure))));
    }

    fn end_prompt(&mut self) {
        if !self.words.is_empty() {
            self.bodies.push((Origin::User, Body::Prompt(std::mem::take(&mut self.words))));
        }
    }
}

fn part(text: &str) -> Part {
    Part::Text(text.to_owned())
}
