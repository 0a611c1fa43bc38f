//! The bubbles of a session in the making: one for each prompt, reply, thought and call; what came of a call is in its bubble.

use std::collections::BTreeMap;
use std::path::PathBuf;

use carryover_core::time::Timestamp;
use carryover_core::transcript::{Blob, Body, Call, CallId, Origin, Outcome, Part, Reasoning, text_of};
use serde_json::{Map, Value, json};

use super::image_files::ImageFile;
use super::skeleton::{BUBBLE_VERSION, empty_bubble, empty_context};
use super::tool_data::{TOOL_CAPABILITY, add_outcome, make_tool_data};
use crate::cursor::ide::{ARGUMENT_FIELDS, BubbleBlock, call_name};
use crate::cursor::lenient::parse_nested;
use crate::formats::calls::CallWriter;
use crate::formats::entry_order::order_outcomes_first;
use crate::formats::ids::Ids;
use crate::formats::losses::{count_loss, describe_omitted};
use crate::formats::native_records::NativeRecords;
use crate::formats::relocate::Relocation;
use crate::formats::request::project_relocation;
use crate::formats::session_lines::{LineChain, SessionLine};
use crate::formats::user_marks::{self, mark_as_user};
use crate::{CarriedEntry, Loss, WriteRequest};

/// The longest name of a call that all APIs take.
const MAX_ID_CHARS: usize = 64;

/// The kind of a bubble that holds a thought.
const THINKING_CAPABILITY: u64 = 30;

/// What ties a bubble to the conversation that it was in, or to what the vendor's server knows of it.
const TIES: &[&str] = &["afterCheckpointId", "checkpointId", "requestId", "serverBubbleId", "usageUuid"];

const REASONING_LOSS: &str = "shown; without its maker's seal, Cursor decides whether a model is sent it";
const SEALED_LOSS: &str = "sealed by its vendor, with no text to show";
const IMAGE_LOSS: &str = "what a tool gives back is text in the editor";
const FILE_LOSS: &str = "the editor takes images (PNG, JPEG, GIF, WebP) only";
const OUTCOME_LOSS: &str = "what called for them is not in the session";

/// Who speaks in a bubble.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Speaker {
    User = 1,
    Agent = 2,
}

/// Everything but the bubbles themselves.
pub(super) struct WrittenParts {
    pub(super) images: Vec<ImageFile>,
    pub(super) losses: Vec<Loss>,
    pub(super) translated: usize,
}

/// Makes bubbles of entries.
pub(super) struct BubbleWriter<'a> {
    request: &'a WriteRequest<'a>,
    moves: Option<Relocation<'a>>,
    calls: CallWriter<'a>,
    chain: LineChain,
    /// The bubbles of calls.
    called: BTreeMap<CallId, usize>,
    /// Where images are put.
    image_folder: PathBuf,
    images: Vec<ImageFile>,
    losses: Vec<Loss>,
}

impl<'a> BubbleWriter<'a> {
    pub(super) fn new(request: &'a WriteRequest<'a>, project: &'a str, ids: Ids, image_folder: PathBuf) -> Self {
        let moves = project_relocation(request, project);
        Self {
            request,
            moves,
            calls: CallWriter::new(project, moves, MAX_ID_CHARS),
            chain: LineChain::new(ids, Ids::next_uuid, request.started_at),
            called: BTreeMap::new(),
            image_folder,
            images: Vec::new(),
            losses: Vec::new(),
        }
    }

    /// Writes all that is carried.
    pub(super) fn write_session(&mut self) {
        let entries = self.request.entries;
        let mut order = order_outcomes_first(entries);
        if let Some(brief) = self.request.brief {
            self.write_brief(brief, &mut order);
        }
        let mut own = NativeRecords::new(entries);
        for index in order {
            let carried = &entries[index];
            if let Some(line) = own.find_line(carried) {
                self.chain.lines[line].entries.push(index);
            } else if let Some(bubble) = own.find_record(carried).and_then(parse_bubble) {
                own.note_line(carried, self.chain.lines.len());
                self.write_native(bubble, index);
            } else {
                self.write_entry(carried, index);
            }
        }
    }

    pub(super) fn finish(self) -> (Vec<SessionLine>, WrittenParts) {
        let translated = self.calls.translated;
        (self.chain.lines, WrittenParts { images: self.images, losses: self.losses, translated })
    }

    /// The older part, and the summary that stood at its beginning.
    fn write_brief(&mut self, brief: &str, order: &mut Vec<usize>) {
        let first = order.first().map(|index| &self.request.entries[*index].entry.body);
        let Some(Body::Summary(before)) = first else {
            return self.write_block(BubbleBlock::Summary, brief, &[], Vec::new());
        };
        let text = format!("{}\n\n{brief}", text_of(before));
        let index = order.remove(0);
        self.write_block(BubbleBlock::Summary, &text, &[], vec![index]);
    }

    fn write_entry(&mut self, carried: &CarriedEntry, index: usize) {
        if !matches!(carried.entry.body, Body::Outcome(_)) {
            self.chain.advance_time(carried.entry.at);
        }
        match &carried.entry.body {
            Body::Prompt(parts) if carried.entry.origin == Origin::Hook => {
                self.write_block(BubbleBlock::Attached, &text_of(parts), parts, vec![index]);
            }
            Body::Prompt(parts) => self.write_prompt(parts, index),
            Body::Summary(parts) => self.write_block(BubbleBlock::Summary, &text_of(parts), parts, vec![index]),
            Body::Reply(parts) => {
                let text = self.text_of_reply(parts);
                self.push_bubble(Speaker::Agent, vec![("text", json!(text))], vec![index]);
            }
            Body::Reasoning(reasoning) => self.write_reasoning(reasoning, index),
            Body::Call(call) => self.write_call(call, carried, index),
            Body::Outcome(outcome) => self.write_outcome(outcome, index),
            Body::Compacted(_) | Body::Rewound { .. } | Body::Failure(_) | Body::Note(_) | Body::Opaque(_) => {}
        }
    }

    /// What nobody typed stands in a block, alone in its bubble.
    fn write_block(&mut self, block: BubbleBlock, text: &str, parts: &[Part], entries: Vec<usize>) {
        let chosen = self.choose_images(parts);
        self.push_prompt(&block.wrap(text.trim(), &chosen.omitted), &chosen.selections, entries);
    }

    fn write_prompt(&mut self, parts: &[Part], index: usize) {
        let mut texts: Vec<String> = Vec::new();
        let words = text_of(parts);
        if !words.is_empty() {
            texts.push(mark_as_user(&words, is_users).map_or(words, |marked| {
                count_loss(&mut self.losses, user_marks::LOSS_KIND, user_marks::LOSS_REASON);
                marked
            }));
        }
        let chosen = self.choose_images(parts);
        texts.extend(chosen.omitted);
        self.push_prompt(&texts.join("\n\n"), &chosen.selections, vec![index]);
    }

    fn push_prompt(&mut self, text: &str, selections: &[Value], entries: Vec<usize>) {
        let mut context = empty_context();
        context["selectedImages"] = json!(selections);
        let fields = vec![
            ("text", json!(text)),
            ("richText", json!(rich_text(text).to_string())),
            ("context", context),
            ("modelInfo", json!({ "modelName": "default" })),
        ];
        self.push_bubble(Speaker::User, fields, entries);
    }

    /// The images of a prompt, and the words that stand for other files.
    fn choose_images(&mut self, parts: &[Part]) -> ChosenImages {
        let mut chosen = ChosenImages::default();
        for blob in blobs(parts) {
            let id = self.chain.ids.next_uuid();
            if let Some(image) = ImageFile::from_blob(blob, &self.image_folder, id) {
                chosen.selections.push(image.selection(self.chain.at));
                self.images.push(image);
            } else {
                count_loss(&mut self.losses, "attachment", FILE_LOSS);
                chosen.omitted.push(describe_omitted(blob));
            }
        }
        chosen
    }

    fn text_of_reply(&mut self, parts: &[Part]) -> String {
        let omitted: Vec<String> = blobs(parts).map(describe_omitted).collect();
        for _ in &omitted {
            count_loss(&mut self.losses, "image", IMAGE_LOSS);
        }
        let words = Some(text_of(parts)).filter(|words| !words.is_empty());
        words.into_iter().chain(omitted).collect::<Vec<_>>().join("\n\n")
    }

    fn write_reasoning(&mut self, reasoning: &Reasoning, index: usize) {
        if reasoning.text.trim().is_empty() {
            return count_loss(&mut self.losses, "reasoning", SEALED_LOSS);
        }
        count_loss(&mut self.losses, "reasoning", REASONING_LOSS);
        let fields = vec![
            ("capabilityType", json!(THINKING_CAPABILITY)),
            ("thinking", json!({ "text": reasoning.text, "signature": "" })),
            ("thinkingDurationMs", json!(0)),
        ];
        self.push_bubble(Speaker::Agent, fields, vec![index]);
    }

    fn write_call(&mut self, call: &Call, carried: &CarriedEntry, index: usize) {
        let data = make_tool_data(&mut self.calls, call, carried);
        self.called.insert(call.id.clone(), self.chain.lines.len());
        let fields = vec![("capabilityType", json!(TOOL_CAPABILITY)), ("toolFormerData", data)];
        self.push_bubble(Speaker::Agent, fields, vec![index]);
    }

    fn write_outcome(&mut self, outcome: &Outcome, index: usize) {
        let Some(line) = self.called.get(&outcome.call).copied() else {
            return count_loss(&mut self.losses, "tool results", OUTCOME_LOSS);
        };
        let text = self.text_of_reply(&outcome.parts);
        let line = &mut self.chain.lines[line];
        line.entries.push(index);
        if let Some(data) = line.value.get_mut("toolFormerData") {
            add_outcome(data, outcome, &text);
        }
    }

    fn push_bubble(&mut self, speaker: Speaker, fields: Vec<(&str, Value)>, entries: Vec<usize>) {
        let name = self.chain.new_name();
        let mut bubble = empty_bubble();
        bubble.extend(fields.into_iter().map(|(name, value)| (name.to_owned(), value)));
        bubble.insert("type".to_owned(), json!(speaker as u64));
        bubble.insert("bubbleId".to_owned(), json!(name));
        bubble.insert("createdAt".to_owned(), json!(self.chain.at.to_string()));
        bubble.insert("isAgentic".to_owned(), json!(speaker == Speaker::User));
        bubble.insert("unifiedMode".to_owned(), json!(self.mode_number()));
        self.chain.push_line(Value::Object(bubble), name, entries);
    }

    /// How bubbles tell the mode of the agent, which is a word in the document.
    fn mode_number(&self) -> u64 {
        if self.request.permission == carryover_core::transcript::Permission::Plan { 5 } else { 2 }
    }

    /// A bubble of the editor's own: everything stays but its name, where the project was, and what ties it to its old
    /// conversation.
    fn write_native(&mut self, record: Map<String, Value>, index: usize) {
        let told = record.get("createdAt").and_then(Value::as_str).and_then(Timestamp::parse);
        self.chain.raise_time(told);
        let name = self.chain.new_name();
        let mut bubble = empty_bubble();
        bubble.extend(record.into_iter().filter(|(field, _)| !TIES.contains(&field.as_str())));
        bubble.insert("bubbleId".to_owned(), json!(name));
        bubble.entry("createdAt").or_insert_with(|| json!(self.chain.at.to_string()));
        if let Some(data) = bubble.get_mut("toolFormerData").filter(|data| data.is_object()) {
            let (tool, id) = (data["name"].as_str().unwrap_or_default(), call_name(data["toolCallId"].as_str()));
            if let Some(id) = id {
                self.calls.note_call(&id, tool);
                self.called.insert(CallId(id.into()), self.chain.lines.len());
            }
            if let Some(moves) = self.moves {
                move_arguments(data, moves);
            }
        }
        self.chain.push_line(Value::Object(bubble), name, vec![index]);
    }
}

/// What of a prompt is no words.
#[derive(Default)]
struct ChosenImages {
    selections: Vec<Value>,
    omitted: Vec<String>,
}

fn blobs(parts: &[Part]) -> impl Iterator<Item = &Blob> {
    parts.iter().filter_map(|part| match part {
        Part::Blob(blob) => Some(blob),
        Part::Text(_) => None,
    })
}

/// Whether words are read as the user's once they are all that is in a bubble.
fn is_users(text: &str) -> bool {
    BubbleBlock::find(text).is_none()
}

/// A bubble as the editor keeps it today; older forms and the records of other stores are told anew.
fn parse_bubble(raw: &str) -> Option<Map<String, Value>> {
    let record: Map<String, Value> = serde_json::from_str(raw).ok()?;
    let is_known = record.get("_v") == Some(&json!(BUBBLE_VERSION))
        && record.get("type").is_some_and(|kind| *kind == 1 || *kind == 2)
        && record.get("bubbleId").is_some_and(Value::is_string);
    // Files that it names are those of another conversation, which may go.
    let chosen = record.get("context").and_then(|context| context["selectedImages"].as_array());
    (is_known && chosen.is_none_or(Vec::is_empty)).then_some(record)
}

/// Moves the paths in what a tool was called with.
fn move_arguments(data: &mut Value, moves: Relocation<'_>) {
    for field in ARGUMENT_FIELDS {
        let Some(before) = data[*field].as_str().and_then(parse_nested::<Value>) else { continue };
        let mut after = before.clone();
        moves.move_value(&mut after);
        if after != before {
            data[*field] = json!(after.to_string());
        }
    }
}

/// Words in the form of the editor's input: a paragraph for each line would change them, so they are one.
fn rich_text(text: &str) -> Value {
    let words = if text.is_empty() { json!([]) } else { json!([{ "type": "text", "text": text }]) };
    json!({ "type": "doc", "content": [{ "type": "paragraph", "content": words }] })
}
