//! Planning a session file that the client's own resume loads.
//!
//! One line a block, each named by its parent; the last line names the leaf. What came from this agent in the first
//! place is written back as it was.

use carryover_core::plain::one_line;
use carryover_core::transcript::{Body, Origin, Part, Permission, SessionId, text_of};
use serde_json::{Value, json};

use super::FACTS;
use super::blocks::{self, BlockWriter};
use super::boilerplate;
use super::moved_record;
use super::slug::make_slug;
use crate::formats::ids::Ids;
use crate::formats::losses::count_loss;
use crate::formats::native_records::NativeRecords;
use crate::formats::relocate::Relocation;
use crate::formats::request::{project_relocation, project_text, user_prompts};
use crate::formats::session_lines::{LineChain, LineWriter, WrittenFile, record_time};
use crate::formats::user_marks::{self, mark_parts_as_user};
use crate::{AgentError, CarriedEntry, Loss, TargetView, Version, WritePlan, WriteRequest};

/// The version that is written where no client tells its own.
const NEWEST_VERSION: Version = Version(2, 1, 325);

/// Clients from here on show thinking of a foreign model without sending it.
const SHOWS_FOREIGN_THINKING_FROM: Version = Version(2, 1, 197);

/// Clients from here on name the record that they go on from. One that does not would go on without renewing the
/// name, and whoever reads the name afterwards would miss what it added.
const NAMES_LEAF_FROM: Version = Version(2, 1, 100);

/// Plans the file.
pub(super) fn plan_session(request: &WriteRequest<'_>, target: &TargetView<'_>) -> Result<WritePlan, AgentError> {
    let project = project_text(request, "Claude Code")?;
    let mut ids = Ids::new(request.seed);
    let session = ids.next_uuid();
    let folder = target.store.root.join("projects").join(make_slug(project));
    let file = folder.join(format!("{session}.jsonl"));
    let mut page = SessionWriter::new(request, project, &session, target.version.unwrap_or(NEWEST_VERSION), ids);
    page.write_entries();
    let written = page.finish();
    let resume = FACTS.resume.command(&session, request.project);
    Ok(written.into_plan(target, SessionId(session), file, resume))
}

/// The file in the making.
struct SessionWriter<'a> {
    request: &'a WriteRequest<'a>,
    project: &'a str,
    session: &'a str,
    version: Version,
    moves: Option<Relocation<'a>>,
    blocks: BlockWriter<'a>,
    chain: LineChain,
    /// The message that the agent is in the midst of.
    message_id: Option<String>,
    losses: Vec<Loss>,
}

impl<'a> SessionWriter<'a> {
    fn new(request: &'a WriteRequest<'a>, project: &'a str, session: &'a str, version: Version, ids: Ids) -> Self {
        let moves = project_relocation(request, project);
        let chain = LineChain::new(ids, Ids::next_uuid, request.started_at);
        let blocks = BlockWriter::new(project, moves);
        Self { request, project, session, version, moves, blocks, chain, message_id: None, losses: Vec::new() }
    }

    fn write_entries(&mut self) {
        let compacted = self.request.entries.iter().any(|carried| matches!(carried.entry.body, Body::Summary(_)));
        if self.request.brief.is_some() || compacted {
            self.write_boundary();
        }
        if let Some(brief) = self.request.brief {
            self.write_summary(&json!(brief), Vec::new());
        }
        let mut own = NativeRecords::new(self.request.entries);
        for (index, carried) in self.request.entries.iter().enumerate() {
            if let Some(line) = own.find_line(carried) {
                self.chain.lines[line].entries.push(index);
            } else if let Some(record) = own.find_record(carried).and_then(moved_record::read_kept) {
                own.note_line(carried, self.chain.lines.len());
                self.write_back(record, index);
            } else {
                self.write_entry(carried, index);
            }
        }
    }

    /// A record of this client's own: everything stays but what ties it to its old file.
    fn write_back(&mut self, mut value: Value, index: usize) {
        value["sessionId"] = json!(self.session);
        value["parentUuid"] = json!(self.chain.parent);
        value["cwd"] = json!(self.project);
        value["entrypoint"] = json!("cli");
        if value.get("permissionMode").is_some() {
            value["permissionMode"] = json!(self.permission_mode());
        }
        if let Some(moves) = self.moves {
            blocks::relocate_paths(&mut value, moves);
        }
        let uuid = value["uuid"].as_str().map_or_else(|| self.chain.ids.next_uuid(), str::to_owned);
        value["uuid"] = json!(uuid);
        self.message_id = None;
        self.blocks.note_calls(&value);
        self.chain.raise_time(record_time(&value));
        self.chain.push_line(value, uuid, vec![index]);
    }

    fn write_entry(&mut self, carried: &CarriedEntry, index: usize) {
        self.chain.advance_time(carried.entry.at);
        match &carried.entry.body {
            Body::Prompt(parts) if carried.entry.origin == Origin::Hook => self.write_hook(parts, index),
            Body::Prompt(parts) => self.write_prompt(parts, index),
            Body::Summary(parts) => {
                let content = blocks::make_content(parts, &mut self.losses);
                self.write_summary(&content, vec![index]);
            }
            Body::Reply(parts) => {
                let text = json!({ "type": "text", "text": text_of(parts) });
                self.write_block(&text, index);
            }
            Body::Reasoning(reasoning) => self.write_thinking(&reasoning.text, index),
            Body::Call(call) => {
                let block = self.blocks.write_call(call, carried);
                self.write_block(&block, index);
            }
            Body::Outcome(outcome) => {
                let (block, result) = self.blocks.write_outcome(outcome, &mut self.losses);
                let mut value = self.user_record(&json!([block]));
                if let Some(result) = result {
                    value["toolUseResult"] = result;
                }
                self.push_record(value, vec![index]);
            }
            Body::Compacted(_) | Body::Rewound { .. } | Body::Failure(_) | Body::Note(_) | Body::Opaque(_) => {}
        }
    }

    fn write_prompt(&mut self, parts: &[Part], index: usize) {
        let (parts, changed) = mark_parts_as_user(parts, boilerplate::reads_as_typed);
        (0..changed).for_each(|_| count_loss(&mut self.losses, user_marks::LOSS_KIND, user_marks::LOSS_REASON));
        let content = blocks::make_content(&parts, &mut self.losses);
        let mut value = self.user_record(&content);
        value["origin"] = json!({ "kind": "human" });
        value["promptSource"] = json!("typed");
        self.push_record(value, vec![index]);
    }

    fn write_hook(&mut self, parts: &[Part], index: usize) {
        let (texts, files): (Vec<Part>, Vec<Part>) =
            parts.iter().cloned().partition(|part| matches!(part, Part::Text(_)));
        let text = format!("<user-prompt-submit-hook>\n{}\n</user-prompt-submit-hook>", text_of(&texts));
        let told = (!texts.is_empty()).then_some(Part::Text(text));
        let parts: Vec<Part> = told.into_iter().chain(files).collect();
        let content = blocks::make_content(&parts, &mut self.losses);
        let mut value = self.user_record(&content);
        value["isMeta"] = json!(true);
        self.push_record(value, vec![index]);
    }

    fn user_record(&mut self, content: &Value) -> Value {
        self.message_id = None;
        json!({ "type": "user", "message": { "role": "user", "content": content } })
    }

    /// Thinking of another model: newer clients show it and, since it is sealed by somebody else, do not send it.
    fn write_thinking(&mut self, text: &str, index: usize) {
        let shown = self.version >= SHOWS_FOREIGN_THINKING_FROM && !text.is_empty();
        let reason = match (shown, text.is_empty()) {
            (true, _) => "shown, but not sent to the model: only the model that thought it may be sent it",
            (false, true) => "sealed by its vendor, with no text to show",
            (false, false) => "this version of the client would send it, and the API would refuse it",
        };
        count_loss(&mut self.losses, "reasoning", reason);
        if shown {
            self.write_block(&json!({ "type": "thinking", "thinking": text, "signature": "imported" }), index);
        }
    }

    /// One block of the agent's message.
    fn write_block(&mut self, block: &Value, index: usize) {
        if self.message_id.is_none() {
            self.message_id = Some(format!("msg_{}", self.chain.ids.next_uuid().replace('-', "")));
        }
        let mut value = json!({
            "type": "assistant",
            "message": {
                "id": self.message_id, "type": "message", "role": "assistant", "content": [block],
                "stop_reason": "end_turn", "stop_sequence": null,
                "usage": make_usage(0),
            },
        });
        // The client goes on with the model of the last reply, and complains of one that it does not have.
        if let Some(model) = self.request.source_model.filter(|model| model.starts_with("claude")) {
            value["message"]["model"] = json!(model);
        }
        self.push_record(value, vec![index]);
    }

    /// From here on, the client's context begins.
    fn write_boundary(&mut self) {
        let value = json!({
            "type": "system", "subtype": "compact_boundary", "content": "Conversation compacted", "isMeta": false,
            "level": "info", "compactMetadata": { "trigger": "manual", "preTokens": self.request.tokens },
        });
        self.push_record(value, Vec::new());
    }

    fn write_summary(&mut self, content: &Value, entries: Vec<usize>) {
        let mut value = self.user_record(content);
        value["isCompactSummary"] = json!(true);
        value["isVisibleInTranscriptOnly"] = json!(true);
        self.push_record(value, entries);
    }

    fn push_record(&mut self, mut value: Value, entries: Vec<usize>) {
        let uuid = self.chain.new_name();
        value["parentUuid"] = json!(self.chain.parent);
        value["uuid"] = json!(uuid);
        value["timestamp"] = json!(self.chain.at.to_string());
        value["isSidechain"] = json!(false);
        value["userType"] = json!("external");
        value["entrypoint"] = json!("cli");
        value["cwd"] = json!(self.project);
        value["sessionId"] = json!(self.session);
        value["version"] = json!(self.version.to_string());
        if let Some(branch) = self.request.branch {
            value["gitBranch"] = json!(branch);
        }
        self.chain.push_line(value, uuid, entries);
    }

    /// Tells the client how large the context is, and why each message ended.
    fn fill_usage(&mut self) {
        let mut last = true;
        let mut asked = false;
        for line in self.chain.lines.iter_mut().rev().filter(|line| line.value["type"] == "assistant") {
            let message = &mut line.value["message"];
            asked |= message["content"][0]["type"] == "tool_use";
            if message["usage"]["input_tokens"] == 0 {
                message["stop_reason"] = json!(if asked { "tool_use" } else { "end_turn" });
            }
            if last {
                message["usage"] = make_usage(self.request.tokens);
            }
            last = false;
            asked = false;
        }
    }

    fn finish(mut self) -> WrittenFile {
        self.fill_usage();
        let title = self.session_title();
        let leaf = self.chain.parent.clone();
        let mut file = LineWriter::default();
        file.write_line(&json!({ "type": "summary", "summary": title, "leafUuid": leaf }));
        file.write_lines(&self.chain.lines);
        file.write_line(&json!({ "type": "custom-title", "customTitle": title, "sessionId": self.session }));
        let mode = self.permission_mode();
        file.write_line(&json!({ "type": "permission-mode", "permissionMode": mode, "sessionId": self.session }));
        if self.version >= NAMES_LEAF_FROM {
            let prompt = user_prompts(self.request).last().map(|text| one_line(&text, 200)).unwrap_or_default();
            file.write_line(
                &json!({ "type": "last-prompt", "lastPrompt": prompt, "leafUuid": leaf, "sessionId": self.session }),
            );
        }
        file.finish(self.losses, self.blocks.calls.translated)
    }

    /// Without a mode of its own a session opens in the client's usual one, which may allow more than it was.
    fn permission_mode(&self) -> &'static str {
        if self.request.permission == Permission::Plan { "plan" } else { "default" }
    }

    fn session_title(&self) -> String {
        let first = || user_prompts(self.request).next().map(|text| one_line(&text, 80));
        self.request.title.map(|title| one_line(title, 200)).or_else(first).unwrap_or_else(|| "carried over".to_owned())
    }
}

fn make_usage(tokens: u64) -> Value {
    json!({
        "input_tokens": tokens, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 0,
    })
}
