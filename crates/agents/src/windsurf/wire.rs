//! Steps as the editor writes them: <https://docs.windsurf.com/windsurf/cascade/hooks>.

use carryover_core::json::Json;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::formats::text::Text;

/// One step. Its data stands under a key that is named like its kind.
#[derive(Deserialize)]
pub(super) struct WireStep<'a> {
    /// A step without a kind is of one that we do not know, and is not rejected.
    #[serde(borrow, rename = "type", default)]
    pub kind: Text<'a>,
    #[serde(borrow)]
    pub status: Option<Text<'a>>,
    #[serde(borrow)]
    pub timestamp: Option<Text<'a>>,
    pub user_input: Option<WireInput>,
    pub planner_response: Option<WireResponse>,
    #[serde(borrow)]
    code_action: Option<&'a RawValue>,
    #[serde(borrow)]
    run_command: Option<&'a RawValue>,
    #[serde(borrow)]
    view_file: Option<&'a RawValue>,
    #[serde(borrow)]
    find: Option<&'a RawValue>,
    #[serde(borrow)]
    grep_search: Option<&'a RawValue>,
    #[serde(borrow)]
    list_directory: Option<&'a RawValue>,
    #[serde(borrow)]
    list_resources: Option<&'a RawValue>,
    #[serde(borrow)]
    mcp_tool: Option<&'a RawValue>,
}

impl WireStep<'_> {
    /// What the agent was given in a step in which it does something. Others of that form may be the harness's own, so they
    /// are not taken for calls.
    pub(super) fn tool_input(&self) -> Option<Json> {
        let data = match &*self.kind {
            "code_action" => self.code_action,
            "run_command" => self.run_command,
            "view_file" => self.view_file,
            "find" => self.find,
            "grep_search" => self.grep_search,
            "list_directory" => self.list_directory,
            "list_resources" => self.list_resources,
            "mcp_tool" => self.mcp_tool,
            _ => return None,
        };
        Some(data.map_or_else(Json::empty_object, Json::from_raw))
    }
}

/// What the user said.
#[derive(Deserialize)]
pub(super) struct WireInput {
    pub user_response: Option<String>,
}

/// What the agent said.
#[derive(Deserialize)]
pub(super) struct WireResponse {
    pub response: Option<String>,
}

/// A file that a step is about.
#[derive(Deserialize)]
pub(super) struct WireFile {
    pub path: Option<String>,
    pub new_content: Option<String>,
}

/// The path of such a file alone.
#[derive(Deserialize)]
pub(super) struct WirePath<'a> {
    #[serde(borrow)]
    pub path: Option<Text<'a>>,
}

/// A command that a step runs.
#[derive(Deserialize)]
pub(super) struct WireCommand {
    pub command: Option<String>,
    pub cwd: Option<String>,
}
