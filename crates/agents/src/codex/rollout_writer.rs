//! A session told anew: what goes to the model, and beside it what goes to the screen, turn by turn.
//!
//! Order is load-bearing in one place: a call's outcome follows directly after the calls of its group.

use std::collections::{BTreeMap, BTreeSet};

use carryover_core::json::Json;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{Body, Call, CallId, Origin, Outcome, Part, text_of};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::call_translator::{self, CallTranslator, MAX_API_NAME_CHARS, WrittenCall};
use super::display;
use super::native::{NativeRecord, NativeRecords};
use super::rollout_log::{Payload, RolloutLog};
use super::text_source;
use crate::formats::ids::{Ids, UniqueNames};
use crate::formats::user_marks::{self, mark_as_user};
use crate::{CarriedEntry, Loss, Origins, Version, WriteRequest, WrittenEntry};

/// A session in the making.
pub(super) struct RolloutWriter<'a> {
    request: &'a WriteRequest<'a>,
    translator: CallTranslator<'a>,
    session: &'a str,
    ids: Ids,
    log: RolloutLog,
    turn: Option<Turn>,
    natives: NativeRecords<'a>,
    /// The names of calls, chosen before anything is written: those of records that are written back come first.
    names: BTreeMap<usize, String>,
    written_calls: BTreeMap<&'a CallId, WrittenCall<'a>>,
    /// The model's context so far, as long as a compaction is still to come that must repeat it.
    context: Vec<Payload>,
    last_summary: Option<usize>,
    lost: Vec<&'static str>,
    translated: usize,
    origins: Origins,
}

struct Turn {
    id: String,
    started_at: Timestamp,
    /// The time of its last entry; the next prompt may come a day later.
    ended_at: Timestamp,
    last_message: Option<String>,
}

/// The written session, and how it differs from the source.
pub(super) struct WrittenRollout {
    pub(super) bytes: Vec<u8>,
    pub(super) origins: Origins,
    pub(super) losses: Vec<Loss>,
    pub(super) translated: usize,
    /// The time of the last entry.
    pub(super) ended_at: Option<Timestamp>,
}

impl<'a> RolloutWriter<'a> {
    pub(super) fn new(
        request: &'a WriteRequest<'a>,
        speech: CallTranslator<'a>,
        session: &'a str,
        ids: Ids,
        is_paginated: bool,
    ) -> Self {
        let natives = NativeRecords::from_request(request);
        Self {
            request,
            translator: speech,
            session,
            ids,
            log: RolloutLog::new(request.started_at, is_paginated),
            turn: None,
            names: choose_call_names(request, &natives),
            natives,
            written_calls: BTreeMap::new(),
            context: Vec::new(),
            last_summary: request.entries.iter().rposition(is_summary),
            lost: Vec::new(),
            translated: 0,
            origins: Vec::new(),
        }
    }

    /// Writes the session after its first record.
    pub(super) fn write_session(mut self, meta: Value) -> WrittenRollout {
        self.log.append("session_meta", &Payload::Made(meta));
        if let Some(brief) = self.request.brief {
            self.open_turn();
            self.write_compaction(&[Part::Text(brief.to_owned())]);
        }
        if !self.request.entries.iter().any(is_user_prompt) {
            self.show_title();
        }
        let mut standing: Vec<usize> = Vec::new();
        for index in writing_order(self.request.entries) {
            let carried = &self.request.entries[index];
            self.log.at = carried.entry.at.unwrap_or(self.log.at);
            if let Some(offset) = self.write_entry(carried, index) {
                standing.push(index);
                // A compaction repeats what stands, and from then on the model sees it there.
                let held = if is_summary(carried) { standing.as_slice() } else { &[index] };
                self.origins.extend(held.iter().map(|entry| WrittenEntry { entry: *entry, offset }));
            }
            if let Some(turn) = &mut self.turn {
                turn.ended_at = self.log.at;
            }
        }
        self.write_end();
        self.origins.sort_by_key(|origin| origin.entry);
        WrittenRollout {
            ended_at: self.request.entries.iter().filter_map(|carried| carried.entry.at).max(),
            bytes: self.log.into_bytes(),
            origins: self.origins,
            losses: count_losses(&self.lost),
            translated: self.translated,
        }
    }

    /// Writes an entry and says where the record begins that holds it.
    fn write_entry(&mut self, carried: &'a CarriedEntry, index: usize) -> Option<u64> {
        if self.translator.version < TAKES_AGENT_MESSAGES_FROM && is_sub_agent_prompt(carried) {
            self.natives.forget(index);
        }
        match &carried.entry.body {
            Body::Prompt(parts) if is_user_prompt(carried) => Some(self.write_prompt(parts, index)),
            Body::Prompt(parts) => Some(self.write_hook(parts, index)),
            Body::Reply(parts) => Some(self.write_reply(parts, index)),
            Body::Reasoning(reasoning) => self.write_reasoning(&reasoning.text, index),
            Body::Call(call) => Some(self.write_call(carried, call, index)),
            Body::Outcome(outcome) => self.write_outcome(outcome, index),
            Body::Summary(parts) => self.write_summary(parts, index),
            Body::Compacted(_) | Body::Rewound { .. } | Body::Failure(_) | Body::Note(_) | Body::Opaque(_) => None,
        }
    }

    fn write_prompt(&mut self, parts: &[Part], index: usize) -> u64 {
        self.close_turn();
        self.open_turn();
        let mut content = call_translator::content_items(parts, "input_text", &mut self.lost);
        let is_labelled = !self.natives.contains(index) && self.protect_user_words(&mut content);
        let mut item = json!({ "type": "message", "role": "user", "content": content });
        if is_labelled {
            let kinds = vec!["user.text"; content.len()];
            item[PASSTHROUGH_FIELD] = json!({ "turn_id": self.turn_id(), "content_item_kinds": kinds });
        }
        let offset = self.write_item(index, item);
        let text = text_of(parts);
        self.show_prompt(if text.is_empty() { "[image]" } else { &text });
        offset
    }

    /// Sees to it that the user's words are not taken for the client's, a block of which somebody may have pasted: where
    /// a label is not enough, a line stands before them. Says whether the label is needed.
    fn protect_user_words(&mut self, content: &mut [Value]) -> bool {
        let mut is_labelled = false;
        for part in content {
            let Some(text) = part["text"].as_str() else { continue };
            let Some(introduced) =
                mark_as_user(text, |text| text_source::is_user_only(&text_source::split_sources(text)))
            else {
                continue;
            };
            if self.log.is_paginated() && text_source::is_user_only(&text_source::split_typed(text)) {
                is_labelled = true;
            } else {
                part["text"] = json!(introduced);
                self.lost.push(user_marks::LOSS_KIND);
            }
        }
        is_labelled
    }

    fn show_prompt(&mut self, text: &str) {
        let id = self.ids.next_timed_uuid(self.log.at);
        let content = json!([{ "type": "text", "text": text, "text_elements": [] }]);
        self.show_item(&json!({ "type": "UserMessage", "id": id, "content": content }));
        self.log.append_event(
            json!({ "type": "user_message", "message": text, "images": [], "local_images": [], "text_elements": [] }),
        );
    }

    /// Words of a hook or a sub-agent go to the model and not to the screen. As the user's word: a hook of another
    /// client has no claim to the developer's.
    fn write_hook(&mut self, parts: &[Part], index: usize) -> u64 {
        self.open_turn();
        let content = call_translator::content_items(parts, "input_text", &mut self.lost);
        let mut item = json!({ "type": "message", "role": "user", "content": content });
        if self.log.is_paginated() {
            let kinds = vec!["hook.context"; content.len()];
            item[PASSTHROUGH_FIELD] = json!({ "turn_id": self.turn_id(), "content_item_kinds": kinds });
        }
        self.write_item(index, item)
    }

    fn write_reply(&mut self, parts: &[Part], index: usize) -> u64 {
        self.open_turn();
        let text = text_of(parts);
        let id = format!("msg_{}", self.ids.next_timed_uuid(self.log.at));
        self.show_item(&json!({ "type": "AgentMessage", "id": id, "content": [{ "type": "Text", "text": text }] }));
        self.log.append_event(json!({ "type": "agent_message", "message": text }));
        if let Some(turn) = &mut self.turn {
            turn.last_message = Some(text);
        }
        let mut content = call_translator::content_items(parts, "output_text", &mut self.lost);
        // A model's message holds text alone.
        let n_parts = content.len();
        content.retain(|part| part["type"] == "output_text");
        self.lost.extend(vec!["images"; n_parts - content.len()]);
        self.write_item(index, json!({ "type": "message", "role": "assistant", "content": content }))
    }

    /// Reasoning is shown. Only Codex's own is sent: the API may refuse what its model has not thought.
    fn write_reasoning(&mut self, text: &str, index: usize) -> Option<u64> {
        self.open_turn();
        let mut shown = None;
        if !text.is_empty() {
            let id = format!("rs_{}", self.ids.next_timed_uuid(self.log.at));
            let item = json!({ "type": "Reasoning", "id": id, "summary_text": [text], "raw_content": [] });
            shown = self.show_item(&item);
            let event = self.log.append_event(json!({ "type": "agent_reasoning", "text": text }));
            shown = shown.or(Some(event));
        }
        if let Some(native) = self.natives.take_record(index) {
            return Some(self.write_native(index, native));
        }
        self.lost.push("reasoning");
        shown
    }

    fn write_call(&mut self, carried: &'a CarriedEntry, call: &'a Call, index: usize) -> u64 {
        self.open_turn();
        let id = self.names.remove(&index).unwrap_or_else(|| call.id.0.to_string());
        let spoken = self.translator.translate_call(carried, call, &id);
        let is_native = self.natives.contains(index);
        let is_translated = spoken.is_translated && !is_native;
        self.translated += usize::from(is_translated);
        let is_command = is_translated && spoken.item["name"] == "exec_command";
        let asked = WrittenCall { id, call, action: &carried.action, is_custom: spoken.is_custom, is_command };
        self.written_calls.insert(&call.id, asked);
        self.write_item(index, spoken.item)
    }

    fn write_outcome(&mut self, outcome: &'a Outcome, index: usize) -> Option<u64> {
        self.open_turn();
        let Some(asked) = self.written_calls.remove(&outcome.call) else {
            self.lost.push("outcomes");
            return None;
        };
        if let Some(shown) = display::display_call(&asked, outcome, &self.translator, self.turn_id()) {
            let is_command = shown.item["type"] == "CommandExecution";
            self.show_item(&shown.item);
            // The page-by-page shape says it all in the item, and older clients show no commands from history.
            if let Some(event) = shown.event.filter(|_| !(is_command && self.log.is_paginated())) {
                self.log.append_event(event);
            }
        }
        let item = call_translator::outcome_item(&asked, outcome, &mut self.lost);
        if asked.id != *outcome.call.0 {
            self.natives.forget(index);
        }
        Some(self.write_item(index, item))
    }

    fn write_summary(&mut self, parts: &[Part], index: usize) -> Option<u64> {
        self.open_turn();
        match self.natives.take_record(index) {
            Some(native) => {
                let offset = self.write_native(index, native);
                self.show_compaction();
                Some(offset)
            }
            None if parts.is_empty() => {
                self.lost.push("summary");
                None
            }
            None => Some(self.write_compaction(parts)),
        }
    }

    /// A compaction in the client's own form. It makes the model's context anew, so it repeats what stands.
    fn write_compaction(&mut self, parts: &[Part]) -> u64 {
        let content = call_translator::content_items(parts, "input_text", &mut self.lost);
        let kinds = vec!["compaction.summary"; content.len()];
        let mut item = json!({ "type": "message", "role": "user", "content": content });
        if self.log.is_paginated() {
            item[PASSTHROUGH_FIELD] = json!({ "turn_id": self.turn_id(), "content_item_kinds": kinds });
        }
        self.context.push(Payload::Made(item));
        let history = serde_json::to_value(&self.context).unwrap_or_default();
        let payload = json!({ "message": text_of(parts), "replacement_history": history });
        let offset = self.log.append("compacted", &Payload::Made(payload));
        self.show_compaction();
        offset
    }

    fn show_compaction(&mut self) {
        let id = self.ids.next_timed_uuid(self.log.at);
        self.show_item(&json!({ "type": "ContextCompaction", "id": id }));
        self.log.append_event(json!({ "type": "context_compacted" }));
    }

    /// A session without a prompt of the user would have no name in the client's list, and so not be listed.
    fn show_title(&mut self) {
        self.open_turn();
        let title = self.request.title.unwrap_or("continued session").to_owned();
        self.show_prompt(&title);
    }

    /// Writes an item for the model: the record as it was where it is Codex's own, else ours.
    fn write_item(&mut self, index: usize, made: Value) -> u64 {
        match self.natives.take_record(index) {
            Some(native) => self.write_native(index, native),
            None => self.append_item(index, Payload::Made(made)),
        }
    }

    fn write_native(&mut self, index: usize, native: NativeRecord) -> u64 {
        match native {
            NativeRecord::Written(offset) => offset,
            NativeRecord::Item(payload) => {
                let offset = self.append_item(index, Payload::Native(self.relocate_payload(payload)));
                self.natives.note_written(index, offset);
                offset
            }
            NativeRecord::Compaction(payload) => {
                let offset = self.log.append("compacted", &Payload::Native(payload));
                self.natives.note_written(index, offset);
                offset
            }
        }
    }

    fn append_item(&mut self, index: usize, payload: Payload) -> u64 {
        let offset = self.log.append("response_item", &payload);
        if self.last_summary.is_some_and(|last| index < last) {
            self.context.push(payload);
        }
        offset
    }

    /// A record that is written back stays as it was, but for paths that moved with the project.
    fn relocate_payload(&self, payload: Box<RawValue>) -> Box<RawValue> {
        let Some(moves) = self.translator.moves else { return payload };
        let Ok(mut item) = serde_json::from_str::<Value>(payload.get()) else { return payload };
        let Some(arguments) = item.get("arguments").and_then(Value::as_str).and_then(Json::parse) else {
            return payload;
        };
        let there = moves.move_json(&arguments);
        if there == arguments {
            return payload;
        }
        item["arguments"] = json!(there.as_str());
        serde_json::value::to_raw_value(&item).unwrap_or(payload)
    }

    fn show_item(&mut self, item: &Value) -> Option<u64> {
        let turn = self.turn.as_ref().map_or("", |turn| &turn.id).to_owned();
        self.log.append_display_item(self.session, &turn, item)
    }

    fn turn_id(&self) -> &str {
        self.turn.as_ref().map_or("", |turn| &turn.id)
    }

    fn open_turn(&mut self) {
        if self.turn.is_some() {
            return;
        }
        let at = self.log.at;
        let turn = Turn { id: self.ids.next_timed_uuid(at), started_at: at, ended_at: at, last_message: None };
        self.log.append_event(json!({
            "type": "task_started", "turn_id": turn.id, "started_at": turn.started_at.seconds(),
            "model_context_window": null, "collaboration_mode_kind": "default",
        }));
        self.turn = Some(turn);
    }

    fn close_turn(&mut self) {
        let Some(turn) = self.turn.take() else { return };
        let took = turn.ended_at.millis().saturating_sub(turn.started_at.millis()).max(0);
        self.log.append_event(json!({
            "type": "task_complete", "turn_id": turn.id, "last_agent_message": turn.last_message,
            "started_at": turn.started_at.seconds(), "completed_at": turn.ended_at.seconds(), "duration_ms": took,
        }));
    }

    /// Without a count of tokens the client would send everything, however much it is.
    fn write_end(&mut self) {
        let usage = json!({
            "input_tokens": 0, "cached_input_tokens": 0, "output_tokens": 0, "reasoning_output_tokens": 0,
            "total_tokens": self.request.tokens,
        });
        let info = json!({ "total_token_usage": usage, "last_token_usage": usage, "model_context_window": null });
        self.log.append_event(json!({ "type": "token_count", "info": info, "rate_limits": null }));
        self.close_turn();
    }
}

/// The first version that was seen to send what sub-agents said in its own kind of item; 0.130 drops it.
const TAKES_AGENT_MESSAGES_FROM: Version = Version(0, 166, 0);

/// Where 0.166 labels the parts of a message.
const PASSTHROUGH_FIELD: &str = "internal_chat_message_metadata_passthrough";

fn is_summary(carried: &CarriedEntry) -> bool {
    matches!(carried.entry.body, Body::Summary(_))
}

fn is_user_prompt(carried: &CarriedEntry) -> bool {
    matches!(carried.entry.body, Body::Prompt(_)) && carried.entry.origin == Origin::User
}

fn is_sub_agent_prompt(carried: &CarriedEntry) -> bool {
    matches!(carried.entry.body, Body::Prompt(_)) && carried.entry.origin == Origin::Agent
}

/// The order of writing: after a group of calls their outcomes, then what came between.
fn writing_order(entries: &[CarriedEntry]) -> Vec<usize> {
    let mut outcomes: BTreeMap<&CallId, usize> = BTreeMap::new();
    for (index, carried) in entries.iter().enumerate() {
        if let Body::Outcome(outcome) = &carried.entry.body {
            outcomes.entry(&outcome.call).or_insert(index);
        }
    }
    let mut order = Vec::with_capacity(entries.len());
    let mut placed: BTreeSet<usize> = BTreeSet::new();
    let mut awaited: Vec<usize> = Vec::new();
    for (index, carried) in entries.iter().enumerate() {
        if let Body::Call(call) = &carried.entry.body {
            awaited.extend(outcomes.get(&call.id).filter(|outcome| **outcome > index));
            order.push(index);
            continue;
        }
        awaited.sort_unstable();
        for outcome in awaited.drain(..) {
            placed.insert(outcome);
            order.push(outcome);
        }
        if !placed.contains(&index) {
            order.push(index);
        }
    }
    order.extend(awaited);
    order
}

/// Names that the API takes, none twice; records that are written back keep theirs.
fn choose_call_names(request: &WriteRequest<'_>, natives: &NativeRecords<'_>) -> BTreeMap<usize, String> {
    let mut names = UniqueNames::default();
    let mut chosen = BTreeMap::new();
    for native_first in [true, false] {
        for (index, carried) in request.entries.iter().enumerate() {
            if let Body::Call(call) = &carried.entry.body
                && natives.contains(index) == native_first
            {
                chosen.insert(index, names.make_unique(&call.id.0, MAX_API_NAME_CHARS));
            }
        }
    }
    chosen
}

fn count_losses(lost: &[&'static str]) -> Vec<Loss> {
    let reasons = [
        ("summary", "sealed by its vendor; `carryover show --full` has what it stood for"),
        ("reasoning", "shown on the screen, not sent to the model"),
        ("images", "not loaded, or in a reply; named where they stood"),
        ("files", "the client takes images only; named where they stood"),
        (user_marks::LOSS_KIND, user_marks::LOSS_REASON),
        ("outcomes", "their call is not part of the session"),
    ];
    let count = |what: &str| lost.iter().filter(|lost| **lost == what).count();
    let all = reasons.into_iter().map(|(what, reason)| Loss { what, count: count(what), reason });
    all.filter(|loss| loss.count > 0).collect()
}
