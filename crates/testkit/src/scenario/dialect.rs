//! Translates actions into what one client's model would say.

use std::path::Path;

use serde_json::Value;

use super::project::STOP_FILE;
use super::{Action, ActionKind, Source, Tools, tools};
use crate::model::{Block, Reply, Turn};

/// A client's tools in one project.
pub(crate) struct Dialect<'a> {
    pub(crate) source: &'a Source,
    pub(crate) project: &'a Path,
}

/// The answers of the model, in its own loop and in that of sub-agents.
#[derive(Debug, Default)]
pub(super) struct Answers {
    pub(super) main: Vec<Reply>,
    pub(super) sub: Vec<Reply>,
}

impl Dialect<'_> {
    fn tools(&self) -> &'static dyn Tools {
        self.source.lab.client.tools
    }

    /// Whether the client has a tool for it; what it has not is left out of its session.
    pub(super) fn has_tool(&self, what: ActionKind) -> bool {
        self.tools().has_tool(self.source, what)
    }

    /// The answers as the client asks for them: without calls there is only one.
    pub(super) fn group_by_request(&self, answers: &[Vec<Action>]) -> Vec<Vec<Action>> {
        if self.tools().answers_once() { vec![answers.concat()] } else { answers.to_vec() }
    }

    pub(super) fn script_answers(&self, actions: &[Action]) -> Answers {
        let mut answers = Answers::default();
        let known: Vec<&Action> = actions.iter().filter(|action| self.has_tool(action.what)).collect();
        if known.is_empty() {
            return answers;
        }
        let blocks = known.iter().map(|action| self.action_block(action)).collect();
        answers.main.push(Turn::from_blocks(blocks).into());
        for action in known.iter().filter(|action| action.what == ActionKind::Delegate) {
            let inner =
                self.command_block(&format!("{}_inner", action.key), &format!("echo inner # {}", action.word(1)));
            answers.sub.push(Turn::from_blocks(vec![inner]).into());
            answers.sub.push(self.report_turn(action).into());
            answers.main.extend(self.tools().await_sub_agent(self, action));
        }
        answers
    }

    /// A command that says that it runs by making a file, and then runs until it is stopped.
    pub(super) fn endless_turn(&self, action: &Action) -> Turn {
        let wait = format!("while [ ! -e {STOP_FILE} ]; do sleep 0.1; done");
        let command = format!("touch {}; {wait} # {}", action.file_path(), action.word(0));
        Turn::from_blocks(vec![self.command_block(&action.key, &command)])
    }

    fn report_turn(&self, action: &Action) -> Turn {
        let report = format!("Report: {}", action.word(2));
        match self.tools().report_call(&report) {
            Some((name, input)) => {
                Turn::from_blocks(vec![self.call_block(&format!("{}_report", action.key), name, input)])
            }
            None => Turn::from_text(report),
        }
    }

    pub(super) fn action_block(&self, action: &Action) -> Block {
        match action.what {
            ActionKind::Say => Block::Text(format!("I found {} there.", action.word(0))),
            ActionKind::SayUnicode => Block::Text(format!("I wrote {} there.", action.word(0))),
            ActionKind::Think => Block::Reasoning {
                text: format!("Perhaps {} matters.", action.word(0)),
                seal: format!("c2VhbC1vZi0{}", action.key),
            },
            ActionKind::Run => {
                self.command_block(&action.key, &format!("cat {} # {}", action.file_path(), action.word(0)))
            }
            ActionKind::RunFailing => {
                self.command_block(&action.key, &format!("cat {}; exit 3 # {}", action.file_path(), action.word(0)))
            }
            ActionKind::RunLong => self.command_block(&action.key, &format!("cat {}", action.file_path())),
            _ => self.tools().perform_action(self, action),
        }
    }

    pub(crate) fn command_block(&self, key: &str, command: &str) -> Block {
        self.tools().run_command(self, key, command)
    }

    /// A call of a client whose calls are all functions; what it has no tool for was left out before.
    pub(crate) fn function_block(&self, key: &str, call: Option<tools::ToolCall>) -> Block {
        let (name, input) = call.unwrap_or(("none", Value::Null));
        self.call_block(key, name, input)
    }

    /// The file that an action works on.
    pub(crate) fn file_path(&self, action: &Action) -> String {
        self.project.join(action.file_path()).display().to_string()
    }

    pub(crate) fn call_id(&self, key: &str) -> String {
        self.tools().call_id(key)
    }

    pub(crate) fn call_block(&self, key: &str, name: &str, input: Value) -> Block {
        Block::Call { id: self.call_id(key), name: name.to_owned(), namespace: None, input }
    }
}
