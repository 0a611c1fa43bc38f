//! The tools of the clients whose calls are all functions with named arguments: what an action is in each of them.

use serde_json::{Value, json};

use super::{Action, What};
use crate::client::Agent;

/// A tool's name and its arguments.
pub(super) type Call = (&'static str, Value);

/// A shell command; `None` for a client whose model runs none.
pub(super) fn run(agent: Agent, command: &str) -> Option<Call> {
    let about = "Run a command";
    Some(match agent {
        Agent::GeminiCli => ("run_shell_command", json!({"command": command, "description": about})),
        Agent::QwenCode => {
            ("run_shell_command", json!({"command": command, "description": about, "is_background": false}))
        }
        Agent::CopilotCli => {
            ("bash", json!({"command": command, "description": about, "mode": "sync", "initial_wait": 30}))
        }
        Agent::Pi | Agent::Opencode => ("bash", json!({"command": command})),
        Agent::Openclaw => ("exec", json!({"command": command})),
        _ => return None,
    })
}

/// Any other action; `None` where the client has no tool for it.
pub(super) fn call(agent: Agent, action: &Action, path: &str) -> Option<Call> {
    let word = action.word(0);
    match action.what {
        // It keeps the outcome of a call to a tool that it does not have, and not the call.
        What::Unknown if agent == Agent::Openclaw => return None,
        What::Unknown => return Some(("time_machine", json!({"destination": word}))),
        // Without a tool for it, a model searches with a command; the tool of one fetches a program from the network first.
        What::Search if matches!(agent, Agent::Pi | Agent::Openclaw | Agent::Opencode) => {
            return run(agent, &format!("grep -rn {word} data"));
        }
        What::Mcp => return mcp(agent).map(|name| (name, json!({"key": action.key, "query": word}))),
        _ => {}
    }
    match agent {
        Agent::GeminiCli => gemini_cli(action, path),
        Agent::QwenCode => qwen_code(action, path),
        Agent::CopilotCli => copilot_cli(action, path),
        Agent::Opencode => opencode(action, path),
        Agent::Pi | Agent::Openclaw => pi(action, path),
        _ => None,
    }
}

/// What a sub-agent hands its report in with; `None` where its last text is its report.
pub(super) fn report(agent: Agent, report: &str) -> Option<Call> {
    (agent == Agent::GeminiCli).then(|| ("complete_task", json!({"result": {"response": report}})))
}

/// How the tool `lookup` of the MCP server `lab` is called.
fn mcp(agent: Agent) -> Option<&'static str> {
    match agent {
        Agent::GeminiCli => Some("mcp_lab_lookup"),
        Agent::QwenCode => Some("mcp__lab__lookup"),
        Agent::CopilotCli => Some("lab-lookup"),
        Agent::Opencode => Some("lab_lookup"),
        _ => None,
    }
}

fn old_line(action: &Action) -> String {
    format!("old line of {}", action.key)
}

fn new_line(action: &Action) -> String {
    format!("new line {}", action.word(0))
}

fn task(action: &Action) -> String {
    format!("Find out about {}.", action.word(0))
}

fn gemini_cli(action: &Action, path: &str) -> Option<Call> {
    let word = action.word(0);
    Some(match action.what {
        What::Read | What::ViewImage => ("read_file", json!({"file_path": path})),
        What::Edit => {
            let (old, new) = (old_line(action), new_line(action));
            ("replace", json!({"file_path": path, "instruction": "as said", "old_string": old, "new_string": new}))
        }
        What::Write => ("write_file", json!({"file_path": path, "content": format!("{word}\n")})),
        What::Search => ("grep_search", json!({"pattern": word, "dir_path": "data"})),
        What::Plan => ("write_todos", json!({"todos": [{"description": word, "status": "in_progress"}]})),
        What::Delegate => ("invoke_agent", json!({"agent_name": "generalist", "prompt": task(action)})),
        _ => return None,
    })
}

fn qwen_code(action: &Action, path: &str) -> Option<Call> {
    let word = action.word(0);
    Some(match action.what {
        What::Read | What::ViewImage => ("read_file", json!({"file_path": path})),
        What::Edit => {
            let (old, new) = (old_line(action), new_line(action));
            ("edit", json!({"file_path": path, "old_string": old, "new_string": new}))
        }
        What::Write => ("write_file", json!({"file_path": path, "content": format!("{word}\n")})),
        What::Search => ("grep_search", json!({"pattern": word, "path": "data"})),
        What::Plan => ("todo_write", json!({"todos": [{"id": "1", "content": word, "status": "in_progress"}]})),
        What::Delegate => {
            let input = json!({
                "description": "Find out", "prompt": task(action), "subagent_type": "general-purpose",
                "run_in_background": false,
            });
            ("agent", input)
        }
        _ => return None,
    })
}

fn copilot_cli(action: &Action, path: &str) -> Option<Call> {
    let word = action.word(0);
    Some(match action.what {
        What::Read | What::ViewImage => ("view", json!({"path": path})),
        What::Edit => ("edit", json!({"path": path, "old_str": old_line(action), "new_str": new_line(action)})),
        What::Write => ("create", json!({"path": path, "file_text": format!("{word}\n")})),
        What::Search => ("grep", json!({"pattern": word, "paths": "data", "output_mode": "content"})),
        What::Delegate => {
            let input = json!({
                "description": "Find out", "prompt": task(action), "agent_type": "general-purpose",
                "name": "finder", "mode": "sync",
            });
            ("task", input)
        }
        _ => return None,
    })
}

fn opencode(action: &Action, path: &str) -> Option<Call> {
    let word = action.word(0);
    Some(match action.what {
        What::Read | What::ViewImage => ("read", json!({"filePath": path})),
        What::Edit => ("edit", json!({"filePath": path, "oldString": old_line(action), "newString": new_line(action)})),
        What::Write => ("write", json!({"filePath": path, "content": format!("{word}\n")})),
        What::Plan => {
            ("todowrite", json!({"todos": [{"id": "1", "content": word, "status": "in_progress", "priority": "high"}]}))
        }
        What::Delegate => {
            ("task", json!({"description": "Find out", "prompt": task(action), "subagent_type": "general"}))
        }
        _ => return None,
    })
}

fn pi(action: &Action, path: &str) -> Option<Call> {
    let word = action.word(0);
    Some(match action.what {
        What::Read | What::ViewImage => ("read", json!({"path": path})),
        What::Edit => {
            let edit = json!({"oldText": old_line(action), "newText": new_line(action)});
            ("edit", json!({"path": path, "edits": [edit]}))
        }
        What::Write => ("write", json!({"path": path, "content": format!("{word}\n")})),
        _ => return None,
    })
}
