//! Reading a session file.

use std::ops::ControlFlow;
use std::path::Path;

use carryover_core::json::Json;
use carryover_core::transcript::{Body, Closing, Entry, EntryKey, Fact, Header};
use serde_json::{Value, json};

use super::Pi;
use super::edits::{Edit, Edits};
use super::record::{self, LastFacts};
use super::record_numbers::RecordNumbers;
use crate::formats::jsonl::{self, Line};
use crate::{AgentError, Bookmark, Reader, Sink, Source};

/// The client's own answer to a call that has no outcome.
const MISSING_RESULT: &str = "No result provided";

/// What the line of a compaction holds; what the compaction keeps from before it is read again when it is needed.
const COMPACTION: &str = r#""type":"compaction""#;

impl Reader for Pi {
    fn bookmark_near_end(&self, source: &Source) -> Result<Bookmark, AgentError> {
        Ok(jsonl::bookmark_near_end(&source.path, jsonl::digest_head)?)
    }

    fn read_session(&self, source: &Source, from: &Bookmark, sink: &mut dyn Sink) -> Result<Bookmark, AgentError> {
        let path = source.path.as_path();
        let start = jsonl::find_bookmark(path, from, jsonl::digest_head)?.unwrap_or(0);
        let edits = Edits::read_after(path, start)?;
        // An edit that came later may change what was read before.
        let start = if edits.is_empty() { start } else { 0 };
        if start == 0 {
            if *from != Bookmark::Start {
                // The verdict of a sink that wants no more is met again at the first entry.
                let _ = sink.retract_all();
            }
            if send_first_facts(path, *from == Bookmark::Start, sink).is_break() {
                return Ok(*from);
            }
        }
        let edits = if start == 0 && !edits.is_empty() { Edits::read_after(path, 0)? } else { edits };
        if !edits.is_empty() && sink.learn(Fact::File(path.to_path_buf())).is_break() {
            return Ok(*from);
        }
        let mut numbers = RecordNumbers::for_file(path, start)?;
        let present = jsonl::find_live_start(path, start, sink, COMPACTION, |line| {
            let parsed = record::parse_record(&mut LastFacts::default(), line, 0, &edits);
            parsed.is_some_and(|parsed| parsed.entries.iter().any(|entry| matches!(entry.body, Body::Compacted(_))))
        })?;
        let parse = |told: &mut LastFacts, line: Line<'_>| {
            let read = if line.offset < present { record::skim_record } else { record::parse_record };
            read(told, line, 0, &edits)
        };
        let end = jsonl::scan_with_memory(path, start, parse, |mut parsed| {
            if let Some(numbers) = &mut numbers {
                numbers.link_record(&mut parsed);
            }
            parsed.send_to_sink(sink)
        })?;
        Ok(jsonl::make_bookmark(path, end, jsonl::digest_head)?)
    }

    fn reload_entries(&self, header: &Header, key: EntryKey) -> Result<Vec<Entry>, AgentError> {
        let text = jsonl::read_record(header, key)?;
        let edits = edits_after(header, key)?;
        let line = Line::from_bytes(key.offset, text.as_bytes());
        Ok(record::parse_record(&mut LastFacts::default(), line, key.file, &edits)
            .map(|parsed| parsed.entries)
            .unwrap_or_default())
    }

    fn read_record(&self, header: &Header, key: EntryKey) -> Result<String, AgentError> {
        let text = jsonl::read_record(header, key)?;
        let edits = edits_after(header, key)?;
        if edits.is_empty() {
            return Ok(text);
        }
        let Ok(mut value) = serde_json::from_str::<Value>(&text) else { return Ok(text) };
        let edit = value["id"].as_str().and_then(|id| edits.get(id)).cloned();
        let Some(Edit::Replaced(content)) = edit else { return Ok(text) };
        replace_content(&mut value, &content);
        Ok(value.to_string())
    }
}

fn send_first_facts(path: &Path, first: bool, sink: &mut dyn Sink) -> ControlFlow<()> {
    if first {
        sink.learn(Fact::File(path.to_path_buf()))?;
    }
    sink.learn(Fact::Closing(Closing::Answer(MISSING_RESULT)))
}

/// The edits that may change a record. A session that has any names its file twice, so that the others need not be
/// looked through for every record.
fn edits_after(header: &Header, key: EntryKey) -> Result<Edits, AgentError> {
    match header.files.get(usize::from(key.file)).filter(|_| header.files.len() > 1) {
        Some(path) => Ok(Edits::read_after(path, key.offset)?),
        None => Ok(Edits::default()),
    }
}

fn replace_content(record: &mut Value, content: &Json) {
    let content = content.to_value();
    match record.get_mut("message") {
        Some(message) => {
            let listed = matches!(message["role"].as_str(), Some("assistant" | "toolResult"));
            let listed = listed && content.is_string();
            message["content"] = if listed { json!([{ "type": "text", "text": content }]) } else { content };
        }
        None => record["content"] = content,
    }
}
