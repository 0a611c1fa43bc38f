//! Planning a session file that the client's own resume loads.
//!
//! One line a message, each named by its parent. What came from this agent in the first place is written back as it
//! was.

use carryover_core::transcript::{Body, Call, Origin, Part, SessionId, text_of};
use serde_json::{Value, json};

use super::FACTS;
use super::discover;
use super::parts::{self, PartWriter};
use super::prompt;
use crate::formats::ids::Ids;
use crate::formats::losses::count_loss;
use crate::formats::messages::{MessageWriter, OpenMessage, SessionDraft};
use crate::formats::request::{given_title, project_relocation, project_text};
use crate::formats::session_lines::{LineChain, LineWriter, WrittenFile, record_time};
use crate::formats::user_marks::{self, mark_parts_as_user};
use crate::{AgentError, CarriedEntry, TargetView, Version, WritePlan, WriteRequest};

/// The version that is written where no client tells its own.
const NEWEST_VERSION: Version = Version(0, 24, 4);

/// Plans the file.
pub(super) fn plan_session(request: &WriteRequest<'_>, target: &TargetView<'_>) -> Result<WritePlan, AgentError> {
    let project = project_text(request, "Qwen Code")?;
    let mut ids = Ids::new(request.seed);
    let session = ids.next_uuid();
    let file = discover::project_folder(&target.store.root, project, target.env.os).join(format!("{session}.jsonl"));
    let mut page = SessionWriter::new(request, project, &session, target.version.unwrap_or(NEWEST_VERSION), ids);
    page.write_session();
    let written = page.finish();
    let resume = FACTS.resume.command(&session, request.project);
    Ok(written.into_plan(target, SessionId(session), file, resume))
}

/// The file in the making.
struct SessionWriter<'a> {
    draft: SessionDraft<'a>,
    project: &'a str,
    session: &'a str,
    version: Version,
    parts: PartWriter<'a>,
}

impl<'a> SessionWriter<'a> {
    fn new(request: &'a WriteRequest<'a>, project: &'a str, session: &'a str, version: Version, ids: Ids) -> Self {
        let parts = PartWriter::new(project, project_relocation(request, project), version);
        let draft = SessionDraft::new(request, LineChain::new(ids, Ids::next_uuid, request.started_at));
        Self { draft, project, session, version, parts }
    }

    fn write_prompt(&mut self, parts: &[Part], provenance: &str, index: usize) {
        let losses = &mut self.draft.losses;
        let is_told = provenance != "real_user";
        let (parts, changed) = mark_parts_as_user(parts, |text| is_told || prompt::is_typed(text));
        (0..changed).for_each(|_| count_loss(losses, user_marks::LOSS_KIND, user_marks::LOSS_REASON));
        let parts = parts::make_content(&parts, losses);
        let message = json!({ "role": "user", "parts": parts });
        self.push_record("user", provenance, json!({ "message": message }), vec![index]);
    }

    fn push_record(&mut self, kind: &str, provenance: &str, rest: Value, entries: Vec<usize>) {
        let chain = &mut self.draft.chain;
        let uuid = chain.new_name();
        let mut value = json!({
            "uuid": uuid, "parentUuid": chain.parent, "sessionId": self.session, "timestamp": chain.at.to_string(),
            "type": kind, "provenance": provenance, "cwd": self.project, "version": self.version.to_string(),
        });
        if let Some(branch) = self.draft.request.branch {
            value["gitBranch"] = json!(branch);
        }
        if let (Some(value), Value::Object(rest)) = (value.as_object_mut(), rest) {
            value.extend(rest);
        }
        chain.push_line(value, uuid, entries);
    }

    fn finish(mut self) -> WrittenFile {
        let tokens = self.draft.request.tokens;
        // The client learns from the last reply how large the context is.
        if let Some(line) = self.draft.chain.last_line(|value| value["type"] == "assistant") {
            line.value["usageMetadata"] = json!({ "promptTokenCount": tokens, "totalTokenCount": tokens });
        }
        if let Some(title) = given_title(self.draft.request) {
            let payload = json!({ "customTitle": title, "titleSource": "manual" });
            let rest = json!({ "subtype": "custom_title", "systemPayload": payload });
            self.push_record("system", "system", rest, Vec::new());
        }
        let mut file = LineWriter::default();
        file.write_lines(&self.draft.chain.lines);
        file.finish(self.draft.losses, self.parts.calls.translated)
    }
}

impl<'a> MessageWriter<'a> for SessionWriter<'a> {
    const REASONING_LOSS_REASON: &'static str = "the client would send it to a model that did not think it";

    fn draft(&mut self) -> &mut SessionDraft<'a> {
        &mut self.draft
    }

    fn make_text_block(&self, text: &str) -> Value {
        json!({ "text": text })
    }

    fn make_call_block(&mut self, call: &Call, carried: &CarriedEntry) -> Value {
        self.parts.make_call(call, carried)
    }

    fn write_message(&mut self, message: OpenMessage) {
        let model = self.draft.request.source_model.unwrap_or("unknown-model");
        let rest = json!({ "model": model, "message": { "role": "model", "parts": message.blocks } });
        self.push_record("assistant", "assistant_output", rest, message.entries);
    }

    fn write_input(&mut self, carried: &CarriedEntry, index: usize) {
        match &carried.entry.body {
            Body::Prompt(parts) if carried.entry.origin != Origin::Hook => {
                self.write_prompt(parts, "real_user", index);
            }
            Body::Outcome(outcome) => {
                let (part, result) = self.parts.make_outcome(outcome, &mut self.draft.losses);
                let message = json!({ "role": "user", "parts": [part] });
                let rest = json!({ "message": message, "toolCallResult": result });
                self.push_record("tool_result", "tool_result", rest, vec![index]);
            }
            Body::Summary(parts) if self.draft.chain.lines.is_empty() => {
                self.write_compaction(&text_of(parts), vec![index]);
            }
            // A compaction would hide what stands before it.
            Body::Prompt(parts) | Body::Summary(parts) => self.write_prompt(parts, "system", index),
            _ => {}
        }
    }

    /// The client's context begins with what a compaction left. The model's assent keeps the roles in turn.
    fn write_compaction(&mut self, summary: &str, entries: Vec<usize>) {
        let tokens = self.draft.request.tokens;
        let history = json!([
            { "role": "user", "parts": [{ "text": summary }] },
            { "role": "model", "parts": [{ "text": "Understood." }] },
        ]);
        let info = json!({ "originalTokenCount": tokens, "newTokenCount": tokens, "compressionStatus": 1 });
        let payload = json!({ "info": info, "compressedHistory": history });
        let rest = json!({ "subtype": "chat_compression", "systemPayload": payload });
        self.push_record("system", "system", rest, entries);
    }

    /// Words that were typed as a command stand in such a record, too, which the client does not send.
    fn is_compaction(&self, record: &Value) -> bool {
        record["type"] == "system" && record["subtype"] != "slash_command"
    }

    fn write_native(&mut self, mut record: Value, index: usize) {
        let chain = &mut self.draft.chain;
        chain.raise_time(record_time(&record));
        let uuid = chain.keep_name(&record["uuid"]);
        record["uuid"] = json!(uuid);
        record["parentUuid"] = json!(chain.parent);
        record["sessionId"] = json!(self.session);
        record["cwd"] = json!(self.project);
        if let Some(message) = record.get_mut("message") {
            self.parts.note_calls(message);
        }
        let history = record.pointer_mut("/systemPayload/compressedHistory").and_then(Value::as_array_mut);
        history.into_iter().flatten().for_each(|message| self.parts.note_calls(message));
        chain.push_line(record, uuid, vec![index]);
    }
}
