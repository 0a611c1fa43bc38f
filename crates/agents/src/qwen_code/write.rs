//! Planning a session file that the client's own resume loads.
//!
//! One line a message, each named by its parent. What came from this agent in the first place is written back as it
//! was.

use std::collections::{BTreeMap, BTreeSet};

use carryover_core::plain::one_line;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{Body, Origin, Part, SessionId, text_of};
use serde_json::{Value, json};

use super::discover;
use super::parts::{self, Parts};
use super::prompt;
use crate::formats::ids::Ids;
use crate::formats::introduced::{self, introduced_parts};
use crate::formats::relocate::Relocation;
use crate::formats::turns;
use crate::{
    AgentError, Carried, Loss, Op, Origins, ResumeCommand, TargetView, Version, WritePlan, WriteRequest, WrittenAs,
};

/// What is written where no client tells its version.
const NEWEST: Version = Version(0, 24, 4);

/// Plans the file.
pub(super) fn plan(request: &WriteRequest<'_>, target: &TargetView<'_>) -> Result<WritePlan, AgentError> {
    let Some(project) = request.project.to_str() else {
        let reason = "the project's path is not UTF-8".to_owned();
        return Err(AgentError::CannotHold { agent: "Qwen Code", reason });
    };
    let mut ids = Ids::new(request.seed);
    let session = ids.uuid();
    let file = discover::folder(&target.store.root, project, target.env.os).join(format!("{session}.jsonl"));
    let mut page = Page::new(request, project, &session, target.version.unwrap_or(NEWEST), ids);
    page.write();
    let translated = page.parts.translated;
    let (bytes, origins, losses) = page.finish();
    let argv = vec!["qwen".to_owned(), "--resume".to_owned(), session.clone()];
    Ok(WritePlan {
        key: None,
        resume: ResumeCommand { argv, cwd: request.project.to_path_buf(), needs_cwd: true },
        // The client goes on in the file that was changed last.
        ops: vec![Op::Create { path: file.clone(), bytes, private: true, modified: target.env.now }],
        session: SessionId(session),
        file,
        translated,
        losses,
        origins,
    })
}

/// The file in the making.
struct Page<'a> {
    request: &'a WriteRequest<'a>,
    project: &'a str,
    session: &'a str,
    version: Version,
    ids: Ids,
    taken: BTreeSet<String>,
    parts: Parts<'a>,
    lines: Vec<Line>,
    parent: Option<String>,
    /// The message that the agent is in the midst of.
    open: Message,
    at: Timestamp,
    losses: Vec<Loss>,
}

/// A line and the entries that it holds.
struct Line {
    value: Value,
    entries: Vec<usize>,
}

/// A message of the agent's in the making.
#[derive(Default)]
struct Message {
    parts: Vec<Value>,
    entries: Vec<usize>,
    asks: bool,
}

impl<'a> Page<'a> {
    fn new(request: &'a WriteRequest<'a>, project: &'a str, session: &'a str, version: Version, ids: Ids) -> Self {
        let old = request.old_project.and_then(|old| old.to_str());
        let moves = old.filter(|old| *old != project).map(|old| Relocation { old, new: project });
        Self {
            parts: Parts::new(project, moves, version),
            request,
            project,
            session,
            version,
            ids,
            taken: BTreeSet::new(),
            lines: Vec::new(),
            parent: None,
            open: Message::default(),
            at: request.started_at,
            losses: Vec::new(),
        }
    }

    fn write(&mut self) {
        let entries = self.request.entries;
        let order = turns::outcomes_first(entries);
        let is_summary = |index: &usize| matches!(entries[*index].entry.body, Body::Summary(_));
        let mut outlined = None;
        if let Some(brief) = self.request.brief {
            outlined = order.first().copied().filter(is_summary);
            self.outline(brief, outlined);
        }
        let cut: BTreeSet<Record> = entries.iter().filter(|carried| carried.clipped).map(record).collect();
        let mut written: BTreeMap<Record, usize> = BTreeMap::new();
        for index in order.into_iter().filter(|index| Some(*index) != outlined) {
            let carried = &entries[index];
            let raw = carried.native.as_deref().filter(|_| !cut.contains(&record(carried)));
            match raw.and_then(|_| written.get(&record(carried))) {
                Some(line) => self.lines[*line].entries.push(index),
                None => match raw.and_then(|raw| self.native(raw)) {
                    Some(value) => {
                        self.close();
                        written.insert(record(carried), self.lines.len());
                        self.back(value, index);
                    }
                    None => self.entry(carried, index),
                },
            }
        }
        self.close();
    }

    /// The record to write back. A compaction begins the context anew: with anything before it, it must be told again,
    /// not repeated.
    fn native(&self, raw: &str) -> Option<Value> {
        let value: Value = serde_json::from_str(raw).ok()?;
        let begins = self.lines.is_empty() && self.open.parts.is_empty();
        // What was typed as a command stands in a record that the client does not send.
        let is_typed = value["subtype"] == "slash_command";
        (begins || is_typed || value["type"] != "system").then_some(value)
    }

    /// A record of this client's own: everything stays but what ties it to its old file.
    fn back(&mut self, mut value: Value, index: usize) {
        let at = value.get("timestamp").and_then(Value::as_str).and_then(Timestamp::parse);
        self.at = at.map_or(self.at, |at| at.max(self.at));
        let uuid = value["uuid"].as_str().filter(|uuid| !self.taken.contains(*uuid)).map(str::to_owned);
        let uuid = uuid.unwrap_or_else(|| self.ids.uuid());
        value["uuid"] = json!(uuid);
        value["parentUuid"] = json!(self.parent);
        value["sessionId"] = json!(self.session);
        value["cwd"] = json!(self.project);
        if let Some(message) = value.get_mut("message") {
            self.parts.know(message);
        }
        let history = value.pointer_mut("/systemPayload/compressedHistory").and_then(Value::as_array_mut);
        history.into_iter().flatten().for_each(|message| self.parts.know(message));
        self.put(value, uuid, vec![index]);
    }

    fn entry(&mut self, carried: &Carried, index: usize) {
        match &carried.entry.body {
            Body::Reply(parts) => {
                if !self.open.asks && !self.open.parts.is_empty() {
                    self.close();
                }
                self.tick(carried.entry.at);
                self.said(json!({ "text": text_of(parts) }), index);
            }
            Body::Call(call) => {
                self.tick(carried.entry.at);
                let part = self.parts.call(call, carried);
                self.said(part, index);
                self.open.asks = true;
            }
            Body::Reasoning(_) => {
                let reason = "the client would send it to a model that did not think it";
                parts::lose(&mut self.losses, "reasoning", reason);
            }
            _ => {
                self.close();
                self.tick(carried.entry.at);
                self.heard(carried, index);
            }
        }
    }

    fn heard(&mut self, carried: &Carried, index: usize) {
        match &carried.entry.body {
            Body::Prompt(parts) if carried.entry.origin == Origin::Hook => self.prompt(parts, "system", index),
            Body::Prompt(parts) => self.prompt(parts, "real_user", index),
            Body::Outcome(outcome) => {
                let (part, result) = self.parts.outcome(outcome, &mut self.losses);
                let message = json!({ "role": "user", "parts": [part] });
                let rest = json!({ "message": message, "toolCallResult": result });
                self.push("tool_result", "tool_result", rest, vec![index]);
            }
            Body::Summary(parts) if self.lines.is_empty() => self.compaction(&text_of(parts), vec![index]),
            // A compaction would hide what stands before it.
            Body::Summary(parts) => self.prompt(parts, "system", index),
            _ => {}
        }
    }

    fn prompt(&mut self, parts: &[Part], provenance: &str, index: usize) {
        let is_told = provenance != "real_user";
        let (parts, changed) = introduced_parts(parts, |text| is_told || prompt::is_typed(text));
        (0..changed).for_each(|_| parts::lose(&mut self.losses, introduced::WHAT, introduced::REASON));
        let parts = parts::content(&parts, &mut self.losses);
        let message = json!({ "role": "user", "parts": parts });
        self.push("user", provenance, json!({ "message": message }), vec![index]);
    }

    /// One part of the agent's message.
    fn said(&mut self, part: Value, index: usize) {
        self.open.parts.push(part);
        self.open.entries.push(index);
    }

    fn close(&mut self) {
        let Message { parts, entries, .. } = std::mem::take(&mut self.open);
        if parts.is_empty() {
            return;
        }
        let model = self.request.source_model.unwrap_or("unknown-model");
        let rest = json!({ "model": model, "message": { "role": "model", "parts": parts } });
        self.push("assistant", "assistant_output", rest, entries);
    }

    /// The older part, and the summary that stood at its beginning.
    fn outline(&mut self, brief: &str, summary: Option<usize>) {
        let Some(index) = summary else { return self.compaction(brief, Vec::new()) };
        let before = text_of(self.request.entries[index].entry.body.parts());
        self.compaction(&format!("{before}\n\n{brief}"), vec![index]);
    }

    /// The client's context begins with what a compaction left. The model's assent keeps the roles in turn.
    fn compaction(&mut self, summary: &str, entries: Vec<usize>) {
        let tokens = self.request.tokens;
        let history = json!([
            { "role": "user", "parts": [{ "text": summary }] },
            { "role": "model", "parts": [{ "text": "Understood." }] },
        ]);
        let info = json!({ "originalTokenCount": tokens, "newTokenCount": tokens, "compressionStatus": 1 });
        let payload = json!({ "info": info, "compressedHistory": history });
        let rest = json!({ "subtype": "chat_compression", "systemPayload": payload });
        self.push("system", "system", rest, entries);
    }

    fn push(&mut self, kind: &str, provenance: &str, rest: Value, entries: Vec<usize>) {
        let uuid = self.ids.uuid();
        let mut value = json!({
            "uuid": uuid, "parentUuid": self.parent, "sessionId": self.session, "timestamp": self.at.to_string(),
            "type": kind, "provenance": provenance, "cwd": self.project, "version": self.version.to_string(),
        });
        if let Some(branch) = self.request.branch {
            value["gitBranch"] = json!(branch);
        }
        if let (Some(value), Value::Object(rest)) = (value.as_object_mut(), rest) {
            value.extend(rest);
        }
        self.put(value, uuid, entries);
    }

    fn put(&mut self, value: Value, uuid: String, entries: Vec<usize>) {
        self.taken.insert(uuid.clone());
        self.parent = Some(uuid);
        self.lines.push(Line { value, entries });
    }

    fn tick(&mut self, at: Option<Timestamp>) {
        let next = self.at.plus_millis(1);
        self.at = at.map_or(next, |at| at.max(next));
    }

    /// Tells the client how large the context is.
    fn settle(&mut self) {
        let tokens = self.request.tokens;
        let spoken = |line: &&mut Line| line.value["type"] == "assistant";
        if let Some(line) = self.lines.iter_mut().rev().find(spoken) {
            line.value["usageMetadata"] = json!({ "promptTokenCount": tokens, "totalTokenCount": tokens });
        }
    }

    fn finish(mut self) -> (Vec<u8>, Origins, Vec<Loss>) {
        self.settle();
        if let Some(title) = self.request.title.map(|title| one_line(title, 200)).filter(|title| !title.is_empty()) {
            let payload = json!({ "customTitle": title, "titleSource": "manual" });
            let rest = json!({ "subtype": "custom_title", "systemPayload": payload });
            self.push("system", "system", rest, Vec::new());
        }
        let mut bytes = Vec::new();
        let mut origins = Vec::new();
        for line in &self.lines {
            let offset = bytes.len() as u64;
            origins.extend(line.entries.iter().map(|entry| WrittenAs { entry: *entry, offset }));
            // Without spaces: the client looks for titles by their text.
            bytes.extend_from_slice(line.value.to_string().as_bytes());
            bytes.push(b'\n');
        }
        origins.sort_by_key(|written| written.entry);
        (bytes, origins, self.losses)
    }
}

/// Whose record, in which file, and where.
type Record = (&'static str, u16, u64);

fn record(carried: &Carried) -> Record {
    let (file, offset) = carried.entry.key.record();
    (carried.agent, file, offset)
}
