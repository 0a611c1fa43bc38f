//! A session in the client's own form for exchange: messages with their parts, one message of the agent for each step.

use std::collections::BTreeMap;

use carryover_core::time::Timestamp;
use carryover_core::transcript::{Body, CallId, Origin, Outcome, Part, text_of};
use serde_json::{Value, json};

use super::id_generator::IdGenerator;
use super::parts;
use super::text_origin::{INJECTED_MARK, SUMMARY_MARK};
use super::wire::WireModel;
use super::{dialect, native};
use crate::formats::calls::translate_call;
use crate::formats::ids;
use crate::formats::losses::count_loss;
use crate::formats::native_records::NativeRecords;
use crate::formats::relocate::Relocation;
use crate::formats::request::{project_relocation, title_or_prompt};
use crate::formats::session_lines::later_time;
use crate::formats::translation::ProjectDirs;
use crate::{CarriedEntry, Loss, Origins, WriteRequest, WrittenEntry};

/// The longest name of a call that all APIs take.
const LONGEST_NAME: usize = 64;

/// The session as it was written.
pub(super) struct WrittenSession {
    pub title: String,
    pub started_at: Timestamp,
    pub messages: Vec<Value>,
    pub origins: Origins,
    pub losses: Vec<Loss>,
    pub translated: usize,
}

/// The session in the making.
pub(super) struct SessionWriter<'a> {
    request: &'a WriteRequest<'a>,
    project: &'a str,
    session: &'a str,
    model: WireModel,
    names: IdGenerator,
    call_names: ids::UniqueNames,
    relocation: Option<Relocation<'a>>,
    messages: Vec<OutputMessage>,
    /// The message that asked for what the agent now says.
    prompt_id: String,
    /// Whether the agent's last message may take more.
    step: StepPhase,
    /// Where calls were written.
    calls: BTreeMap<CallId, (usize, usize)>,
    at: Timestamp,
    losses: Vec<Loss>,
    translated: usize,
}

/// A message, and the entries that it holds.
struct OutputMessage {
    value: Value,
    at: Timestamp,
    entries: Vec<usize>,
    is_native: bool,
}

/// How far the agent's step has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StepPhase {
    /// The next part begins another.
    Closed,
    /// It may call tools, and has said something or has not.
    Open { spoken: bool },
}

impl<'a> SessionWriter<'a> {
    pub(super) fn new(
        request: &'a WriteRequest<'a>,
        project: &'a str,
        session: &'a str,
        model: WireModel,
        mut names: IdGenerator,
    ) -> Self {
        let moves = project_relocation(request, project);
        let asked = names.message_id(request.started_at);
        Self {
            request,
            project,
            session,
            model,
            names,
            call_names: ids::UniqueNames::default(),
            relocation: moves,
            messages: Vec::new(),
            prompt_id: asked,
            step: StepPhase::Closed,
            calls: BTreeMap::new(),
            at: request.started_at,
            losses: Vec::new(),
            translated: 0,
        }
    }

    pub(super) fn write_entries(mut self, now: Timestamp) -> WrittenSession {
        if let Some(brief) = self.request.brief {
            self.write_compaction(brief, Vec::new());
        }
        let mut own = NativeRecords::new(self.request.entries);
        for (index, carried) in self.request.entries.iter().enumerate() {
            if let Some(at) = own.find_line(carried) {
                self.messages[at].entries.push(index);
            } else if let Some(value) = own.find_record(carried).and_then(native::parse_message) {
                self.write_native(value, index);
                own.note_line(carried, self.messages.len() - 1);
            } else {
                self.write_entry(carried, index);
            }
        }
        self.finish(now)
    }

    /// A message of this client's own: everything stays but what ties it to its old session.
    fn write_native(&mut self, mut value: Value, index: usize) {
        let at = native::created_at(&value);
        if value["info"]["summary"] == true {
            self.advance_clock(at);
            self.ask_for_compaction();
        }
        self.advance_clock(at);
        let id = self.names.message_id(self.at);
        let is_user = value["info"]["role"] == "user";
        let info = &mut value["info"];
        info["id"] = json!(id);
        info["sessionID"] = json!(self.session);
        info["time"]["created"] = json!(self.at.millis());
        if is_user {
            self.prompt_id.clone_from(&id);
        } else {
            info["parentID"] = json!(self.prompt_id);
            info["path"] = json!({ "cwd": self.project, "root": self.project });
        }
        for part in value["parts"].as_array_mut().into_iter().flatten() {
            native::attach_part(part, &mut || self.names.part_id(self.at), self.session, &id);
            if let (Some(moves), Some(state)) = (self.relocation, part.get_mut("state")) {
                moves.move_value(&mut state["input"]);
            }
        }
        for (place, call) in native::list_calls(&value) {
            self.call_names.make_unique(&call, LONGEST_NAME);
            self.calls.insert(CallId(call.into()), (self.messages.len(), place));
        }
        self.step = StepPhase::Closed;
        self.messages.push(OutputMessage { value, at: self.at, entries: vec![index], is_native: true });
    }

    fn write_entry(&mut self, carried: &CarriedEntry, index: usize) {
        self.advance_clock(carried.entry.at);
        match &carried.entry.body {
            Body::Prompt(parts) if carried.entry.origin == Origin::Hook => {
                let part = json!({
                    "type": "text", "text": text_of(parts), "synthetic": true, "metadata": { "carryover": INJECTED_MARK },
                });
                self.write_prompt(vec![part], index);
            }
            Body::Prompt(parts) => {
                let parts = parts.iter().map(|part| parts::prompt_part(part, &mut self.losses)).collect();
                self.write_prompt(parts, index);
            }
            Body::Summary(parts) if parts.is_empty() => {}
            Body::Summary(parts) if self.messages.is_empty() => self.write_compaction(&text_of(parts), vec![index]),
            Body::Summary(parts) => {
                // One more compaction would take away what stands before it.
                let part = json!({
                    "type": "text", "text": text_of(parts), "synthetic": true, "metadata": { "carryover": SUMMARY_MARK },
                });
                self.write_prompt(vec![part], index);
            }
            Body::Reply(parts) => self.write_reply(parts, index),
            Body::Reasoning(_) => {
                let reason = "to another model, the client would send it as if it had been said";
                count_loss(&mut self.losses, "reasoning", reason);
            }
            Body::Call(call) => {
                let own = dialect::translate_action(&carried.action, ProjectDirs::new(self.project, self.relocation));
                self.translated += usize::from(own.is_some());
                let (tool, input) = translate_call(call, own, LONGEST_NAME, self.relocation);
                let name = self.call_names.make_unique(&call.id.0, LONGEST_NAME);
                let place = self.write_part(parts::call_part(&tool, &name, &input, self.at), index);
                self.calls.insert(call.id.clone(), place);
            }
            Body::Outcome(outcome) => self.write_outcome(outcome, index),
            _ => {}
        }
    }

    fn write_prompt(&mut self, parts: Vec<Value>, index: usize) {
        let id = self.push_message(json!({
            "role": "user", "agent": "build",
            "model": { "providerID": self.model.provider, "modelID": self.model.model },
            "time": { "created": self.at.millis() },
        }));
        self.prompt_id = id;
        for part in parts {
            self.push_part(part);
        }
        self.last_message().entries.push(index);
        self.step = StepPhase::Closed;
    }

    fn write_reply(&mut self, said: &[Part], index: usize) {
        // Two texts of one message would run together.
        if self.step == (StepPhase::Open { spoken: true }) {
            self.step = StepPhase::Closed;
        }
        let texts: Vec<String> = said.iter().map(|part| parts::reply_text(part, &mut self.losses)).collect();
        let time = json!({ "start": self.at.millis(), "end": self.at.millis() });
        self.write_part(json!({ "type": "text", "text": texts.join("\n\n"), "time": time }), index);
        self.step = StepPhase::Open { spoken: true };
    }

    /// Adds a part to the agent's message; says where it stands.
    fn write_part(&mut self, part: Value, index: usize) -> (usize, usize) {
        if self.step == StepPhase::Closed {
            let info = self.agent_info("build");
            self.push_message(info);
            self.push_part(json!({ "type": "step-start" }));
            self.step = StepPhase::Open { spoken: false };
        }
        let place = self.push_part(part);
        self.last_message().entries.push(index);
        place
    }

    fn agent_info(&self, agent: &str) -> Value {
        json!({
            "role": "assistant", "parentID": self.prompt_id, "modelID": self.model.model, "providerID": self.model.provider,
            "mode": agent, "agent": agent, "path": { "cwd": self.project, "root": self.project }, "cost": 0,
            "tokens": parts::token_counts(0), "time": { "created": self.at.millis(), "completed": self.at.millis() },
        })
    }

    fn write_outcome(&mut self, outcome: &Outcome, index: usize) {
        let Some((message, place)) = self.calls.get(&outcome.call).copied() else { return };
        let ids: Vec<String> = outcome.parts.iter().map(|_| self.names.part_id(self.at)).collect();
        let said = &mut self.messages[message];
        let id = said.value["info"]["id"].clone();
        let part = &mut said.value["parts"][place];
        parts::complete_call(part, outcome, self.at, &mut self.losses);
        for (attachment, part_id) in native::part_attachments(part).zip(ids) {
            attachment["id"] = json!(part_id);
            attachment["sessionID"] = json!(self.session);
            attachment["messageID"] = id.clone();
        }
        said.entries.push(index);
        // The agent's next words are said knowing this.
        self.step = StepPhase::Closed;
    }

    /// The client's own compaction: it asks, and the summary is the answer.
    fn write_compaction(&mut self, summary: &str, entries: Vec<usize>) {
        self.ask_for_compaction();
        self.advance_clock(None);
        let mut info = self.agent_info("compaction");
        info["summary"] = json!(true);
        self.push_message(info);
        self.push_part(json!({ "type": "step-start" }));
        let time = json!({ "start": self.at.millis(), "end": self.at.millis() });
        self.push_part(json!({ "type": "text", "text": summary, "time": time }));
        self.last_message().entries.extend(entries);
        self.step = StepPhase::Closed;
    }

    fn ask_for_compaction(&mut self) {
        self.prompt_id = self.push_message(json!({
            "role": "user", "agent": "build",
            "model": { "providerID": self.model.provider, "modelID": self.model.model },
            "time": { "created": self.at.millis() },
        }));
        self.push_part(json!({ "type": "compaction", "auto": false }));
        self.step = StepPhase::Closed;
    }

    fn push_message(&mut self, mut info: Value) -> String {
        let id = self.names.message_id(self.at);
        info["id"] = json!(id);
        info["sessionID"] = json!(self.session);
        let value = json!({ "info": info, "parts": [] });
        self.messages.push(OutputMessage { value, at: self.at, entries: Vec::new(), is_native: false });
        id
    }

    /// Adds a part to the last message.
    fn push_part(&mut self, mut part: Value) -> (usize, usize) {
        let id = self.names.part_id(self.at);
        let session = self.session;
        let message = self.messages.len() - 1;
        let said = &mut self.messages[message].value;
        part["id"] = json!(id);
        part["sessionID"] = json!(session);
        part["messageID"] = said["info"]["id"].clone();
        let Some(parts) = said["parts"].as_array_mut() else { return (message, 0) };
        parts.push(part);
        (message, parts.len() - 1)
    }

    fn last_message(&mut self) -> &mut OutputMessage {
        let last = self.messages.len() - 1;
        &mut self.messages[last]
    }

    /// No message is as old as the one before: the client sorts by time.
    fn advance_clock(&mut self, at: Option<Timestamp>) {
        self.at = later_time(self.at, at);
    }

    fn finish(mut self, now: Timestamp) -> WrittenSession {
        self.end_steps();
        // The next prompt must be the newest of all.
        let late = (self.at.millis() - now.millis()).max(0);
        let mut origins = Vec::new();
        let title = title_or_prompt(self.request);
        let mut messages = Vec::with_capacity(self.messages.len());
        let mut began = None;
        for mut said in self.messages {
            let at = said.at.plus_millis(-late);
            began.get_or_insert(at);
            said.value["info"]["time"]["created"] = json!(at.millis().max(0));
            let offset = ids::digest_name(said.value["info"]["id"].as_str().unwrap_or_default());
            origins.extend(said.entries.iter().map(|entry| WrittenEntry { entry: *entry, offset }));
            messages.push(said.value);
        }
        origins.sort_by_key(|written| written.entry);
        let (losses, translated) = (self.losses, self.translated);
        WrittenSession { title, started_at: began.unwrap_or(now), messages, origins, losses, translated }
    }

    /// Says why each step ended, and to the last one how large the context is.
    fn end_steps(&mut self) {
        let last = self.messages.iter().rposition(|said| said.value["info"]["role"] == "assistant");
        for index in 0..self.messages.len() {
            let said = &self.messages[index];
            if said.is_native || said.value["info"]["role"] != "assistant" {
                continue;
            }
            let has_calls =
                said.value["parts"].as_array().is_some_and(|parts| parts.iter().any(|part| part["type"] == "tool"));
            let reason = if has_calls { "tool-calls" } else { "stop" };
            let tokens = parts::token_counts(if Some(index) == last { self.request.tokens } else { 0 });
            let id = said.value["info"]["id"].clone();
            let part_id = self.names.part_id(said.at);
            let value = &mut self.messages[index].value;
            value["info"]["finish"] = json!(reason);
            value["info"]["tokens"] = tokens.clone();
            if let Some(parts) = value["parts"].as_array_mut() {
                parts.push(json!({
                    "type": "step-finish", "reason": reason, "cost": 0, "tokens": tokens, "id": part_id,
                    "sessionID": self.session, "messageID": id,
                }));
            }
        }
    }
}
