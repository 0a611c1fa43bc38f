//! What a tool did: a call and its outcome, which the editor keeps in one bubble.

use carryover_core::json::Json;
use carryover_core::transcript::{Body, Call, CallForm, CallId, Origin, Outcome, Part, Status};
use serde::Deserialize;
use serde_json::Value;

use crate::cursor::lenient::{Lenient, parse_nested};

/// The words for a call that the user turned down: the field that says it, and its value.
pub(in crate::cursor) const REJECTED_WORDS: &str = "userDecision: rejected";

/// The fields that say what a tool was called with: as the model wrote it, and as the editor made it.
pub(in crate::cursor) const ARGUMENT_FIELDS: &[&str] = &["rawArgs", "params"];

/// The name of a call. Some ids are two, one below the other.
pub(in crate::cursor) fn call_name(id: Option<&str>) -> Option<String> {
    id.map(|id| id.trim().replace(['\n', '\r'], "|")).filter(|id| !id.is_empty())
}

/// What a tool did. Inputs and results are JSON in a text.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct WireToolCall {
    tool: Lenient<i64>,
    tool_call_id: Lenient<String>,
    status: Lenient<String>,
    name: Lenient<String>,
    raw_args: Lenient<String>,
    params: Lenient<String>,
    result: Lenient<Value>,
    error: Lenient<Value>,
    user_decision: Lenient<String>,
}

impl WireToolCall {
    /// The call, and its outcome once there is one. `bubble` names the call where nothing else does.
    pub(super) fn into_bodies(self, bubble: &str) -> Vec<(Origin, Body)> {
        let id = CallId(call_name(self.tool_call_id.0.as_deref()).unwrap_or_else(|| bubble.to_owned()).into());
        let numbered = || format!("tool_{}", self.tool.0.unwrap_or_default());
        let tool = self.name.0.clone().filter(|name| !name.is_empty()).unwrap_or_else(numbered);
        let call = Call { id: id.clone(), tool, input: self.input(), form: CallForm::Function };
        let outcome = self.outcome(id).map(|outcome| (Origin::Agent, Body::Outcome(Box::new(outcome))));
        std::iter::once((Origin::Agent, Body::Call(Box::new(call)))).chain(outcome).collect()
    }

    /// What the model wrote, or, where that is not kept or not whole, what the editor made of it.
    fn input(&self) -> Json {
        let texts = [&self.raw_args.0, &self.params.0];
        let written = texts.into_iter().flatten().filter_map(|text| Json::parse(text));
        written.into_iter().find(|json| json.as_str() != "{}").unwrap_or_else(Json::empty_object)
    }

    fn outcome(&self, call: CallId) -> Option<Outcome> {
        let result = self.result.0.as_ref().map(ToolResult::from_value).unwrap_or_default();
        let error = self.error.0.as_ref().and_then(error_text);
        let is_rejected = self.user_decision.0.as_deref() == Some("rejected") || result.is_rejected;
        let failed = result.exit_code.is_some_and(|code| code != 0);
        let status = match self.status.0.as_deref().unwrap_or_default() {
            _ if is_rejected => Status::Interrupted,
            "completed" if failed => Status::Failed,
            "completed" => Status::Done,
            "error" => Status::Failed,
            "cancelled" | "canceled" => Status::Interrupted,
            _ => return None,
        };
        let rejected = is_rejected.then(|| REJECTED_WORDS.to_owned());
        let texts = [rejected, result.text, error].into_iter().flatten().filter(|text| !text.is_empty());
        let parts = texts.map(Part::Text).collect();
        Some(Outcome { call, status, exit_code: result.exit_code, parts })
    }
}

/// What came of a call.
#[derive(Default)]
struct ToolResult {
    text: Option<String>,
    exit_code: Option<i32>,
    is_rejected: bool,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct WireResult {
    contents: Lenient<String>,
    output: Lenient<String>,
    exit_code_v2: Lenient<i32>,
    exit_code: Lenient<i32>,
    rejected: Lenient<bool>,
}

impl ToolResult {
    /// Of a file that was read and a command that ran, the text alone; everything else stands as it is.
    fn from_value(value: &Value) -> Self {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let fields: WireResult = parse_nested(&text).unwrap_or_default();
        Self {
            exit_code: fields.exit_code_v2.0.or(fields.exit_code.0),
            is_rejected: fields.rejected.0 == Some(true),
            text: fields.contents.0.or(fields.output.0).or(Some(text)),
        }
    }
}

/// The error as the model was told it.
fn error_text(error: &Value) -> Option<String> {
    let text = error.as_str().map_or_else(|| error.to_string(), str::to_owned);
    let fields: Option<Value> = parse_nested(&text);
    let told = ["modelVisibleErrorMessage", "clientVisibleErrorMessage"]
        .iter()
        .find_map(|name| fields.as_ref()?[name].as_str().map(str::to_owned));
    told.or(Some(text)).filter(|text| !text.is_empty() && text != "null")
}
