//! From an item of the Responses API to what it says.

use std::borrow::Cow;
use std::sync::Arc;

use carryover_core::json::Json;
use carryover_core::transcript::{
    Blob, BlobLocation, Body, Call, CallForm, CallId, Note, Opaque, Origin, Outcome, Part, Reasoning, text_of,
};
use serde_json::value::RawValue;

use super::outcome::CallEnding;
use super::text_source::{self, TextPiece, TextSource};
use super::wire::{WireContent, WireContents, WireItem};

/// Where a record's bytes are, for blobs that are left where they stand.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecordBytes<'a> {
    pub(super) file: u16,
    pub(super) offset: u64,
    pub(super) bytes: &'a [u8],
    /// A compressed file cannot be read at an offset, so its blobs are held in memory.
    pub(super) compressed: bool,
}

impl RecordBytes<'_> {
    /// The place of a text that borrows from the record.
    fn blob_location(&self, text: &str) -> BlobLocation {
        let begin = text.as_ptr().addr().checked_sub(self.bytes.as_ptr().addr());
        match begin {
            Some(begin) if !self.compressed && begin + text.len() <= self.bytes.len() => {
                let offset = self.offset + begin as u64;
                BlobLocation::Encoded { file: self.file, offset, length: text.len() as u64 }
            }
            _ => BlobLocation::Inline(Arc::from(text)),
        }
    }
}

/// One thing that an item says.
pub(super) type AttributedBody = (Origin, Body);

/// The bodies of an item; a message that mixes sources has several.
pub(super) fn read_bodies(item: &WireItem<'_>, ground: &RecordBytes<'_>) -> Vec<AttributedBody> {
    let said = match &*item.kind {
        "message" => return read_message(item, ground),
        "agent_message" => read_agent_message(item, ground),
        "reasoning" => (Origin::Agent, read_reasoning(item)),
        "function_call" => (Origin::Agent, read_function_call(item)),
        "custom_tool_call" => (Origin::Agent, read_custom_call(item)),
        "local_shell_call" => (Origin::Agent, read_local_shell_call(item)),
        "function_call_output" | "custom_tool_call_output" => (Origin::Agent, read_outcome(item, ground)),
        // One that the vendor's service made, and that only its API can open.
        "compaction" | "compaction_summary" | "context_compaction" => (Origin::Agent, Body::Summary(Vec::new())),
        "ghost_snapshot" => (Origin::Harness, Body::Note(Note::Snapshot)),
        kind => (Origin::Harness, opaque_body(kind)),
    };
    vec![said]
}

/// Kinds that we know and have no use for keep their name; others get one that no kind of ours has.
pub(super) fn opaque_body(kind: &str) -> Body {
    const KNOWN_KINDS: &[&str] = &[
        "message",
        "agent_message",
        "web_search_call",
        "image_generation_call",
        "tool_search_call",
        "tool_search_output",
        "additional_tools",
        "compaction_trigger",
    ];
    match KNOWN_KINDS.iter().find(|known| **known == kind) {
        Some(known) => Body::known(*known),
        None => Body::unknown(format!("item.{kind}")),
    }
}

fn read_message(item: &WireItem<'_>, ground: &RecordBytes<'_>) -> Vec<AttributedBody> {
    let role = item.role.as_deref().unwrap_or_default();
    if role == "assistant" {
        let parts = read_parts(&item.content.0, ground);
        return vec![if parts.is_empty() {
            (Origin::Harness, opaque_body("message"))
        } else {
            (Origin::Agent, Body::Reply(parts))
        }];
    }
    if !matches!(role, "user" | "developer" | "system") {
        return vec![(Origin::Harness, opaque_body("message"))];
    }
    let (voices, contents): (Vec<TextSource>, Vec<WireContent<'_>>) =
        split_message(item, role == "user").into_iter().unzip();
    let mut said = Vec::new();
    let mut begin = 0;
    for run in voices.chunk_by(|a, b| a == b) {
        let parts = read_parts(&contents[begin..begin + run.len()], ground);
        begin += run.len();
        match run.first() {
            _ if parts.is_empty() => {}
            Some(TextSource::Message(origin)) => said.push((*origin, Body::Prompt(parts))),
            Some(TextSource::Summary) => said.push((Origin::Agent, Body::Summary(parts))),
            None => {}
        }
    }
    if said.is_empty() {
        let is_told_to_be_empty = item.content.0.iter().any(|content| content.text.is_some());
        let is_wordless = role == "user" && !is_told_to_be_empty;
        let body = if is_wordless { Body::Opaque(Opaque::Wordless) } else { opaque_body("message") };
        said.push((Origin::Harness, body));
    }
    said
}

/// A sub-agent's message to the agent: its report comes so, not as the outcome of a call.
fn read_agent_message(item: &WireItem<'_>, ground: &RecordBytes<'_>) -> AttributedBody {
    let parts = read_parts(&item.content.0, ground);
    if parts.is_empty() {
        (Origin::Harness, opaque_body("agent_message"))
    } else {
        (Origin::Agent, Body::Prompt(parts))
    }
}

/// The parts of a message and who speaks in each; a text in which several do is taken apart.
fn split_message<'i>(item: &'i WireItem<'_>, of_user: bool) -> Vec<(TextSource, WireContent<'i>)> {
    let mut heard = Vec::with_capacity(item.content.0.len());
    for (index, content) in item.content.0.iter().enumerate() {
        let text = content.text.as_deref().unwrap_or_default();
        for (voice, piece) in split_part(item, index, text, of_user) {
            heard.push((voice, content.with_text(content.text.is_some().then_some(piece))));
        }
    }
    heard
}

/// Who speaks in one part of a message. 0.166 labels the parts; before that, only their text tells.
fn split_part<'t>(item: &WireItem<'_>, index: usize, text: &'t str, of_user: bool) -> Vec<TextPiece<'t>> {
    let passthrough = item.passthrough.as_ref();
    let provenance = passthrough
        .and_then(|passthrough| passthrough.content_item_metadata.as_ref())
        .and_then(|parts| parts.get(index))
        .and_then(|part| part.provenance.as_ref());
    let by_hook = provenance
        .is_some_and(|from| from.hook == Some(true) || from.kind.as_ref().is_some_and(|kind| &**kind == "hook"));
    if by_hook {
        return vec![(TextSource::Message(Origin::Hook), text)];
    }
    if !of_user {
        return vec![(TextSource::Message(Origin::Harness), text)];
    }
    let kind = passthrough
        .and_then(|passthrough| passthrough.content_item_kinds.as_ref())
        .and_then(|kinds| kinds.get(index))
        .map(|text| &**text);
    match kind {
        Some("compaction.summary") => vec![(TextSource::Summary, text)],
        Some(kind) if kind.starts_with("user.") => text_source::split_typed(text),
        Some("unknown") | None => text_source::split_sources(text),
        Some(kind) if kind.starts_with("hook") => vec![(TextSource::Message(Origin::Hook), text)],
        Some(_) => vec![(text_source::client_text_source(text), text)],
    }
}

fn read_parts(contents: &[WireContent<'_>], ground: &RecordBytes<'_>) -> Vec<Part> {
    let mut parts = Vec::with_capacity(contents.len());
    for (index, content) in contents.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|before| contents.get(before));
        if let Some(blob) = read_blob(content, before, ground) {
            parts.push(Part::Blob(blob));
        } else if let Some(text) = &content.text {
            let opens = is_image_opening(text) && contents.get(index + 1).is_some_and(is_image);
            let closes = &**text == "</image>" && before.is_some_and(is_image);
            if !opens && !closes && !text.is_empty() {
                parts.push(Part::Text(text.0.to_string()));
            }
        }
    }
    parts
}

fn is_image(content: &WireContent<'_>) -> bool {
    content.image_url.is_some()
}

fn is_image_opening(text: &str) -> bool {
    text == "<image>" || (text.starts_with("<image name=") && text.ends_with('>'))
}

fn read_blob(content: &WireContent<'_>, before: Option<&WireContent<'_>>, ground: &RecordBytes<'_>) -> Option<Blob> {
    let url = content.image_url.as_ref().or(content.file_data.as_ref())?;
    let url: &str = url;
    let wrapper = before.and_then(|before| before.text.as_ref()).map(|text| &**text);
    let name = match &content.filename {
        Some(name) => Some(name.0.to_string()),
        None => wrapper.filter(|text| is_image_opening(text)).and_then(image_name),
    };
    let Some((media_type, data)) = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")) else {
        let media_type = if content.image_url.is_some() { "image/*" } else { "application/octet-stream" };
        return Some(Blob { media_type: media_type.to_owned(), name, location: BlobLocation::Remote(url.to_owned()) });
    };
    Some(Blob { media_type: media_type.to_owned(), name, location: ground.blob_location(data) })
}

/// The path that the user gave, else the label: `<image name=[Image #1] path="/tmp/red.png">`.
fn image_name(wrapper: &str) -> Option<String> {
    let inside = wrapper.strip_prefix("<image name=")?.strip_suffix('>')?;
    let name = match inside.split_once(" path=\"") {
        Some((_, path)) => path.strip_suffix('"')?,
        None => inside,
    };
    Some(name.to_owned())
}

fn read_reasoning(item: &WireItem<'_>) -> Body {
    let texts = |contents: &WireContents<'_>| -> Vec<String> {
        contents.0.iter().filter_map(|part| part.text.as_ref()).map(|text| text.0.to_string()).collect()
    };
    let mut told = texts(&item.summary);
    told.extend(texts(&item.content));
    Body::Reasoning(Box::new(Reasoning { text: told.join("\n\n"), sealed: item.encrypted_content.is_some() }))
}

fn read_function_call(item: &WireItem<'_>) -> Body {
    let input = item.arguments.map_or_else(Json::empty_object, parse_arguments);
    make_call(item, tool_name(item), input, CallForm::Function)
}

/// The arguments are JSON inside a string; text that is no JSON stays a string.
fn parse_arguments(raw: &RawValue) -> Json {
    match serde_json::from_str::<Cow<'_, str>>(raw.get()) {
        Ok(text) => Json::parse(&text).unwrap_or_else(|| Json::from_raw(raw)),
        Err(_) => Json::from_raw(raw),
    }
}

fn read_custom_call(item: &WireItem<'_>) -> Body {
    let input = item.input.as_deref().unwrap_or_default();
    make_call(item, tool_name(item), Json::from_value(&input.into()), CallForm::Freeform)
}

fn read_local_shell_call(item: &WireItem<'_>) -> Body {
    let input = item.action.map_or_else(Json::empty_object, Json::from_raw);
    make_call(item, "local_shell".to_owned(), input, CallForm::Function)
}

fn make_call(item: &WireItem<'_>, tool: String, input: Json, form: CallForm) -> Body {
    let id = item.call_id.as_ref().or(item.id.as_ref()).map_or("", |id| &**id);
    Body::Call(Box::new(Call { id: CallId(id.into()), tool, input, form }))
}

/// The tool's name with its namespace: MCP servers are namespaces too, and get the name that other agents use.
fn tool_name(item: &WireItem<'_>) -> String {
    let name = item.name.as_deref().unwrap_or_default();
    match item.namespace.as_deref().unwrap_or_default() {
        "" | "functions" => name.to_owned(),
        server if server.starts_with("mcp__") => format!("{}__{name}", server.trim_end_matches('_')),
        namespace => format!("{namespace}.{name}"),
    }
}

fn read_outcome(item: &WireItem<'_>, ground: &RecordBytes<'_>) -> Body {
    let id = item.call_id.as_deref().unwrap_or_default();
    let parts = read_parts(&item.output.0, ground);
    let ending = CallEnding::from_parts(&parts);
    let (status, exit_code) = (ending.status, ending.exit_code);
    Body::Outcome(Box::new(Outcome { call: CallId(id.into()), status, exit_code, parts }))
}

/// The line by which a listing names a session, from what the user said in it first.
pub(super) fn make_title(parts: &[Part]) -> Option<String> {
    let title = carryover_core::plain::one_line(&text_of(parts), 200);
    (!title.is_empty()).then_some(title)
}
