//! A message in the user's place, taken apart: the words that were typed, and what the client put beside them.

use carryover_core::transcript::{Body, Origin, Part};

use super::referenced_files::{ReferencedFiles, TextPiece};

/// A message of the user's in the course of being read.
pub(crate) struct UserMessage {
    /// The words that were typed.
    pub typed: Vec<Part>,
    /// Everything that was not typed, in the order in which it stands.
    pub added: Vec<(Origin, Body)>,
    /// The files that were named, as long as they last.
    files: ReferencedFiles,
    sort_words: fn(&mut Self, &str),
}

impl UserMessage {
    /// A message whose words are the user's or somebody else's by the judgement of `sort_words`.
    pub(crate) fn new(sort_words: fn(&mut Self, &str)) -> Self {
        Self { typed: Vec::new(), added: Vec::new(), files: ReferencedFiles::default(), sort_words }
    }

    pub(crate) fn add_text(&mut self, text: &str) {
        for piece in self.files.split_text(text) {
            match piece {
                TextPiece::Words(words) => (self.sort_words)(self, words),
                TextPiece::Files(files) => self.added.push((Origin::Hook, Body::Prompt(files))),
            }
        }
    }

    pub(crate) fn add_part(&mut self, part: Part) {
        match part {
            Part::Text(text) => self.add_text(&text),
            // An image that was named is shown with the words: it was pasted or chosen, and has no other.
            blob @ Part::Blob(_) => self.typed.push(blob),
        }
    }

    /// Ends the message: files may go without their last line.
    pub(crate) fn end_files(&mut self) {
        let left = self.files.finish();
        self.added.extend(left.map(|files| (Origin::Hook, Body::Prompt(files))));
    }

    /// Whose words stand in it, those of the user's first.
    #[cfg(test)]
    pub(crate) fn texts_by_origin(&self) -> Vec<(Origin, String)> {
        use carryover_core::transcript::text_of;
        let spoken = (Origin::User, text_of(&self.typed));
        let added = self.added.iter().map(|(origin, body)| (*origin, text_of(body.parts())));
        [spoken].into_iter().chain(added).filter(|(_, text)| !text.is_empty()).collect()
    }
}
