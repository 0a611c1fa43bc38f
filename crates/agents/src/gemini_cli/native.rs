//! A record of the client's own, on its way back.

use serde_json::Value;

use super::boilerplate::guard_text;

/// A message as the client wrote it.
pub(super) struct NativeRecord {
    record: Value,
}

impl NativeRecord {
    pub(super) fn parse(raw: &str) -> Option<Self> {
        let record: Value = serde_json::from_str(raw).ok()?;
        record["id"].is_string().then_some(Self { record })
    }

    pub(super) fn id(&self) -> &str {
        self.record["id"].as_str().unwrap_or_default()
    }

    /// A field that stays with the message.
    pub(super) fn field(&self, name: &str) -> Option<&Value> {
        self.record.get(name).filter(|value| !value.is_null())
    }

    /// The record, if it is a prompt and nothing else, and the client would not forget it.
    pub(super) fn remembered_prompt(&self) -> Option<Value> {
        let content = &self.record["content"];
        let parts: &[Value] = content.as_array().map_or(std::slice::from_ref(content), Vec::as_slice);
        let first = parts.first()?;
        let text = first.as_str().or_else(|| first["text"].as_str()).unwrap_or_default();
        let answers = parts.iter().any(|part| part.get("functionResponse").is_some());
        let kept = self.record["type"] == "user" && !answers && guard_text(text) == text;
        kept.then(|| self.record.clone())
    }

    /// The part of the record from which the screen shows a call.
    pub(super) fn shown_call(&self, call: &str) -> Option<&Value> {
        let calls = self.record["toolCalls"].as_array()?;
        calls.iter().find(|shown| shown["id"] == call)
    }

    /// The response to a call, with the images behind it.
    pub(super) fn find_response(&self, call: &str) -> Option<Vec<Value>> {
        let content = self.record["content"].as_array();
        let calls = self.record["toolCalls"].as_array();
        let results = calls.into_iter().flatten().filter_map(|shown| shown["result"].as_array());
        results.chain(content).find_map(|parts| response_parts(parts, call))
    }
}

fn response_parts(parts: &[Value], call: &str) -> Option<Vec<Value>> {
    let at = parts.iter().position(|part| part["functionResponse"]["id"] == call)?;
    let behind = parts[at + 1..].iter();
    let images = behind.take_while(|part| part.get("inlineData").is_some() || part.get("fileData").is_some());
    Some(std::iter::once(&parts[at]).chain(images).cloned().collect())
}
