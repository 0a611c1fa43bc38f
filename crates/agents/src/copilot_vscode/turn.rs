//! One request with its response, made into what was said and done in it.
//!
//! The rounds that the extension kept of a turn are what its model is told of it next time. Tools that were shown and are in
//! no round are told as done, and not as something that the model knows of.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use carryover_core::json::Json;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{
    Body, Call, CallForm, CallId, NodeId, Opaque, Origin, Outcome, Part, Reasoning, Status, Tokens, Usage, text_of,
};
use serde_json::json;
use serde_json::value::RawValue;

use super::shown_parts::{self, Invocation, ShownPart};
use super::wire::{WireCall, WireLines, WireMetadata, WireRequest, WireRound};
use super::{attachments, failure, tool_result};

/// The name by which changes of a file are told that no call is known of.
pub(super) const EDIT_TOOL: &str = "textEditGroup";

/// The beginnings of outcomes by which the extension tells its model that a call came to nothing.
const FAILED_PREFIX: &str = "ERROR while calling tool: ";
pub(super) const CANCELLED_WORDS: &str = "The user cancelled the tool call.";

/// The command by which the user has the extension compact a session: what is said to it are the extension's words.
const COMPACT_COMMAND: &str = "compact";

/// Begins what the extension puts behind a summary: where the model finds the extension's own transcript.
const TRANSCRIPT_ADVICE: &str = "\nIf you need specific details from before compaction";

/// Stands between a call's own name and a number of the extension's.
const NAME_SUFFIX: &str = "__vscode-";

/// One thing of a turn.
#[derive(Debug)]
pub(super) struct Said {
    pub at: Option<Timestamp>,
    pub origin: Origin,
    /// In a sub-agent's conversation.
    pub side: bool,
    pub body: Body,
}

/// What a turn needs to know of the others.
pub(super) struct Surroundings<'a> {
    /// Summaries by the round that they reach to.
    pub summaries: &'a BTreeMap<String, String>,
    /// The results that the next turn kept, where this one came to the limit of its calls.
    pub next_results: Option<&'a BTreeMap<String, Box<RawValue>>>,
}

/// Reads a turn.
pub(super) fn read_turn(mut request: WireRequest, around: &Surroundings<'_>) -> Vec<Said> {
    let metadata = request.result.as_mut().and_then(|result| result.metadata.take()).unwrap_or_default();
    let is_open = failure::is_open(&request);
    let command = request.slash_command.as_ref().map(|command| command.name.as_str());
    let speaker = if command == Some(COMPACT_COMMAND) { Origin::Harness } else { Origin::Agent };
    let at = request.timestamp.map(time_from_millis);
    let mut turn = Turn { said: Vec::new(), at, is_open, speaker, around };
    turn.add_prompt(&mut request, &metadata);
    let shown = request.response.take().map(|response| shown_parts::read_parts(&response)).unwrap_or_default();
    let tokens = read_tokens(&request, &metadata);
    if metadata.tool_call_rounds.is_empty() {
        turn.add_shown(shown);
    } else {
        turn.add_rounds(metadata, shown);
    }
    turn.at = request.model_state.as_ref().and_then(|state| state.completed_at).map(time_from_millis).or(turn.at);
    if let Some(usage) = Usage::for_reply(tokens, request.response_id.as_deref().map(NodeId::from_name)) {
        turn.add(Origin::Agent, usage.into_body());
    }
    if let Some(failure) = failure::find_failure(&request) {
        turn.add(Origin::Harness, Body::Failure(Box::new(failure)));
    }
    turn.said
}

pub(super) fn time_from_millis(millis: f64) -> Timestamp {
    #[expect(clippy::cast_possible_truncation, reason = "a number that is too large is no time, and becomes the last")]
    Timestamp::from_millis(millis as i64)
}

/// The tokens of the last call of a turn: that is what the editor shows.
fn read_tokens(request: &WireRequest, metadata: &WireMetadata) -> Tokens {
    let input = request.prompt_tokens.or(metadata.prompt_tokens).unwrap_or_default();
    let output = request.completion_tokens.or(metadata.output_tokens).unwrap_or_default();
    Tokens { input, output, ..Tokens::default() }
}

/// A turn in the course of being read.
struct Turn<'a> {
    said: Vec<Said>,
    at: Option<Timestamp>,
    /// It was still going on.
    is_open: bool,
    /// Who answers.
    speaker: Origin,
    around: &'a Surroundings<'a>,
}

impl Turn<'_> {
    fn add(&mut self, origin: Origin, body: Body) {
        self.said.push(Said { at: self.at, origin, side: false, body });
    }

    fn add_prompt(&mut self, request: &mut WireRequest, metadata: &WireMetadata) {
        let words = request.message.as_ref().and_then(|message| message.text());
        let attached = request.variable_data.take();
        let mut parts: Vec<Part> =
            words.filter(|words| !words.is_empty()).map(|words| Part::Text(words.to_owned())).into_iter().collect();
        parts.extend(attachments::read_images(attached.as_ref()));
        // The editor itself asks, say when a command has come to its end.
        let origin = if request.is_system_initiated == Some(true) { Origin::Hook } else { Origin::User };
        match words {
            None => self.add(Origin::Harness, Body::Opaque(Opaque::Wordless)),
            Some(_) if parts.is_empty() => self.add(Origin::Harness, Body::known("request")),
            Some(_) => self.add(origin, Body::Prompt(parts)),
        }
        if let Some((origin, body)) = attachments::read_others(attached.as_ref(), Some(metadata)) {
            self.add(origin, body);
        }
    }

    /// A turn of which only what was shown is known.
    fn add_shown(&mut self, shown: Vec<ShownPart>) {
        let mut words = String::new();
        for (number, part) in shown.into_iter().enumerate() {
            if let ShownPart::Words(more) = &part {
                words.push_str(more);
                continue;
            }
            self.add_reply(std::mem::take(&mut words));
            match part {
                ShownPart::Thinking(text) => self.add_thinking(text, false),
                part => self.add_unsent(part, number),
            }
        }
        self.add_reply(words);
    }

    /// The rounds of a turn, and between them what was shown and is in none of them.
    fn add_rounds(&mut self, metadata: WireMetadata, shown: Vec<ShownPart>) {
        let mut results = metadata.tool_call_results.unwrap_or_default();
        if metadata.max_tool_calls_exceeded == Some(true)
            && let Some(next) = self.around.next_results
        {
            results.extend(next.iter().map(|(name, result)| (name.clone(), result.clone())));
        }
        let mut rounds = VecDeque::from(metadata.tool_call_rounds);
        let (known, unsent) = split_shown(&rounds, shown);
        for (number, place, part) in unsent {
            while let Some(name) = &place
                && rounds.iter().any(|round| round.tool_calls.iter().any(|call| own_name(&call.id) == name))
                && let Some(round) = rounds.pop_front()
            {
                self.add_round(round, &results, &known);
            }
            self.add_unsent(part, number);
        }
        for round in rounds {
            self.add_round(round, &results, &known);
        }
    }

    fn add_round(
        &mut self,
        round: WireRound,
        results: &BTreeMap<String, Box<RawValue>>,
        shown: &BTreeMap<String, Box<Invocation>>,
    ) {
        self.at = round.timestamp.map(time_from_millis).or(self.at);
        if let Some(thinking) = round.thinking {
            let text = thinking.text.map(WireLines::into_text).unwrap_or_default();
            self.add_thinking(text, thinking.encrypted.is_some());
        }
        self.add_reply(round.response.unwrap_or_default());
        for call in &round.tool_calls {
            self.add(Origin::Agent, Body::Call(Box::new(read_call(call))));
        }
        for call in &round.tool_calls {
            if let Some(result) = results.get(&call.id) {
                let outcome = read_outcome(&call.id, result, shown.get(own_name(&call.id)).map(|shown| &**shown));
                self.add(Origin::Agent, Body::Outcome(Box::new(outcome)));
            }
        }
        if let Some(words) = round.hook_context.filter(|words| !words.is_empty()) {
            self.add(Origin::Hook, Body::Prompt(vec![Part::Text(words)]));
        }
        let told = round.id.as_ref().and_then(|id| self.around.summaries.get(id)).cloned();
        if let Some(summary) = told.or(round.summary).filter(|summary| !summary.is_empty()) {
            self.add(Origin::Harness, Body::Compacted(Box::default()));
            let words = summary.split_once(TRANSCRIPT_ADVICE).map_or(summary.as_str(), |(words, _)| words);
            self.add(Origin::Agent, Body::Summary(vec![Part::Text(words.to_owned())]));
        }
    }

    fn add_reply(&mut self, words: String) {
        if !words.trim().is_empty() {
            self.add(self.speaker, Body::Reply(vec![Part::Text(words)]));
        }
    }

    fn add_thinking(&mut self, text: String, sealed: bool) {
        if !text.trim().is_empty() || sealed {
            self.add(Origin::Agent, Body::Reasoning(Box::new(Reasoning { text, sealed })));
        }
    }

    /// Something that was done and that the model is not told of.
    fn add_unsent(&mut self, part: ShownPart, number: usize) {
        match part {
            ShownPart::Invocation(shown) => self.add_invocation(&shown, number),
            ShownPart::Edit { address, edits } => {
                let input = json!({ "filePath": address.to_words(), "edits": edits.to_value() });
                let id = CallId(format!("edit-{number}").into());
                let input = Json::from_value(&input);
                let call = Call { id: id.clone(), tool: EDIT_TOOL.to_owned(), input, form: CallForm::Function };
                let outcome = Outcome { call: id, status: Status::Done, exit_code: None, parts: Vec::new() };
                self.add(Origin::Harness, Body::Call(Box::new(call)));
                self.add(Origin::Harness, Body::Outcome(Box::new(outcome)));
            }
            ShownPart::Unknown(kind) => self.add(Origin::Harness, Body::unknown(kind)),
            ShownPart::Words(_) | ShownPart::Thinking(_) => {}
        }
    }

    fn add_invocation(&mut self, shown: &Invocation, number: usize) {
        let name = shown.tool_call_id.as_deref().map_or_else(|| format!("call-{number}"), |id| own_name(id).to_owned());
        let (id, tool) = (CallId(name.into()), shown.tool_id.clone().unwrap_or_default());
        let call = Call { id: id.clone(), tool, input: shown.input(), form: CallForm::Function };
        let mut bodies = vec![Body::Call(Box::new(call))];
        let status = match shown {
            shown if shown.is_denied() => Some(Status::Interrupted),
            shown if shown.has_failed() => Some(Status::Failed),
            shown => shown.is_over().then_some(Status::Done),
        };
        if let Some(status) = status {
            let parts = shown.output().map(Part::Text).into_iter().collect();
            let outcome = Outcome { call: id, status, exit_code: shown.exit_code(), parts };
            bodies.push(Body::Outcome(Box::new(outcome)));
        }
        let side = shown.sub_agent_invocation_id.is_some();
        // In a turn that goes on, its model knows of them; a call without an outcome is sent to nobody.
        let origin = if self.is_open || status.is_none() { Origin::Agent } else { Origin::Harness };
        let said = |body| Said { at: self.at, origin, side, body };
        self.said.extend(bodies.into_iter().map(said).collect::<Vec<_>>());
    }
}

/// A part that was shown and is in no round: its number, the call of a round that was shown before it, and itself.
type UnsentPart = (usize, Option<String>, ShownPart);

/// Sorts what was shown: invocations of calls that are in rounds, and everything else that is no word of the model's.
fn split_shown(
    rounds: &VecDeque<WireRound>,
    shown: Vec<ShownPart>,
) -> (BTreeMap<String, Box<Invocation>>, Vec<UnsentPart>) {
    let calls = rounds.iter().flat_map(|round| &round.tool_calls);
    let names: BTreeSet<&str> = calls.map(|call| own_name(&call.id)).collect();
    let (mut known, mut unsent, mut place) = (BTreeMap::new(), Vec::new(), None);
    for (number, part) in shown.into_iter().enumerate() {
        match part {
            ShownPart::Invocation(shown) => {
                let name = shown.tool_call_id.as_deref().map(own_name).map(str::to_owned);
                match name.filter(|name| names.contains(name.as_str())) {
                    Some(name) => {
                        place = Some(name.clone());
                        known.insert(name, shown);
                    }
                    None => unsent.push((number, place.clone(), ShownPart::Invocation(shown))),
                }
            }
            ShownPart::Unknown(kind) => unsent.push((number, place.clone(), ShownPart::Unknown(kind))),
            // The rounds hold the words, and calls in them the changes.
            ShownPart::Words(_) | ShownPart::Thinking(_) | ShownPart::Edit { .. } => {}
        }
    }
    (known, unsent)
}

/// The name that the model gave to a call.
fn own_name(id: &str) -> &str {
    id.split_once(NAME_SUFFIX).map_or(id, |(name, _)| name)
}

fn read_call(call: &WireCall) -> Call {
    // A model may write what is no JSON; it is sent back as it is.
    let written = || Json::from_value(&serde_json::Value::String(call.arguments.clone()));
    let input = if call.arguments.is_empty() { Some(Json::empty_object()) } else { Json::parse(&call.arguments) };
    Call {
        id: CallId(own_name(&call.id).into()),
        tool: call.name.clone(),
        input: input.unwrap_or_else(written),
        form: CallForm::Function,
    }
}

fn read_outcome(id: &str, result: &RawValue, shown: Option<&Invocation>) -> Outcome {
    let parts = tool_result::read_parts(result);
    let begins_with = |words: &str| matches!(parts.first(), Some(Part::Text(text)) if text.starts_with(words));
    let status = if begins_with(CANCELLED_WORDS) {
        Status::Interrupted
    } else if begins_with(FAILED_PREFIX) || shown.is_some_and(Invocation::has_failed) {
        Status::Failed
    } else {
        Status::Done
    };
    Outcome { call: CallId(own_name(id).into()), status, exit_code: shown.and_then(Invocation::exit_code), parts }
}

/// The text that a call gave back, as a request keeps it.
pub(super) fn outcome_of(request: WireRequest, call: &CallId) -> Option<String> {
    let results = request.result?.metadata?.tool_call_results?;
    let (_, result) = results.iter().find(|(id, _)| own_name(id) == &*call.0)?;
    Some(text_of(&tool_result::read_parts(result)))
}
