//! Reading a session file.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carryover_core::json::Json;
use carryover_core::transcript::{Body, Closing, Entry, EntryKey, Fact, Header};
use serde_json::{Value, json};

use super::edits::{Edit, Edits};
use super::numbered::Numbers;
use super::record::{self, Parsed, Told};
use crate::formats::jsonl;
use crate::formats::line::Line;
use crate::{AgentError, Bookmark, Sink, Source};

/// What the client answers a call with that has no outcome.
const NO_RESULT: &str = "No result provided";

/// Reads from a bookmark on.
pub(super) fn read(source: &Source, from: &Bookmark, sink: &mut dyn Sink) -> Result<Bookmark, AgentError> {
    let path = source.path.as_path();
    let start = resume_point(path, from)?;
    let edits = Edits::after(path, start)?;
    // An edit that came later may change what was read before.
    let start = if edits.is_empty() { start } else { 0 };
    if start == 0 {
        if *from != Bookmark::Start {
            // The verdict of a sink that wants no more is met again at the first entry.
            let _ = sink.retract(EntryKey { file: 0, offset: 0, part: 0, length: 0 });
        }
        if begin(path, *from == Bookmark::Start, sink).is_break() {
            return Ok(*from);
        }
    }
    let edits = if start == 0 && !edits.is_empty() { Edits::after(path, 0)? } else { edits };
    if !edits.is_empty() && sink.learn(Fact::File(path.to_path_buf())).is_break() {
        return Ok(*from);
    }
    let mut numbers = Numbers::of(path, start)?;
    let present = present(path, start, &edits, sink)?;
    let parse = |told: &mut Told, line: Line<'_>| {
        let read = if line.offset < present { record::pass_over } else { record::parse };
        read(told, line, 0, &edits)
    };
    let end = jsonl::scan_remembering(path, start, parse, |mut parsed| {
        if let Some(numbers) = &mut numbers {
            numbers.place(&mut parsed);
        }
        hand_over(parsed, sink)
    })?;
    Ok(Bookmark::Appended { offset: end, head: jsonl::head_digest(path, end)? })
}

/// Where the part that may still be live begins: at the last compaction, where the past is not wanted. What a compaction
/// keeps from before it is read again when it is needed.
///
/// It is looked for near the end only: a context that has outgrown every window was compacted.
fn present(path: &Path, start: u64, edits: &Edits, sink: &dyn Sink) -> Result<u64, AgentError> {
    const NEAR: u64 = 48 << 20;
    const WORTH_LOOKING: u64 = 4 << 20;
    let size = fs_err::metadata(path)?.len();
    if sink.wants_the_past() || size.saturating_sub(start) < WORTH_LOOKING {
        return Ok(0);
    }
    let Some(offset) = jsonl::last_line_with(path, r#""type":"compaction""#, NEAR)? else { return Ok(0) };
    // The same words inside some other record mean nothing.
    let mut found = false;
    let parse =
        |line: Line<'_>| (line.offset == offset).then(|| record::parse(&mut Told::default(), line, 0, edits)).flatten();
    jsonl::scan(path, offset, parse, |parsed| {
        found = parsed.entries.iter().any(|entry| matches!(entry.body, Body::Compacted(_)));
        ControlFlow::Break(())
    })?;
    Ok(if found { offset } else { 0 })
}

/// Where to start: at the bookmark, or anew where the file was replaced.
fn resume_point(path: &Path, from: &Bookmark) -> Result<u64, AgentError> {
    let Bookmark::Appended { offset, head } = *from else { return Ok(0) };
    let size = fs_err::metadata(path)?.len();
    let same = offset <= size && jsonl::head_digest(path, offset)? == head;
    Ok(if same { offset } else { 0 })
}

fn begin(path: &Path, first: bool, sink: &mut dyn Sink) -> ControlFlow<()> {
    if first {
        sink.learn(Fact::File(path.to_path_buf()))?;
    }
    sink.learn(Fact::Closing(Closing::Answer(NO_RESULT)))
}

fn hand_over(parsed: Parsed, sink: &mut dyn Sink) -> ControlFlow<()> {
    if let Some(rejected) = parsed.rejection() {
        sink.reject(rejected)?;
    }
    for fact in parsed.facts {
        sink.learn(fact)?;
    }
    for entry in parsed.entries {
        sink.put(0, entry)?;
    }
    ControlFlow::Continue(())
}

/// The edits that may change a record. A session that has any names its file twice, so that the others need not be
/// looked through for every record.
fn edits_after(header: &Header, path: &Path, offset: u64) -> Result<Edits, AgentError> {
    if header.files.len() < 2 {
        return Ok(Edits::default());
    }
    Ok(Edits::after(path, offset)?)
}

/// The entries of one record, read again.
pub(super) fn reload(header: &Header, key: EntryKey) -> Result<Vec<Entry>, AgentError> {
    let (path, text) = place(header, key)?;
    let edits = edits_after(header, path, key.offset)?;
    let line = Line { offset: key.offset, bytes: text.as_bytes(), length: text.len() as u64, unterminated: false };
    Ok(record::parse(&mut Told::default(), line, key.file, &edits).map(|parsed| parsed.entries).unwrap_or_default())
}

/// The text of one record, as the model sees it now.
pub(super) fn raw(header: &Header, key: EntryKey) -> Result<String, AgentError> {
    let (path, text) = place(header, key)?;
    let edits = edits_after(header, path, key.offset)?;
    if edits.is_empty() {
        return Ok(text);
    }
    let Ok(mut value) = serde_json::from_str::<Value>(&text) else { return Ok(text) };
    let edit = value["id"].as_str().and_then(|id| edits.of(id)).cloned();
    let Some(Edit::Replaced(content)) = edit else { return Ok(text) };
    put_content(&mut value, &content);
    Ok(value.to_string())
}

fn put_content(record: &mut Value, content: &Json) {
    let content = content.value();
    match record.get_mut("message") {
        Some(message) => {
            let listed = matches!(message["role"].as_str(), Some("assistant" | "toolResult"));
            let listed = listed && content.is_string();
            message["content"] = if listed { json!([{ "type": "text", "text": content }]) } else { content };
        }
        None => record["content"] = content,
    }
}

fn place(header: &Header, key: EntryKey) -> Result<(&Path, String), AgentError> {
    let moved = |path: PathBuf| AgentError::Moved { path, offset: key.offset };
    let path = header.files.get(usize::from(key.file)).ok_or_else(|| moved(PathBuf::new()))?;
    let text = jsonl::record(path, key.offset, u64::from(key.length)).map_err(|_| moved(path.clone()))?;
    Ok((path, text))
}
