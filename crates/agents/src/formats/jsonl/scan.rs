//! Scanning a log: its lines are parsed on two threads, with bounded memory, and handed over in their order.
//!
//! A log that is being written is read up to its last whole line.

use std::collections::BTreeMap;
use std::io;
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::line::Line;
use super::open_log::{OpenLog, is_compressed};
use super::{CHUNK_BYTES, MAX_RECORD_BYTES};

/// Below this, a second thread costs more than it brings.
const PARALLEL_FROM_BYTES: u64 = 4 << 20;

/// Some whole lines.
struct Chunk {
    offset: u64,
    bytes: Vec<u8>,
    /// A line that was skipped for its length; `bytes` is then empty.
    skipped: Option<u64>,
    unterminated: bool,
}

/// Cuts a stream into chunks that end with a line.
struct ChunkReader {
    log: OpenLog,
    offset: u64,
    rest: Vec<u8>,
    ended: bool,
}

impl ChunkReader {
    /// Reads the next lines. `spare` is a buffer that nobody uses any more: one that was made anew for every chunk would
    /// cost as much as parsing it.
    fn next_chunk(&mut self, spare: Vec<u8>) -> io::Result<Option<Chunk>> {
        while !self.ended {
            let start = self.rest.len();
            self.rest.reserve_exact(CHUNK_BYTES + 1);
            self.ended = self.log.read_more(CHUNK_BYTES as u64, &mut self.rest)? == 0;
            if let Some(end) = memchr::memrchr(b'\n', &self.rest[start..]) {
                return Ok(Some(self.cut_chunk(start + end + 1, spare, false)));
            }
            if self.rest.len() > MAX_RECORD_BYTES {
                return self.skip_line().map(Some);
            }
        }
        if self.rest.is_empty() {
            return Ok(None);
        }
        Ok(Some(self.cut_chunk(self.rest.len(), spare, true)))
    }

    fn cut_chunk(&mut self, end: usize, mut spare: Vec<u8>, unterminated: bool) -> Chunk {
        spare.clear();
        // A record of some megabytes is rare, and its room is not kept for the others.
        spare.shrink_to(4 * CHUNK_BYTES);
        spare.extend_from_slice(&self.rest[end..]);
        self.rest.truncate(end);
        let bytes = std::mem::replace(&mut self.rest, spare);
        let offset = self.offset;
        self.offset += bytes.len() as u64;
        Chunk { offset, bytes, skipped: None, unterminated }
    }

    /// Reads on to the end of a line that is too long, holding one chunk at a time.
    fn skip_line(&mut self) -> io::Result<Chunk> {
        let offset = self.offset;
        let mut length = self.rest.len() as u64;
        self.rest = Vec::new();
        loop {
            let mut bytes = Vec::new();
            self.ended = self.log.read_more(CHUNK_BYTES as u64, &mut bytes)? == 0;
            if let Some(end) = memchr::memchr(b'\n', &bytes) {
                length += end as u64;
                self.rest = bytes.split_off(end + 1);
                break;
            }
            length += bytes.len() as u64;
            if self.ended {
                break;
            }
        }
        self.offset = offset + length + 1;
        Ok(Chunk { offset, bytes: Vec::new(), skipped: Some(length), unterminated: false })
    }
}

impl Chunk {
    fn parse_lines<P: LineParser>(&self, parse: &P) -> ParsedChunk<P::Item> {
        let mut memory = P::Memory::default();
        let mut parsed = ParsedChunk { items: Vec::new(), end: self.offset };
        if let Some(length) = self.skipped {
            let line = Line { offset: self.offset, bytes: &[], length, unterminated: false };
            parsed.items.extend(parse.parse_line(&mut memory, line));
            parsed.items.extend(parse.finish_stretch(memory));
            parsed.end = self.offset + length + 1;
            return parsed;
        }
        let mut start = 0;
        while start < self.bytes.len() {
            let end = memchr::memchr(b'\n', &self.bytes[start..]).map_or(self.bytes.len(), |end| start + end);
            let bytes = &self.bytes[start..end];
            let offset = self.offset + start as u64;
            // Behind a line that was skipped, whole ones may stand before the last.
            let unterminated = self.unterminated && end == self.bytes.len();
            let line = Line { offset, bytes, length: bytes.len() as u64, unterminated };
            let item = if parse.skips_line(&line) { None } else { parse.parse_line(&mut memory, line) };
            // A last line without its line feed counts only if it is whole.
            if !unterminated || item.is_some() {
                parsed.end = self.offset + (end as u64 + 1).min(self.bytes.len() as u64);
            }
            parsed.items.extend(item);
            start = end + 1;
        }
        parsed.items.extend(parse.finish_stretch(memory));
        parsed
    }
}

/// How lines are parsed; it is done on several threads.
pub trait LineParser: Sync {
    type Item: Send;
    /// Kept from the lines before. It is empty at the beginning of every stretch that is parsed on one thread, so
    /// it can spare repetition and no more.
    type Memory: Default;

    /// `None` for a line that does not count, or not yet.
    fn parse_line(&self, memory: &mut Self::Memory, line: Line<'_>) -> Option<Self::Item>;

    /// Whether a line is nothing at all.
    fn skips_line(&self, line: &Line<'_>) -> bool {
        line.is_empty_value()
    }

    /// The item that is left at the end of a stretch.
    fn finish_stretch(&self, memory: Self::Memory) -> Option<Self::Item> {
        let _ = memory;
        None
    }
}

/// Parses with a function.
struct FnParser<F, M>(F, PhantomData<fn(M)>);

impl<M: Default, T: Send, F: Fn(&mut M, Line<'_>) -> Option<T> + Sync> LineParser for FnParser<F, M> {
    type Item = T;
    type Memory = M;

    fn parse_line(&self, memory: &mut M, line: Line<'_>) -> Option<T> {
        self.0(memory, line)
    }
}

struct ParsedChunk<T> {
    items: Vec<T>,
    /// The end of the last line that counts.
    end: u64,
}

/// Parses every line from an offset on and hands the results over in order; returns where to go on later.
///
/// `parse` answers `None` for a line that it does not count; it runs on several threads.
pub fn scan_records<T: Send>(
    path: &Path,
    from: u64,
    parse: impl Fn(Line<'_>) -> Option<T> + Sync,
    merge: impl FnMut(T) -> ControlFlow<()>,
) -> io::Result<u64> {
    scan_with_memory(path, from, |(): &mut (), line| parse(line), merge)
}

/// The same with a memory: what `parse` keeps of the lines before. It is empty at the beginning of every stretch that
/// is parsed on one thread, so it can spare repetition and no more.
pub fn scan_with_memory<M: Default, T: Send>(
    path: &Path,
    from: u64,
    parse: impl Fn(&mut M, Line<'_>) -> Option<T> + Sync,
    merge: impl FnMut(T) -> ControlFlow<()>,
) -> io::Result<u64> {
    scan_with_parser(path, from, &FnParser(parse, PhantomData), merge)
}

/// The same for one who puts lines together.
pub fn scan_with_parser<P: LineParser>(
    path: &Path,
    from: u64,
    parse: &P,
    mut merge: impl FnMut(P::Item) -> ControlFlow<()>,
) -> io::Result<u64> {
    let size = fs_err::metadata(path)?.len();
    let mut chunks = ChunkReader { log: OpenLog::open_at(path, from)?, offset: from, rest: Vec::new(), ended: false };
    if size.saturating_sub(from) >= PARALLEL_FROM_BYTES || is_compressed(path) {
        return scan_on_threads(chunks, from, parse, &mut merge);
    }
    let (mut end, mut spare) = (from, Vec::new());
    while let Some(chunk) = chunks.next_chunk(spare)? {
        let parsed = chunk.parse_lines(parse);
        (end, spare) = (parsed.end, chunk.bytes);
        for item in parsed.items {
            if merge(item).is_break() {
                return Ok(end);
            }
        }
    }
    Ok(end)
}

type ChunkResult<T> = io::Result<(u64, ParsedChunk<T>)>;

fn scan_on_threads<P: LineParser>(
    chunks: ChunkReader,
    from: u64,
    parse: &P,
    merge: &mut impl FnMut(P::Item) -> ControlFlow<()>,
) -> io::Result<u64> {
    let shared = Mutex::new((0_u64, chunks));
    std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel::<ChunkResult<P::Item>>(2);
        for _ in 0..2 {
            let sender = sender.clone();
            let shared = &shared;
            scope.spawn(move || parse_chunks(shared, parse, &sender));
        }
        drop(sender);
        merge_in_order(&receiver, from, merge)
    })
}

fn parse_chunks<P: LineParser>(
    shared: &Mutex<(u64, ChunkReader)>,
    parse: &P,
    sender: &SyncSender<ChunkResult<P::Item>>,
) {
    let mut spare = Vec::new();
    loop {
        let next = {
            // A panic in the other worker is reported by the scope; going on would hide it.
            let Ok(mut guard) = shared.lock() else { return };
            let number = guard.0;
            guard.0 += 1;
            guard.1.next_chunk(std::mem::take(&mut spare)).map(|chunk| chunk.map(|chunk| (number, chunk)))
        };
        let message = match next {
            Ok(Some((number, chunk))) => {
                let parsed = chunk.parse_lines(parse);
                spare = chunk.bytes;
                Ok((number, parsed))
            }
            Ok(None) => return,
            Err(error) => Err(error),
        };
        let failed = message.is_err();
        if sender.send(message).is_err() || failed {
            return;
        }
    }
}

fn merge_in_order<T>(
    receiver: &Receiver<ChunkResult<T>>,
    from: u64,
    merge: &mut impl FnMut(T) -> ControlFlow<()>,
) -> io::Result<u64> {
    let mut early = BTreeMap::new();
    let mut wanted = 0;
    let mut end = from;
    for message in receiver {
        let (number, parsed) = message?;
        early.insert(number, parsed);
        while let Some(parsed) = early.remove(&wanted) {
            wanted += 1;
            end = parsed.end;
            for item in parsed.items {
                if merge(item).is_break() {
                    return Ok(end);
                }
            }
        }
    }
    Ok(end)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    fn collect_lines(path: &Path, from: u64) -> (Vec<(u64, String)>, u64) {
        let mut lines = Vec::new();
        let parse = |line: Line<'_>| {
            let text = String::from_utf8(line.bytes.to_vec()).unwrap();
            (!line.unterminated || text.ends_with('}')).then_some((line.offset, text))
        };
        let end = scan_records(path, from, parse, |item| {
            lines.push(item);
            ControlFlow::Continue(())
        });
        (lines, end.unwrap())
    }

    #[test]
    fn a_growing_last_line_is_read_later() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        std::fs::write(&path, "{1}\n\n{2}\n{3").unwrap();
        let (lines, end) = collect_lines(&path, 0);
        assert_eq!(lines, [(0, "{1}".to_owned()), (5, "{2}".to_owned())]);
        assert_eq!(end, 9);
        std::fs::write(&path, "{1}\n\n{2}\n{3}").unwrap();
        let (lines, end) = collect_lines(&path, end);
        assert_eq!(lines, [(9, "{3}".to_owned())]);
        assert_eq!(end, 12);
    }

    #[test]
    fn a_compressed_log_that_was_cut_off_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl.zst");
        let whole = zstd::encode_all(&b"{1}\n{2}\n"[..], 0).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 4]).unwrap();
        let error = scan_records(&path, 0, |_| Some(()), |()| ControlFlow::Continue(())).unwrap_err();
        assert!(error.to_string().contains("log.jsonl.zst"), "{error}");
    }

    #[test]
    fn big_files_come_in_order_from_two_threads() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        let mut text = String::new();
        for n in 0..600_000 {
            let _ = writeln!(text, "{{{n}}}");
        }
        std::fs::write(&path, &text).unwrap();
        let (lines, end) = collect_lines(&path, 0);
        assert_eq!(end, text.len() as u64);
        assert!(lines.iter().enumerate().all(|(n, (_, line))| *line == format!("{{{n}}}")));
    }

    #[test]
    fn a_line_beyond_the_limit_is_known_by_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        let long = "x".repeat(MAX_RECORD_BYTES + 3 * CHUNK_BYTES);
        std::fs::write(&path, format!("{{1}}\n{long}\n{{2}}\n")).unwrap();
        let mut seen = Vec::new();
        let parse = |line: Line<'_>| Some((line.offset, line.length, line.is_too_long()));
        scan_records(&path, 0, parse, |item| {
            seen.push(item);
            ControlFlow::Continue(())
        })
        .unwrap();
        let length = long.len() as u64;
        assert_eq!(seen, [(0, 3, false), (4, length, true), (5 + length, 3, false)]);
    }
}
