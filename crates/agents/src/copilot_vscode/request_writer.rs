//! Requests of a session in the making: a prompt, the rounds in which it was answered, and how that is shown.
//!
//! The rounds and the results of their calls are what the extension sends its model; what is shown is for the user.

use std::collections::BTreeMap;

use carryover_core::time::Timestamp;
use carryover_core::transcript::{Blob, BlobLocation, Body, Call, Origin, Outcome, Part, Status, text_of};
use serde_json::{Map, Value, json};

use super::dialect;
use super::shown_request::{self, ShownCall};
use super::turn::CANCELLED_WORDS;
use crate::formats::calls::CallWriter;
use crate::formats::entry_order::order_outcomes_first;
use crate::formats::ids::Ids;
use crate::formats::losses::{count_loss, describe_omitted, is_common_image};
use crate::formats::native_records::{RecordKey, record_key};
use crate::formats::relocate::Relocation;
use crate::formats::tree::exit_line;
use crate::{CarriedEntry, Loss, WriteRequest};

/// Longer names of tools and calls are refused by some of the APIs behind the extension.
const MAX_NAME_CHARS: usize = 64;

/// Why the model does not see an image that a tool gave back.
const IMAGE_LOSS_REASON: &str = "kept, but the extension shows its model what a tool gave back in that turn only";

/// Stands in a request that nobody asked: the editor itself asks such.
const UNASKED_WORDS: &str = "(the session goes on)";
/// Stands before a summary, and is not sent.
const OLDER_WORDS: &str = "(the older part of the session)";

/// What the reader takes for attachments in a rendered prompt.
const ATTACHMENTS_MARK: &str = "<attachments>";

/// One message of the agent's in the making, with its calls.
#[derive(Default)]
struct Round {
    response: String,
    calls: Vec<Value>,
    at: Option<Timestamp>,
}

/// A request in the making.
#[derive(Default)]
struct Draft {
    text: String,
    variables: Vec<Value>,
    /// The editor put it, and not the user.
    is_system: bool,
    rounds: Vec<Round>,
    results: Map<String, Value>,
    shown: Vec<Value>,
    /// The call of each shown invocation, by where it stands.
    invocations: BTreeMap<String, (usize, ShownCall)>,
    summary: Option<String>,
    entries: Vec<usize>,
    at: Option<Timestamp>,
}

/// Everything but the requests themselves.
pub(super) struct WrittenParts {
    /// Which entries each request holds, and its number.
    pub places: Vec<(Vec<usize>, u64)>,
    pub losses: Vec<Loss>,
    pub translated: usize,
}

/// Makes requests of entries.
pub(super) struct RequestWriter<'a> {
    moves: Option<Relocation<'a>>,
    ids: Ids,
    at: Timestamp,
    calls: CallWriter<'a>,
    draft: Option<Draft>,
    requests: Vec<Value>,
    parts: WrittenParts,
}

impl<'a> RequestWriter<'a> {
    pub(super) fn new(project: &'a str, moves: Option<Relocation<'a>>, ids: Ids, at: Timestamp) -> Self {
        let parts = WrittenParts { places: Vec::new(), losses: Vec::new(), translated: 0 };
        let calls = CallWriter::new(project, moves, MAX_NAME_CHARS);
        Self { moves, ids, at, calls, draft: None, requests: Vec::new(), parts }
    }

    /// Writes all that is carried.
    pub(super) fn write_entries(&mut self, request: &WriteRequest<'_>) {
        let mut order = order_outcomes_first(request.entries);
        if let Some(brief) = request.brief {
            self.write_brief(request.entries, brief, &mut order);
        }
        let mut natives = NativeRequests::find(request);
        for index in order {
            let carried = &request.entries[index];
            match natives.take(carried) {
                Native::Written => {}
                Native::Record(value, entries) => self.write_native(value, entries),
                Native::None => self.write_entry(carried, index),
            }
        }
    }

    /// The requests, and the rest.
    pub(super) fn finish(mut self) -> (Vec<Value>, WrittenParts) {
        self.end_request();
        self.parts.translated = self.calls.translated;
        (self.requests, self.parts)
    }

    /// The older part, and the summary that stood at its beginning.
    fn write_brief(&mut self, entries: &[CarriedEntry], brief: &str, order: &mut Vec<usize>) {
        let first = order.first().copied();
        match first.map(|index| (index, &entries[index].entry.body)) {
            Some((index, Body::Summary(before))) => {
                order.remove(0);
                self.write_summary(&format!("{}\n\n{brief}", text_of(before)), vec![index]);
            }
            _ => self.write_summary(brief, Vec::new()),
        }
    }

    fn write_entry(&mut self, carried: &CarriedEntry, index: usize) {
        self.at = carried.entry.at.map_or(self.at, |at| at.max(self.at));
        match &carried.entry.body {
            Body::Summary(parts) if self.requests.is_empty() && self.draft.is_none() => {
                self.write_summary(&text_of(parts), vec![index]);
                return;
            }
            Body::Prompt(parts) | Body::Summary(parts) => {
                self.begin_request(parts, carried.entry.origin != Origin::User);
            }
            Body::Reply(parts) => self.add_reply(&text_of(parts)),
            Body::Reasoning(reasoning) => {
                self.add_reasoning(&reasoning.text);
                return;
            }
            Body::Call(call) => self.add_call(call, carried),
            Body::Outcome(outcome) => self.add_outcome(outcome),
            Body::Compacted(_) | Body::Rewound { .. } | Body::Failure(_) | Body::Note(_) | Body::Opaque(_) => return,
        }
        if let Some(draft) = &mut self.draft {
            draft.entries.push(index);
        }
    }

    /// A request whose first round is the summary's: everything up to it is not sent any more. What the agent goes on with
    /// stands in the same request, as nobody has asked for it since.
    fn write_summary(&mut self, summary: &str, entries: Vec<usize>) {
        self.end_request();
        self.draft = Some(Draft {
            text: OLDER_WORDS.to_owned(),
            is_system: true,
            rounds: vec![Round { response: OLDER_WORDS.to_owned(), calls: Vec::new(), at: None }],
            shown: vec![shown_request::words(summary)],
            summary: Some(summary.to_owned()),
            entries,
            at: Some(self.at),
            ..Draft::default()
        });
    }

    fn begin_request(&mut self, parts: &[Part], is_system: bool) {
        self.end_request();
        let mut texts = Vec::new();
        let mut variables = Vec::new();
        for part in parts {
            match part {
                Part::Text(text) => texts.push(text.clone()),
                Part::Blob(blob) => match image_data(blob) {
                    Some(base64) => {
                        let name = blob.name.clone().unwrap_or_else(|| format!("image-{}", variables.len() + 1));
                        variables.push(json!({
                            "kind": "image", "id": self.ids.next_uuid(), "name": name, "mimeType": blob.media_type,
                            "isURL": false, "value": { "$base64": base64 },
                        }));
                    }
                    None => texts.push(self.leave_out(blob)),
                },
            }
        }
        let (text, at) = (texts.join("\n\n"), Some(self.at));
        self.draft = Some(Draft { text, variables, is_system, at, ..Draft::default() });
    }

    /// The request that the agent is answering; what nobody asked for stands in one of the editor's own.
    fn open_draft(&mut self) -> &mut Draft {
        let at = Some(self.at);
        self.draft.get_or_insert_with(|| Draft {
            text: UNASKED_WORDS.to_owned(),
            is_system: true,
            at,
            ..Draft::default()
        })
    }

    fn add_reply(&mut self, text: &str) {
        let at = Some(self.at);
        let draft = self.open_draft();
        draft.shown.push(shown_request::words(text));
        draft.rounds.push(Round { response: text.to_owned(), calls: Vec::new(), at });
    }

    /// It is shown, and no more.
    fn add_reasoning(&mut self, text: &str) {
        let reason = if text.is_empty() {
            "sealed by its vendor, with no text to show"
        } else {
            "shown, but not sent to the model: the editor sends no reasoning of another client"
        };
        count_loss(&mut self.parts.losses, "reasoning", reason);
        if !text.is_empty() {
            let id = self.ids.next_uuid();
            self.open_draft().shown.push(shown_request::thinking(text, &id));
        }
    }

    fn add_call(&mut self, call: &Call, carried: &CarriedEntry) {
        let own = dialect::translate_action(&carried.action, self.calls.project_dirs());
        let (written, input) = self.calls.write_call(call, own);
        let at = Some(self.at);
        let draft = self.open_draft();
        // Behind results, and behind a summary, the agent speaks anew.
        let is_summary = draft.summary.is_some() && draft.rounds.len() == 1;
        let is_answered = is_summary
            || draft.rounds.last().is_none_or(|round| {
                round.calls.iter().any(|call| call["id"].as_str().is_some_and(|id| draft.results.contains_key(id)))
            });
        if is_answered {
            draft.rounds.push(Round { at, ..Round::default() });
        }
        if let Some(round) = draft.rounds.last_mut() {
            round.calls.push(json!({ "id": written.id, "name": written.tool, "arguments": input.to_string() }));
        }
        let shown = ShownCall { id: written.id.clone(), tool: written.tool, input };
        draft.invocations.insert(written.id, (draft.shown.len(), shown.clone()));
        draft.shown.push(shown.invocation(None));
    }

    fn add_outcome(&mut self, outcome: &Outcome) {
        let call = self.calls.find_call(&outcome.call).cloned().unwrap_or_default();
        let mut content = Vec::new();
        let mut texts = Vec::new();
        for part in &outcome.parts {
            match part {
                Part::Text(text) => texts.push(text.clone()),
                Part::Blob(blob) => match image_data(blob) {
                    Some(base64) => {
                        count_loss(&mut self.parts.losses, "image", IMAGE_LOSS_REASON);
                        content.push(json!({ "$mid": 24, "mimeType": blob.media_type, "data": base64 }));
                    }
                    None => texts.push(self.leave_out(blob)),
                },
            }
        }
        let text = outcome_text(outcome, &call.tool, &texts.join("\n\n"));
        if !text.is_empty() || content.is_empty() {
            content.insert(0, json!({ "$mid": 21, "value": text }));
        }
        let draft = self.open_draft();
        draft.results.insert(call.id.clone(), json!({ "$mid": 20, "content": content }));
        if let Some((at, shown)) = draft.invocations.get(&call.id) {
            let invocation = shown.invocation(Some((outcome, &text)));
            if let Some(place) = draft.shown.get_mut(*at) {
                *place = invocation;
            }
        }
    }

    fn leave_out(&mut self, blob: &Blob) -> String {
        count_loss(&mut self.parts.losses, "attachment", "the editor takes images (PNG, JPEG, GIF, WebP) only");
        describe_omitted(blob)
    }

    /// Writes down the request that was in the making.
    fn end_request(&mut self) {
        let Some(draft) = self.draft.take() else { return };
        let (asked, ended) = (draft.at.unwrap_or(self.at).millis(), self.at.millis());
        let rounds: Vec<Value> = draft.rounds.iter().map(|round| self.round_json(round)).collect();
        let mut metadata = json!({ "toolCallRounds": rounds, "toolCallResults": draft.results });
        // Without it, the extension renders the prompt anew, and adds a letter to it. What it renders an image as is its own.
        if draft.variables.is_empty() && !draft.text.contains(ATTACHMENTS_MARK) {
            metadata["renderedUserMessage"] = shown_request::rendered(&draft.text);
        }
        if let (Some(summary), Some(round)) = (draft.summary, rounds.first()) {
            metadata["summaries"] = json!([{ "toolCallRoundId": round["id"], "text": summary }]);
        }
        let mut request = json!({
            "requestId": format!("request_{}", self.ids.next_uuid()), "timestamp": asked,
            "agent": shown_request::agent(), "responseId": format!("response_{}", self.ids.next_uuid()),
            "responseTimestamp": asked, "result": { "metadata": metadata }, "followups": [],
            "modelState": { "value": 1, "completedAt": ended }, "contentReferences": [], "codeCitations": [],
            "timeSpentWaiting": asked, "modeInfo": shown_request::mode(), "editedFileEvents": [],
            "response": draft.shown, "message": shown_request::message(&draft.text),
            "variableData": { "variables": draft.variables },
        });
        if draft.is_system {
            request["isSystemInitiated"] = json!(true);
        }
        self.push_request(request, draft.entries);
    }

    fn round_json(&mut self, round: &Round) -> Value {
        json!({
            "id": self.ids.next_uuid(), "response": round.response, "toolInputRetry": 0, "toolCalls": round.calls,
            "timestamp": round.at.unwrap_or(self.at).millis(),
        })
    }

    /// The number of a request is its place: the first is behind what the session says of itself.
    fn push_request(&mut self, request: Value, entries: Vec<usize>) {
        self.requests.push(request);
        self.parts.places.push((entries, self.requests.len() as u64));
    }

    /// A request of the editor's own: everything stays but where the project was.
    fn write_native(&mut self, mut request: Value, entries: Vec<usize>) {
        self.end_request();
        let rounds = request.pointer_mut("/result/metadata/toolCallRounds").and_then(Value::as_array_mut);
        for call in rounds.into_iter().flatten().filter_map(|round| round["toolCalls"].as_array_mut()).flatten() {
            let (id, tool) = (call["id"].as_str().unwrap_or_default(), call["name"].as_str().unwrap_or_default());
            self.calls.note_call(id, tool);
            let arguments = call["arguments"].as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
            if let (Some(moves), Some(before)) = (self.moves, arguments) {
                let mut after = before.clone();
                moves.move_value(&mut after);
                if after != before {
                    call["arguments"] = json!(after.to_string());
                }
            }
        }
        self.push_request(request, entries);
    }
}

/// The bytes of an image that the editor takes.
fn image_data(blob: &Blob) -> Option<&str> {
    let BlobLocation::Inline(data) = &blob.location else { return None };
    is_common_image(blob).then_some(&**data)
}

/// What a call gave back, in the words that the editor's own tools have for how it ended.
fn outcome_text(outcome: &Outcome, tool: &str, text: &str) -> String {
    match outcome.status {
        Status::Interrupted if text.is_empty() => CANCELLED_WORDS.to_owned(),
        Status::Interrupted if !text.starts_with(CANCELLED_WORDS) => format!("{CANCELLED_WORDS}\n\n{text}"),
        _ if tool == dialect::SHELL_TOOL => match outcome.exit_code {
            Some(code) if code != 0 => exit_line::add_exit_line(text, &dialect::exit_code_lines(code)),
            _ => text.to_owned(),
        },
        _ => text.to_owned(),
    }
}

/// The records that are written back as they were.
struct NativeRequests {
    values: BTreeMap<RecordKey, Value>,
    entries: BTreeMap<RecordKey, Vec<usize>>,
}

/// How an entry is written.
enum Native {
    /// Anew.
    None,
    /// With a record that holds it.
    Record(Value, Vec<usize>),
    /// It stands there already.
    Written,
}

impl NativeRequests {
    /// A record of which something was cut is told anew, and so are all of a session that was compacted: a summary in one
    /// speaks of rounds in others.
    fn find(request: &WriteRequest<'_>) -> Self {
        let mut found = Self { values: BTreeMap::new(), entries: BTreeMap::new() };
        let natives = || request.entries.iter().enumerate().filter(|(_, carried)| carried.native.is_some());
        if natives().any(|(_, carried)| matches!(carried.entry.body, Body::Summary(_))) {
            return found;
        }
        for (index, carried) in natives() {
            let key = record_key(carried);
            let value = carried.native.as_deref().and_then(|raw| serde_json::from_str::<Value>(raw).ok());
            let Some(value) = value.filter(|value| value["message"].is_object()) else { continue };
            found.values.entry(key).or_insert(value);
            found.entries.entry(key).or_default().push(index);
        }
        for cut in request.entries.iter().filter(|carried| carried.clipped) {
            found.values.remove(&record_key(cut));
        }
        found
    }

    fn take(&mut self, carried: &CarriedEntry) -> Native {
        let key = record_key(carried);
        let Some(value) = self.values.get(&key).filter(|_| carried.native.is_some()) else { return Native::None };
        match self.entries.remove(&key) {
            Some(entries) => Native::Record(value.clone(), entries),
            None => Native::Written,
        }
    }
}
