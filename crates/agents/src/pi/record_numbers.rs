//! Files of version 1, whose records have no names: each follows the one before it, and a compaction tells by a number
//! which record is the first that it keeps.
//!
//! The client gives names when it opens such a file, and writes it anew; until then the numbers are the names.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use carryover_core::transcript::{Body, Node, NodeId};

use super::edits::Edits;
use super::record::{self, LastFacts, Parsed};
use crate::formats::jsonl::{self, Line};

/// The first line tells the version.
const HEAD_BYTES: u64 = 16 << 10;

/// Gives the records of a file their places, in the order of the file.
pub(super) struct RecordNumbers {
    /// How many records came before.
    next: u64,
}

impl RecordNumbers {
    /// For a file of version 1 that is read from this offset on; `None` where records have names.
    pub(super) fn for_file(path: &Path, offset: u64) -> io::Result<Option<Self>> {
        if !is_first_version(&jsonl::read_head(path, HEAD_BYTES)?) {
            return Ok(None);
        }
        let mut numbers = Self { next: 0 };
        let edits = Edits::default();
        let parse = |told: &mut LastFacts, line: Line<'_>| {
            if line.offset < offset { record::skim_record(told, line, 0, &edits) } else { None }
        };
        if offset > 0 {
            jsonl::scan_with_memory(path, 0, parse, |parsed| {
                numbers.count_record(&parsed);
                ControlFlow::Continue(())
            })?;
        }
        Ok(Some(numbers))
    }

    /// The number of a record; a line that is none has none.
    fn count_record(&mut self, parsed: &Parsed) -> Option<u64> {
        // The client skips such lines.
        if parsed.rejected == Some(jsonl::NOT_AN_OBJECT) {
            return None;
        }
        self.next += 1;
        Some(self.next - 1)
    }

    /// Puts a record behind the one before it.
    pub(super) fn link_record(&mut self, parsed: &mut Parsed) {
        let Some(number) = self.count_record(parsed).filter(|number| *number > 0) else { return };
        let parent = (number > 1).then(|| node_id(number - 1));
        let kept = parsed.more.first_kept.filter(|first| (1..number).contains(first)).map(node_id).zip(parent);
        for entry in &mut parsed.entries {
            entry.node = Some(Node { id: node_id(number), parent, group: None });
            if let Body::Compacted(compacted) = &mut entry.body {
                compacted.kept = kept;
            }
        }
    }
}

fn node_id(number: u64) -> NodeId {
    NodeId::from_name(&format!("record {number}"))
}

fn is_first_version(head: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct First {
        #[serde(rename = "type")]
        kind: String,
        #[serde(default)]
        version: Option<u64>,
    }
    let first = jsonl::whole_lines(head).next().and_then(|line| serde_json::from_slice::<First>(line).ok());
    first.is_some_and(|first| first.kind == "session" && first.version.is_none_or(|version| version < 2))
}
