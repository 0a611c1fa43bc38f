//! The text of our block in instruction files: lines that point to files in `.carryover/`, and nothing else.
//!
//! A file has one block, and each pointer is a paragraph in it, so that one can be taken out and the other stays. The
//! texts are the same in every project and say nothing of any session: they may be committed.

use std::io;

use carryover_core::render::block;
use serde::{Deserialize, Serialize};

use crate::handoff::blocks::invalid_data;

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
}

impl Pointer {
    const ALL: [Self; 3] = [Self::Handoff, Self::Import, Self::Context];

    /// Some agents' own tools for reading refuse what git ignores; their shells do not.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Handoff => {
                "\
# Carryover handoff
If `.carryover/handoff.md` exists in this project and was not given to you already, read it before starting work (with a
shell command if need be: git ignores it): it is a bounded handoff from the previous session. If that file does not exist,
no recent session was captured."
            }
            Self::Import => "@AGENTS.md",
            Self::Context => {
                "\
An earlier session in this project was handed over. Before you start, read `.carryover/context.md`, if it is there (with a
shell command if need be: git ignores it): it tells what was asked, what was done, and what comes next. If it is not there,
nothing was handed over."
            }
        }
    }
}

/// The pointers of a block; `None` where somebody has written in it.
pub(crate) fn pointers_in(block: &str) -> Option<Vec<Pointer>> {
    let inside = block.trim_start_matches(block::START).trim_end_matches(block::END).replace("\r\n", "\n");
    let mut rest = inside.trim();
    let mut found = Vec::new();
    while !rest.is_empty() {
        let next = Pointer::ALL.into_iter().find(|pointer| rest.starts_with(pointer.text()))?;
        found.push(next);
        rest = rest[next.text().len()..].trim_start();
    }
    Some(found)
}

/// The pointers in the block of a file's text; none where it has no block. Words that somebody has put into it would be
/// gone with it, so there it is an error.
fn pointers_of_file(text: &str) -> io::Result<Vec<Pointer>> {
    let Some(place) = block::find(text).map_err(invalid_data)? else { return Ok(Vec::new()) };
    let changed = || io::Error::new(io::ErrorKind::InvalidData, "somebody has written inside the block");
    pointers_in(&text[place]).ok_or_else(changed)
}

/// A file's text with one more pointer in our block.
pub(crate) fn insert(text: &str, pointer: Pointer) -> io::Result<String> {
    let mut pointers = pointers_of_file(text)?;
    if !pointers.contains(&pointer) {
        pointers.push(pointer);
        pointers.sort();
    }
    block::insert(text, &join_texts(&pointers)).map_err(invalid_data)
}

/// A file's text without a pointer; the block goes with its last one.
pub(crate) fn remove(text: &str, pointer: Pointer) -> io::Result<String> {
    let mut pointers = pointers_of_file(text)?;
    pointers.retain(|there| *there != pointer);
    let changed = if pointers.is_empty() { block::remove(text) } else { block::insert(text, &join_texts(&pointers)) };
    changed.map_err(invalid_data)
}

fn join_texts(pointers: &[Pointer]) -> String {
    let texts: Vec<&str> = pointers.iter().map(|pointer| pointer.text()).collect();
    texts.join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_pointer_goes_and_the_other_stays_in_one_block() {
        for before in ["", "# Rules\n", "# Rules", "a\r\nb\r\n"] {
            let both = insert(&insert(before, Pointer::Context).unwrap(), Pointer::Handoff).unwrap();
            assert_eq!(both.matches(block::START).count(), 1);
            assert_eq!(pointers_of_file(&both).unwrap(), [Pointer::Handoff, Pointer::Context]);
            let only_handoff = remove(&both, Pointer::Context).unwrap();
            assert_eq!(only_handoff, insert(before, Pointer::Handoff).unwrap(), "{before:?}");
            assert_eq!(remove(&only_handoff, Pointer::Handoff).unwrap(), before);
            assert_eq!(insert(&both, Pointer::Handoff).unwrap(), both, "twice is once");
        }
    }

    #[test]
    fn a_block_with_other_words_in_it_is_not_ours() {
        let text = insert("", Pointer::Handoff).unwrap();
        assert_eq!(pointers_in(text.trim()), Some(vec![Pointer::Handoff]));
        let changed = text.replace("bounded", "unbounded");
        assert_eq!(pointers_in(changed.trim()), None);
        assert!(insert(&changed, Pointer::Context).is_err(), "the words would be gone");
    }
}
