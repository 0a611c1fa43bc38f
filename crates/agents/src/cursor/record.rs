//! One record of a session, made into entries.

use carryover_core::plain::one_line;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{Body, Entry, EntryKey, Fact, Origin, TitleRank, text_of};

use super::session::{RawRecord, RecordForm, RecordHead};
use super::{cli, ide, transcript};
use crate::formats::ids;
use crate::formats::jsonl::{Line, NOT_AN_OBJECT, ParsedRecord};

/// What a record says, before it is known where it stands.
struct Content {
    at: Option<Timestamp>,
    bodies: Vec<(Origin, Body)>,
    facts: Vec<Fact>,
}

/// Reads a record.
pub(super) fn parse_record(head: &RecordHead, raw: &RawRecord) -> ParsedRecord {
    let length = u32::try_from(raw.as_text().len()).unwrap_or(u32::MAX);
    let key = EntryKey { file: 0, offset: ids::digest_name(&head.name), part: 0, length };
    let content = match raw {
        RawRecord::Unreadable(reason) => return ParsedRecord::new_rejected(key, reason),
        RawRecord::Empty => Ok(Content::from_bodies(vec![(Origin::Harness, Body::known("record/empty"))])),
        RawRecord::Text(text) => read_content(head, text),
    };
    let mut content = match content {
        Ok(content) => content,
        Err(error) if error.is_data() => {
            return ParsedRecord::new_rejected(key, "a field has another type than it had");
        }
        Err(_) => return ParsedRecord::new_rejected(key, NOT_AN_OBJECT),
    };
    if head.begins_context {
        content.bodies.insert(0, (Origin::Harness, Body::Compacted(Box::default())));
    }
    let mut parsed = ParsedRecord::empty(key);
    parsed.facts = content.facts;
    parsed.facts.extend(first_prompt_title(&content.bodies));
    parsed.push_entries(content.at.or(head.at), false, None, content.bodies);
    parsed.entries.iter_mut().for_each(|entry| complete_time(entry, head));
    parsed
}

impl Content {
    fn from_bodies(bodies: Vec<(Origin, Body)>) -> Self {
        Self { at: None, bodies, facts: Vec::new() }
    }
}

fn read_content(head: &RecordHead, text: &str) -> serde_json::Result<Content> {
    let mut facts = Vec::new();
    let bodies = match head.form {
        RecordForm::Bubble | RecordForm::Stray => {
            let bubble = ide::read_bubble(text, &head.name, head.form == RecordForm::Stray)?;
            return Ok(Content { at: bubble.at, bodies: bubble.bodies, facts: bubble.facts });
        }
        RecordForm::ChatBubble => ide::read_chat_bubble(text, &mut facts)?,
        RecordForm::TypedPrompt => ide::read_typed_prompt(text)?,
        RecordForm::Status => ide::read_status(),
        RecordForm::Message => cli::read_message(text, head, &mut facts)?,
        RecordForm::Run => cli::read_run(text, &mut facts)?,
        RecordForm::Line => {
            let parsed = transcript::parse_line(Line::from_bytes(0, text.as_bytes()));
            parsed.map(|parsed| parsed.entries).unwrap_or_default().into_iter().map(|it| (it.origin, it.body)).collect()
        }
    };
    Ok(Content { facts, ..Content::from_bodies(bodies) })
}

fn first_prompt_title(bodies: &[(Origin, Body)]) -> Option<Fact> {
    bodies.iter().find_map(|(origin, body)| match body {
        Body::Prompt(parts) if *origin == Origin::User => {
            let words = one_line(&text_of(parts), 200);
            (!words.is_empty()).then_some(Fact::Title(TitleRank::FirstPrompt, words))
        }
        _ => None,
    })
}

/// A call and its outcome happened when they are shown to have.
fn complete_time(entry: &mut Entry, head: &RecordHead) {
    let at = match &entry.body {
        Body::Call(call) => head.calls.get(&*call.id.0).and_then(|run| run.started),
        Body::Outcome(outcome) => head.calls.get(&*outcome.call.0).and_then(|run| run.completed),
        _ => None,
    };
    entry.at = at.or(entry.at);
}
