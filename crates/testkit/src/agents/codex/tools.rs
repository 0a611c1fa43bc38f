//! The tools of Codex: functions and patches, or one tool that runs scripts.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::model::{Block, Reply, Turn};
use crate::scenario::dialect::Dialect;
use crate::scenario::tools::{Tools, search_command, task, unknown_call};
use crate::scenario::{Action, Source, What};

pub(super) struct CodexTools;

impl Tools for CodexTools {
    fn has_tool(&self, source: &Source, what: What) -> bool {
        what != What::Plan || source.version == "0.130.0"
    }

    fn run_command(&self, dialect: &Dialect<'_>, key: &str, command: &str) -> Block {
        if dialect.source.is_code_mode() {
            let script = format!("const r = await tools.exec_command({{cmd: {}}});\ntext(r.output);", json!(command));
            return custom_call(dialect, key, "exec", script);
        }
        dialect.call(key, "exec_command", json!({"cmd": command, "yield_time_ms": 30_000}))
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
            let agent_id = spawned_agent(body, &spawned);
            let input = if is_code_mode {
                json!({"timeout_ms": 30_000})
            } else {
                json!({"targets": [agent_id], "timeout_ms": 30_000})
            };
            let name = "wait_agent".to_owned();
            Turn::of(vec![Block::Call { id: id.clone(), name, namespace: namespace.clone(), input }])
        })))
    }
}

fn act_by_call(dialect: &Dialect<'_>, action: &Action) -> Block {
    let word = action.word(0);
    let is_new = dialect.source.version == "0.166.0";
    match action.what {
        What::Edit | What::Write => custom_call(dialect, &action.call_key(), "apply_patch", patch(action)),
        What::Search => dialect.run(&action.key, &search_command(action)),
        What::Plan => dialect.call(
            &action.key,
            "update_plan",
            json!({"plan": [{"step": word, "status": "in_progress"}, {"step": "the rest", "status": "pending"}]}),
        ),
        What::Mcp => {
            let input = json!({"key": action.key, "query": word});
            let namespace = if is_new { "mcp__lab" } else { "mcp__lab__" };
            let namespace = Some(namespace.to_owned());
            Block::Call { id: dialect.call_id(&action.key), name: "lookup".to_owned(), namespace, input }
        }
        What::Unknown => dialect.function(&action.key, Some(unknown_call(action))),
        What::Delegate => {
            let input = json!({"message": task(action), "agent_type": "explorer"});
            let namespace = is_new.then(|| "multi_agent_v1".to_owned());
            Block::Call { id: dialect.call_id(&action.key), name: "spawn_agent".to_owned(), namespace, input }
        }
        What::ViewImage => dialect.call(&action.key, "view_image", json!({"path": dialect.path(action)})),
        _ => dialect.run(&action.key, &format!("cat {}", action.file())),
    }
}

fn act_in_script(dialect: &Dialect<'_>, action: &Action) -> Block {
    let script = match action.what {
        What::Edit | What::Write => format!("text(await tools.apply_patch({}));", json!(patch(action))),
        What::Search => return dialect.run(&action.key, &search_command(action)),
        What::Mcp => {
            let input = json!({"key": action.key, "query": action.word(0)});
            format!("text(JSON.stringify(await tools.mcp__lab__lookup({input})));")
        }
        What::Unknown => return dialect.function(&action.key, Some(unknown_call(action))),
        What::Delegate => {
            let input = json!({"message": task(action), "task_name": "find_out", "fork_turns": "none"});
            let namespace = Some("collaboration".to_owned());
            return Block::Call { id: dialect.call_id(&action.key), name: "spawn_agent".to_owned(), namespace, input };
        }
        What::ViewImage => {
            format!("const seen = await tools.view_image({});\nimage(seen);", json!({"path": dialect.path(action)}))
        }
        _ => return dialect.run(&action.key, &format!("cat {}", action.file())),
    };
    custom_call(dialect, &action.call_key(), "exec", script)
}

/// A call whose input is text.
fn custom_call(dialect: &Dialect<'_>, key: &str, name: &str, input: String) -> Block {
    Block::Custom { id: dialect.call_id(key), name: name.to_owned(), input }
}

fn spawned_agent(body: &Value, call_id: &str) -> String {
    let items = body["input"].as_array().map(Vec::as_slice).unwrap_or_default();
    let output = items.iter().find(|item| item["type"] == "function_call_output" && item["call_id"] == call_id);
    let output = output.and_then(|item| item["output"].as_str()).unwrap_or_default();
    let output: Value = serde_json::from_str(output).unwrap_or_default();
    output["agent_id"].as_str().unwrap_or_default().to_owned()
}

fn patch(action: &Action) -> String {
    let file = action.file();
    let word = action.word(0);
    let change = if action.what == What::Edit {
        format!("*** Update File: {file}\n@@\n-old line of {}\n+new line {word}\n", action.key)
    } else {
        format!("*** Add File: {file}\n+{word}\n")
    };
    format!("*** Begin Patch\n{change}*** End Patch\n")
}
