//! The tools of Codex: functions and patches, or one tool that runs scripts.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::model::{Block, Reply, Turn};
use crate::scenario::dialect::Dialect;
use crate::scenario::tools::{Tools, search_command, sub_agent_task, unknown_call};
use crate::scenario::{Action, ActionKind, Source};

pub(super) struct CodexTools;

impl Tools for CodexTools {
    fn has_tool(&self, source: &Source, what: ActionKind) -> bool {
        what != ActionKind::Plan || source.version == "0.130.0"
    }

    fn run_command(&self, dialect: &Dialect<'_>, key: &str, command: &str) -> Block {
        if dialect.source.is_code_mode() {
            let script = format!("const r = await tools.exec_command({{cmd: {}}});\ntext(r.output);", json!(command));
            return custom_call(dialect, key, "exec", script);
        }
        dialect.call_block(key, "exec_command", json!({"cmd": command, "yield_time_ms": 30_000}))
    }

    fn perform_action(&self, dialect: &Dialect<'_>, action: &Action) -> Block {
        if dialect.source.is_code_mode() { act_in_script(dialect, action) } else { act_by_call(dialect, action) }
    }

    /// The model waits for its sub-agent with a second call, by an id that the client made up.
    fn await_sub_agent(&self, dialect: &Dialect<'_>, action: &Action) -> Option<Reply> {
        let spawned = dialect.call_id(&action.key);
        let id = dialect.call_id(&format!("{}_wait", action.key));
        let is_code_mode = dialect.source.is_code_mode();
        let namespace = match dialect.source.version {
            _ if is_code_mode => Some("collaboration".to_owned()),
            "0.166.0" => Some("multi_agent_v1".to_owned()),
            _ => None,
        };
        Some(Reply::FromRequest(Arc::new(move |body| {
            let agent_id = find_spawned_agent(body, &spawned);
            let input = if is_code_mode {
                json!({"timeout_ms": 30_000})
            } else {
                json!({"targets": [agent_id], "timeout_ms": 30_000})
            };
            let name = "wait_agent".to_owned();
            Turn::from_blocks(vec![Block::Call { id: id.clone(), name, namespace: namespace.clone(), input }])
        })))
    }
}

fn act_by_call(dialect: &Dialect<'_>, action: &Action) -> Block {
    let word = action.word(0);
    let is_new = dialect.source.version == "0.166.0";
    match action.what {
        ActionKind::Edit | ActionKind::Write => {
            custom_call(dialect, &action.call_key(), "apply_patch", make_patch(action))
        }
        ActionKind::Search => dialect.command_block(&action.key, &search_command(action)),
        ActionKind::Plan => dialect.call_block(
            &action.key,
            "update_plan",
            json!({"plan": [{"step": word, "status": "in_progress"}, {"step": "the rest", "status": "pending"}]}),
        ),
        ActionKind::Mcp => {
            let input = json!({"key": action.key, "query": word});
            let namespace = if is_new { "mcp__lab" } else { "mcp__lab__" };
            let namespace = Some(namespace.to_owned());
            Block::Call { id: dialect.call_id(&action.key), name: "lookup".to_owned(), namespace, input }
        }
        ActionKind::Unknown => dialect.function_block(&action.key, Some(unknown_call(action))),
        ActionKind::Delegate => {
            let input = json!({"message": sub_agent_task(action), "agent_type": "explorer"});
            let namespace = is_new.then(|| "multi_agent_v1".to_owned());
            Block::Call { id: dialect.call_id(&action.key), name: "spawn_agent".to_owned(), namespace, input }
        }
        ActionKind::ViewImage => {
            dialect.call_block(&action.key, "view_image", json!({"path": dialect.file_path(action)}))
        }
        _ => dialect.command_block(&action.key, &format!("cat {}", action.file_path())),
    }
}

fn act_in_script(dialect: &Dialect<'_>, action: &Action) -> Block {
    let script = match action.what {
        ActionKind::Edit | ActionKind::Write => {
            format!("text(await tools.apply_patch({}));", json!(make_patch(action)))
        }
        ActionKind::Search => return dialect.command_block(&action.key, &search_command(action)),
        ActionKind::Mcp => {
            let input = json!({"key": action.key, "query": action.word(0)});
            format!("text(JSON.stringify(await tools.mcp__lab__lookup({input})));")
        }
        ActionKind::Unknown => return dialect.function_block(&action.key, Some(unknown_call(action))),
        ActionKind::Delegate => {
            let input = json!({"message": sub_agent_task(action), "task_name": "find_out", "fork_turns": "none"});
            let namespace = Some("collaboration".to_owned());
            return Block::Call { id: dialect.call_id(&action.key), name: "spawn_agent".to_owned(), namespace, input };
        }
        ActionKind::ViewImage => {
            format!(
                "const seen = await tools.view_image({});\nimage(seen);",
                json!({"path": dialect.file_path(action)})
            )
        }
        _ => return dialect.command_block(&action.key, &format!("cat {}", action.file_path())),
    };
    custom_call(dialect, &action.call_key(), "exec", script)
}

/// A call whose input is text.
fn custom_call(dialect: &Dialect<'_>, key: &str, name: &str, input: String) -> Block {
    Block::Custom { id: dialect.call_id(key), name: name.to_owned(), input }
}

fn find_spawned_agent(body: &Value, call_id: &str) -> String {
    let items = body["input"].as_array().map(Vec::as_slice).unwrap_or_default();
    let output = items.iter().find(|item| item["type"] == "function_call_output" && item["call_id"] == call_id);
    let output = output.and_then(|item| item["output"].as_str()).unwrap_or_default();
    let output: Value = serde_json::from_str(output).unwrap_or_default();
    output["agent_id"].as_str().unwrap_or_default().to_owned()
}

fn make_patch(action: &Action) -> String {
    let file = action.file_path();
    let word = action.word(0);
    let change = if action.what == ActionKind::Edit {
        format!("*** Update File: {file}\n@@\n-old line of {}\n+new line {word}\n", action.key)
    } else {
        format!("*** Add File: {file}\n+{word}\n")
    };
    format!("*** Begin Patch\n{change}*** End Patch\n")
}
