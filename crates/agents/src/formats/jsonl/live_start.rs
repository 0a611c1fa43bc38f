//! The part of a log that may still be live.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use super::line::Line;
use super::scan::scan_records;
use super::search::find_last_line;
use crate::Sink;

/// How far before the end a compaction is looked for: a context that has outgrown every window was compacted.
const NEAR_END_BYTES: u64 = 48 << 20;

/// Less than this is read as fast as it is looked through.
const SEARCH_FROM_BYTES: u64 = 4 << 20;

/// Finds where the part that may still be live begins: at the last compaction, where the past is not wanted.
///
/// `marker` is what the line of a compaction holds. The same words inside some other record mean nothing, so
/// `is_compaction` reads that line.
pub fn find_live_start(
    path: &Path,
    start: u64,
    sink: &dyn Sink,
    marker: &str,
    is_compaction: impl Fn(Line<'_>) -> bool + Sync,
) -> io::Result<u64> {
    let size = fs_err::metadata(path)?.len();
    if sink.wants_full_history() || size.saturating_sub(start) < SEARCH_FROM_BYTES {
        return Ok(0);
    }
    let Some(offset) = find_last_line(path, marker, NEAR_END_BYTES)? else { return Ok(0) };
    let mut found = false;
    scan_records(
        path,
        offset,
        |line| Some(line.offset == offset && is_compaction(line)),
        |is_compaction| {
            found = is_compaction;
            ControlFlow::Break(())
        },
    )?;
    Ok(if found { offset } else { 0 })
}
