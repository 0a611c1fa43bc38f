//! One line, made into entries.

use std::borrow::Cow;
use std::path::PathBuf;

use carryover_core::json::Json;
use carryover_core::plain::one_line;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{
    Body, Call, CallForm, CallId, Entry, EntryKey, Fact, Origin, Outcome, Part, SessionId, Status, TitleRank,
};

use super::wire::WireRecord;
use carryover_agents::formats::line::Line;

pub(super) struct Parsed {
    pub key: EntryKey,
    pub facts: Vec<Fact>,
    pub entries: Vec<Entry>,
    /// Why it cannot be read.
    pub rejected: Option<&'static str>,
    pub is_known: bool,
}

/// Reads a line. `None`: it ends without a line feed and may still be growing.
pub(super) fn parse(line: Line<'_>) -> Option<Parsed> {
    let key =
        EntryKey { file: 0, offset: line.offset, part: 0, length: u32::try_from(line.length).unwrap_or(u32::MAX) };
    if line.is_too_long() {
        return Some(reject(key, "the record is longer than 64 MiB"));
    }
    match serde_json::from_slice::<WireRecord<'_>>(line.bytes) {
        Ok(record) => Some(convert(key, record)),
        Err(_) if line.unterminated => None,
        Err(error) if error.is_data() => Some(reject(key, "a field has another type than it had")),
        Err(_) => Some(reject(key, "not a JSON object")),
    }
}

/// A bad record costs itself: it stays where it is, and is told.
fn reject(key: EntryKey, reason: &'static str) -> Parsed {
    let body = Body::Opaque(Cow::Borrowed("rejected"));
    let entry = Entry { key, at: None, origin: Origin::Harness, side: false, node: None, body };
    Parsed { key, facts: Vec::new(), entries: vec![entry], rejected: Some(reason), is_known: false }
}

fn convert(key: EntryKey, record: WireRecord<'_>) -> Parsed {
    let mut facts = Vec::new();
    let at = record.at.as_deref().and_then(Timestamp::parse);
    let call = CallId(record.id.clone().unwrap_or_default().into());
    facts.extend(record.model.map(Fact::Model));
    let text = |text: String| vec![Part::Text(text)];
    let (origin, body) = match (record.kind.as_str(), record.text) {
        ("user", Some(prompt)) => {
            facts.push(Fact::Title(TitleRank::FirstPrompt, one_line(&prompt, 200)));
            (Origin::User, Body::Prompt(text(prompt)))
        }
        ("assistant", Some(reply)) => (Origin::Agent, Body::Reply(text(reply))),
        ("call", _) => {
            let input = record.input.map_or_else(Json::empty, Json::from_raw);
            let tool = record.tool.unwrap_or_default();
            (Origin::Agent, Body::Call(Box::new(Call { id: call, tool, input, form: CallForm::Function })))
        }
        ("result", _) => {
            let status = if record.exit.unwrap_or(0) == 0 { Status::Done } else { Status::Failed };
            let parts = text(record.output.unwrap_or_default());
            (Origin::Harness, Body::Outcome(Box::new(Outcome { call, status, exit_code: record.exit, parts })))
        }
        ("session", _) => {
            facts.extend(record.id.map(|id| Fact::Session(SessionId(id))));
            facts.extend(record.cwd.map(|cwd| Fact::Project(PathBuf::from(cwd))));
            facts.extend(at.map(Fact::StartedAt));
            (Origin::Harness, Body::Opaque(Cow::Borrowed("session")))
        }
        // Borrowed means known, owned means unknown: `doctor` names those.
        (kind, _) => (Origin::Harness, Body::Opaque(Cow::Owned(kind.to_owned()))),
    };
    let is_known = !matches!(body, Body::Opaque(Cow::Owned(_)));
    let entry = Entry { key, at, origin, side: false, node: None, body };
    Parsed { key, facts, entries: vec![entry], rejected: None, is_known }
}
