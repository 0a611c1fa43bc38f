//! A session in the making, as the lines of a tree: one line a message, each named by its parent.

use carryover_core::transcript::{Body, Call, Origin, Part, text_of};
use serde_json::{Value, json};

use super::blocks::{self, BlockWriter, ClientDialect};
use crate::formats::ids::Ids;
use crate::formats::messages::{MessageWriter, OpenMessage, SessionDraft};
use crate::formats::request::project_relocation;
use crate::formats::session_lines::{LineChain, LineWriter, record_time};
use crate::{CarriedEntry, WriteRequest};

/// Records as a client writes and loads them.
#[derive(Clone, Copy)]
pub(crate) struct RecordFormat {
    pub dialect: ClientDialect,
    /// The API of messages that came from elsewhere: one that the client knows.
    pub api: &'static str,
    pub make_name: fn(&mut Ids) -> String,
    /// Fields of a compaction that the client says anew.
    pub renewed_fields: &'static [&'static str],
}

/// The file in the making.
pub(crate) struct SessionWriter<'a> {
    pub draft: SessionDraft<'a>,
    pub blocks: BlockWriter<'a>,
    project: &'a str,
    format: RecordFormat,
}

impl<'a> SessionWriter<'a> {
    /// A page with all that is carried on it.
    pub(crate) fn write_all(format: RecordFormat, request: &'a WriteRequest<'a>, project: &'a str, ids: Ids) -> Self {
        let blocks = BlockWriter::new(format.dialect, project, project_relocation(request, project));
        let draft = SessionDraft::new(request, LineChain::new(ids, format.make_name, request.started_at));
        let mut page = Self { draft, blocks, project, format };
        page.write_session();
        page.write_context_size();
        page
    }

    fn write_prompt(&mut self, parts: &[Part], index: usize) {
        let content = blocks::make_content(parts, &mut self.draft.losses);
        self.push_message(json!({ "role": "user", "content": content }), vec![index]);
    }

    /// Words that neither the user nor the agent said.
    fn write_injected(&mut self, kind: &str, parts: &[Part], index: usize) {
        let content = blocks::make_content(parts, &mut self.draft.losses);
        let value = json!({ "type": "custom_message", "customType": kind, "content": content, "display": true });
        self.push_record(value, vec![index]);
    }

    /// A message of the agent's. Its provider is one that no client knows, so that it is never taken for the model's
    /// own, and no model is chosen by it.
    pub(crate) fn agent_message(&self, agent: &str, blocks: &[Value], stop_reason: &str) -> Value {
        json!({
            "role": "assistant", "content": blocks, "api": self.format.api, "provider": agent,
            "model": self.draft.request.source_model.unwrap_or("unknown-model"), "usage": usage_value(0),
            "stopReason": stop_reason,
        })
    }

    pub(crate) fn push_message(&mut self, mut message: Value, entries: Vec<usize>) {
        message["timestamp"] = json!(self.draft.chain.at.millis());
        self.push_record(json!({ "type": "message", "message": message }), entries);
    }

    pub(crate) fn push_record(&mut self, mut value: Value, entries: Vec<usize>) {
        value["timestamp"] = json!(self.draft.chain.at.to_string());
        let name = self.draft.chain.new_name();
        self.push_named(value, name, entries);
    }

    fn push_named(&mut self, mut value: Value, name: String, entries: Vec<usize>) {
        value["id"] = json!(name);
        value["parentId"] = json!(self.draft.chain.parent);
        self.draft.chain.push_line(value, name, entries);
    }

    /// Tells the client how large the context is.
    fn write_context_size(&mut self) {
        let tokens = self.draft.request.tokens;
        if let Some(line) = self.draft.chain.last_line(|value| value["message"]["role"] == "assistant") {
            line.value["message"]["usage"] = usage_value(tokens);
        }
    }

    /// A file that begins with the session's own line.
    pub(crate) fn begin_file(&self, session: &str) -> LineWriter {
        let mut file = LineWriter::default();
        let started_at = self.draft.request.started_at.to_string();
        file.write_line(&json!({
            "type": "session", "version": 3, "id": session, "timestamp": started_at, "cwd": self.project,
        }));
        file
    }
}

impl<'a> MessageWriter<'a> for SessionWriter<'a> {
    const REASONING_LOSS_REASON: &'static str = "the client would send it to the model as something that was said";

    fn draft(&mut self) -> &mut SessionDraft<'a> {
        &mut self.draft
    }

    fn make_text_block(&self, text: &str) -> Value {
        json!({ "type": "text", "text": text })
    }

    fn make_call_block(&mut self, call: &Call, carried: &CarriedEntry) -> Value {
        self.blocks.write_call(call, carried)
    }

    fn write_message(&mut self, message: OpenMessage) {
        let stop_reason = if message.has_calls { "toolUse" } else { "stop" };
        let value = self.agent_message(message.agent, &message.blocks, stop_reason);
        self.push_message(value, message.entries);
    }

    fn write_input(&mut self, carried: &CarriedEntry, index: usize) {
        match &carried.entry.body {
            Body::Prompt(parts) if carried.entry.origin == Origin::Hook => self.write_injected("hook", parts, index),
            Body::Prompt(parts) => self.write_prompt(parts, index),
            Body::Outcome(outcome) => {
                let message = self.blocks.write_outcome(outcome, &mut self.draft.losses);
                self.push_message(message, vec![index]);
            }
            Body::Summary(parts) if self.draft.chain.lines.is_empty() => {
                self.write_compaction(&text_of(parts), vec![index]);
            }
            // A compaction would hide what stands before it.
            Body::Summary(parts) => self.write_injected("summary", parts, index),
            _ => {}
        }
    }

    /// A compaction that names itself keeps nothing from before.
    fn write_compaction(&mut self, summary: &str, entries: Vec<usize>) {
        let name = self.draft.chain.new_name();
        let value = json!({
            "type": "compaction", "summary": summary, "firstKeptEntryId": name,
            "tokensBefore": self.draft.request.tokens, "timestamp": self.draft.chain.at.to_string(),
        });
        self.push_named(value, name, entries);
    }

    fn is_compaction(&self, record: &Value) -> bool {
        record["type"] == "compaction"
    }

    fn write_native(&mut self, mut record: Value, index: usize) {
        self.draft.chain.raise_time(record_time(&record));
        let name = self.draft.chain.keep_name(&record["id"]);
        if self.is_compaction(&record) {
            record["firstKeptEntryId"] = json!(name);
            if let Some(fields) = record.as_object_mut() {
                fields.retain(|field, _| !self.format.renewed_fields.contains(&field.as_str()));
            }
        }
        if let Some(message) = record.get_mut("message") {
            self.blocks.note_calls(message);
            match message["role"].as_str() {
                // Without it, the clients do not load the session.
                Some("assistant") if message.get("usage").is_none() => message["usage"] = usage_value(0),
                Some("hookMessage") => message["role"] = json!("custom"),
                _ => {}
            }
        }
        self.push_named(record, name, vec![index]);
    }
}

fn usage_value(tokens: u64) -> Value {
    json!({
        "input": tokens, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": tokens,
        "cost": { "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0 },
    })
}
