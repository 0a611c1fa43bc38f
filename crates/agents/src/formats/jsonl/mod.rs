//! Sessions that are logs of one JSON value a line: how they are scanned, listed by their two ends, and read on from a
//! bookmark. `.zst` is read through.
//!
//! An agent with such sessions brings a function that parses a line into a `Parsed`; the rest is here.

mod bookmark;
mod ends;
mod line;
mod live_start;
mod open_log;
mod parsed_record;
mod scan;
mod search;
mod seen_facts;

pub use bookmark::{
    bookmark_near_end, digest_all, digest_both_ends, digest_head, find_bookmark, find_resume_point, make_bookmark,
};
pub use ends::{EndsScan, read_head, read_tail, whole_lines};
pub use line::Line;
pub use live_start::find_live_start;
pub use open_log::is_compressed;
pub use parsed_record::{
    NOT_AN_OBJECT, ParsedRecord, parse_line, parse_record, read_record, read_record_at, send_to_sink,
};
pub use scan::{LineParser, scan_records, scan_with_memory, scan_with_parser};
pub use search::{contains_text, find_last_line, find_unfinished_line, find_unread_end};
pub use seen_facts::{SeenFacts, update_if_new};

/// Longer records are known by their place and not held in memory: no agent's API takes that much in one message.
pub const MAX_RECORD_BYTES: usize = 64 << 20;

/// How much is read and parsed in one go.
const CHUNK_BYTES: usize = 1 << 19;
