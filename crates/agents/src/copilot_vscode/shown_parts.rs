//! The parts of a response as they were shown. The extension makes the next request from what it kept of the turn; where it
//! kept nothing, the words that were shown are all that it has.

use carryover_core::json::Json;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::wire::{WireLines, WireUri, or_none, parse_leniently};

/// Kinds that tell nothing which is not told elsewhere.
const SILENT_KINDS: &[&str] = &[
    "agentSwitched",
    "autoModeResolution",
    "clearToPreviousToolInvocation",
    "codeblockUri",
    "command",
    "confirmation",
    "disabledClaudeHooks",
    "elicitationSerialized",
    "extensions",
    "externalEdit",
    "hook",
    "info",
    "mcpServersStarting",
    "mcpServersStartingSerialized",
    "multiDiffData",
    "planReview",
    "prepareToolInvocation",
    "progressMessage",
    "progressTask",
    "progressTaskSerialized",
    "pullRequest",
    "questionCarousel",
    "systemNotification",
    "treeData",
    "undoStop",
    "voiceProgress",
    "warning",
    "workspaceEdit",
];

/// One part of a response.
#[derive(Debug)]
pub(super) enum ShownPart {
    Words(String),
    Thinking(String),
    Invocation(Box<Invocation>),
    /// Changes of a file.
    Edit {
        address: WireUri,
        edits: Json,
    },
    Unknown(String),
}

/// A tool that ran, as it was shown.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Invocation {
    #[serde(deserialize_with = "or_none")]
    pub tool_id: Option<String>,
    #[serde(deserialize_with = "or_none")]
    pub tool_call_id: Option<String>,
    #[serde(deserialize_with = "or_none")]
    is_complete: Option<bool>,
    /// The sub-agent whose call it is.
    #[serde(deserialize_with = "or_none")]
    pub sub_agent_invocation_id: Option<String>,
    #[serde(deserialize_with = "or_none")]
    tool_specific_data: Option<ToolData>,
    #[serde(deserialize_with = "or_none")]
    result_details: Option<ResultDetails>,
    #[serde(deserialize_with = "or_none")]
    is_confirmed: Option<Value>,
}

/// What some tools show of themselves.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ToolData {
    kind: String,
    #[serde(deserialize_with = "or_none")]
    command_line: Option<CommandLine>,
    /// In older editors.
    #[serde(deserialize_with = "or_none")]
    command: Option<String>,
    #[serde(deserialize_with = "or_none")]
    terminal_command_output: Option<TerminalOutput>,
    #[serde(deserialize_with = "or_none")]
    terminal_command_state: Option<TerminalState>,
    #[serde(deserialize_with = "or_none")]
    raw_input: Option<Json>,
    #[serde(deserialize_with = "or_none")]
    todo_list: Option<Json>,
    #[serde(deserialize_with = "or_none")]
    description: Option<String>,
    #[serde(deserialize_with = "or_none")]
    prompt: Option<String>,
    #[serde(deserialize_with = "or_none")]
    result: Option<String>,
}

/// A command as it was proposed, and as it ran.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CommandLine {
    original: String,
    #[serde(default)]
    tool_edited: Option<String>,
    #[serde(default)]
    user_edited: Option<String>,
}

#[derive(Debug, Deserialize)]
struct TerminalOutput {
    text: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TerminalState {
    exit_code: Option<i32>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResultDetails {
    #[serde(default, deserialize_with = "or_none")]
    input: Option<String>,
    #[serde(default, deserialize_with = "or_none")]
    output: Option<Vec<ResultPiece>>,
    #[serde(default, deserialize_with = "or_none")]
    is_error: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResultPiece {
    #[serde(default, deserialize_with = "or_none")]
    is_text: Option<bool>,
    #[serde(default, deserialize_with = "or_none")]
    value: Option<String>,
}

/// The fields of parts other than invocations.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct WirePart {
    #[serde(deserialize_with = "or_none")]
    kind: Option<String>,
    #[serde(deserialize_with = "or_none")]
    value: Option<WireLines>,
    #[serde(deserialize_with = "or_none")]
    content: Option<Markdown>,
    #[serde(deserialize_with = "or_none")]
    inline_reference: Option<InlineReference>,
    #[serde(deserialize_with = "or_none")]
    name: Option<String>,
    #[serde(deserialize_with = "or_none")]
    uri: Option<WireUri>,
    #[serde(deserialize_with = "or_none")]
    edits: Option<Json>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Markdown {
    Text(String),
    Value { value: String },
}

#[derive(Deserialize)]
#[serde(untagged)]
enum InlineReference {
    Symbol { name: String },
    Location { uri: WireUri },
    Uri(WireUri),
}

/// The parts of a response.
pub(super) fn read_parts(response: &RawValue) -> Vec<ShownPart> {
    match parse_leniently::<Vec<Box<RawValue>>>(response.get()) {
        Some(parts) => parts.iter().filter_map(|part| read_part(part)).collect(),
        None => read_part(response).into_iter().collect(),
    }
}

fn read_part(raw: &RawValue) -> Option<ShownPart> {
    if let Some(words) = parse_leniently::<String>(raw.get()) {
        return Some(ShownPart::Words(words));
    }
    let part: WirePart = parse_leniently(raw.get())?;
    let words = part.content.map(|content| match content {
        Markdown::Text(text) | Markdown::Value { value: text } => text,
    });
    let kind = part.kind.unwrap_or_default();
    match kind.as_str() {
        // The editor's own Markdown has no kind.
        "" => part.value.map(|value| ShownPart::Words(value.into_text())),
        "markdownContent" | "markdownVuln" => words.map(ShownPart::Words),
        "thinking" => part.value.map(|value| ShownPart::Thinking(value.into_text())),
        "inlineReference" => {
            let name = part.name.or_else(|| part.inline_reference.as_ref().map(InlineReference::to_words));
            name.map(|name| ShownPart::Words(format!("`{name}`")))
        }
        "toolInvocationSerialized" | "toolInvocation" => parse_leniently(raw.get()).map(ShownPart::Invocation),
        "textEditGroup" | "notebookEditGroup" => {
            let edits = part.edits.unwrap_or_else(|| Json::from_value(&json!([])));
            part.uri.map(|address| ShownPart::Edit { address, edits })
        }
        kind if SILENT_KINDS.contains(&kind) => None,
        _ => Some(ShownPart::Unknown(kind)),
    }
}

impl InlineReference {
    fn to_words(&self) -> String {
        match self {
            Self::Symbol { name } => name.clone(),
            Self::Location { uri } | Self::Uri(uri) => uri.to_words(),
        }
    }
}

impl Invocation {
    /// The input, as far as it was shown.
    pub(super) fn input(&self) -> Json {
        let shown = self.tool_specific_data.as_ref().and_then(ToolData::input);
        let detail = || self.result_details.as_ref().and_then(|details| Json::parse(details.input.as_deref()?));
        shown.or_else(detail).unwrap_or_else(Json::empty_object)
    }

    /// The output, as far as it was shown.
    pub(super) fn output(&self) -> Option<String> {
        let data = self.tool_specific_data.as_ref();
        let terminal = data.and_then(|data| data.terminal_command_output.as_ref()).map(|output| output.text.clone());
        let of_agent = || data.and_then(|data| data.result.clone());
        let details = || {
            let pieces = self.result_details.as_ref()?.output.as_ref()?;
            let texts =
                pieces.iter().filter(|piece| piece.is_text == Some(true)).filter_map(|piece| piece.value.as_deref());
            Some(texts.collect::<Vec<_>>().join("\n"))
        };
        terminal.or_else(of_agent).or_else(details)
    }

    pub(super) fn exit_code(&self) -> Option<i32> {
        self.tool_specific_data.as_ref()?.terminal_command_state.as_ref()?.exit_code
    }

    /// The editor says of every call that it is complete; one that still waits for the user's word has none.
    pub(super) fn is_over(&self) -> bool {
        self.is_complete != Some(false) && self.is_confirmed.is_some()
    }

    /// The tool itself says that it failed.
    pub(super) fn has_failed(&self) -> bool {
        let is_error = self.result_details.as_ref().and_then(|details| details.is_error);
        self.exit_code().is_some_and(|code| code != 0) || is_error == Some(true)
    }

    /// The user turned it down: 0, where a reason is named, and a plain no in older editors.
    pub(super) fn is_denied(&self) -> bool {
        self.is_confirmed.as_ref().is_some_and(|told| *told == Value::Bool(false) || told["type"] == json!(0))
    }
}

impl ToolData {
    fn input(&self) -> Option<Json> {
        let input = match self.kind.as_str() {
            "terminal" => json!({ "command": self.command()? }),
            "subagent" => json!({ "description": self.description, "prompt": self.prompt.as_ref()? }),
            "input" => return self.raw_input.clone(),
            "todoList" => return Json::parse(&format!("{{\"todoList\":{}}}", self.todo_list.as_ref()?.as_str())),
            _ => return None,
        };
        Some(Json::from_value(&input))
    }

    /// The command as it ran. The editor puts a space before it, by which shells leave it out of their history.
    fn command(&self) -> Option<&str> {
        let line = self.command_line.as_ref();
        let edited = line.and_then(|line| line.user_edited.as_deref().or(line.tool_edited.as_deref()));
        edited.or(line.map(|line| line.original.as_str())).or(self.command.as_deref()).map(str::trim)
    }
}
