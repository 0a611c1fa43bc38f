//! Planning a session file that the client's own resume loads.
//!
//! Calls stand in the content of a message and what they gave back in a record of the user's behind it; what the
//! screen shows of them stands beside it under other names. The client's own records have calls and outcomes in one
//! record, and send each outcome twice once they have been resumed, so they are brought into the same form.

use carryover_core::plain::one_line;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{Body, Origin, Part, SessionId, text_of};
use serde_json::{Value, json};

use super::FACTS;
use super::boilerplate::{SUMMARY_REPLY, guard_text};
use super::message::{self, MessageWriter, PieceSource};
use super::native::NativeRecord;
use super::project::{MARKER_FILE, ProjectRegister, hash_name};
use crate::formats::ids::Ids;
use crate::formats::losses::count_loss;
use crate::formats::request::{project_relocation, project_text, user_prompts};
use crate::formats::session_lines::{LineWriter, WrittenFile};
use crate::{AgentError, CarriedEntry, TargetView, WriteOp, WritePlan, WriteRequest};

/// Shown in the place of a record that is not to be shown: an empty text would let the client fall back on the content.
pub(super) const HIDDEN_TEXT: &str = " ";

/// Plans the files.
pub(super) fn plan_session(request: &WriteRequest<'_>, target: &TargetView<'_>) -> Result<WritePlan, AgentError> {
    let mut ids = Ids::new(request.seed);
    let session = ids.next_uuid();
    let project = project_text(request, "Gemini CLI")?;
    let mut page = SessionWriter::new(request, project, ids);
    page.write_entries();
    let written = page.finish(&session, target.env.now);
    Ok(plan_files(request, target, project, session, written))
}

/// Plans to put a session into the folder of its project.
pub(super) fn plan_files(
    request: &WriteRequest<'_>,
    target: &TargetView<'_>,
    project: &str,
    session: String,
    written: WrittenFile,
) -> WritePlan {
    let root = &target.store.root;
    let folder = root.join("tmp").join(ProjectRegister::load(root).name_for(root, project));
    let file = folder.join("chats").join(file_name(&session, target.env.now));
    let resume = FACTS.resume.command(&session, request.project);
    let mut plan = written.into_plan(target, SessionId(session), file, resume);
    let marker = folder.join(MARKER_FILE);
    if marker.symlink_metadata().is_err() {
        // Without it, the folder is nobody's, and the client would give the project another one.
        let bytes = project.as_bytes().to_vec();
        plan.ops.push(WriteOp::CreateShared { path: marker, bytes, modified: target.env.now });
    }
    plan
}

/// The name ends in eight letters that are not those of the session's id: whenever the client resumes, it leaves an
/// empty file behind that ends in those, and its next start deletes every file that does.
fn file_name(session: &str, now: Timestamp) -> String {
    let digest = hash_name(session);
    let own = session.get(..8).unwrap_or(session);
    let suffix = if digest[..8] == *own { &digest[8..16] } else { &digest[..8] };
    let minute = now.to_string()[..16].replace(':', "-");
    format!("session-{minute}-{suffix}.jsonl")
}

/// A line, the entries that it holds, and how far behind its beginning their record begins.
pub(super) struct OutputLine {
    pub value: Value,
    pub entries: Vec<usize>,
    pub inset: u64,
}

impl OutputLine {
    pub(super) fn new(value: Value, entries: Vec<usize>) -> Self {
        Self { value, entries, inset: 0 }
    }
}

/// The file in the making.
struct SessionWriter<'a> {
    request: &'a WriteRequest<'a>,
    messages: MessageWriter<'a>,
    at: Timestamp,
}

impl<'a> SessionWriter<'a> {
    fn new(request: &'a WriteRequest<'a>, project: &'a str, ids: Ids) -> Self {
        let moves = project_relocation(request, project);
        let messages = MessageWriter::new(project, moves, request.source_model, ids);
        Self { request, messages, at: request.started_at }
    }

    fn write_entries(&mut self) {
        if let Some(brief) = self.request.brief {
            self.write_compaction(&json!([{ "text": guard_text(brief) }]), Vec::new());
        }
        for (index, carried) in self.request.entries.iter().enumerate() {
            self.at = carried.entry.at.map_or(self.at, |at| at.max(self.at));
            let native = carried.native.as_deref().filter(|_| !carried.clipped).and_then(NativeRecord::parse);
            self.write_entry(carried, native.as_ref(), index);
        }
        self.messages.close_message();
    }

    fn write_entry(&mut self, carried: &CarriedEntry, native: Option<&NativeRecord>, index: usize) {
        let piece = PieceSource { native, at: self.at, index };
        match &carried.entry.body {
            Body::Prompt(parts) if carried.entry.origin == Origin::Hook => self.write_hook(parts, native, index),
            Body::Prompt(parts) => self.write_prompt(parts, native, index),
            Body::Summary(parts) => {
                let content = message::make_content(&guard_parts(parts), &mut self.messages.losses);
                if self.messages.is_empty() {
                    self.write_compaction(&content, vec![index]);
                } else {
                    self.write_user(&content, index);
                }
            }
            Body::Reply(parts) => self.messages.write_reply(parts, piece),
            Body::Reasoning(reasoning) => self.write_reasoning(&reasoning.text, native, index),
            Body::Call(call) => self.messages.write_call(call, carried, piece),
            Body::Outcome(outcome) => {
                let mut outcome = outcome.clone();
                if native.is_none()
                    && let Some(agent) = crate::agent_by_name(carried.agent)
                {
                    agent.strip_harness_text(&mut outcome);
                }
                self.messages.write_outcome(&outcome, piece);
            }
            Body::Compacted(_) | Body::Rewound { .. } | Body::Failure(_) | Body::Note(_) | Body::Opaque(_) => {}
        }
    }

    /// A prompt of this client's own comes back as it was, unless the client would forget it.
    fn write_prompt(&mut self, parts: &[Part], native: Option<&NativeRecord>, index: usize) {
        self.messages.close_message();
        if let Some(record) = native.and_then(NativeRecord::remembered_prompt) {
            return self.messages.push_line(OutputLine::new(record, vec![index]));
        }
        let content = message::make_content(&guard_parts(parts), &mut self.messages.losses);
        self.write_user(&content, index);
    }

    fn write_user(&mut self, content: &Value, index: usize) {
        self.messages.close_message();
        let value = json!({ "id": self.messages.ids.next_uuid(), "timestamp": self.at.to_string(), "type": "user", "content": content });
        self.messages.push_line(OutputLine::new(value, vec![index]));
    }

    /// A hook's words belong to the record before them: alone, the client would forget them.
    fn write_hook(&mut self, parts: &[Part], native: Option<&NativeRecord>, index: usize) {
        let text = format!("<hook_context>{}</hook_context>", text_of(parts));
        self.messages.close_message();
        match self.messages.last_user_line() {
            Some(line) => {
                let held = native.and_then(NativeRecord::remembered_prompt).is_some_and(|record| record == line.value);
                if let (false, Some(content)) = (held, line.value["content"].as_array_mut()) {
                    content.push(json!({ "text": text }));
                }
                line.entries.push(index);
            }
            None => self.write_user(&json!([{ "text": guard_text(&text) }]), index),
        }
    }

    fn write_reasoning(&mut self, text: &str, native: Option<&NativeRecord>, index: usize) {
        let reason = if text.is_empty() {
            "sealed by its vendor, with no text to show"
        } else {
            "shown, but not sent to the model: the client never sends what was thought earlier"
        };
        count_loss(&mut self.messages.losses, "reasoning", reason);
        if !text.is_empty() {
            self.messages.write_thought(text, PieceSource { native, at: self.at, index });
        }
    }

    /// The form in which the client leaves a compaction: a text, and the model's fixed answer.
    fn write_compaction(&mut self, content: &Value, entries: Vec<usize>) {
        let at = self.at.to_string();
        let summary =
            json!({ "id": self.messages.ids.next_uuid(), "timestamp": at, "type": "user", "content": content });
        let answer = json!({
            "id": self.messages.ids.next_uuid(), "timestamp": at, "type": "gemini", "content": [{ "text": SUMMARY_REPLY }],
        });
        let inset = r#"{"$set":{"messages":["#.len() as u64;
        let value = json!({ "$set": { "messages": [summary, answer] } });
        self.messages.push_line(OutputLine { value, entries, inset });
    }

    fn finish(mut self, session: &str, now: Timestamp) -> WrittenFile {
        let hash = hash_name(self.messages.project());
        let title = self.session_title();
        let head = json!({
            "sessionId": session, "projectHash": hash, "startTime": now.to_string(), "lastUpdated": now.to_string(),
            "kind": "main", "summary": title,
        });
        let mut file = LineWriter::default();
        file.write_line(&head);
        for line in self.messages.take_lines() {
            file.note_entries(&line.entries, file.offset() + line.inset);
            file.write_line(&line.value);
        }
        // Without a note of its own, the client writes one into the newest session whenever it starts, and nobody could
        // tell any more whether the session was used.
        file.write_line(&json!({ "$set": { "memoryScratchpad": { "version": 1 } } }));
        file.finish(self.messages.losses, self.messages.translated)
    }

    /// Without a title, the client would ask a model for one.
    fn session_title(&self) -> String {
        let first = user_prompts(self.request).map(|text| one_line(&text, 80)).find(|text| !text.is_empty());
        self.request.title.map(|title| one_line(title, 200)).or(first).unwrap_or_else(|| "carried over".to_owned())
    }
}

/// The first text decides whether the client remembers a prompt.
fn guard_parts(parts: &[Part]) -> Vec<Part> {
    let mut parts = parts.to_vec();
    if let Some(Part::Text(text)) = parts.first_mut() {
        *text = guard_text(text);
    }
    parts
}
