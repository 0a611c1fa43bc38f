//! Later changes of what the model sees of earlier records.
//!
//! The client takes back attempts that failed this way, and extensions shorten what has grown. The last change of a
//! record wins; which branch it was made on is not looked at.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use carryover_core::json::Json;

use super::wire::WireEdit;
use crate::formats::jsonl::{self, Line};

/// Stands in every edit.
const EDIT_MARK: &str = r#""context_edit""#;

/// The content that the model sees in the place of a record's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Edit {
    Omitted,
    Replaced(Json),
}

/// The edits of a session, by the record that they change.
#[derive(Debug, Default)]
pub(super) struct Edits(BTreeMap<String, Edit>);

impl Edits {
    /// The edits that stand at or after an offset: an edit follows what it changes.
    pub(super) fn read_after(path: &Path, offset: u64) -> io::Result<Self> {
        let mut edits = Self::default();
        // Few sessions have any, and looking for the word is a fraction of looking at every line.
        if !jsonl::contains_text(path, offset, EDIT_MARK)? {
            return Ok(edits);
        }
        let finder = memchr::memmem::Finder::new(EDIT_MARK);
        let parse = |line: Line<'_>| finder.find(line.bytes).and_then(|_| parse_edit(line.bytes));
        jsonl::scan_records(path, offset, parse, |(target, edit)| {
            edits.0.insert(target, edit);
            ControlFlow::Continue(())
        })?;
        Ok(edits)
    }

    pub(super) fn get(&self, id: &str) -> Option<&Edit> {
        self.0.get(id)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn parse_edit(line: &[u8]) -> Option<(String, Edit)> {
    let edit: WireEdit<'_> =
        serde_json::from_slice(line).ok().filter(|edit: &WireEdit<'_>| &*edit.kind == "context_edit")?;
    let change = edit.replacement.map_or(Edit::Omitted, |new| Edit::Replaced(Json::from_raw(new.content)));
    Some((edit.target_id.to_string(), change))
}
