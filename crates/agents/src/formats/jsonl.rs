//! Logs of one JSON value a line, read as streams with bounded memory; `.zst` is read through.
//!
//! A log that is being written is read up to its last whole line. Lines are parsed on two threads and handed over in
//! their order.

use std::collections::BTreeMap;
use std::io::{self, Read, Seek, SeekFrom};
use std::marker::PhantomData;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use fs_err::File;

use super::file;
use super::line::Line;

/// Longer records are known by their place and not held in memory: no agent's API takes that much in one message.
pub const MAX_RECORD: usize = 64 << 20;

/// How much is read and parsed in one go.
const CHUNK: usize = 1 << 19;

/// Below this, a second thread costs more than it brings.
const WORTH_A_THREAD: u64 = 4 << 20;

/// How many times its own size a compressed log may hold; talk becomes a tenth, a hundredth at the very best.
const MAX_UNPACKED: u64 = 256;

/// What any compressed log may hold.
const LEAST_UNPACKED: u64 = 16 << 20;

/// Some whole lines.
struct Chunk {
    offset: u64,
    bytes: Vec<u8>,
    /// A line that was skipped for its length; `bytes` is then empty.
    skipped: Option<u64>,
    unterminated: bool,
}

/// Cuts a stream into chunks that end with a line.
struct Chunks {
    log: Opened,
    offset: u64,
    rest: Vec<u8>,
    ended: bool,
}

/// A log that is open.
struct Opened {
    reader: Box<dyn Read + Send>,
    path: PathBuf,
}

impl Opened {
    /// Opens a log at an offset of its decompressed bytes.
    fn at(path: &Path, from: u64) -> io::Result<Self> {
        let mut file = file::open(path)?;
        if !is_compressed(path) {
            file.seek(SeekFrom::Start(from))?;
        }
        // The bare file fills a buffer that was not cleared before; our own errors name it, once.
        let (file, _) = file.into_parts();
        if !is_compressed(path) {
            return Ok(Self { reader: Box::new(file), path: path.to_owned() });
        }
        let room = file.metadata()?.len().saturating_mul(MAX_UNPACKED).max(LEAST_UNPACKED);
        let decoder = zstd::stream::read::Decoder::new(file).map_err(|error| named(&error, path))?;
        let mut opened = Self { reader: Box::new(Unpacked { decoder, room }), path: path.to_owned() };
        let skipped = io::copy(&mut opened.reader.by_ref().take(from), &mut io::sink());
        skipped.map(|_| opened).map_err(|error| named(&error, path))
    }

    /// Reads on for some bytes, and tells how many there were.
    fn read_on(&mut self, bytes: u64, into: &mut Vec<u8>) -> io::Result<usize> {
        let read = self.reader.by_ref().take(bytes).read_to_end(into);
        read.map_err(|error| named(&error, &self.path))
    }
}

/// A compressed log, read as far as its size can explain.
struct Unpacked<R> {
    decoder: R,
    room: u64,
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.decoder.read(into)?;
        self.room = self.room.checked_sub(read as u64).ok_or_else(|| {
            let reason = format!("it unpacks to more than {MAX_UNPACKED} times its size and is not read");
            io::Error::new(io::ErrorKind::InvalidData, reason)
        })?;
        Ok(read)
    }
}

/// An error that tells which file it is about.
fn named(error: &io::Error, path: &Path) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

pub fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "zst")
}

impl Chunks {
    fn next(&mut self) -> io::Result<Option<Chunk>> {
        while !self.ended {
            let start = self.rest.len();
            self.rest.reserve_exact(CHUNK + 1);
            self.ended = self.log.read_on(CHUNK as u64, &mut self.rest)? == 0;
            if let Some(end) = memchr::memrchr(b'\n', &self.rest[start..]) {
                return Ok(Some(self.cut(start + end + 1, false)));
            }
            if self.rest.len() > MAX_RECORD {
                return self.skip_line().map(Some);
            }
        }
        if self.rest.is_empty() {
            return Ok(None);
        }
        Ok(Some(self.cut(self.rest.len(), true)))
    }

    fn cut(&mut self, end: usize, unterminated: bool) -> Chunk {
        let rest = self.rest.split_off(end);
        let bytes = std::mem::replace(&mut self.rest, rest);
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
            self.ended = self.log.read_on(CHUNK as u64, &mut bytes)? == 0;
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
    fn each<P: Parse>(&self, parse: &P) -> Parsed<P::Item> {
        let mut memory = P::Memory::default();
        let mut parsed = Parsed { items: Vec::new(), end: self.offset };
        if let Some(length) = self.skipped {
            let line = Line { offset: self.offset, bytes: &[], length, unterminated: false };
            parsed.items.extend(parse.line(&mut memory, line));
            parsed.items.extend(parse.rest(memory));
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
            let item = if parse.skips(&line) { None } else { parse.line(&mut memory, line) };
            // A last line without its line feed counts only if it is whole.
            if !unterminated || item.is_some() {
                parsed.end = self.offset + (end as u64 + 1).min(self.bytes.len() as u64);
            }
            parsed.items.extend(item);
            start = end + 1;
        }
        parsed.items.extend(parse.rest(memory));
        parsed
    }
}

/// How lines are parsed; it is done on several threads.
pub trait Parse: Sync {
    type Item: Send;
    /// What is kept of the lines before. It is empty at the beginning of every stretch that is parsed on one thread, so
    /// it can spare repetition and no more.
    type Memory: Default;

    /// `None` for a line that does not count, or not yet.
    fn line(&self, memory: &mut Self::Memory, line: Line<'_>) -> Option<Self::Item>;

    /// Whether a line is nothing at all.
    fn skips(&self, line: &Line<'_>) -> bool {
        line.is_hollow()
    }

    /// What is left at the end of a stretch.
    fn rest(&self, memory: Self::Memory) -> Option<Self::Item> {
        let _ = memory;
        None
    }
}

/// Parses with a function.
struct Plainly<F, M>(F, PhantomData<fn(M)>);

impl<M: Default, T: Send, F: Fn(&mut M, Line<'_>) -> Option<T> + Sync> Parse for Plainly<F, M> {
    type Item = T;
    type Memory = M;

    fn line(&self, memory: &mut M, line: Line<'_>) -> Option<T> {
        self.0(memory, line)
    }
}

struct Parsed<T> {
    items: Vec<T>,
    /// The end of the last line that counts.
    end: u64,
}

/// Parses every line from an offset on and hands the results over in order; returns where to go on later.
///
/// `parse` answers `None` for a line that it does not count; it runs on several threads.
pub fn scan<T: Send>(
    path: &Path,
    from: u64,
    parse: impl Fn(Line<'_>) -> Option<T> + Sync,
    merge: impl FnMut(T) -> ControlFlow<()>,
) -> io::Result<u64> {
    scan_remembering(path, from, |(): &mut (), line| parse(line), merge)
}

/// The same with a memory: what `parse` keeps of the lines before. It is empty at the beginning of every stretch that
/// is parsed on one thread, so it can spare repetition and no more.
pub fn scan_remembering<M: Default, T: Send>(
    path: &Path,
    from: u64,
    parse: impl Fn(&mut M, Line<'_>) -> Option<T> + Sync,
    merge: impl FnMut(T) -> ControlFlow<()>,
) -> io::Result<u64> {
    scan_with(path, from, &Plainly(parse, PhantomData), merge)
}

/// The same for one who puts lines together.
pub fn scan_with<P: Parse>(
    path: &Path,
    from: u64,
    parse: &P,
    mut merge: impl FnMut(P::Item) -> ControlFlow<()>,
) -> io::Result<u64> {
    let size = fs_err::metadata(path)?.len();
    let mut chunks = Chunks { log: Opened::at(path, from)?, offset: from, rest: Vec::new(), ended: false };
    if size.saturating_sub(from) >= WORTH_A_THREAD || is_compressed(path) {
        return scan_on_threads(chunks, from, parse, &mut merge);
    }
    let mut end = from;
    while let Some(chunk) = chunks.next()? {
        let parsed = chunk.each(parse);
        end = parsed.end;
        for item in parsed.items {
            if merge(item).is_break() {
                return Ok(end);
            }
        }
    }
    Ok(end)
}

type Message<T> = io::Result<(u64, Parsed<T>)>;

fn scan_on_threads<P: Parse>(
    chunks: Chunks,
    from: u64,
    parse: &P,
    merge: &mut impl FnMut(P::Item) -> ControlFlow<()>,
) -> io::Result<u64> {
    let shared = Mutex::new((0_u64, chunks));
    std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel::<Message<P::Item>>(2);
        for _ in 0..2 {
            let sender = sender.clone();
            let shared = &shared;
            scope.spawn(move || work(shared, parse, &sender));
        }
        drop(sender);
        merge_in_order(&receiver, from, merge)
    })
}

fn work<P: Parse>(shared: &Mutex<(u64, Chunks)>, parse: &P, sender: &SyncSender<Message<P::Item>>) {
    loop {
        let next = {
            // A panic in the other worker is reported by the scope; going on would hide it.
            let Ok(mut guard) = shared.lock() else { return };
            let number = guard.0;
            guard.0 += 1;
            guard.1.next().map(|chunk| chunk.map(|chunk| (number, chunk)))
        };
        let message = match next {
            Ok(Some((number, chunk))) => Ok((number, chunk.each(parse))),
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
    receiver: &Receiver<Message<T>>,
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

/// Whether some text stands in a log from an offset on; nothing is parsed to know that.
pub fn holds(path: &Path, offset: u64, text: &str) -> io::Result<bool> {
    let finder = memchr::memmem::Finder::new(text);
    let mut log = Opened::at(path, offset)?;
    let mut block = vec![0; CHUNK];
    let mut kept = 0;
    loop {
        let read = log.reader.read(&mut block[kept..]).map_err(|error| named(&error, path))?;
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
pub fn last_line_with(path: &Path, text: &str, bytes: u64) -> io::Result<Option<u64>> {
    const STEP: u64 = 4 << 20;
    if is_compressed(path) {
        return Ok(None);
    }
    let finder = memchr::memmem::FinderRev::new(text);
    let size = fs_err::metadata(path)?.len();
    let least = size.saturating_sub(bytes);
    let mut file = file::open(path)?;
    let mut end = size;
    while end > least {
        let start = end.saturating_sub(STEP).max(least);
        let mut block = Vec::new();
        file.seek(SeekFrom::Start(start))?;
        // A little more than the step, for text that lies across two of them.
        (&mut file).take(end - start + text.len() as u64).read_to_end(&mut block)?;
        if let Some(at) = finder.rfind(&block) {
            return line_start(&mut file, start + at as u64).map(Some);
        }
        end = start;
    }
    Ok(None)
}

/// Where the line around an offset begins.
fn line_start(file: &mut File, mut offset: u64) -> io::Result<u64> {
    const STEP: u64 = 4096;
    loop {
        let start = offset.saturating_sub(STEP);
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

/// Reads one record by its place.
pub fn record(path: &Path, offset: u64, length: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    Opened::at(path, offset)?.read_on(length, &mut bytes)?;
    if bytes.len() as u64 != length {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file is shorter than when it was first read"));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "not UTF-8"))
}

/// The whole lines in the first bytes of a log.
pub fn head(path: &Path, bytes: u64) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    Opened::at(path, 0)?.read_on(bytes, &mut head)?;
    Ok(head)
}

/// The last bytes of a log, from the first whole line on. Compressed logs have no cheap end.
pub fn tail(path: &Path, bytes: u64) -> io::Result<Vec<u8>> {
    if is_compressed(path) {
        return Ok(Vec::new());
    }
    let size = fs_err::metadata(path)?.len();
    let from = size.saturating_sub(bytes);
    let mut tail = Vec::new();
    Opened::at(path, from)?.read_on(bytes, &mut tail)?;
    if from > 0 {
        let begin = memchr::memchr(b'\n', &tail).map_or(tail.len(), |end| end + 1);
        tail.drain(..begin);
    }
    Ok(tail)
}

/// Where something stands behind the last line that was read of a log that is not compressed.
pub fn rest(path: &Path, end: u64) -> io::Result<Option<Range<u64>>> {
    let size = fs_err::metadata(path)?.len();
    let mut bytes = Vec::new();
    if size > end {
        Opened::at(path, end)?.read_on(4096, &mut bytes)?;
    }
    Ok((!bytes.trim_ascii().is_empty()).then_some(end..size))
}

/// The same for who does not know where the last line ended: a last line without its line feed that is no whole value.
pub fn unfinished_line(path: &Path) -> io::Result<Option<Range<u64>>> {
    let size = fs_err::metadata(path)?.len();
    let start = line_start(&mut file::open(path)?, size)?;
    let mut bytes = Vec::new();
    Opened::at(path, start)?.read_on(MAX_RECORD as u64, &mut bytes)?;
    let is_whole = serde_json::from_slice::<serde::de::IgnoredAny>(&bytes).is_ok();
    if is_whole { Ok(None) } else { rest(path, start) }
}

/// The lines of some bytes, the last one being left out where it is not whole.
pub fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"))
}

/// The beginning of a line shortly before the end of a log; 0 where it has to be read from its beginning.
pub fn near_end(path: &Path) -> io::Result<u64> {
    const NEAR: [u64; 3] = [64 << 10, 1 << 20, 16 << 20];
    if is_compressed(path) {
        return Ok(0);
    }
    let size = fs_err::metadata(path)?.len();
    for near in NEAR.into_iter().filter(|near| *near < size) {
        // More than half of it, so that it is not one long record's end.
        let whole = tail(path, near)?.len() as u64;
        if whole > near / 2 {
            return Ok(size - whole);
        }
    }
    Ok(0)
}

/// A digest of a file's beginning, by which one that was replaced is noticed.
pub fn head_digest(path: &Path, read: u64) -> io::Result<u64> {
    let bytes = head(path, read.min(512))?;
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    Ok(bytes.iter().fold(0xcbf2_9ce4_8422_2325, step))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    #[test]
    fn near_the_end_is_the_beginning_of_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let check = |text: &str| {
            std::fs::write(&path, text).unwrap();
            near_end(&path).unwrap()
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

    #[test]
    fn a_text_is_found_across_blocks() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        for at in [0, CHUNK - 3, CHUNK - 1, CHUNK, 2 * CHUNK - 4, 2 * CHUNK] {
            std::fs::write(&path, format!("{}needle", "x".repeat(at))).unwrap();
            assert!(holds(&path, 0, "needle").unwrap(), "{at}");
            assert!(!holds(&path, at as u64 + 1, "needle").unwrap(), "{at}");
        }
    }

    fn collect(path: &Path, from: u64) -> (Vec<(u64, String)>, u64) {
        let mut lines = Vec::new();
        let parse = |line: Line<'_>| {
            let text = String::from_utf8(line.bytes.to_vec()).unwrap();
            (!line.unterminated || text.ends_with('}')).then_some((line.offset, text))
        };
        let end = scan(path, from, parse, |item| {
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
        let (lines, end) = collect(&path, 0);
        assert_eq!(lines, [(0, "{1}".to_owned()), (5, "{2}".to_owned())]);
        assert_eq!(end, 9);
        std::fs::write(&path, "{1}\n\n{2}\n{3}").unwrap();
        let (lines, end) = collect(&path, end);
        assert_eq!(lines, [(9, "{3}".to_owned())]);
        assert_eq!(end, 12);
    }

    #[test]
    fn a_compressed_log_that_was_cut_off_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl.zst");
        let whole = zstd::encode_all(&b"{1}\n{2}\n"[..], 0).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 4]).unwrap();
        let error = scan(&path, 0, |_| Some(()), |()| ControlFlow::Continue(())).unwrap_err();
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
        let (lines, end) = collect(&path, 0);
        assert_eq!(end, text.len() as u64);
        assert!(lines.iter().enumerate().all(|(n, (_, line))| *line == format!("{{{n}}}")));
    }

    #[test]
    fn a_line_beyond_the_limit_is_known_by_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        let long = "x".repeat(MAX_RECORD + 3 * CHUNK);
        std::fs::write(&path, format!("{{1}}\n{long}\n{{2}}\n")).unwrap();
        let mut seen = Vec::new();
        let parse = |line: Line<'_>| Some((line.offset, line.length, line.is_too_long()));
        scan(&path, 0, parse, |item| {
            seen.push(item);
            ControlFlow::Continue(())
        })
        .unwrap();
        let length = long.len() as u64;
        assert_eq!(seen, [(0, 3, false), (4, length, true), (5 + length, 3, false)]);
    }
}
