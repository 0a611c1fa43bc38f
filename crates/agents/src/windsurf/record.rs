//! One step, made into entries.

use std::path::PathBuf;

use carryover_core::json::Json;
use carryover_core::plain::one_line;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{
    Body, Call, CallForm, CallId, EntryKey, Fact, Opaque, Origin, Outcome, Part, Status, TitleRank,
};

use super::project;
use super::wire::WireStep;
use crate::formats::jsonl::{self, Line};

pub(super) type Parsed = jsonl::ParsedRecord<More>;

/// What only this agent's steps tell.
#[derive(Debug, Default)]
pub(super) struct More {
    /// Whether it is of a kind that we know.
    pub is_known: bool,
    /// The folder of the file that it is about.
    pub folder: Option<PathBuf>,
}

/// The status of a step that is over.
const DONE: &str = "done";

/// Reads a line. `None`: it ends without a line feed and may still be growing.
pub(super) fn parse_record(line: Line<'_>) -> Option<Parsed> {
    jsonl::parse_line(line, 0, convert)
}

fn convert(key: EntryKey, step: WireStep<'_>) -> Parsed {
    let mut parsed = Parsed::empty(key);
    let at = step.timestamp.as_deref().and_then(Timestamp::parse);
    let said = |words: Option<String>| words.filter(|words| !words.trim().is_empty());
    let text = |text: String| vec![Part::Text(text)];
    let tool_input = step.tool_input();
    let prompt = step.user_input.and_then(|input| said(input.user_response));
    let reply = step.planner_response.and_then(|response| said(response.response));
    let bodies = match (&*step.kind, prompt, reply, tool_input) {
        ("user_input", Some(prompt), ..) => {
            parsed.facts.push(Fact::Title(TitleRank::FirstPrompt, one_line(&prompt, 200)));
            vec![(Origin::User, Body::Prompt(text(prompt)))]
        }
        ("user_input", None, ..) => vec![(Origin::Harness, Body::Opaque(Opaque::Wordless))],
        ("planner_response", _, Some(reply), _) => vec![(Origin::Agent, Body::Reply(text(reply)))],
        ("planner_response", _, None, _) => vec![(Origin::Agent, Body::known("planner_response"))],
        (kind, .., Some(input)) => {
            parsed.more.folder = project::file_folder(&input);
            read_tool_step(key, kind, input, step.status.as_deref())
        }
        (kind, .., None) => vec![(Origin::Harness, Body::unknown(kind))],
    };
    parsed.more.is_known = !bodies.iter().any(|(_, body)| body.is_unknown());
    parsed.push_entries(at, false, None, bodies);
    parsed
}

/// A step that is over says that it was done, and holds what it was given and what came of it in one piece.
fn read_tool_step(key: EntryKey, kind: &str, input: Json, status: Option<&str>) -> Vec<(Origin, Body)> {
    // Steps have no names; their place in the file is as good.
    let id = CallId(format!("step-{}", key.offset).into());
    let call = Call { id: id.clone(), tool: kind.to_owned(), input, form: CallForm::Function };
    let mut bodies = vec![(Origin::Agent, Body::Call(Box::new(call)))];
    if status == Some(DONE) {
        let outcome = Outcome { call: id, status: Status::Done, exit_code: None, parts: Vec::new() };
        bodies.push((Origin::Agent, Body::Outcome(Box::new(outcome))));
    }
    bodies
}
