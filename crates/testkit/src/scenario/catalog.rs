//! The scenarios, and who makes sessions of them.

use super::What::{
    Delegate, Edit, Mcp, Plan, Read, Run, RunFailing, RunLong, Say, SayUnicode, Search, Think, Unknown, ViewImage,
    Write,
};
use super::{Expect, Scenario};
use crate::client::{Agent, Provider, Setup};

/// A client version with one of its models; some models bring other tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Source {
    pub agent: Agent,
    pub version: &'static str,
    pub model: Option<&'static str>,
    pub provider: Provider,
}

/// Who makes sessions, and where they are carried to.
pub const SOURCES: &[Source] = &[
    Source { agent: Agent::ClaudeCode, version: "2.1.325", model: None, provider: Provider::Custom },
    Source { agent: Agent::ClaudeCode, version: "2.0.77", model: None, provider: Provider::Custom },
    Source { agent: Agent::Codex, version: "0.166.0", model: None, provider: Provider::Custom },
    Source { agent: Agent::Codex, version: "0.166.0", model: Some("gpt-6-sol"), provider: Provider::Custom },
    Source { agent: Agent::Codex, version: "0.166.0", model: None, provider: Provider::BuiltIn },
    Source { agent: Agent::Codex, version: "0.130.0", model: None, provider: Provider::Custom },
];

impl Source {
    pub fn label(&self) -> String {
        let model = self.model.map(|model| format!("-{model}")).unwrap_or_default();
        let provider = if self.provider == Provider::BuiltIn { "-built-in" } else { "" };
        format!("{}-{}{model}{provider}", self.agent.id(), self.version)
    }

    /// The client as it comes, without a special model or provider.
    pub fn is_plain(&self) -> bool {
        self.model.is_none() && self.provider == Provider::Custom
    }

    /// How a client is set up to be this source.
    pub fn setup(&self) -> Setup {
        Setup { model: self.model.map(str::to_owned), provider: self.provider, mcp: None }
    }

    /// The vendor's own service returns compactions that only its models can read.
    pub(super) fn seals_compactions(&self) -> bool {
        self.agent == Agent::Codex && self.provider == Provider::BuiltIn
    }

    /// In code mode the model has one tool, `exec`, that runs a script.
    pub(super) fn is_code_mode(&self) -> bool {
        self.model.is_some_and(|model| model.starts_with("gpt-6"))
    }
}

/// All scenarios.
pub const CATALOG: &[fn() -> Scenario] = &[whole, broken_off, crashed];

/// Everything that can be in a session that goes well.
fn whole() -> Scenario {
    Scenario::new("whole", "compaction, every kind of call, two rewound turns, a last turn")
        .expecting(Expect::AsClient)
        .turn(&[&[Think, Say, Run], &[Say]])
        .turn(&[&[Read], &[Edit], &[Say]])
        .turn(&[&[Say]])
        .compact()
        .expecting(Expect::Live)
        .turn(&[&[Think, Say, Run], &[RunFailing], &[Read], &[Edit], &[Write], &[Say]])
        .turn(&[&[Search], &[Plan], &[Mcp], &[Unknown], &[SayUnicode]])
        // Alike, because 2.0 keeps one of parallel calls, and not always the same.
        .turn(&[&[Run, Run, Run], &[ViewImage], &[RunLong], &[Say]])
        .turn(&[&[Delegate], &[Say]])
        .rewound(&[&[Run], &[Say]])
        // Twice: a client may build the second branch on its record of the first.
        .turn(&[&[Say]])
        .rewound(&[&[Say]])
        // With the image last: 2.0 finds no message to rewind to once a prompt had two parts.
        .turn_with_image(&[&[Say, Run], &[Say]])
}

/// A session whose client died while a command ran.
fn crashed() -> Scenario {
    Scenario::new("crashed", "the client is killed while a command runs")
        .turn(&[&[Think, Run], &[Say]])
        .turn(&[&[Say, Write], &[Say]])
        .expecting(Expect::AsClient)
        .crash()
}

/// A session that ends badly: a command interrupted, then a usage limit.
fn broken_off() -> Scenario {
    Scenario::new("broken-off", "an interrupted command, a turn after it, a usage limit at the end")
        .turn(&[&[Think, Run], &[Say]])
        .interrupt()
        .turn(&[&[Run], &[Say]])
        .expecting(Expect::AsClient)
        .limit()
}
