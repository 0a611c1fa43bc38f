//! A session in the making, as the lines of a file that the client imports.
//!
//! One line a message, each named by its parent. What came from this agent in the first place is written back as it
//! was.

use std::collections::{BTreeMap, BTreeSet};

use carryover_core::time::Timestamp;
use carryover_core::transcript::{Body, Origin, Part, text_of};
use serde_json::{Value, json};

use super::{dialect, outcome};
use crate::formats::ids::{self, Ids};
use crate::formats::relocate::Relocation;
use crate::formats::tree::blocks::{self, Blocks, Dialect};
use crate::formats::turns;
use crate::{Carried, Loss, Origins, WriteRequest, WrittenAs};

const DIALECT: Dialect = Dialect { spell: dialect::spell, with_exit_code: outcome::with_exit_code };

/// What was written.
pub(super) struct Written {
    pub bytes: Vec<u8>,
    pub origins: Origins,
    pub losses: Vec<Loss>,
    pub translated: usize,
}

/// The file in the making.
pub(super) struct Page<'a> {
    request: &'a WriteRequest<'a>,
    project: &'a str,
    ids: Ids,
    /// The names of records, which must not occur twice.
    taken: BTreeSet<String>,
    blocks: Blocks<'a>,
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
    agent: &'static str,
    blocks: Vec<Value>,
    entries: Vec<usize>,
    asks: bool,
}

impl<'a> Page<'a> {
    pub(super) fn new(request: &'a WriteRequest<'a>, project: &'a str, ids: Ids) -> Self {
        let old = request.old_project.and_then(|old| old.to_str());
        let moves = old.filter(|old| *old != project).map(|old| Relocation { old, new: project });
        Self {
            blocks: Blocks::new(DIALECT, project, moves),
            request,
            project,
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
        let begins = self.lines.is_empty() && self.open.blocks.is_empty();
        (begins || value["type"] != "compaction").then_some(value)
    }

    /// A record of this client's own: everything stays but its place in the tree, and what the client says anew.
    fn back(&mut self, mut value: Value, index: usize) {
        let at = value.get("timestamp").and_then(Value::as_str).and_then(Timestamp::parse);
        self.at = at.map_or(self.at, |at| at.max(self.at));
        let id = value["id"].as_str().filter(|id| !self.taken.contains(*id)).map(str::to_owned);
        let id = id.unwrap_or_else(|| self.name());
        if value["type"] == "compaction" {
            value["firstKeptEntryId"] = json!(id);
        }
        if let Some(message) = value.get_mut("message") {
            self.blocks.know(message);
            match message["role"].as_str() {
                Some("assistant") if message.get("usage").is_none() => message["usage"] = usage(0),
                Some("hookMessage") => message["role"] = json!("custom"),
                _ => {}
            }
        }
        self.put(value, id, vec![index]);
    }

    fn entry(&mut self, carried: &Carried, index: usize) {
        match &carried.entry.body {
            Body::Reply(parts) => {
                if !self.open.asks && self.open.blocks.iter().any(|block| block["type"] == "text") {
                    self.close();
                }
                self.tick(carried.entry.at);
                self.said(carried, json!({ "type": "text", "text": text_of(parts) }), index);
            }
            Body::Call(call) => {
                self.tick(carried.entry.at);
                let block = self.blocks.call(call, carried);
                self.said(carried, block, index);
                self.open.asks = true;
            }
            Body::Reasoning(_) => {
                let reason = "the client would send it to the model as something that was said";
                blocks::lose(&mut self.losses, "reasoning", reason);
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
            Body::Prompt(parts) if carried.entry.origin == Origin::Hook => self.injected("hook", parts, index),
            Body::Prompt(parts) => self.prompt(parts, index),
            Body::Outcome(outcome) => {
                let message = self.blocks.outcome(outcome, &mut self.losses);
                self.message(message, vec![index]);
            }
            Body::Summary(parts) if self.lines.is_empty() => self.compaction(&text_of(parts), vec![index]),
            // A compaction would hide what stands before it.
            Body::Summary(parts) => self.injected("summary", parts, index),
            _ => {}
        }
    }

    fn prompt(&mut self, parts: &[Part], index: usize) {
        let content = blocks::content(parts, &mut self.losses);
        self.message(json!({ "role": "user", "content": content }), vec![index]);
    }

    /// What neither the user nor the agent said.
    fn injected(&mut self, kind: &str, parts: &[Part], index: usize) {
        let content = blocks::content(parts, &mut self.losses);
        let value = json!({ "type": "custom_message", "customType": kind, "content": content, "display": true });
        self.push(value, vec![index]);
    }

    /// One block of the agent's message.
    fn said(&mut self, carried: &Carried, block: Value, index: usize) {
        self.open.agent = carried.agent;
        self.open.blocks.push(block);
        self.open.entries.push(index);
    }

    /// Ends the agent's message. Its provider is one that no client knows, so that it is never taken for the model's
    /// own, and no model is chosen by it.
    fn close(&mut self) {
        let Message { agent, blocks, entries, asks } = std::mem::take(&mut self.open);
        if blocks.is_empty() {
            return;
        }
        let message = json!({
            "role": "assistant", "content": blocks, "api": "openai-completions", "provider": agent,
            "model": self.request.source_model.unwrap_or("unknown-model"), "usage": usage(0),
            "stopReason": if asks { "toolUse" } else { "stop" },
        });
        self.message(message, entries);
    }

    /// The older part, and the summary that stood at its beginning.
    fn outline(&mut self, brief: &str, summary: Option<usize>) {
        let Some(index) = summary else { return self.compaction(brief, Vec::new()) };
        let before = text_of(self.request.entries[index].entry.body.parts());
        self.compaction(&format!("{before}\n\n{brief}"), vec![index]);
    }

    /// From here on, the client's context begins: a compaction that names itself keeps nothing from before.
    fn compaction(&mut self, summary: &str, entries: Vec<usize>) {
        let id = self.name();
        let value = json!({
            "type": "compaction", "summary": summary, "firstKeptEntryId": id, "tokensBefore": self.request.tokens,
            "timestamp": self.at.to_string(),
        });
        self.put(value, id, entries);
    }

    fn message(&mut self, mut message: Value, entries: Vec<usize>) {
        message["timestamp"] = json!(self.at.millis());
        self.push(json!({ "type": "message", "message": message }), entries);
    }

    fn push(&mut self, mut value: Value, entries: Vec<usize>) {
        value["timestamp"] = json!(self.at.to_string());
        let id = self.name();
        self.put(value, id, entries);
    }

    fn put(&mut self, mut value: Value, id: String, entries: Vec<usize>) {
        value["id"] = json!(id);
        value["parentId"] = json!(self.parent);
        self.taken.insert(id.clone());
        self.parent = Some(id);
        self.lines.push(Line { value, entries });
    }

    /// A name that no record has yet.
    fn name(&mut self) -> String {
        loop {
            let name = self.ids.uuid();
            if !self.taken.contains(&name) {
                return name;
            }
        }
    }

    fn tick(&mut self, at: Option<Timestamp>) {
        let next = self.at.plus_millis(1);
        self.at = at.map_or(next, |at| at.max(next));
    }

    /// Tells the client how large the context is.
    fn settle(&mut self) {
        let spoken = |line: &&mut Line| line.value["message"]["role"] == "assistant";
        if let Some(line) = self.lines.iter_mut().rev().find(spoken) {
            line.value["message"]["usage"] = usage(self.request.tokens);
        }
    }

    /// A prompt that was never answered is taken out of the branch with the next one: it is sent once more, beside that,
    /// and then never again. After a turn that failed, which is how the client itself ends such a turn, it stays.
    fn end_turn(&mut self) {
        let is_prompt = |line: &Line| line.value["message"]["role"] == "user";
        if !self.lines.last().is_some_and(is_prompt) {
            return;
        }
        self.tick(None);
        let message = json!({
            "role": "assistant", "content": [], "api": "openai-completions", "provider": self.request.source_agent,
            "model": self.request.source_model.unwrap_or("unknown-model"), "usage": usage(0),
            "stopReason": "error", "errorMessage": "carried over before it was answered",
        });
        self.message(message, Vec::new());
    }

    /// Names the images that the client keeps and will not send: those from before the last turns.
    fn forget_images(&mut self) {
        let roles: Vec<&str> =
            self.lines.iter().map(|line| line.value["message"]["role"].as_str().unwrap_or("")).collect();
        let pruned = pruned_before(&roles);
        let images = self.lines[..pruned].iter().filter_map(|line| line.value["message"]["content"].as_array());
        let images = images.flatten().filter(|block| block["type"] == "image").count();
        let reason = "the client keeps it, and sends images of the last three turns only";
        (0..images).for_each(|_| blocks::lose(&mut self.losses, "older image", reason));
    }

    /// The lines of the file, and what they hold.
    pub(super) fn finish(mut self, session: &str) -> Written {
        self.write();
        self.settle();
        self.end_turn();
        self.forget_images();
        let started_at = self.request.started_at.to_string();
        let header =
            json!({ "type": "session", "version": 3, "id": session, "timestamp": started_at, "cwd": self.project });
        let mut bytes = Vec::new();
        let mut origins = Vec::new();
        put(&mut bytes, &header);
        for line in &self.lines {
            let offset = ids::digest(line.value["id"].as_str().unwrap_or_default());
            origins.extend(line.entries.iter().map(|entry| WrittenAs { entry: *entry, offset }));
            put(&mut bytes, &line.value);
        }
        origins.sort_by_key(|written| written.entry);
        Written { bytes, origins, losses: self.losses, translated: self.blocks.translated }
    }
}

/// Where the last turns begin whose images are sent. A turn begins with a prompt, and counts once it was answered.
fn pruned_before(roles: &[&str]) -> usize {
    const SENT: usize = 3;
    let mut turns = Vec::new();
    let mut open: Option<(usize, bool)> = None;
    // The prompt with which the user goes on ends the last turn.
    for (index, role) in roles.iter().chain(&["user"]).enumerate() {
        match (*role, &mut open) {
            ("user", turn) => {
                turns.extend(turn.filter(|(_, answered)| *answered).map(|(begin, _)| begin));
                open = Some((index, false));
            }
            ("toolResult", turn @ None) => *turn = Some((index, false)),
            ("assistant", Some((_, answered))) => *answered = true,
            _ => {}
        }
    }
    if turns.len() > SENT { turns[turns.len() - SENT] } else { 0 }
}

/// Whose record, in which file, and where.
type Record = (&'static str, u16, u64);

fn record(carried: &Carried) -> Record {
    let (file, offset) = carried.entry.key.record();
    (carried.agent, file, offset)
}

fn usage(tokens: u64) -> Value {
    json!({
        "input": tokens, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": tokens,
        "cost": { "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0 },
    })
}

fn put(bytes: &mut Vec<u8>, value: &Value) {
    bytes.extend_from_slice(value.to_string().as_bytes());
    bytes.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_of_the_last_three_turns_are_sent() {
        let turn = ["user", "assistant", "toolResult", "assistant"];
        for (turns, expected) in [(1, 0), (3, 0), (4, 4), (6, 12)] {
            assert_eq!(pruned_before(&turn.repeat(turns)), expected, "{turns}");
        }
        assert_eq!(pruned_before(&["user", "user", "assistant"]), 0);
    }
}
