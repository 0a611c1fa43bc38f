//! The text of our block in instruction files: lines that point to files in `.carryover/`, or to another file of
//! instructions, and nothing else.
//!
//! A file has one block, and each pointer is a paragraph in it, so that one can be taken out and the other stays. The
//! texts say nothing of any session: they may be committed. All are the same in every project but that of a file that
//! follows another one, which is the last for that reason.

use std::io;

use carryover_core::render::block;
use serde::{Deserialize, Serialize};

use crate::handoff::blocks::invalid_data;
use crate::memory::paragraph;

/// The line that takes in the common file of instructions.
pub(crate) const IMPORT_LINE: &str = "@AGENTS.md";

/// One paragraph of the block, in the order in which they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Pointer {
    /// To the handoff that is published after each session.
    Handoff,
    /// To the file of instructions that has the handoff's pointer, for an agent that reads only its own.
    Import,
    /// To a brief that a user left.
    #[default]
    Context,
    /// To the file of instructions that this one follows; a copy of it, where the agent cannot import.
    Memory,
}

impl Pointer {
    /// Those that say the same everywhere.
    const FIXED: [(Self, &'static str); 3] =
        [(Self::Handoff, HANDOFF_TEXT), (Self::Import, IMPORT_LINE), (Self::Context, CONTEXT_TEXT)];
}

/// Some agents' own tools for reading refuse what git ignores; their shells do not.
const HANDOFF_TEXT: &str = "\
# Carryover handoff
If `.carryover/handoff.md` exists in this project and was not given to you already, read it before starting work (with a
shell command if need be: git ignores it): it is a bounded handoff from the previous session. If that file does not exist,
no recent session was captured.";

const CONTEXT_TEXT: &str = "\
An earlier session in this project was handed over. Before you start, read `.carryover/context.md`, if it is there (with a
shell command if need be: git ignores it): it tells what was asked, what was done, and what comes next. If it is not there,
nothing was handed over.";

/// A pointer with its text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Paragraph {
    pointer: Pointer,
    text: String,
}

/// Whether a block holds nothing but pointers: nobody has written in it.
pub(crate) fn is_of_pointers(block: &str) -> bool {
    paragraphs_in(block).is_some()
}

/// The text of the paragraph in a file's block that follows another file.
pub(crate) fn memory_paragraph(text: &str) -> Option<String> {
    let place = block::find(text).ok()??;
    let mut paragraphs = paragraphs_in(&text[place])?.into_iter();
    paragraphs.find(|paragraph| paragraph.pointer == Pointer::Memory).map(|paragraph| paragraph.text)
}

/// The pointers of a block; `None` where somebody has written in it.
fn paragraphs_in(block: &str) -> Option<Vec<Paragraph>> {
    let inside = block.trim_start_matches(block::START).trim_end_matches(block::END).replace("\r\n", "\n");
    let mut rest = inside.trim();
    let mut found = Vec::new();
    while !rest.is_empty() {
        let fixed = Pointer::FIXED.into_iter().find(|(_, text)| rest.starts_with(text));
        let (pointer, text) = match fixed {
            Some((pointer, text)) => (pointer, text),
            None => paragraph::parse(rest).map(|_| (Pointer::Memory, rest))?,
        };
        found.push(Paragraph { pointer, text: text.to_owned() });
        rest = rest[text.len()..].trim_start();
    }
    Some(found)
}

/// The pointers in the block of a file's text; none where it has no block. Words that somebody has put into it would be
/// gone with it, so there it is an error.
fn paragraphs_of_file(text: &str) -> io::Result<Vec<Paragraph>> {
    let Some(place) = block::find(text).map_err(invalid_data)? else { return Ok(Vec::new()) };
    let changed = || io::Error::new(io::ErrorKind::InvalidData, "somebody has written inside the block");
    paragraphs_in(&text[place]).ok_or_else(changed)
}

/// A file's text with one more pointer in our block, of those that say the same everywhere.
pub(crate) fn insert(text: &str, pointer: Pointer) -> io::Result<String> {
    let fixed = Pointer::FIXED.into_iter().find(|(known, _)| *known == pointer);
    insert_paragraph(text, pointer, fixed.map_or("", |(_, text)| text))
}

/// A file's text with the paragraph by which it follows another one, in the place of the one that is there.
pub(crate) fn insert_memory(text: &str, paragraph: &str) -> io::Result<String> {
    insert_paragraph(text, Pointer::Memory, paragraph)
}

fn insert_paragraph(text: &str, pointer: Pointer, paragraph: &str) -> io::Result<String> {
    let mut paragraphs = paragraphs_of_file(text)?;
    paragraphs.retain(|there| there.pointer != pointer);
    paragraphs.push(Paragraph { pointer, text: paragraph.to_owned() });
    paragraphs.sort();
    block::insert(text, &join_texts(&paragraphs)).map_err(invalid_data)
}

/// A file's text without a pointer; the block goes with its last one.
pub(crate) fn remove(text: &str, pointer: Pointer) -> io::Result<String> {
    let mut paragraphs = paragraphs_of_file(text)?;
    paragraphs.retain(|there| there.pointer != pointer);
    let changed =
        if paragraphs.is_empty() { block::remove(text) } else { block::insert(text, &join_texts(&paragraphs)) };
    changed.map_err(invalid_data)
}

/// A text without our pointers. The copy of another file stays, and so does a block that somebody has written in.
pub(crate) fn without_pointers(text: &str) -> String {
    let Some(paragraphs) = block::find(text).ok().flatten().and_then(|place| paragraphs_in(&text[place])) else {
        return text.to_owned();
    };
    let rest = block::remove(text).unwrap_or_else(|_| text.to_owned());
    let is_copy = |held: &&Paragraph| paragraph::parse(&held.text).is_some_and(|held| held.is_copy);
    match paragraphs.iter().find(is_copy) {
        Some(copy) if rest.trim().is_empty() => copy.text.clone(),
        Some(copy) => format!("{}\n\n{}", rest.trim_end(), copy.text),
        None => rest,
    }
}

fn join_texts(paragraphs: &[Paragraph]) -> String {
    let texts: Vec<&str> = paragraphs.iter().map(|paragraph| paragraph.text.as_str()).collect();
    texts.join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointers_of_file(text: &str) -> Vec<Pointer> {
        paragraphs_of_file(text).unwrap().into_iter().map(|paragraph| paragraph.pointer).collect()
    }

    #[test]
    fn a_copy_of_another_file_stands_last_and_is_replaced_alone() {
        for before in ["", "# Rules\n", "# Rules", "a\r\nb\r\n"] {
            let first = insert_memory(before, &paragraph::render_copy("A.md", "one\n\n@AGENTS.md\n")).unwrap();
            let both = insert(&first, Pointer::Handoff).unwrap();
            assert_eq!(pointers_of_file(&both), [Pointer::Handoff, Pointer::Memory]);
            let second = insert_memory(&both, &paragraph::render_copy("A.md", "two")).unwrap();
            assert!(second.contains("two") && !second.contains("one"), "{second}");
            assert_eq!(insert_memory(&second, &paragraph::render_copy("A.md", "two")).unwrap(), second);
            assert_eq!(remove(&second, Pointer::Memory).unwrap(), insert(before, Pointer::Handoff).unwrap());
            assert!(insert(&second.replace("two", "mine"), Pointer::Context).is_err(), "the word would be gone");
        }
    }

    #[test]
    fn one_pointer_goes_and_the_other_stays_in_one_block() {
        for before in ["", "# Rules\n", "# Rules", "a\r\nb\r\n"] {
            let both = insert(&insert(before, Pointer::Context).unwrap(), Pointer::Handoff).unwrap();
            assert_eq!(both.matches(block::START).count(), 1);
            assert_eq!(pointers_of_file(&both), [Pointer::Handoff, Pointer::Context]);
            let only_handoff = remove(&both, Pointer::Context).unwrap();
            assert_eq!(only_handoff, insert(before, Pointer::Handoff).unwrap(), "{before:?}");
            assert_eq!(remove(&only_handoff, Pointer::Handoff).unwrap(), before);
            assert_eq!(insert(&both, Pointer::Handoff).unwrap(), both, "twice is once");
        }
    }

    #[test]
    fn a_block_with_other_words_in_it_is_not_ours() {
        let text = insert("", Pointer::Handoff).unwrap();
        assert!(is_of_pointers(text.trim()));
        let changed = text.replace("bounded", "unbounded");
        assert!(!is_of_pointers(changed.trim()));
        assert!(insert(&changed, Pointer::Context).is_err(), "the words would be gone");
    }
}
