//! Bookmarks in a log: how far it was read, and by what a file that was replaced since is noticed.

use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use super::ends::{read_head, read_tail};
use super::open_log::is_compressed;
use crate::formats::file;
use crate::formats::ids::extend_digest;
use crate::{Bookmark, Sink};

/// Tells a file from one that stands in its place later, by what was before an offset.
pub(super) type DigestFn = fn(&Path, u64) -> io::Result<u64>;

/// Makes a bookmark at an offset.
pub fn make_bookmark(path: &Path, offset: u64, digest: DigestFn) -> io::Result<Bookmark> {
    Ok(Bookmark::Appended { offset, head: digest(path, offset)? })
}

/// Makes a bookmark shortly before the end.
pub fn bookmark_near_end(path: &Path, digest: DigestFn) -> io::Result<Bookmark> {
    make_bookmark(path, find_line_near_end(path)?, digest)
}

/// How far a bookmark's file was read; `None` where another file stands in its place by now.
pub fn find_bookmark(path: &Path, from: &Bookmark, digest: DigestFn) -> io::Result<Option<u64>> {
    let Bookmark::Appended { offset, head } = *from else { return Ok(Some(0)) };
    let same = offset <= fs_err::metadata(path)?.len() && digest(path, offset)? == head;
    Ok(same.then_some(offset))
}

/// Where to start: at the bookmark, or anew where the file was replaced. What was read of that is then taken back.
pub fn find_resume_point(path: &Path, from: &Bookmark, digest: DigestFn, sink: &mut dyn Sink) -> io::Result<u64> {
    let offset = find_bookmark(path, from, digest)?;
    if offset.is_none() {
        // The verdict of a sink that wants no more is met again at the first entry.
        let _ = sink.retract_all();
    }
    Ok(offset.unwrap_or(0))
}

/// A digest of a file's beginning, for logs that are only ever appended to.
pub fn digest_head(path: &Path, read: u64) -> io::Result<u64> {
    Ok(extend_digest(0xcbf2_9ce4_8422_2325, &read_head(path, read.min(512))?))
}

/// A digest of a file's beginning and of the bytes before an offset, for logs that are written again with the same
/// beginning.
pub fn digest_both_ends(path: &Path, offset: u64) -> io::Result<u64> {
    let before = offset.min(512);
    let mut bytes = Vec::new();
    let mut file = file::open_regular(path)?;
    file.seek(SeekFrom::Start(offset - before))?;
    file.take(before).read_to_end(&mut bytes)?;
    Ok(extend_digest(digest_head(path, offset)?, &bytes))
}

/// A digest of all bytes before an offset, for small logs of which any part may be written again.
pub fn digest_all(path: &Path, offset: u64) -> io::Result<u64> {
    let mut file = file::open_regular(path)?.take(offset);
    let (mut digest, mut buffer) = (0xcbf2_9ce4_8422_2325, vec![0; 64 << 10]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(digest),
            length => digest = extend_digest(digest, &buffer[..length]),
        }
    }
}

/// The beginning of a line shortly before the end of a log; 0 where it has to be read from its beginning.
fn find_line_near_end(path: &Path) -> io::Result<u64> {
    const NEAR_BYTES: [u64; 3] = [64 << 10, 1 << 20, 16 << 20];
    if is_compressed(path) {
        return Ok(0);
    }
    let size = fs_err::metadata(path)?.len();
    for near in NEAR_BYTES.into_iter().filter(|near| *near < size) {
        // More than half of it, so that it is not one long record's end.
        let whole = read_tail(path, near)?.len() as u64;
        if whole > near / 2 {
            return Ok(size - whole);
        }
    }
    Ok(0)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests {
    use super::*;

    #[test]
    fn near_the_end_is_the_beginning_of_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let check = |text: &str| {
            std::fs::write(&path, text).unwrap();
            find_line_near_end(&path).unwrap()
        };
        let long = format!("{{\"a\":\"{}\"}}\n", "x".repeat(200_000));
        assert_eq!(check("{}\n"), 0);
        assert_eq!(check(&long.repeat(2)), 0);
        let lines = "{\"some\":1}\n".repeat(20_000);
        let at = check(&lines);
        assert!(at > 0 && lines.len() as u64 - at <= 64 << 10 && at.is_multiple_of(11), "{at}");
        // A long record at the end is not all that is wanted.
        let at = check(&format!("{}{long}", lines.repeat(5)));
        assert!(at > 0 && at < 1_100_000 && at.is_multiple_of(11), "{at}");
    }
}
