//! One line, made into entries.

use std::path::PathBuf;

use carryover_core::json::Json;
use carryover_core::plain::one_line;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{
    Body, Call, CallForm, CallId, EntryKey, Fact, Origin, Outcome, Part, SessionId, Status, TitleRank, Tokens, Usage,
};

use super::wire::WireRecord;
use carryover_agents::formats::jsonl::{self, Line};

pub(super) type Parsed = jsonl::ParsedRecord<More>;

/// What only this agent's lines tell.
#[derive(Debug, Default)]
pub(super) struct More {
    /// Whether it is of a kind that we know.
    pub is_known: bool,
}

/// Reads a line. `None`: it ends without a line feed and may still be growing.
pub(super) fn parse_record(line: Line<'_>) -> Option<Parsed> {
    jsonl::parse_line(line, 0, convert)
}

fn convert(key: EntryKey, record: WireRecord<'_>) -> Parsed {
    let mut parsed = Parsed::empty(key);
    let facts = &mut parsed.facts;
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
            let input = record.input.map_or_else(Json::empty_object, Json::from_raw);
            let tool = record.tool.unwrap_or_default();
            (Origin::Agent, Body::Call(Box::new(Call { id: call, tool, input, form: CallForm::Function })))
        }
        ("result", _) => {
            let status = if record.exit.unwrap_or(0) == 0 { Status::Done } else { Status::Failed };
            let parts = text(record.output.unwrap_or_default());
            // What a tool gave back is the agent's: the harness's own text is never sent to a model.
            (Origin::Agent, Body::Outcome(Box::new(Outcome { call, status, exit_code: record.exit, parts })))
        }
        ("usage", _) => {
            let (input, output) = (record.tokens_in.unwrap_or(0), record.tokens_out.unwrap_or(0));
            let usage = Usage::for_reply(Tokens { input, output, ..Tokens::default() }, None);
            (Origin::Harness, usage.unwrap_or_default().into_body())
        }
        ("session", _) => {
            facts.extend(record.id.map(|id| Fact::Session(SessionId(id))));
            facts.extend(record.cwd.map(|cwd| Fact::Project(PathBuf::from(cwd))));
            facts.extend(record.version.map(Fact::ClientVersion));
            facts.extend(at.map(Fact::StartedAt));
            (Origin::Harness, Body::known("session"))
        }
        // Of a kind that we do not know: `doctor` names it.
        (kind, _) => (Origin::Harness, Body::unknown(kind)),
    };
    parsed.more.is_known = !body.is_unknown();
    parsed.push_entries(at, false, None, [(origin, body)]);
    parsed
}
