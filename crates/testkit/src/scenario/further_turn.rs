//! One more turn, for going on in a session that came from elsewhere.

use std::path::Path;

use super::dialect::{Answers, Dialect};
use super::{Action, ActionKind, Expect, Fact, Nature, Source};
use crate::model::{Block, Reply, Turn};

/// A prompt, what the model answers, and the facts that both plant.
#[derive(Clone, Debug)]
pub struct FurtherTurn {
    pub prompt: String,
    pub turns: Vec<Turn>,
    pub facts: Vec<Fact>,
}

/// What the model answers when it hands something to a sub-agent, and what the sub-agent's model answers.
#[derive(Debug)]
pub struct Delegation {
    pub main: Vec<Reply>,
    pub sub: Vec<Reply>,
}

impl Delegation {
    /// In the client's own tools; `None` where it has none that works in its interface.
    pub fn new(source: &Source, project: &Path) -> Option<Self> {
        if !source.lab.client.runner.delegates_in_interface() {
            return None;
        }
        let words = ["Task906Word", "Inner907Word", "Report908Word"].map(str::to_owned).to_vec();
        let action = Action { what: ActionKind::Delegate, key: "handed".to_owned(), words };
        let Answers { main, mut sub } = Dialect { source, project }.script_answers(&[action]);
        // It reports at once: in an interface, a command of it would be asked about.
        let report = sub.pop()?;
        Some(Self { main, sub: vec![report] })
    }
}

impl FurtherTurn {
    /// A turn in the tools of the client that goes on; its words differ from those of every scenario.
    pub fn new(source: &Source, project: &Path) -> Self {
        let dialect = Dialect { source, project };
        // The output's word is put together when the command runs, so that the call does not hold it.
        let command = "printf 'More%sWord\\n' 904 # More903Word";
        let runs = dialect.has_tool(ActionKind::Run);
        Self::with_run(runs.then(|| dialect.command_block("further", command)))
    }

    /// A turn in words alone, for interfaces that would ask before a command is run.
    pub fn in_words() -> Self {
        Self::with_run(None)
    }

    fn with_run(run: Option<Block>) -> Self {
        let runs = run.is_some();
        let said = Block::Text("I noticed More902Word.".to_owned());
        let turns = match run {
            Some(run) => vec![Turn::from_blocks(vec![said, run]), Turn::from_text("That was More905Word.")],
            None => vec![Turn::from_blocks(vec![said, Block::Text("That was More905Word.".to_owned())])],
        };
        let fact = |word: &str, about: &str, nature| Fact {
            word: word.to_owned(),
            about: about.to_owned(),
            nature,
            expect: Expect::Live,
        };
        let mut facts = vec![
            fact("More901Word", "further prompt", Nature::Prompt),
            fact("More902Word", "further reply", Nature::Reply),
            fact("More903Word", "further run: command", Nature::Call),
            fact("More904Word", "further run: output", Nature::Outcome),
            fact("More905Word", "further last reply", Nature::Reply),
        ];
        facts.retain(|fact| runs || !matches!(fact.nature, Nature::Call | Nature::Outcome));
        Self { prompt: "Go on with More901Word, please.".to_owned(), turns, facts }
    }
}
