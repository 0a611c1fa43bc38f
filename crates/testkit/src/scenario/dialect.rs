//! Translates actions into what one client's model would say.

use std::path::Path;

use serde_json::Value;

use super::project::STOP_FILE;
use super::{Action, Source, Tools, What, tools};
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
    pub(super) fn knows(&self, what: What) -> bool {
        self.tools().has_tool(self.source, what)
    }

    /// The answers as the client asks for them: without calls there is only one.
    pub(super) fn in_requests(&self, answers: &[Vec<Action>]) -> Vec<Vec<Action>> {
        if self.tools().answers_once() { vec![answers.concat()] } else { answers.to_vec() }
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
            answers.main.extend(self.tools().await_sub_agent(self, action));
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
        match self.tools().report_call(&report) {
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
            _ => self.tools().perform_action(self, action),
        }
    }

    pub(crate) fn run(&self, key: &str, command: &str) -> Block {
        self.tools().run_command(self, key, command)
    }

    /// A call of a client whose calls are all functions; what it has no tool for was left out before.
    pub(crate) fn function(&self, key: &str, call: Option<tools::Call>) -> Block {
        let (name, input) = call.unwrap_or(("none", Value::Null));
        self.call(key, name, input)
    }

    /// The file that an action works on.
    pub(crate) fn path(&self, action: &Action) -> String {
        self.project.join(action.file()).display().to_string()
    }

    pub(crate) fn call_id(&self, key: &str) -> String {
        self.tools().call_id(key)
    }

    pub(crate) fn call(&self, key: &str, name: &str, input: Value) -> Block {
        Block::Call { id: self.call_id(key), name: name.to_owned(), namespace: None, input }
    }
}
