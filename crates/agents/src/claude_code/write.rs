//! Planning a session file that the client's own resume loads.
//!
//! One line a block, each named by its parent; the last line names the leaf. What came from this agent in the first
//! place is written back as it was.

use std::collections::BTreeSet;

use carryover_core::plain::one_line;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{Body, Origin, Part, Permission, SessionId, text_of};
use serde_json::{Value, json};

use super::blocks::{self, Blocks};
use super::boilerplate;
use super::slug::slug;
use crate::formats::ids::Ids;
use crate::formats::introduced::{self, introduced_parts};
use crate::formats::relocate::Relocation;
use crate::{
    AgentError, Carried, Loss, Op, Origins, ResumeCommand, TargetView, Version, WritePlan, WriteRequest, WrittenAs,
};

/// What is written where no client tells its version.
const NEWEST: Version = Version(2, 1, 325);

/// Clients from here on show thinking of a foreign model without sending it.
const SHOWS_FOREIGN_THINKING: Version = Version(2, 1, 197);

/// Clients from here on name the record that they go on from. One that does not would go on without renewing the
/// name, and whoever reads the name afterwards would miss what it added.
const NAMES_ITS_LEAF: Version = Version(2, 1, 100);

/// Plans the file.
pub(super) fn plan(request: &WriteRequest<'_>, target: &TargetView<'_>) -> Result<WritePlan, AgentError> {
    let mut ids = Ids::new(request.seed);
    let session = ids.uuid();
    let Some(project) = request.project.to_str() else {
        let reason = "the project's path is not UTF-8".to_owned();
        return Err(AgentError::CannotHold { agent: "Claude Code", reason });
    };
    let folder = target.store.root.join("projects").join(slug(project));
    let file = folder.join(format!("{session}.jsonl"));
    let mut page = Page::new(request, project, &session, target.version.unwrap_or(NEWEST), ids);
    page.write();
    let (bytes, origins, losses, translated) = page.finish();
    let modified = target.env.now;
    let session = SessionId(session);
    let argv = vec!["claude".to_owned(), "--resume".to_owned(), session.0.clone()];
    Ok(WritePlan {
        resume: ResumeCommand { argv, cwd: request.project.to_path_buf(), needs_cwd: true },
        ops: vec![Op::Create { path: file.clone(), bytes, private: true, modified }],
        session,
        file,
        key: None,
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
    moves: Option<Relocation<'a>>,
    blocks: Blocks<'a>,
    lines: Vec<Line>,
    parent: Option<String>,
    /// The message that the agent is in the midst of.
    message: Option<String>,
    at: Timestamp,
    losses: Vec<Loss>,
}

/// A line, the entries that it holds, and whether a model's message stands in it.
struct Line {
    value: Value,
    entries: Vec<usize>,
    spoken: bool,
}

impl<'a> Page<'a> {
    fn new(request: &'a WriteRequest<'a>, project: &'a str, session: &'a str, version: Version, ids: Ids) -> Self {
        let old = request.old_project.and_then(|old| old.to_str());
        let moves = old.filter(|old| *old != project).map(|old| Relocation { old, new: project });
        Self {
            blocks: Blocks::new(project, moves),
            request,
            project,
            session,
            version,
            ids,
            moves,
            lines: Vec::new(),
            parent: None,
            message: None,
            at: request.started_at,
            losses: Vec::new(),
        }
    }

    fn write(&mut self) {
        let compacted = self.request.entries.iter().any(|carried| matches!(carried.entry.body, Body::Summary(_)));
        if self.request.brief.is_some() || compacted {
            self.boundary();
        }
        if let Some(brief) = self.request.brief {
            self.summary(&json!(brief), Vec::new());
        }
        let rewritten = self.rewritten_records();
        let mut written: BTreeSet<(&str, u16, u64)> = BTreeSet::new();
        for (index, carried) in self.request.entries.iter().enumerate() {
            let (file, offset) = carried.entry.key.record();
            let record = (carried.agent, file, offset);
            match &carried.native {
                Some(raw) if !rewritten.contains(&record) => {
                    if written.insert(record) {
                        self.native(raw, index);
                    } else {
                        self.again(index);
                    }
                }
                _ => self.entry(carried, index),
            }
        }
    }

    /// Records of ours that were cut to fit cannot be written back as they were.
    fn rewritten_records(&self) -> BTreeSet<(&'a str, u16, u64)> {
        let clipped = self.request.entries.iter().filter(|carried| carried.clipped);
        clipped
            .map(|carried| {
                let (file, offset) = carried.entry.key.record();
                (carried.agent, file, offset)
            })
            .collect()
    }

    /// A record of this client's own: everything stays but what ties it to its old file.
    fn native(&mut self, raw: &str, index: usize) {
        let Ok(mut value) = serde_json::from_str::<Value>(raw) else {
            return self.entry(&self.request.entries[index], index);
        };
        value["sessionId"] = json!(self.session);
        value["parentUuid"] = json!(self.parent);
        value["cwd"] = json!(self.project);
        value["entrypoint"] = json!("cli");
        if value.get("permissionMode").is_some() {
            value["permissionMode"] = json!(self.permission_mode());
        }
        if let Some(moves) = self.moves {
            blocks::move_paths(&mut value, moves);
        }
        let uuid = value.get("uuid").and_then(Value::as_str).map(str::to_owned);
        self.parent = Some(uuid.unwrap_or_else(|| self.ids.uuid()));
        value["uuid"] = json!(self.parent);
        self.message = None;
        self.blocks.know(&value);
        let at = value.get("timestamp").and_then(Value::as_str).and_then(Timestamp::parse);
        self.at = at.map_or(self.at, |at| at.max(self.at));
        let spoken = value["type"] == "assistant";
        self.lines.push(Line { value, entries: vec![index], spoken });
    }

    /// One more entry of the record that was just written back.
    fn again(&mut self, index: usize) {
        let key = self.request.entries[index].entry.key.record();
        let holds =
            |line: &&mut Line| line.entries.iter().any(|other| self.request.entries[*other].entry.key.record() == key);
        if let Some(line) = self.lines.iter_mut().rev().find(holds) {
            line.entries.push(index);
        }
    }

    fn entry(&mut self, carried: &Carried, index: usize) {
        self.tick(carried.entry.at);
        match &carried.entry.body {
            Body::Prompt(parts) if carried.entry.origin == Origin::Hook => self.hook(parts, index),
            Body::Prompt(parts) => self.prompt(parts, index),
            Body::Summary(parts) => {
                let content = blocks::content(parts, &mut self.losses);
                self.summary(&content, vec![index]);
            }
            Body::Reply(parts) => {
                let text = json!({ "type": "text", "text": text_of(parts) });
                self.said(&text, index);
            }
            Body::Reasoning(reasoning) => self.thinking(&reasoning.text, index),
            Body::Call(call) => {
                let block = self.blocks.call(call, carried);
                self.said(&block, index);
            }
            Body::Outcome(outcome) => {
                let (block, result) = self.blocks.outcome(outcome, &mut self.losses);
                let mut value = self.user(&json!([block]));
                if let Some(result) = result {
                    value["toolUseResult"] = result;
                }
                self.push(value, vec![index], false);
            }
            Body::Compacted(_) | Body::Rewound { .. } | Body::Failure(_) | Body::Note(_) | Body::Opaque(_) => {}
        }
    }

    fn prompt(&mut self, parts: &[Part], index: usize) {
        let (parts, changed) = introduced_parts(parts, boilerplate::is_typed);
        (0..changed).for_each(|_| blocks::lose(&mut self.losses, introduced::WHAT, introduced::REASON));
        let content = blocks::content(&parts, &mut self.losses);
        let mut value = self.user(&content);
        value["origin"] = json!({ "kind": "human" });
        value["promptSource"] = json!("typed");
        self.push(value, vec![index], false);
    }

    fn hook(&mut self, parts: &[Part], index: usize) {
        let (texts, files): (Vec<Part>, Vec<Part>) =
            parts.iter().cloned().partition(|part| matches!(part, Part::Text(_)));
        let text = format!("<user-prompt-submit-hook>\n{}\n</user-prompt-submit-hook>", text_of(&texts));
        let told = (!texts.is_empty()).then_some(Part::Text(text));
        let parts: Vec<Part> = told.into_iter().chain(files).collect();
        let content = blocks::content(&parts, &mut self.losses);
        let mut value = self.user(&content);
        value["isMeta"] = json!(true);
        self.push(value, vec![index], false);
    }

    fn user(&mut self, content: &Value) -> Value {
        self.message = None;
        json!({ "type": "user", "message": { "role": "user", "content": content } })
    }

    /// Thinking of another model: newer clients show it and, since it is sealed by somebody else, do not send it.
    fn thinking(&mut self, text: &str, index: usize) {
        let shown = self.version >= SHOWS_FOREIGN_THINKING && !text.is_empty();
        let reason = match (shown, text.is_empty()) {
            (true, _) => "shown, but not sent to the model: only the model that thought it may be sent it",
            (false, true) => "sealed by its vendor, with no text to show",
            (false, false) => "this version of the client would send it, and the API would refuse it",
        };
        blocks::lose(&mut self.losses, "reasoning", reason);
        if shown {
            self.said(&json!({ "type": "thinking", "thinking": text, "signature": "imported" }), index);
        }
    }

    /// One block of the agent's message.
    fn said(&mut self, block: &Value, index: usize) {
        if self.message.is_none() {
            self.message = Some(format!("msg_{}", self.ids.uuid().replace('-', "")));
        }
        let mut value = json!({
            "type": "assistant",
            "message": {
                "id": self.message, "type": "message", "role": "assistant", "content": [block],
                "stop_reason": "end_turn", "stop_sequence": null,
                "usage": usage(0),
            },
        });
        // The client goes on with the model of the last reply, and complains of one that it does not have.
        if let Some(model) = self.request.source_model.filter(|model| model.starts_with("claude")) {
            value["message"]["model"] = json!(model);
        }
        self.push(value, vec![index], true);
    }

    /// From here on, the client's context begins.
    fn boundary(&mut self) {
        let value = json!({
            "type": "system", "subtype": "compact_boundary", "content": "Conversation compacted", "isMeta": false,
            "level": "info", "compactMetadata": { "trigger": "manual", "preTokens": self.request.tokens },
        });
        self.push(value, Vec::new(), false);
    }

    fn summary(&mut self, content: &Value, entries: Vec<usize>) {
        let mut value = self.user(content);
        value["isCompactSummary"] = json!(true);
        value["isVisibleInTranscriptOnly"] = json!(true);
        self.push(value, entries, false);
    }

    fn push(&mut self, mut value: Value, entries: Vec<usize>, spoken: bool) {
        let uuid = self.ids.uuid();
        value["parentUuid"] = json!(self.parent);
        value["uuid"] = json!(uuid);
        value["timestamp"] = json!(self.at.to_string());
        value["isSidechain"] = json!(false);
        value["userType"] = json!("external");
        value["entrypoint"] = json!("cli");
        value["cwd"] = json!(self.project);
        value["sessionId"] = json!(self.session);
        value["version"] = json!(self.version.to_string());
        if let Some(branch) = self.request.branch {
            value["gitBranch"] = json!(branch);
        }
        self.parent = Some(uuid);
        self.lines.push(Line { value, entries, spoken });
    }

    /// No line is as old as the one before: 2.0 goes on from the newest, and of two that are equal from the first.
    fn tick(&mut self, at: Option<Timestamp>) {
        let next = self.at.plus_millis(1);
        self.at = at.map_or(next, |at| at.max(next));
    }

    /// Tells the client how large the context is, and why each message ended.
    fn settle(&mut self) {
        let mut last = true;
        let mut asked = false;
        for line in self.lines.iter_mut().rev().filter(|line| line.spoken) {
            let message = &mut line.value["message"];
            asked |= message["content"][0]["type"] == "tool_use";
            if message["usage"]["input_tokens"] == 0 {
                message["stop_reason"] = json!(if asked { "tool_use" } else { "end_turn" });
            }
            if last {
                message["usage"] = usage(self.request.tokens);
            }
            last = false;
            asked = false;
        }
    }

    fn finish(mut self) -> (Vec<u8>, Origins, Vec<Loss>, usize) {
        self.settle();
        let title = self.title();
        let leaf = self.parent.clone();
        let mut bytes = Vec::new();
        let mut origins = Vec::new();
        put(&mut bytes, &json!({ "type": "summary", "summary": title, "leafUuid": leaf }));
        for line in &self.lines {
            let offset = bytes.len() as u64;
            origins.extend(line.entries.iter().map(|entry| WrittenAs { entry: *entry, offset }));
            put(&mut bytes, &line.value);
        }
        put(&mut bytes, &json!({ "type": "custom-title", "customTitle": title, "sessionId": self.session }));
        let mode = self.permission_mode();
        put(&mut bytes, &json!({ "type": "permission-mode", "permissionMode": mode, "sessionId": self.session }));
        if self.version >= NAMES_ITS_LEAF {
            let prompt = self.last_prompt();
            let record =
                json!({ "type": "last-prompt", "lastPrompt": prompt, "leafUuid": leaf, "sessionId": self.session });
            put(&mut bytes, &record);
        }
        origins.sort_by_key(|written| written.entry);
        (bytes, origins, self.losses, self.blocks.translated)
    }

    /// Without a mode of its own a session opens in the client's usual one, which may allow more than it was.
    fn permission_mode(&self) -> &'static str {
        if self.request.permission == Permission::Plan { "plan" } else { "default" }
    }

    fn title(&self) -> String {
        let first = || self.prompts().next().map(|text| one_line(&text, 80));
        self.request.title.map(|title| one_line(title, 200)).or_else(first).unwrap_or_else(|| "carried over".to_owned())
    }

    fn last_prompt(&self) -> String {
        self.prompts().last().map(|text| one_line(&text, 200)).unwrap_or_default()
    }

    fn prompts(&self) -> impl Iterator<Item = String> {
        self.request.entries.iter().filter_map(|carried| match &carried.entry.body {
            Body::Prompt(parts) if carried.entry.origin == Origin::User => Some(text_of(parts)),
            _ => None,
        })
    }
}

fn usage(tokens: u64) -> Value {
    json!({
        "input_tokens": tokens, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 0,
    })
}

fn put(bytes: &mut Vec<u8>, value: &Value) {
    bytes.extend_from_slice(value.to_string().as_bytes());
    bytes.push(b'\n');
}
