//! How the model of a client has something done: the client's tools as calls.

use serde_json::{Value, json};

use super::dialect::Dialect;
use super::{Action, ActionKind, Source};
use crate::model::{Block, Reply};

/// A tool's name and its arguments.
pub(crate) type ToolCall = (&'static str, Value);

/// One client's tools. Where all calls are functions with named arguments, `shell_call` and `tool_call` say everything.
pub(crate) trait Tools: Sync {
    /// A shell command; `None` for a client whose model runs none.
    fn shell_call(&self, command: &str) -> Option<ToolCall> {
        let _ = command;
        None
    }

    /// Any other action on the file at `path`; `None` where the client has no tool for it.
    fn tool_call(&self, source: &Source, action: &Action, path: &str) -> Option<ToolCall> {
        let _ = (source, action, path);
        None
    }

    /// The call that a sub-agent hands its report in with; `None` where its last text is its report.
    fn report_call(&self, report: &str) -> Option<ToolCall> {
        let _ = report;
        None
    }

    fn call_id(&self, key: &str) -> String {
        format!("call_{key}")
    }

    /// Whether the client has a tool for it; what it has not is left out of its session.
    fn has_tool(&self, source: &Source, what: ActionKind) -> bool {
        match what {
            ActionKind::Say | ActionKind::SayUnicode | ActionKind::Think => true,
            ActionKind::Run | ActionKind::RunFailing | ActionKind::RunLong => self.shell_call("").is_some(),
            _ => self.tool_call(source, &Action::without_words(what), "").is_some(),
        }
    }

    /// Says how the model runs a command.
    fn run_command(&self, dialect: &Dialect<'_>, key: &str, command: &str) -> Block {
        dialect.function_block(key, self.shell_call(command))
    }

    /// Says how the model does anything else.
    fn perform_action(&self, dialect: &Dialect<'_>, action: &Action) -> Block {
        let call = self.tool_call(dialect.source, action, &dialect.file_path(action));
        dialect.function_block(&action.call_key(), call)
    }

    /// Says how the model waits for the sub-agent that it delegated to, where it has to.
    fn await_sub_agent(&self, dialect: &Dialect<'_>, action: &Action) -> Option<Reply> {
        let _ = (dialect, action);
        None
    }

    /// Whether the model makes no calls, so that a turn is a single answer.
    fn answers_once(&self) -> bool {
        false
    }
}

/// The line that an edit takes away.
pub(crate) fn old_line(action: &Action) -> String {
    format!("old line of {}", action.key)
}

/// The line that an edit puts there.
pub(crate) fn new_line(action: &Action) -> String {
    format!("new line {}", action.word(0))
}

/// The task of a sub-agent.
pub(crate) fn sub_agent_task(action: &Action) -> String {
    format!("Find out about {}.", action.word(0))
}

/// A command that searches, for a client that has no tool for it.
pub(crate) fn search_command(action: &Action) -> String {
    format!("grep -rn {} data", action.word(0))
}

/// A tool that no client has.
pub(crate) fn unknown_call(action: &Action) -> ToolCall {
    ("time_machine", json!({"destination": action.word(0)}))
}

/// The tool `lookup` of the MCP server `lab`, under the name that the client gives it.
pub(crate) fn lookup_call(name: &'static str, action: &Action) -> ToolCall {
    (name, json!({"key": action.key, "query": action.word(0)}))
}
