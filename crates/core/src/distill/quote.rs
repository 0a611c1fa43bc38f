//! Quoting: somebody's words as an item, masked before they are cut.

use std::borrow::Cow;

use super::{Item, Voice};
use crate::plain::{one_line, strip_hidden};
use crate::redact::{redact_text, redact_title};
use crate::time::Timestamp;
use crate::transcript::EntryKey;

/// How words are quoted: with their secrets, or with masks in their place.
///
/// Only what is quoted is masked: a session may be a thousand times as long. What is masked is the whole text, since a
/// secret of which a part is cut off is not known for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quoting {
    Masked,
    AsIs,
}

/// More bytes of a text than these are not looked at for a quotation of a part of it.
const MAX_MASKED_BYTES: usize = 256 * 1024;
/// A title is no longer.
const TITLE_CHARS: usize = 200;

impl Quoting {
    /// A text as it may be shown.
    pub fn mask(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Masked => redact_text(text),
            Self::AsIs => Cow::Borrowed(text),
        }
    }

    /// A text that is taken apart before it is quoted: what tells a secret may stand in another part of it.
    pub(super) fn mask_whole(self, text: &str) -> Cow<'_, str> {
        if text.len() <= MAX_MASKED_BYTES { self.mask(text) } else { Cow::Borrowed(text) }
    }

    /// The lines of a text within so many characters; a longer one loses its middle.
    pub fn quote_passage(self, text: &str, width: usize) -> String {
        let text = strip_hidden(text);
        let masked = match text.len() {
            0..=MAX_MASKED_BYTES => self.mask(text.trim()).into_owned(),
            _ => self.mask_ends(text.trim()),
        };
        clip_middle(&masked, width)
    }

    /// One line of at most so many characters.
    pub fn quote_line(self, text: &str, width: usize) -> String {
        let head = &text[..text.floor_char_boundary(MAX_MASKED_BYTES)];
        one_line(&self.mask(&strip_hidden(head)), width)
    }

    /// A title, which was cut before it could be masked; what is secret in it is known by the texts that it was made of.
    pub(super) fn quote_title(self, title: &str, texts: &[&str]) -> String {
        if self == Self::AsIs {
            return one_line(title, TITLE_CHARS);
        }
        let texts: Vec<&str> = texts.iter().map(|text| &text[..text.floor_char_boundary(MAX_MASKED_BYTES)]).collect();
        one_line(&redact_title(&strip_hidden(title), &texts), TITLE_CHARS)
    }

    /// An item of words that are quoted whole, or without their middle.
    pub(super) fn quote_item(
        self,
        text: &str,
        width: usize,
        voice: Voice,
        at: Option<Timestamp>,
        key: EntryKey,
    ) -> Item {
        Item { text: self.quote_passage(text, width), voice, at, entries: vec![key] }
    }

    /// The beginning and the end of a text that is too long to be masked whole.
    fn mask_ends(self, text: &str) -> String {
        let head = &text[..text.floor_char_boundary(MAX_MASKED_BYTES / 2)];
        let tail = &text[text.ceil_char_boundary(text.len() - MAX_MASKED_BYTES / 2)..];
        format!("{}\n[… {} bytes …]\n{}", self.mask(head), text.len() - head.len() - tail.len(), self.mask(tail))
    }
}

/// A text of at most so many characters and a mark: three fifths of its beginning, two fifths of its end.
pub(crate) fn clip_middle(text: &str, width: usize) -> String {
    let n_chars = text.chars().count();
    if n_chars <= width {
        return text.to_owned();
    }
    let (n_head, n_tail) = (width - width * 2 / 5, width * 2 / 5);
    let head_end = char_offset(text, n_head);
    let tail_start = char_offset(text, n_chars - n_tail);
    // Whole lines read better, where the cut is near one's end.
    let head = &text[..head_end];
    let head = head.rfind('\n').filter(|at| head_end - at < width / 8).map_or(head, |at| &head[..at]);
    let tail = &text[tail_start..];
    let tail = tail.find('\n').filter(|at| *at < width / 8).map_or(tail, |at| &tail[at + 1..]);
    let n_left = n_chars - head.chars().count() - tail.chars().count();
    format!("{}\n[… {n_left} characters …]\n{}", head.trim_end(), tail.trim_start_matches('\n'))
}

/// Where the n-th character begins.
fn char_offset(text: &str, n: usize) -> usize {
    text.char_indices().nth(n).map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_loses_its_middle_and_says_so() {
        assert_eq!(clip_middle("short", 10), "short");
        let text: String = ('a'..='z').collect();
        assert_eq!(clip_middle(&text, 10), "abcdef\n[… 16 characters …]\nwxyz");
        assert_eq!(clip_middle("日本語テキストです", 5), "日本語\n[… 4 characters …]\nです");
    }

    #[test]
    fn a_secret_that_would_be_cut_is_masked_first() {
        let key = format!("sk-ant-api03-{}AA", "x9Yb".repeat(23) + "z");
        let text = format!("use {key} for it {}", "and so on ".repeat(50));
        let quoted = Quoting::Masked.quote_passage(&text, 40);
        assert!(quoted.starts_with("use [redacted"), "{quoted}");
    }
}
