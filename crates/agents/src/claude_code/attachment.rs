//! What the client attaches to a prompt or a result.

use std::borrow::Cow;

use carryover_core::transcript::{Blob, Body, Origin, Part};

use super::boilerplate::Came;
use super::record::Reading;
use super::wire::{WireAttachment, WireMentioned, is_from_elsewhere};

/// Attachments that the client sends and no other client would bring; the rest is the client's own context.
const SENT: &[&str] = &[
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
    SENT.contains(&kind)
}

impl Reading<'_, '_> {
    pub(super) fn attached(&self, attachment: &WireAttachment<'_>) -> Vec<(Origin, Body)> {
        let kind = &*attachment.kind;
        let brought = match kind {
            "queued_command" => return self.queued(attachment),
            "file" => self.mentioned(attachment),
            "directory" => folder(attachment),
            "edited_text_file" => edited(attachment),
            "opened_file_in_ide" | "selected_lines_in_ide" => shown_in_editor(attachment),
            "hook_additional_context" | "hook_success" => hook_text(attachment),
            "hook_blocking_error" => hook_objection(attachment),
            _ => None,
        };
        match brought {
            Some(body) => vec![(Origin::Hook, body)],
            None => vec![not_sent(kind)],
        }
    }

    /// What waited while the agent worked: the user's words, or a notice of the client's.
    fn queued(&self, attachment: &WireAttachment<'_>) -> Vec<(Origin, Body)> {
        let came = match attachment.command_mode.as_deref() {
            _ if attachment.is_meta == Some(true) || is_from_elsewhere(attachment.origin) => Came::Brought,
            Some("task-notification") => Came::Brought,
            Some("prompt") => Came::Typed,
            _ => Came::Unknown,
        };
        let bodies = attachment.prompt.as_ref().map(|prompt| self.heard(prompt, came)).unwrap_or_default();
        if bodies.is_empty() { vec![not_sent(&attachment.kind)] } else { bodies }
    }

    /// A file that the user named with `@`, or that the client brings back after a compaction: it sends the content,
    /// and no other client would.
    fn mentioned(&self, attachment: &WireAttachment<'_>) -> Option<Body> {
        let mentioned: WireMentioned<'_> = serde_json::from_str(attachment.content?.get()).ok()?;
        let file = mentioned.file?;
        let name = attachment.filename.as_deref().unwrap_or("a file").to_owned();
        if let Some(data) = &file.base64 {
            let media_type = file.media_type.as_deref().unwrap_or("image/png").to_owned();
            let blob = Blob { media_type, name: Some(name), place: self.place(data) };
            return Some(Body::Prompt(vec![Part::Blob(blob)]));
        }
        let content = file.content?;
        Some(text(format!("[file {name}]\n{}", &*content)))
    }
}

fn not_sent(kind: &str) -> (Origin, Body) {
    (Origin::Harness, Body::Opaque(Cow::Owned(format!("attachment/{kind}"))))
}

fn text(text: String) -> Body {
    Body::Prompt(vec![Part::Text(text)])
}

/// A folder that the user named with `@`.
fn folder(attachment: &WireAttachment<'_>) -> Option<Body> {
    let names: String = serde_json::from_str(attachment.content?.get()).ok()?;
    Some(text(format!("[folder {}]\n{names}", attachment.path.as_deref()?)))
}

/// A file that somebody else changed after the agent had read it.
fn edited(attachment: &WireAttachment<'_>) -> Option<Body> {
    let (name, snippet) = (attachment.filename.as_deref()?, attachment.snippet.as_deref()?);
    Some(text(format!("[file {name} was changed]\n{snippet}")))
}

fn shown_in_editor(attachment: &WireAttachment<'_>) -> Option<Body> {
    let name = attachment.filename.as_deref()?;
    let selected: Option<String> = attachment.content.and_then(|raw| serde_json::from_str(raw.get()).ok());
    Some(text(match selected {
        Some(lines) => format!("[selected in {name}]\n{lines}"),
        None => format!("[file {name} is open in the editor]"),
    }))
}

/// What a hook told the model. Hooks at the start of a session speak again wherever it goes on, and what a hook of a
/// tool merely prints is for the screen.
fn hook_text(attachment: &WireAttachment<'_>) -> Option<Body> {
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

/// What a hook had against what a tool did. An objection to what it was going to do is its outcome.
fn hook_objection(attachment: &WireAttachment<'_>) -> Option<Body> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Objection {
        blocking_error: String,
    }
    let raw = attachment.blocking_error.filter(|_| attachment.hook_event.as_deref() == Some("PostToolUse"))?;
    Some(text(serde_json::from_str::<Objection>(raw.get()).ok()?.blocking_error))
}
