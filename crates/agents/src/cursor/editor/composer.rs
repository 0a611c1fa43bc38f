//! A conversation's document, which names its bubbles in their order, and the entry by which lists tell of it.

use carryover_core::time::Timestamp;
use carryover_core::transcript::Permission;
use serde_json::{Map, Value, json};

use super::skeleton::{empty_document, empty_head};
use super::window::Window;
use crate::WriteRequest;
use crate::cursor::FACTS;
use crate::formats::session_lines::SessionLine;

/// How much of the words the list of bubbles repeats.
const PREVIEW_CHARS: usize = 120;
/// Words that are shown in one line.
const SHORT_TEXT_CHARS: usize = 100;

/// What a conversation is as a whole.
pub(super) struct ComposerWriter<'a> {
    pub(super) request: &'a WriteRequest<'a>,
    pub(super) session: &'a str,
    pub(super) title: &'a str,
    pub(super) window: &'a Window,
    pub(super) now: Timestamp,
}

impl ComposerWriter<'_> {
    pub(super) fn make_document(&self, bubbles: &[SessionLine]) -> Value {
        let mut document = empty_document();
        self.tell_whole(&mut document);
        let headers: Vec<Value> = bubbles.iter().map(|bubble| bubble_header(&bubble.value)).collect();
        document["fullConversationHeadersOnly"] = json!(headers);
        // The model of another agent is none of the editor's.
        let own = self.request.source_model.filter(|_| self.request.source_agent == FACTS.id);
        let model = own.unwrap_or("default");
        let chosen = json!([{ "modelId": model, "parameters": [] }]);
        document["modelConfig"] = json!({ "modelName": model, "maxMode": false, "selectedModels": chosen });
        document
    }

    pub(super) fn make_head(&self) -> Value {
        let mut head = empty_head();
        self.tell_whole(&mut head);
        head
    }

    fn tell_whole(&self, record: &mut Value) {
        record["composerId"] = json!(self.session);
        record["name"] = json!(self.title);
        record["createdAt"] = json!(self.request.started_at.millis());
        record["lastUpdatedAt"] = json!(self.now.millis());
        record["unifiedMode"] = json!(if self.request.permission == Permission::Plan { "plan" } else { "agent" });
        record["workspaceIdentifier"] = self.window.identifier();
        if let Some(branch) = self.request.branch {
            record["createdOnBranch"] = json!(branch);
        }
    }
}

/// How the document names a bubble. What is not said to be shown is not.
fn bubble_header(bubble: &Value) -> Value {
    let mut grouping = Map::new();
    let mut tell = |name: &str, value: Value| drop(grouping.insert(name.to_owned(), value));
    tell("isRenderable", json!(true));
    tell("toolDisplayComputed", json!(true));
    if let Some(tool) = bubble.get("toolFormerData") {
        tell("capabilityType", bubble["capabilityType"].clone());
        tell("isToolGroupable", json!(true));
        for (name, told) in [("tool", "toolFormerTool"), ("status", "toolFormerStatus"), ("toolCallId", "toolCallId")] {
            if let Some(value) = tool.get(name) {
                tell(told, value.clone());
            }
        }
    } else if bubble.get("thinking").is_some() {
        tell("capabilityType", bubble["capabilityType"].clone());
        tell("hasThinking", json!(true));
        tell("thinkingDurationMs", bubble.get("thinkingDurationMs").cloned().unwrap_or(json!(0)));
    } else {
        let text = bubble["text"].as_str().unwrap_or_default();
        tell("hasText", json!(!text.is_empty()));
        tell("textPreview", json!(text.chars().take(PREVIEW_CHARS).collect::<String>()));
        if bubble["type"] == 1 {
            tell("isShortPlainText", json!(text.chars().count() < SHORT_TEXT_CHARS));
        } else {
            tell("isKeptFinalAiVisibleOutsideWorkedForGroup", json!(true));
        }
    }
    json!({
        "bubbleId": bubble["bubbleId"], "type": bubble["type"], "grouping": grouping, "createdAt": bubble["createdAt"],
    })
}
