//! Translates actions into the calls that one client's model would make.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use super::project::STOP_FILE;
use super::{Action, Source, What, aider, tools};
use crate::client::Agent;
use crate::model::{Block, Reply, Turn};

/// One client's tools.
pub(super) struct Dialect<'a> {
    pub(super) source: &'a Source,
    pub(super) project: &'a Path,
}

/// What the model answers, in its own loop and in that of sub-agents.
#[derive(Debug, Default)]
pub(super) struct Answers {
    pub(super) main: Vec<Reply>,
    pub(super) sub: Vec<Reply>,
}

impl Dialect<'_> {
    /// Whether the client has a tool for it; what it has not is left out of its session.
    pub(super) fn knows(&self, what: What) -> bool {
        let Source { agent, version, .. } = self.source;
        match (agent, what) {
            (Agent::Codex, What::Plan) => *version == "0.130.0",
            (Agent::ClaudeCode | Agent::Codex, _) | (_, What::Say | What::SayUnicode | What::Think) => true,
            (Agent::Aider, what) => aider::knows(what),
            (_, What::Run | What::RunFailing | What::RunLong) => tools::run(*agent, "").is_some(),
            _ => tools::call(*agent, &Action::blank(what), "").is_some(),
        }
    }

    /// The answers as the client asks for them: without calls there is only one.
    pub(super) fn in_requests(&self, answers: &[Vec<Action>]) -> Vec<Vec<Action>> {
        if self.source.agent == Agent::Aider { vec![answers.concat()] } else { answers.to_vec() }
    }

    pub(super) fn answers(&self, actions: &[Action]) -> Answers {
        let mut answers = Answers::default();
        let known: Vec<&Action> = actions.iter().filter(|action| self.knows(action.what)).collect();
        if known.is_empty() {
            return answers;
        }
        let blocks = known.iter().map(|action| self.block(action)).collect();
        answers.main.push(Turn::of(blocks).into());
        for action in known.iter().filter(|action| action.what == What::Delegate) {
            let inner = self.run(&format!("{}_inner", action.key), &format!("echo inner # {}", action.word(1)));
            answers.sub.push(Turn::of(vec![inner]).into());
            answers.sub.push(self.report(action).into());
            answers.main.extend(self.after_delegation(action));
        }
        answers
    }

    /// A command that says that it runs by making a file, and then runs until it is stopped.
    pub(super) fn endless(&self, action: &Action) -> Turn {
        let wait = format!("while [ ! -e {STOP_FILE} ]; do sleep 0.1; done");
        let command = format!("touch {}; {wait} # {}", action.file(), action.word(0));
        Turn::of(vec![self.run(&action.key, &command)])
    }

    fn report(&self, action: &Action) -> Turn {
        let report = format!("Report: {}", action.word(2));
        match tools::report(self.source.agent, &report) {
            Some((name, input)) => Turn::of(vec![self.call(&format!("{}_report", action.key), name, input)]),
            None => Turn::text(report),
        }
    }

    fn block(&self, action: &Action) -> Block {
        match action.what {
            What::Say => Block::Text(format!("I found {} there.", action.word(0))),
            What::SayUnicode => Block::Text(format!("I wrote {} there.", action.word(0))),
            What::Think => Block::Reasoning {
                text: format!("Perhaps {} matters.", action.word(0)),
                seal: format!("c2VhbC1vZi0{}", action.key),
            },
            What::Run => self.run(&action.key, &format!("cat {} # {}", action.file(), action.word(0))),
            What::RunFailing => self.run(&action.key, &format!("cat {}; exit 3 # {}", action.file(), action.word(0))),
            What::RunLong => self.run(&action.key, &format!("cat {}", action.file())),
            _ => match (self.source.agent, self.source.is_code_mode()) {
                (Agent::ClaudeCode, _) => self.claude_code(action),
                (Agent::Codex, false) => self.codex(action),
                (Agent::Codex, true) => self.code_mode(action),
                (Agent::Aider, _) => Block::Text(aider::edit(action)),
                (agent, _) => self.function(&action.call_key(), tools::call(agent, action, &self.path(action))),
            },
        }
    }

    /// A call of a client whose calls are all functions; what it has no tool for was left out before.
    fn function(&self, key: &str, call: Option<tools::Call>) -> Block {
        let (name, input) = call.unwrap_or(("none", Value::Null));
        self.call(key, name, input)
    }

    fn path(&self, action: &Action) -> String {
        self.project.join(action.file()).display().to_string()
    }

    fn call_id(&self, key: &str) -> String {
        match self.source.agent {
            Agent::ClaudeCode => format!("toolu_01{key}"),
            _ => format!("call_{key}"),
        }
    }

    fn call(&self, key: &str, name: &str, input: Value) -> Block {
        Block::Call { id: self.call_id(key), name: name.to_owned(), namespace: None, input }
    }

    fn custom(&self, key: &str, name: &str, input: String) -> Block {
        Block::Custom { id: self.call_id(key), name: name.to_owned(), input }
    }

    pub(super) fn run(&self, key: &str, command: &str) -> Block {
        match (self.source.agent, self.source.is_code_mode()) {
            (Agent::ClaudeCode, _) => {
                self.call(key, "Bash", json!({"command": command, "description": "Run a command"}))
            }
            (Agent::Codex, false) => self.call(key, "exec_command", json!({"cmd": command, "yield_time_ms": 30_000})),
            (Agent::Codex, true) => {
                let script =
                    format!("const r = await tools.exec_command({{cmd: {}}});\ntext(r.output);", json!(command));
                self.custom(key, "exec", script)
            }
            (agent, _) => self.function(key, tools::run(agent, command)),
        }
    }

    fn claude_code(&self, action: &Action) -> Block {
        let is_old = self.source.version.starts_with("2.0.");
        let word = action.word(0);
        let path = self.path(action);
        let (name, input) = match action.what {
            What::Edit => {
                let old = format!("old line of {}", action.key);
                ("Edit", json!({"file_path": path, "old_string": old, "new_string": format!("new line {word}")}))
            }
            What::Write => ("Write", json!({"file_path": path, "content": format!("{word}\n")})),
            What::Search if is_old => ("Grep", json!({"pattern": word, "path": "data", "output_mode": "content"})),
            What::Search => return self.run(&action.key, &format!("grep -rn {word} data")),
            What::Plan if is_old => {
                ("TodoWrite", json!({"todos": [{"content": word, "status": "in_progress", "activeForm": "Doing it"}]}))
            }
            What::Plan => ("TaskCreate", json!({"subject": word, "description": "as said", "activeForm": "Doing it"})),
            What::Mcp => ("mcp__lab__lookup", json!({"key": action.key, "query": word})),
            What::Delegate => {
                let name = if is_old { "Task" } else { "Agent" };
                let prompt = format!("Find out about {word}.");
                let mut input =
                    json!({"description": "Find out", "prompt": prompt, "subagent_type": "general-purpose"});
                if !is_old {
                    // In the background the report would come as a notification, at a time of its own.
                    input["run_in_background"] = json!(false);
                }
                (name, input)
            }
            What::Unknown => ("TimeMachine", json!({"destination": word})),
            _ => ("Read", json!({"file_path": path})),
        };
        self.call(&action.call_key(), name, input)
    }

    fn codex(&self, action: &Action) -> Block {
        let word = action.word(0);
        let is_new = self.source.version == "0.166.0";
        match action.what {
            What::Edit | What::Write => self.custom(&action.call_key(), "apply_patch", patch(action)),
            What::Search => self.run(&action.key, &format!("grep -rn {word} data")),
            What::Plan => self.call(
                &action.key,
                "update_plan",
                json!({"plan": [{"step": word, "status": "in_progress"}, {"step": "the rest", "status": "pending"}]}),
            ),
            What::Mcp => {
                let input = json!({"key": action.key, "query": word});
                let namespace = if is_new { "mcp__lab" } else { "mcp__lab__" };
                let namespace = Some(namespace.to_owned());
                Block::Call { id: self.call_id(&action.key), name: "lookup".to_owned(), namespace, input }
            }
            What::Unknown => self.call(&action.key, "time_machine", json!({"destination": word})),
            What::Delegate => {
                let input = json!({"message": format!("Find out about {word}."), "agent_type": "explorer"});
                let namespace = is_new.then(|| "multi_agent_v1".to_owned());
                Block::Call { id: self.call_id(&action.key), name: "spawn_agent".to_owned(), namespace, input }
            }
            What::ViewImage => self.call(&action.key, "view_image", json!({"path": self.path(action)})),
            _ => self.run(&action.key, &format!("cat {}", action.file())),
        }
    }

    fn code_mode(&self, action: &Action) -> Block {
        let word = action.word(0);
        let script = match action.what {
            What::Edit | What::Write => format!("text(await tools.apply_patch({}));", json!(patch(action))),
            What::Search => return self.run(&action.key, &format!("grep -rn {word} data")),
            What::Mcp => {
                let input = json!({"key": action.key, "query": word});
                format!("text(JSON.stringify(await tools.mcp__lab__lookup({input})));")
            }
            What::Unknown => return self.call(&action.key, "time_machine", json!({"destination": word})),
            What::Delegate => {
                let message = format!("Find out about {word}.");
                let input = json!({"message": message, "task_name": "find_out", "fork_turns": "none"});
                let namespace = Some("collaboration".to_owned());
                return Block::Call { id: self.call_id(&action.key), name: "spawn_agent".to_owned(), namespace, input };
            }
            What::ViewImage => {
                format!("const seen = await tools.view_image({});\nimage(seen);", json!({"path": self.path(action)}))
            }
            _ => return self.run(&action.key, &format!("cat {}", action.file())),
        };
        self.custom(&action.call_key(), "exec", script)
    }

    /// Codex's model waits for its sub-agent with a second call, by an id that the client made up.
    fn after_delegation(&self, action: &Action) -> Option<Reply> {
        if self.source.agent != Agent::Codex {
            return None;
        }
        let spawned = self.call_id(&action.key);
        let id = self.call_id(&format!("{}_wait", action.key));
        let is_code_mode = self.source.is_code_mode();
        let namespace = match self.source.version {
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
