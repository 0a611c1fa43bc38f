//! The forms in which clients ask models, told by the shape of a request.

use serde_json::{Map, Value};

/// A form of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestForm {
    Messages,
    Responses,
    ChatCompletions,
    GenerateContent,
}

/// The parts of a request to a model.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ModelRequest {
    pub(super) form: RequestForm,
    pub(super) model: Option<String>,
    /// The texts before the conversation, in their order.
    pub(super) system: Vec<String>,
    /// Declarations of tools, as they were sent.
    pub(super) tools: Vec<Value>,
    pub(super) messages: Vec<Value>,
    /// Everything else that the request says.
    pub(super) settings: Map<String, Value>,
}

/// Roles of messages that belong to the prompt of the harness.
const SYSTEM_ROLES: &[&str] = &["system", "developer"];

impl ModelRequest {
    /// The parts of a request to this route; none where it is not one to a model.
    pub(super) fn parse(route: &str, body: &[u8]) -> Option<Self> {
        let Value::Object(fields) = serde_json::from_slice(body).ok()? else { return None };
        if let Some(Value::Object(inner)) = fields.get("request").filter(|inner| inner.get("contents").is_some()) {
            let model = fields.get("model").and_then(Value::as_str).map(str::to_owned);
            return Some(Self { model, ..parse_contents(inner.clone(), route) });
        }
        if fields.contains_key("contents") {
            return is_generation(route).then(|| parse_contents(fields, route));
        }
        if fields.contains_key("input") && !fields.contains_key("messages") {
            // Embeddings have an input, too.
            return route.ends_with("/responses").then(|| parse_input(fields));
        }
        if !fields.get("messages").is_some_and(Value::is_array) || route.ends_with("/count_tokens") {
            return None;
        }
        let is_chat = route.ends_with("/chat/completions");
        Some(if is_chat { parse_chat(fields) } else { parse_messages(fields) })
    }
}

fn is_generation(route: &str) -> bool {
    route.ends_with(":generateContent") || route.ends_with(":streamGenerateContent")
}

fn parse_messages(mut fields: Map<String, Value>) -> ModelRequest {
    let system = fields.remove("system").map(|system| list_texts(&system)).unwrap_or_default();
    let messages = take_list(&mut fields, "messages");
    finish(RequestForm::Messages, fields, system, messages)
}

fn parse_input(mut fields: Map<String, Value>) -> ModelRequest {
    let mut system: Vec<String> = text_field(&mut fields, "instructions").into_iter().collect();
    let messages = match fields.remove("input") {
        Some(Value::Array(items)) => items,
        Some(text) => vec![text],
        None => Vec::new(),
    };
    let messages = split_leading(messages, &mut system);
    finish(RequestForm::Responses, fields, system, messages)
}

fn parse_chat(mut fields: Map<String, Value>) -> ModelRequest {
    let mut system = Vec::new();
    let messages = split_leading(take_list(&mut fields, "messages"), &mut system);
    finish(RequestForm::ChatCompletions, fields, system, messages)
}

fn parse_contents(mut fields: Map<String, Value>, route: &str) -> ModelRequest {
    let named = fields.remove("systemInstruction").or_else(|| fields.remove("system_instruction"));
    let system = named.map(|system| list_texts(&system["parts"])).unwrap_or_default();
    let messages = take_list(&mut fields, "contents");
    let mut request = finish(RequestForm::GenerateContent, fields, system, messages);
    request.tools = request.tools.iter().flat_map(flatten_tool).collect();
    request.model = request.model.or_else(|| model_in_route(route));
    request
}

/// One entry may declare several functions; others are named by their only member.
fn flatten_tool(tool: &Value) -> Vec<Value> {
    let declared = tool.get("functionDeclarations").or_else(|| tool.get("function_declarations"));
    declared.and_then(Value::as_array).cloned().unwrap_or_else(|| vec![tool.clone()])
}

/// `…/models/NAME:generateContent`.
fn model_in_route(route: &str) -> Option<String> {
    let name = route.rsplit('/').next()?.split(':').next()?;
    (!name.is_empty()).then(|| name.to_owned())
}

fn finish(
    form: RequestForm,
    mut fields: Map<String, Value>,
    system: Vec<String>,
    messages: Vec<Value>,
) -> ModelRequest {
    let model = text_field(&mut fields, "model");
    let tools = take_list(&mut fields, "tools");
    ModelRequest { form, model, system, tools, messages, settings: fields }
}

/// Takes off the messages of the harness that stand before the conversation.
fn split_leading(messages: Vec<Value>, system: &mut Vec<String>) -> Vec<Value> {
    let is_system = |message: &Value| message["role"].as_str().is_some_and(|role| SYSTEM_ROLES.contains(&role));
    let n_leading = messages.iter().take_while(|message| is_system(message)).count();
    let mut messages = messages;
    let conversation = messages.split_off(n_leading);
    system.extend(messages.iter().flat_map(|message| list_texts(&message["content"])));
    conversation
}

/// A text, or the texts of a list of blocks.
fn list_texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(blocks) => {
            blocks.iter().filter_map(|block| block.get("text")?.as_str()).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

fn take_list(fields: &mut Map<String, Value>, name: &str) -> Vec<Value> {
    match fields.remove(name) {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    }
}

fn text_field(fields: &mut Map<String, Value>, name: &str) -> Option<String> {
    match fields.remove(name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}
