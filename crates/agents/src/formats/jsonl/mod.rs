//! Sessions that are logs of one JSON value a line: how they are scanned, listed by their two ends, and read on from a
//! bookmark. `.zst` is read through.
//!
//! An agent with such sessions brings a function that parses a line into a `Parsed`; the rest is here.

mod bookmark;
mod ends;
mod line;
mod opened;
mod parsed;
mod present;
mod repeated;
mod scan;
mod search;

pub use bookmark::{digest_both_ends, digest_head, find_mark, mark, mark_near_end, resume_point};
pub use ends::{Ends, read_head, read_tail, whole_lines};
pub use line::Line;
pub use opened::is_compressed;
pub use parsed::{NO_OBJECT, Parsed, hand_over, parse_line, parse_record, read_record, read_record_at};
pub use present::find_present;
pub use repeated::{Repeated, is_news};
pub use scan::{LineParser, scan_records, scan_with_memory, scan_with_parser};
pub use search::{contains_text, find_last_line, find_unfinished_line, find_unread_end};

/// Longer records are known by their place and not held in memory: no agent's API takes that much in one message.
pub const MAX_RECORD_BYTES: usize = 64 << 20;

/// How much is read and parsed in one go.
const CHUNK_BYTES: usize = 1 << 19;
