//! How one file of instructions stands to another.

use std::time::Duration;

use similar::{ChangeTag, TextDiff};

use crate::handoff::pointer;
use crate::memory::paragraph;
use crate::memory::project_files::ProjectFile;

/// Files that differ in so much that it takes longer are compared roughly.
const MAX_COMPARING: Duration = Duration::from_millis(200);

/// What a file has of another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// One of them is a link.
    SameFile,
    /// Besides our block.
    SameWords,
    Imports,
    ImportedBy,
    /// Our block holds the other's words, or words that it had.
    Copies {
        is_current: bool,
    },
    Differs {
        lines_only_here: usize,
        lines_only_there: usize,
    },
}

/// How a file stands to another; none where one of them cannot be read.
pub(super) fn compare(file: &ProjectFile, other: &ProjectFile) -> Option<Relation> {
    if file.is_same_file(other) {
        return Some(Relation::SameFile);
    }
    let text = file.text.as_deref().ok()?;
    other.text.as_ref().ok()?;
    if file.imports(other) {
        return Some(Relation::Imports);
    }
    if other.imports(file) {
        return Some(Relation::ImportedBy);
    }
    let (own, others) = (file.own_words(), other.own_words());
    if let Some(held) = pointer::memory_paragraph(text)
        && let Some(found) = paragraph::parse(&held)
        && found.is_copy
        && names_file(found.source, &other.name)
    {
        return Some(Relation::Copies { is_current: held == paragraph::render_copy(found.source, &others) });
    }
    if own == others {
        return Some(Relation::SameWords);
    }
    let diff = TextDiff::configure().timeout(MAX_COMPARING).diff_lines(&own, &others);
    let count = |tag: ChangeTag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
    Some(Relation::Differs { lines_only_here: count(ChangeTag::Delete), lines_only_there: count(ChangeTag::Insert) })
}

/// Whether a path that a file tells, from its own folder on, is that name.
fn names_file(told: &str, name: &str) -> bool {
    told.trim_start_matches("../") == name
}
