//! A session in the client's own form for exchange: messages with their parts, one message of the agent for each step.

use std::collections::BTreeMap;

use carryover_core::time::Timestamp;
use carryover_core::transcript::{Body, CallId, Origin, Outcome, Part, text_of};
use serde_json::{Value, json};

use super::names::Names;
use super::parts;
use super::speech::{BROUGHT, SUMMARY};
use super::wire::WireModel;
use super::{dialect, native};
use crate::formats::calls::spell_call;
use crate::formats::ids;
use crate::formats::losses::count_loss;
use crate::formats::own_records::OwnRecords;
use crate::formats::relocate::Relocation;
use crate::formats::request::{project_move, title_or_prompt};
use crate::formats::session_lines::later_time;
use crate::formats::spelling::ProjectDirs;
use crate::{Carried, Loss, Origins, WriteRequest, WrittenAs};

/// The longest name of a call that all APIs take.
const LONGEST_NAME: usize = 64;

/// The session as it was written.
pub(super) struct Written {
    pub title: String,
    pub began: Timestamp,
    pub messages: Vec<Value>,
    pub origins: Origins,
    pub losses: Vec<Loss>,
    pub translated: usize,
}

/// The session in the making.
pub(super) struct Page<'a> {
    request: &'a WriteRequest<'a>,
    project: &'a str,
    session: &'a str,
    model: WireModel,
    names: Names,
    call_names: ids::Names,
    moves: Option<Relocation<'a>>,
    messages: Vec<Said>,
    /// The message that asked for what the agent now says.
    asked: String,
    /// Whether the agent's last message may take more.
    step: Step,
    /// Where calls were written.
    calls: BTreeMap<CallId, (usize, usize)>,
    at: Timestamp,
    losses: Vec<Loss>,
    translated: usize,
}

/// A message, and the entries that it holds.
struct Said {
    value: Value,
    at: Timestamp,
    entries: Vec<usize>,
    is_native: bool,
}

/// How far the agent's step has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// What comes next begins another.
    Over,
    /// It may call tools, and has said something or has not.
    Open { spoken: bool },
}

impl<'a> Page<'a> {
    pub(super) fn new(
        request: &'a WriteRequest<'a>,
        project: &'a str,
        session: &'a str,
        model: WireModel,
        mut names: Names,
    ) -> Self {
        let moves = project_move(request, project);
        let asked = names.message(request.started_at);
        Self {
            request,
            project,
            session,
            model,
            names,
            call_names: ids::Names::default(),
            moves,
            messages: Vec::new(),
            asked,
            step: Step::Over,
            calls: BTreeMap::new(),
            at: request.started_at,
            losses: Vec::new(),
            translated: 0,
        }
    }

    pub(super) fn write(mut self, now: Timestamp) -> Written {
        if let Some(brief) = self.request.brief {
            self.compaction(brief, Vec::new());
        }
        let mut own = OwnRecords::new(self.request.entries);
        for (index, carried) in self.request.entries.iter().enumerate() {
            if let Some(at) = own.find_line(carried) {
                self.messages[at].entries.push(index);
            } else if let Some(value) = own.find_record(carried).and_then(native::parse) {
                self.native(value, index);
                own.note_line(carried, self.messages.len() - 1);
            } else {
                self.entry(carried, index);
            }
        }
        self.finish(now)
    }

    /// A message of this client's own: everything stays but what ties it to its old session.
    fn native(&mut self, mut value: Value, index: usize) {
        let at = native::created(&value);
        if value["info"]["summary"] == true {
            self.tick(at);
            self.ask_for_compaction();
        }
        self.tick(at);
        let id = self.names.message(self.at);
        let is_user = value["info"]["role"] == "user";
        let info = &mut value["info"];
        info["id"] = json!(id);
        info["sessionID"] = json!(self.session);
        info["time"]["created"] = json!(self.at.millis());
        if is_user {
            self.asked.clone_from(&id);
        } else {
            info["parentID"] = json!(self.asked);
            info["path"] = json!({ "cwd": self.project, "root": self.project });
        }
        for part in value["parts"].as_array_mut().into_iter().flatten() {
            native::tie(part, &mut || self.names.part(self.at), self.session, &id);
            if let (Some(moves), Some(state)) = (self.moves, part.get_mut("state")) {
                moves.value(&mut state["input"]);
            }
        }
        for (place, call) in native::calls(&value) {
            self.call_names.unique(&call, LONGEST_NAME);
            self.calls.insert(CallId(call.into()), (self.messages.len(), place));
        }
        self.step = Step::Over;
        self.messages.push(Said { value, at: self.at, entries: vec![index], is_native: true });
    }

    fn entry(&mut self, carried: &Carried, index: usize) {
        self.tick(carried.entry.at);
        match &carried.entry.body {
            Body::Prompt(parts) if carried.entry.origin == Origin::Hook => {
                let part = json!({
                    "type": "text", "text": text_of(parts), "synthetic": true, "metadata": { "carryover": BROUGHT },
                });
                self.prompt(vec![part], index);
            }
            Body::Prompt(parts) => {
                let parts = parts.iter().map(|part| parts::prompt(part, &mut self.losses)).collect();
                self.prompt(parts, index);
            }
            Body::Summary(parts) if parts.is_empty() => {}
            Body::Summary(parts) if self.messages.is_empty() => self.compaction(&text_of(parts), vec![index]),
            Body::Summary(parts) => {
                // One more compaction would take away what stands before it.
                let part = json!({
                    "type": "text", "text": text_of(parts), "synthetic": true, "metadata": { "carryover": SUMMARY },
                });
                self.prompt(vec![part], index);
            }
            Body::Reply(parts) => self.reply(parts, index),
            Body::Reasoning(_) => {
                let reason = "to another model, the client would send it as if it had been said";
                count_loss(&mut self.losses, "reasoning", reason);
            }
            Body::Call(call) => {
                let own = dialect::spell(&carried.action, ProjectDirs::new(self.project, self.moves));
                self.translated += usize::from(own.is_some());
                let (tool, input) = spell_call(call, own, LONGEST_NAME, self.moves);
                let name = self.call_names.unique(&call.id.0, LONGEST_NAME);
                let place = self.say(parts::call(&tool, &name, &input, self.at), index);
                self.calls.insert(call.id.clone(), place);
            }
            Body::Outcome(outcome) => self.outcome(outcome, index),
            _ => {}
        }
    }

    fn prompt(&mut self, parts: Vec<Value>, index: usize) {
        let id = self.message(json!({
            "role": "user", "agent": "build",
            "model": { "providerID": self.model.provider, "modelID": self.model.model },
            "time": { "created": self.at.millis() },
        }));
        self.asked = id;
        for part in parts {
            self.part(part);
        }
        self.last().entries.push(index);
        self.step = Step::Over;
    }

    fn reply(&mut self, said: &[Part], index: usize) {
        // Two texts of one message would run together.
        if self.step == (Step::Open { spoken: true }) {
            self.step = Step::Over;
        }
        let texts: Vec<String> = said.iter().map(|part| parts::spoken(part, &mut self.losses)).collect();
        let time = json!({ "start": self.at.millis(), "end": self.at.millis() });
        self.say(json!({ "type": "text", "text": texts.join("\n\n"), "time": time }), index);
        self.step = Step::Open { spoken: true };
    }

    /// Adds a part to the agent's message; says where it stands.
    fn say(&mut self, part: Value, index: usize) -> (usize, usize) {
        if self.step == Step::Over {
            let info = self.agents("build");
            self.message(info);
            self.part(json!({ "type": "step-start" }));
            self.step = Step::Open { spoken: false };
        }
        let place = self.part(part);
        self.last().entries.push(index);
        place
    }

    fn agents(&self, agent: &str) -> Value {
        json!({
            "role": "assistant", "parentID": self.asked, "modelID": self.model.model, "providerID": self.model.provider,
            "mode": agent, "agent": agent, "path": { "cwd": self.project, "root": self.project }, "cost": 0,
            "tokens": parts::tokens(0), "time": { "created": self.at.millis(), "completed": self.at.millis() },
        })
    }

    fn outcome(&mut self, outcome: &Outcome, index: usize) {
        let Some((message, place)) = self.calls.get(&outcome.call).copied() else { return };
        let ids: Vec<String> = outcome.parts.iter().map(|_| self.names.part(self.at)).collect();
        let said = &mut self.messages[message];
        let id = said.value["info"]["id"].clone();
        let part = &mut said.value["parts"][place];
        parts::end(part, outcome, self.at, &mut self.losses);
        for (attachment, part_id) in native::attachments(part).zip(ids) {
            attachment["id"] = json!(part_id);
            attachment["sessionID"] = json!(self.session);
            attachment["messageID"] = id.clone();
        }
        said.entries.push(index);
        // What the agent says now, it says knowing this.
        self.step = Step::Over;
    }

    /// The client's own compaction: it asks, and the summary is the answer.
    fn compaction(&mut self, summary: &str, entries: Vec<usize>) {
        self.ask_for_compaction();
        self.tick(None);
        let mut info = self.agents("compaction");
        info["summary"] = json!(true);
        self.message(info);
        self.part(json!({ "type": "step-start" }));
        let time = json!({ "start": self.at.millis(), "end": self.at.millis() });
        self.part(json!({ "type": "text", "text": summary, "time": time }));
        self.last().entries.extend(entries);
        self.step = Step::Over;
    }

    fn ask_for_compaction(&mut self) {
        self.asked = self.message(json!({
            "role": "user", "agent": "build",
            "model": { "providerID": self.model.provider, "modelID": self.model.model },
            "time": { "created": self.at.millis() },
        }));
        self.part(json!({ "type": "compaction", "auto": false }));
        self.step = Step::Over;
    }

    fn message(&mut self, mut info: Value) -> String {
        let id = self.names.message(self.at);
        info["id"] = json!(id);
        info["sessionID"] = json!(self.session);
        let value = json!({ "info": info, "parts": [] });
        self.messages.push(Said { value, at: self.at, entries: Vec::new(), is_native: false });
        id
    }

    /// Adds a part to the last message.
    fn part(&mut self, mut part: Value) -> (usize, usize) {
        let id = self.names.part(self.at);
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

    fn last(&mut self) -> &mut Said {
        let last = self.messages.len() - 1;
        &mut self.messages[last]
    }

    /// No message is as old as the one before: the client sorts by time.
    fn tick(&mut self, at: Option<Timestamp>) {
        self.at = later_time(self.at, at);
    }

    fn finish(mut self, now: Timestamp) -> Written {
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
            let offset = ids::digest(said.value["info"]["id"].as_str().unwrap_or_default());
            origins.extend(said.entries.iter().map(|entry| WrittenAs { entry: *entry, offset }));
            messages.push(said.value);
        }
        origins.sort_by_key(|written| written.entry);
        let (losses, translated) = (self.losses, self.translated);
        Written { title, began: began.unwrap_or(now), messages, origins, losses, translated }
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
            let tokens = parts::tokens(if Some(index) == last { self.request.tokens } else { 0 });
            let id = said.value["info"]["id"].clone();
            let part_id = self.names.part(said.at);
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
