//! Reading a session file.

use std::ops::ControlFlow;
use std::path::Path;

use carryover_core::json::Json;
use carryover_core::transcript::{Body, Closing, Entry, EntryKey, Fact, Header};
use serde_json::{Value, json};

use super::Pi;
use super::edits::{Edit, Edits};
use super::numbered::Numbers;
use super::record::{self, Told};
use crate::formats::jsonl::{self, Line};
use crate::{AgentError, Bookmark, Reader, Sink, Source};

/// What the client answers a call with that has no outcome.
const NO_RESULT: &str = "No result provided";

/// What the line of a compaction holds; what the compaction keeps from before it is read again when it is needed.
const COMPACTION: &str = r#""type":"compaction""#;

impl Reader for Pi {
    fn near_end(&self, source: &Source) -> Result<Bookmark, AgentError> {
        Ok(jsonl::mark_near_end(&source.path, jsonl::digest_head)?)
    }

    fn read(&self, source: &Source, from: &Bookmark, sink: &mut dyn Sink) -> Result<Bookmark, AgentError> {
        let path = source.path.as_path();
        let start = jsonl::find_mark(path, from, jsonl::digest_head)?.unwrap_or(0);
        let edits = Edits::after(path, start)?;
        // An edit that came later may change what was read before.
        let start = if edits.is_empty() { start } else { 0 };
        if start == 0 {
            if *from != Bookmark::Start {
                // The verdict of a sink that wants no more is met again at the first entry.
                let _ = sink.retract_all();
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
        let present = jsonl::find_present(path, start, sink, COMPACTION, |line| {
            let parsed = record::parse(&mut Told::default(), line, 0, &edits);
            parsed.is_some_and(|parsed| parsed.entries.iter().any(|entry| matches!(entry.body, Body::Compacted(_))))
        })?;
        let parse = |told: &mut Told, line: Line<'_>| {
            let read = if line.offset < present { record::pass_over } else { record::parse };
            read(told, line, 0, &edits)
        };
        let end = jsonl::scan_remembering(path, start, parse, |mut parsed| {
            if let Some(numbers) = &mut numbers {
                numbers.place(&mut parsed);
            }
            parsed.hand_over(sink)
        })?;
        Ok(jsonl::mark(path, end, jsonl::digest_head)?)
    }

    fn reload(&self, header: &Header, key: EntryKey) -> Result<Vec<Entry>, AgentError> {
        let text = jsonl::read_record(header, key)?;
        let edits = edits_after(header, key)?;
        let line = Line::whole(key.offset, text.as_bytes());
        Ok(record::parse(&mut Told::default(), line, key.file, &edits).map(|parsed| parsed.entries).unwrap_or_default())
    }

    fn record(&self, header: &Header, key: EntryKey) -> Result<String, AgentError> {
        let text = jsonl::read_record(header, key)?;
        let edits = edits_after(header, key)?;
        if edits.is_empty() {
            return Ok(text);
        }
        let Ok(mut value) = serde_json::from_str::<Value>(&text) else { return Ok(text) };
        let edit = value["id"].as_str().and_then(|id| edits.of(id)).cloned();
        let Some(Edit::Replaced(content)) = edit else { return Ok(text) };
        put_content(&mut value, &content);
        Ok(value.to_string())
    }
}

fn begin(path: &Path, first: bool, sink: &mut dyn Sink) -> ControlFlow<()> {
    if first {
        sink.learn(Fact::File(path.to_path_buf()))?;
    }
    sink.learn(Fact::Closing(Closing::Answer(NO_RESULT)))
}

/// The edits that may change a record. A session that has any names its file twice, so that the others need not be
/// looked through for every record.
fn edits_after(header: &Header, key: EntryKey) -> Result<Edits, AgentError> {
    match header.files.get(usize::from(key.file)).filter(|_| header.files.len() > 1) {
        Some(path) => Ok(Edits::after(path, key.offset)?),
        None => Ok(Edits::default()),
    }
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
