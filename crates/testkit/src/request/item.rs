//! Reads the conversation out of a request of any of the APIs.

use serde::Serialize;
use serde_json::Value;

use super::gemini;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    User,
    Assistant,
    /// System and developer messages.
    Harness,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ItemKind {
    Text,
    Call,
    Outcome,
    Image,
    Reasoning,
}

/// How messages begin that clients put among those of the user.
const HARNESS_MARKS: &[&str] = &["<system-reminder>", "<system_reminder>", "<session_context>", "<hook_context>"];

/// One element of the conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Item {
    pub role: Role,
    pub kind: ItemKind,
    /// The tool's name, for calls.
    pub name: Option<String>,
    pub call_id: Option<String>,
    pub text: String,
}

impl Item {
    pub(super) fn new(role: Role, kind: ItemKind, text: String) -> Self {
        Self { role, kind, name: None, call_id: None, text }
    }

    /// Whether the client put it there itself, as context that the next client brings anew.
    pub fn is_harness(&self) -> bool {
        let begins = |mark: &&str| self.text.trim_start().starts_with(*mark);
        self.role == Role::Harness || (self.kind == ItemKind::Text && HARNESS_MARKS.iter().any(begins))
    }

    pub(super) fn with_call(mut self, id: &Value, name: Option<&str>) -> Self {
        self.call_id = id.as_str().map(str::to_owned);
        self.name = name.map(str::to_owned);
        self
    }
}

/// The conversation of a request; which API it is shows in its fields.
pub fn read_items(body: &Value) -> Vec<Item> {
    let mut items = Vec::new();
    for message in array_items(&body["messages"]) {
        chat_items(message, &mut items);
    }
    for item in array_items(&body["input"]) {
        input_items(item, &mut items);
    }
    gemini::push_items(array_items(&body["contents"]), &mut items);
    items
}

/// All text of the conversation, for a plain search.
pub fn flat_text(body: &Value) -> String {
    let texts: Vec<String> = read_items(body).into_iter().map(|item| item.text).collect();
    texts.join("\n")
}

pub(super) fn array_items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn read_role(message: &Value) -> Role {
    match message["role"].as_str() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        _ => Role::Harness,
    }
}

/// A message of the Messages or of the chat completions API: the latter has calls and outcomes beside the content.
fn chat_items(message: &Value, items: &mut Vec<Item>) {
    if message["role"] == "tool" {
        return push_outcome(&message["tool_call_id"], &message["content"], items);
    }
    let role = read_role(message);
    if let Some(text) = message["reasoning_content"].as_str().or_else(|| message["reasoning"].as_str()) {
        items.push(Item::new(role, ItemKind::Reasoning, text.to_owned()));
    }
    message_items(role, &message["content"], items);
    for call in array_items(&message["tool_calls"]) {
        let function = &call["function"];
        let item = Item::new(role, ItemKind::Call, arguments_text(&function["arguments"]));
        items.push(item.with_call(&call["id"], function["name"].as_str()));
    }
}

/// The arguments of a call, which are JSON in a string.
fn arguments_text(value: &Value) -> String {
    let text = value.as_str().unwrap_or_default();
    serde_json::from_str(text).map_or_else(|_| text.to_owned(), |input| join_strings(&input))
}

/// The content of a message: a string, or parts of any API.
fn message_items(role: Role, content: &Value, items: &mut Vec<Item>) {
    if let Some(text) = content.as_str() {
        // An empty text beside calls is a matter of form.
        if !text.is_empty() {
            items.push(Item::new(role, ItemKind::Text, text.to_owned()));
        }
    }
    for part in array_items(content) {
        let text = |key: &str| part[key].as_str().unwrap_or_default().to_owned();
        match part["type"].as_str() {
            Some("text" | "input_text" | "output_text") => {
                items.push(Item::new(role, ItemKind::Text, text("text")));
            }
            Some("image" | "input_image" | "image_url") => {
                items.push(Item::new(role, ItemKind::Image, String::new()));
            }
            Some("thinking") => items.push(Item::new(role, ItemKind::Reasoning, text("thinking"))),
            Some("tool_use") => {
                let call = Item::new(role, ItemKind::Call, join_strings(&part["input"]));
                items.push(call.with_call(&part["id"], part["name"].as_str()));
            }
            Some("tool_result") => push_outcome(&part["tool_use_id"], &part["content"], items),
            _ => items.push(Item::new(role, ItemKind::Text, join_strings(part))),
        }
    }
}

/// An item of the Responses API.
fn input_items(item: &Value, items: &mut Vec<Item>) {
    let call_id = &item["call_id"];
    match item["type"].as_str() {
        Some("message") | None => message_items(read_role(item), &item["content"], items),
        Some("reasoning") => {
            items.push(Item::new(Role::Assistant, ItemKind::Reasoning, join_strings(&item["summary"])));
        }
        Some("function_call") => {
            let call = Item::new(Role::Assistant, ItemKind::Call, arguments_text(&item["arguments"]));
            items.push(call.with_call(call_id, item["name"].as_str()));
        }
        Some("custom_tool_call" | "local_shell_call") => {
            let call = Item::new(
                Role::Assistant,
                ItemKind::Call,
                join_strings(&item["input"]) + &join_strings(&item["action"]),
            );
            items.push(call.with_call(call_id, item["name"].as_str()));
        }
        Some("function_call_output" | "custom_tool_call_output") => push_outcome(call_id, &item["output"], items),
        // A message of another agent of the same team.
        Some("agent_message") => message_items(Role::User, &item["content"], items),
        // The tools that a client offers are no part of the conversation.
        Some("additional_tools") => {}
        Some(_) => items.push(Item::new(Role::Harness, ItemKind::Text, join_strings(item))),
    }
}

/// An outcome is one item, whatever its parts; its images are items of their own.
fn push_outcome(call_id: &Value, content: &Value, items: &mut Vec<Item>) {
    let mut parts = Vec::new();
    message_items(Role::User, content, &mut parts);
    let texts: Vec<&str> =
        parts.iter().filter(|part| part.kind == ItemKind::Text).map(|part| part.text.as_str()).collect();
    let text = decode_outcome(&texts.join("\n"));
    items.push(Item::new(Role::User, ItemKind::Outcome, text).with_call(call_id, None));
    items.extend(parts.into_iter().filter(|part| part.kind == ItemKind::Image));
}

/// Some clients wrap an outcome in JSON once more.
fn decode_outcome(text: &str) -> String {
    match serde_json::from_str::<Value>(text) {
        Ok(value) if value.is_object() || value.is_array() => join_strings(&value),
        _ => text.to_owned(),
    }
}

/// All strings in a value, in order.
pub(super) fn join_strings(value: &Value) -> String {
    let mut found = Vec::new();
    collect_strings(value, &mut found);
    found.join("\n")
}

fn collect_strings<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(values) => values.iter().for_each(|value| collect_strings(value, found)),
        Value::Object(fields) => fields.values().for_each(|value| collect_strings(value, found)),
        _ => {}
    }
}
