//! The messages of a session, as the client sends them to a model.

use carryover_core::transcript::{Body, Call, Origin, Part, text_of};
use serde_json::{Value, json};

use super::parts::{PartWriter, make_content};
use crate::cursor::cli::{is_query, wrap_query};
use crate::formats::ids::Ids;
use crate::formats::losses::count_loss;
use crate::formats::messages::{MessageWriter, OpenMessage, SessionDraft};
use crate::formats::request::project_relocation;
use crate::formats::session_lines::LineChain;
use crate::formats::user_marks::{self, mark_parts_as_user};
use crate::{CarriedEntry, WriteRequest};

/// Messages in the making: a line each.
pub(super) struct MessageLines<'a> {
    pub(super) draft: SessionDraft<'a>,
    pub(super) parts: PartWriter<'a>,
}

impl<'a> MessageLines<'a> {
    pub(super) fn new(request: &'a WriteRequest<'a>, project: &'a str, ids: Ids) -> Self {
        let parts = PartWriter::new(project, project_relocation(request, project));
        let draft = SessionDraft::new(request, LineChain::new(ids, Ids::next_uuid, request.started_at));
        Self { draft, parts }
    }

    fn push_message(&mut self, message: Value, entries: Vec<usize>) {
        let chain = &mut self.draft.chain;
        let name = chain.new_name();
        chain.push_line(message, name, entries);
    }

    fn write_prompt(&mut self, parts: &[Part], index: usize) {
        let losses = &mut self.draft.losses;
        let (parts, changed) = mark_parts_as_user(parts, is_query);
        (0..changed).for_each(|_| count_loss(losses, user_marks::LOSS_KIND, user_marks::LOSS_REASON));
        let content = make_content(&parts, wrap_query, losses);
        self.push_message(json!({ "role": "user", "content": content }), vec![index]);
    }

    /// What was brought along with the user's words.
    fn write_attached(&mut self, parts: &[Part], index: usize) {
        // One block: each would be read as something of its own.
        let words = Part::Text(format!("<attached_files>\n{}\n</attached_files>", text_of(parts)));
        let images = parts.iter().filter(|part| matches!(part, Part::Blob(_))).cloned();
        let parts: Vec<Part> = std::iter::once(words).chain(images).collect();
        let content = make_content(&parts, str::to_owned, &mut self.draft.losses);
        self.push_message(json!({ "role": "user", "content": content }), vec![index]);
    }
}

impl<'a> MessageWriter<'a> for MessageLines<'a> {
    const REASONING_LOSS_REASON: &'static str = "the client would send it to a model that did not think it";

    fn draft(&mut self) -> &mut SessionDraft<'a> {
        &mut self.draft
    }

    fn make_text_block(&self, text: &str) -> Value {
        json!({ "type": "text", "text": text })
    }

    fn make_call_block(&mut self, call: &Call, carried: &CarriedEntry) -> Value {
        self.parts.make_call(call, carried)
    }

    fn write_message(&mut self, message: OpenMessage) {
        self.push_message(json!({ "role": "assistant", "content": message.blocks }), message.entries);
    }

    fn write_input(&mut self, carried: &CarriedEntry, index: usize) {
        match &carried.entry.body {
            Body::Prompt(parts) if carried.entry.origin == Origin::Hook => self.write_attached(parts, index),
            Body::Prompt(parts) => self.write_prompt(parts, index),
            Body::Outcome(outcome) => {
                let message = self.parts.make_outcome(outcome, &mut self.draft.losses);
                self.push_message(message, vec![index]);
            }
            Body::Summary(parts) => self.write_compaction(&text_of(parts), vec![index]),
            _ => {}
        }
    }

    /// A summary is a message that says that it is one.
    fn write_compaction(&mut self, summary: &str, entries: Vec<usize>) {
        let content = json!([{ "type": "text", "text": summary }]);
        let options = json!({ "cursor": { "isSummary": true } });
        self.push_message(json!({ "role": "user", "content": content, "providerOptions": options }), entries);
    }

    /// None takes away what stands before it: that is told by the root.
    fn is_compaction(&self, _record: &Value) -> bool {
        false
    }

    /// A message of the client's own stays as it is; bubbles of the editor are told in messages.
    fn parse_record(&mut self, raw: &str) -> Option<Value> {
        let record: Value = serde_json::from_str(raw).ok()?;
        let is_message = record["role"].is_string() && !record["content"].is_null();
        is_message.then_some(record)
    }

    fn write_native(&mut self, mut record: Value, index: usize) {
        self.parts.note_calls(&mut record);
        self.push_message(record, vec![index]);
    }
}
