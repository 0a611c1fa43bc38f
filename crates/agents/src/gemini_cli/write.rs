//! Planning a session file that the client's own resume loads.
//!
//! Calls stand in the content of a message and what they gave back in a record of the user's behind it; what the
//! screen shows of them stands beside it under other names. The client's own records have calls and outcomes in one
//! record, and send each outcome twice once they have been resumed, so they are brought into the same form.

use carryover_core::plain::one_line;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{Body, Origin, Part, SessionId, text_of};
use serde_json::{Value, json};

use super::boilerplate::{ACKNOWLEDGED, guarded};
use super::message::{self, Messages, Piece};
use super::native::Native;
use super::project::{MARKER, Register, hash_name};
use crate::formats::ids::Ids;
use crate::formats::losses::count_loss;
use crate::formats::request::{project_move, project_text, resume_in_project, user_prompts};
use crate::formats::session_lines::{LineWriter, WrittenFile};
use crate::{AgentError, Carried, Op, TargetView, WritePlan, WriteRequest};

/// Shown in the place of a record that is not to be shown: an empty text would let the client fall back on the content.
pub(super) const UNSEEN: &str = " ";

/// Plans the files.
pub(super) fn plan(request: &WriteRequest<'_>, target: &TargetView<'_>) -> Result<WritePlan, AgentError> {
    let mut ids = Ids::new(request.seed);
    let session = ids.uuid();
    let project = project_text(request, "Gemini CLI")?;
    let root = &target.store.root;
    let folder = root.join("tmp").join(Register::of(root).name_for(root, project));
    let file = folder.join("chats").join(file_name(&session, target.env.now));
    let mut page = Page::new(request, project, ids);
    page.write();
    let written = page.finish(&session, target.env.now);
    let resume = resume_in_project(request, &["gemini", "--resume", &session]);
    let mut plan = written.into_plan(target, SessionId(session), file, resume);
    let marker = folder.join(MARKER);
    if marker.symlink_metadata().is_err() {
        // Without it, the folder is nobody's, and the client would give the project another one.
        let bytes = project.as_bytes().to_vec();
        plan.ops.push(Op::Share { path: marker, bytes, modified: target.env.now });
    }
    Ok(plan)
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
pub(super) struct Line {
    pub value: Value,
    pub entries: Vec<usize>,
    pub inset: u64,
}

impl Line {
    pub(super) fn new(value: Value, entries: Vec<usize>) -> Self {
        Self { value, entries, inset: 0 }
    }
}

/// The file in the making.
struct Page<'a> {
    request: &'a WriteRequest<'a>,
    messages: Messages<'a>,
    at: Timestamp,
}

impl<'a> Page<'a> {
    fn new(request: &'a WriteRequest<'a>, project: &'a str, ids: Ids) -> Self {
        let moves = project_move(request, project);
        let messages = Messages::new(project, moves, request.source_model, ids);
        Self { request, messages, at: request.started_at }
    }

    fn write(&mut self) {
        if let Some(brief) = self.request.brief {
            self.compaction(&json!([{ "text": guarded(brief) }]), Vec::new());
        }
        for (index, carried) in self.request.entries.iter().enumerate() {
            self.at = carried.entry.at.map_or(self.at, |at| at.max(self.at));
            let native = carried.native.as_deref().filter(|_| !carried.clipped).and_then(Native::parse);
            self.entry(carried, native.as_ref(), index);
        }
        self.messages.close();
    }

    fn entry(&mut self, carried: &Carried, native: Option<&Native>, index: usize) {
        let piece = Piece { native, at: self.at, index };
        match &carried.entry.body {
            Body::Prompt(parts) if carried.entry.origin == Origin::Hook => self.hook(parts, native, index),
            Body::Prompt(parts) => self.prompt(parts, native, index),
            Body::Summary(parts) => {
                let content = message::content(&guarded_parts(parts), &mut self.messages.losses);
                if self.messages.is_empty() {
                    self.compaction(&content, vec![index]);
                } else {
                    self.user(&content, index);
                }
            }
            Body::Reply(parts) => self.messages.reply(parts, piece),
            Body::Reasoning(reasoning) => self.reasoning(&reasoning.text, native, index),
            Body::Call(call) => self.messages.call(call, carried, piece),
            Body::Outcome(outcome) => {
                let mut outcome = outcome.clone();
                if native.is_none()
                    && let Some(agent) = crate::by_name(carried.agent)
                {
                    agent.strip(&mut outcome);
                }
                self.messages.outcome(&outcome, piece);
            }
            Body::Compacted(_) | Body::Rewound { .. } | Body::Failure(_) | Body::Note(_) | Body::Opaque(_) => {}
        }
    }

    /// A prompt of this client's own comes back as it was, unless the client would forget it.
    fn prompt(&mut self, parts: &[Part], native: Option<&Native>, index: usize) {
        self.messages.close();
        if let Some(record) = native.and_then(Native::remembered_prompt) {
            return self.messages.push(Line::new(record, vec![index]));
        }
        let content = message::content(&guarded_parts(parts), &mut self.messages.losses);
        self.user(&content, index);
    }

    fn user(&mut self, content: &Value, index: usize) {
        self.messages.close();
        let value = json!({ "id": self.messages.ids.uuid(), "timestamp": self.at.to_string(), "type": "user", "content": content });
        self.messages.push(Line::new(value, vec![index]));
    }

    /// What a hook said belongs to the record before it: alone, the client would forget it.
    fn hook(&mut self, parts: &[Part], native: Option<&Native>, index: usize) {
        let text = format!("<hook_context>{}</hook_context>", text_of(parts));
        self.messages.close();
        match self.messages.last_of_user() {
            Some(line) => {
                let held = native.and_then(Native::remembered_prompt).is_some_and(|record| record == line.value);
                if let (false, Some(content)) = (held, line.value["content"].as_array_mut()) {
                    content.push(json!({ "text": text }));
                }
                line.entries.push(index);
            }
            None => self.user(&json!([{ "text": guarded(&text) }]), index),
        }
    }

    fn reasoning(&mut self, text: &str, native: Option<&Native>, index: usize) {
        let reason = if text.is_empty() {
            "sealed by its vendor, with no text to show"
        } else {
            "shown, but not sent to the model: the client never sends what was thought earlier"
        };
        count_loss(&mut self.messages.losses, "reasoning", reason);
        if !text.is_empty() {
            self.messages.thought(text, Piece { native, at: self.at, index });
        }
    }

    /// The form in which the client leaves a compaction: a text, and the model's fixed answer.
    fn compaction(&mut self, content: &Value, entries: Vec<usize>) {
        let at = self.at.to_string();
        let summary = json!({ "id": self.messages.ids.uuid(), "timestamp": at, "type": "user", "content": content });
        let answer = json!({
            "id": self.messages.ids.uuid(), "timestamp": at, "type": "gemini", "content": [{ "text": ACKNOWLEDGED }],
        });
        let inset = r#"{"$set":{"messages":["#.len() as u64;
        let value = json!({ "$set": { "messages": [summary, answer] } });
        self.messages.push(Line { value, entries, inset });
    }

    fn finish(mut self, session: &str, now: Timestamp) -> WrittenFile {
        let hash = hash_name(self.messages.project());
        let title = self.title();
        let head = json!({
            "sessionId": session, "projectHash": hash, "startTime": now.to_string(), "lastUpdated": now.to_string(),
            "kind": "main", "summary": title,
        });
        let mut file = LineWriter::default();
        file.write(&head);
        for line in self.messages.take_lines() {
            file.note_entries(&line.entries, file.offset() + line.inset);
            file.write(&line.value);
        }
        // Without a note of its own, the client writes one into the newest session whenever it starts, and nobody could
        // tell any more whether the session was used.
        file.write(&json!({ "$set": { "memoryScratchpad": { "version": 1 } } }));
        file.finish(self.messages.losses, self.messages.translated)
    }

    /// Without a title, the client would ask a model for one.
    fn title(&self) -> String {
        let first = user_prompts(self.request).map(|text| one_line(&text, 80)).find(|text| !text.is_empty());
        self.request.title.map(|title| one_line(title, 200)).or(first).unwrap_or_else(|| "carried over".to_owned())
    }
}

/// The first text decides whether the client remembers a prompt.
fn guarded_parts(parts: &[Part]) -> Vec<Part> {
    let mut parts = parts.to_vec();
    if let Some(Part::Text(text)) = parts.first_mut() {
        *text = guarded(text);
    }
    parts
}
