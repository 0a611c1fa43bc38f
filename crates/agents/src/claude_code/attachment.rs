//! Attachments that the client adds to a prompt or a result.

use carryover_core::transcript::{Blob, Body, Condition, Fact, Origin, Part, StartSetting};

use super::boilerplate::PromptSource;
use super::record::RecordReader;
use super::wire::{WireAttachment, WireMentioned, WireRendered, is_from_elsewhere};
use crate::formats::digest::digest_text;

/// Attachments that the client sends and no other client would bring; the rest is the client's own context.
const SENT_KINDS: &[&str] = &[
    "directory",
    "edited_text_file",
    "file",
    "hook_additional_context",
    "hook_blocking_error",
    "hook_success",
    "opened_file_in_ide",
    "queued_command",
    "selected_lines_in_ide",
];

/// Whether an attachment of this kind may be more than the client's own context.
pub(super) fn may_be_sent(kind: &str) -> bool {
    SENT_KINDS.contains(&kind)
}

impl RecordReader<'_, '_> {
    pub(super) fn read_attachment(&self, attachment: &WireAttachment<'_>) -> Vec<(Origin, Body)> {
        let kind = &*attachment.kind;
        let brought = match kind {
            "queued_command" => return self.read_queued(attachment),
            "file" => self.read_mentioned_file(attachment),
            "directory" => folder_prompt(attachment),
            "edited_text_file" => edited_file_prompt(attachment),
            "opened_file_in_ide" | "selected_lines_in_ide" => editor_prompt(attachment),
            "hook_additional_context" | "hook_success" => hook_prompt(attachment),
            "hook_blocking_error" => hook_error_prompt(attachment),
            _ => None,
        };
        match brought {
            Some(body) => vec![(Origin::Hook, body)],
            None => vec![unsent_body(kind)],
        }
    }

    /// What the client's own context tells of the session: the style of its answers, and what the model was reminded of.
    pub(super) fn attachment_facts(&self, bodies: &[(Origin, Body)]) -> Vec<Fact> {
        let record = self.record();
        let is_own =
            record.is_sidechain != Some(true) && bodies.iter().all(|(_, body)| matches!(body, Body::Opaque(_)));
        if !is_own {
            return Vec::new();
        }
        let style = record.attachment.as_ref().and_then(|attachment| attachment.style.as_deref());
        let style = style.map(|style| Fact::StartSetting(StartSetting::OutputStyle(style.to_owned())));
        let rendered = record.rendered.and_then(|raw| serde_json::from_str::<Vec<WireRendered<'_>>>(raw.get()).ok());
        let texts = rendered.into_iter().flatten().filter_map(|one| one.content).filter(|text| !text.is_empty());
        style.into_iter().chain(texts.map(|text| Fact::Condition(Condition::Reminder(digest_text(&text))))).collect()
    }

    /// A prompt that waited while the agent worked: the user's words, or a notice of the client's.
    fn read_queued(&self, attachment: &WireAttachment<'_>) -> Vec<(Origin, Body)> {
        let came = match attachment.command_mode.as_deref() {
            _ if attachment.is_meta == Some(true) || is_from_elsewhere(attachment.origin) => PromptSource::External,
            Some("task-notification") => PromptSource::External,
            Some("prompt") => PromptSource::Typed,
            _ => PromptSource::Unknown,
        };
        let bodies = attachment.prompt.as_ref().map(|prompt| self.sort_content(prompt, came)).unwrap_or_default();
        if bodies.is_empty() { vec![unsent_body(&attachment.kind)] } else { bodies }
    }

    /// A file that the user named with `@`, or that the client brings back after a compaction: it sends the content,
    /// and no other client would.
    fn read_mentioned_file(&self, attachment: &WireAttachment<'_>) -> Option<Body> {
        let mentioned: WireMentioned<'_> = serde_json::from_str(attachment.content?.get()).ok()?;
        let file = mentioned.file?;
        let name = attachment.filename.as_deref().unwrap_or("a file").to_owned();
        if let Some(data) = &file.base64 {
            let media_type = file.media_type.as_deref().unwrap_or("image/png").to_owned();
            let blob = Blob { media_type, name: Some(name), location: self.blob_location(data) };
            return Some(Body::Prompt(vec![Part::Blob(blob)]));
        }
        let content = file.content?;
        Some(text_prompt(format!("[file {name}]\n{}", &*content)))
    }
}

/// New kinds of attachments are the client's own context, too.
pub(super) fn unsent_body(kind: &str) -> (Origin, Body) {
    (Origin::Harness, Body::known(format!("attachment/{kind}")))
}

fn text_prompt(text: String) -> Body {
    Body::Prompt(vec![Part::Text(text)])
}

/// A folder that the user named with `@`.
fn folder_prompt(attachment: &WireAttachment<'_>) -> Option<Body> {
    let names: String = serde_json::from_str(attachment.content?.get()).ok()?;
    Some(text_prompt(format!("[folder {}]\n{names}", attachment.path.as_deref()?)))
}

/// A file that somebody else changed after the agent had read it.
fn edited_file_prompt(attachment: &WireAttachment<'_>) -> Option<Body> {
    let (name, snippet) = (attachment.filename.as_deref()?, attachment.snippet.as_deref()?);
    Some(text_prompt(format!("[file {name} was changed]\n{snippet}")))
}

fn editor_prompt(attachment: &WireAttachment<'_>) -> Option<Body> {
    let name = attachment.filename.as_deref()?;
    let selected: Option<String> = attachment.content.and_then(|raw| serde_json::from_str(raw.get()).ok());
    Some(text_prompt(match selected {
        Some(lines) => format!("[selected in {name}]\n{lines}"),
        None => format!("[file {name} is open in the editor]"),
    }))
}

/// A hook's words to the model. Hooks at the start of a session speak again wherever it goes on, and what a hook of a
/// tool merely prints is for the screen.
fn hook_prompt(attachment: &WireAttachment<'_>) -> Option<Body> {
    match (attachment.hook_event.as_deref()?, &*attachment.kind) {
        ("UserPromptSubmit", _) | ("PostToolUse" | "PreToolUse", "hook_additional_context") => {}
        _ => return None,
    }
    let raw = attachment.content?.get();
    let texts: Vec<String> =
        serde_json::from_str(raw).or_else(|_| serde_json::from_str(raw).map(|one| vec![one])).ok()?;
    let parts: Vec<Part> = texts.into_iter().filter(|text| !text.is_empty()).map(Part::Text).collect();
    (!parts.is_empty()).then_some(Body::Prompt(parts))
}

/// A hook's objection to what a tool did. An objection to what it was going to do is its outcome.
fn hook_error_prompt(attachment: &WireAttachment<'_>) -> Option<Body> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Objection {
        blocking_error: String,
    }
    let raw = attachment.blocking_error.filter(|_| attachment.hook_event.as_deref() == Some("PostToolUse"))?;
    Some(text_prompt(serde_json::from_str::<Objection>(raw.get()).ok()?.blocking_error))
}
