//! Finding a place in a log without parsing it.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use fs_err::File;

use super::open_log::{OpenLog, is_compressed, with_path};
use super::{CHUNK_BYTES, MAX_RECORD_BYTES};
use crate::formats::file;

/// Whether some text stands in a log from an offset on; nothing is parsed to know that.
pub fn contains_text(path: &Path, offset: u64, text: &str) -> io::Result<bool> {
    let finder = memchr::memmem::Finder::new(text);
    let mut log = OpenLog::open_at(path, offset)?;
    let mut block = vec![0; CHUNK_BYTES];
    let mut kept = 0;
    loop {
        let read = log.reader.read(&mut block[kept..]).map_err(|error| with_path(&error, path))?;
        if read == 0 {
            return Ok(false);
        }
        let filled = kept + read;
        if finder.find(&block[..filled]).is_some() {
            return Ok(true);
        }
        // The text may lie across two blocks.
        kept = filled.min(text.len().saturating_sub(1));
        block.copy_within(filled - kept..filled, 0);
    }
}

/// The beginning of the last line within the last `bytes` of a log that holds some text.
pub fn find_last_line(path: &Path, text: &str, bytes: u64) -> io::Result<Option<u64>> {
    const STEP_BYTES: u64 = 4 << 20;
    if is_compressed(path) {
        return Ok(None);
    }
    let finder = memchr::memmem::FinderRev::new(text);
    let size = fs_err::metadata(path)?.len();
    let least = size.saturating_sub(bytes);
    let mut file = file::open_regular(path)?;
    let mut end = size;
    while end > least {
        let start = end.saturating_sub(STEP_BYTES).max(least);
        let mut block = Vec::new();
        file.seek(SeekFrom::Start(start))?;
        // A little more than the step, for text that lies across two of them.
        (&mut file).take(end - start + text.len() as u64).read_to_end(&mut block)?;
        if let Some(at) = finder.rfind(&block) {
            return find_line_start(&mut file, start + at as u64).map(Some);
        }
        end = start;
    }
    Ok(None)
}

/// Where the line around an offset begins.
fn find_line_start(file: &mut File, mut offset: u64) -> io::Result<u64> {
    const STEP_BYTES: u64 = 4096;
    loop {
        let start = offset.saturating_sub(STEP_BYTES);
        let mut block = Vec::new();
        file.seek(SeekFrom::Start(start))?;
        (&mut *file).take(offset - start).read_to_end(&mut block)?;
        match memchr::memrchr(b'\n', &block) {
            Some(end) => return Ok(start + end as u64 + 1),
            None if start == 0 => return Ok(0),
            None => offset = start,
        }
    }
}

/// Where something stands behind the last line that was read of a log that is not compressed.
pub fn find_unread_end(path: &Path, end: u64) -> io::Result<Option<Range<u64>>> {
    let size = fs_err::metadata(path)?.len();
    let mut bytes = Vec::new();
    if size > end {
        OpenLog::open_at(path, end)?.read_more(4096, &mut bytes)?;
    }
    Ok((!bytes.trim_ascii().is_empty()).then_some(end..size))
}

/// The same for who does not know where the last line ended: a last line without its line feed that is no whole value.
pub fn find_unfinished_line(path: &Path) -> io::Result<Option<Range<u64>>> {
    let size = fs_err::metadata(path)?.len();
    let start = find_line_start(&mut file::open_regular(path)?, size)?;
    let mut bytes = Vec::new();
    OpenLog::open_at(path, start)?.read_more(MAX_RECORD_BYTES as u64, &mut bytes)?;
    let is_whole = serde_json::from_slice::<serde::de::IgnoredAny>(&bytes).is_ok();
    if is_whole { Ok(None) } else { find_unread_end(path, start) }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_across_blocks() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        for at in [0, CHUNK_BYTES - 3, CHUNK_BYTES - 1, CHUNK_BYTES, 2 * CHUNK_BYTES - 4, 2 * CHUNK_BYTES] {
            std::fs::write(&path, format!("{}needle", "x".repeat(at))).unwrap();
            assert!(contains_text(&path, 0, "needle").unwrap(), "{at}");
            assert!(!contains_text(&path, at as u64 + 1, "needle").unwrap(), "{at}");
        }
    }
}
