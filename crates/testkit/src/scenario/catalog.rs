//! The scenarios, and who makes sessions of them.

use super::ActionKind::{
    Delegate, Edit, Mcp, Plan, Read, Run, RunFailing, RunLong, Say, SayUnicode, Search, Think, Unknown, ViewImage,
    Write,
};
use super::{Abilities, Ability, Expect, Scenario};
use crate::agents::LABS;
use crate::client::{Provider, Setup};
use crate::lab::{Lab, Variant};

/// A client version with one of its models; some models bring other tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Source {
    pub lab: &'static Lab,
    pub version: &'static str,
    pub model: Option<&'static str>,
    pub provider: Provider,
}

/// Who makes sessions, and where they are carried to.
pub fn list_sources() -> Vec<Source> {
    LABS.iter().flat_map(|lab| Source::list_for_lab(lab)).collect()
}

impl Source {
    /// Every version of an agent's client, first as it comes, then with its special models and providers.
    fn list_for_lab(lab: &'static Lab) -> impl Iterator<Item = Self> {
        lab.client.pins.iter().flat_map(move |pin| {
            let plain = Variant { model: None, provider: Provider::Custom };
            let variants = std::iter::once(plain).chain(pin.variants.iter().copied());
            variants.map(move |Variant { model, provider }| Self { lab, version: pin.version, model, provider })
        })
    }

    pub fn label(&self) -> String {
        let model = self.model.map(|model| format!("-{model}")).unwrap_or_default();
        let provider = if self.provider == Provider::BuiltIn { "-built-in" } else { "" };
        format!("{}-{}{model}{provider}", self.lab.id, self.version)
    }

    /// The client as it comes, without a special model or provider.
    pub fn is_plain(&self) -> bool {
        self.model.is_none() && self.provider == Provider::Custom
    }

    /// How a client is set up to be this source.
    pub fn setup(&self) -> Setup {
        Setup { model: self.model.map(str::to_owned), provider: self.provider, mcp: None, own_sessions: true }
    }

    /// The vendor's own service returns compactions that only its models can read.
    pub(super) fn seals_compactions(&self) -> bool {
        self.provider == Provider::BuiltIn
    }

    /// In code mode the model has one tool, `exec`, that runs a script.
    pub(crate) fn is_code_mode(&self) -> bool {
        self.model.is_some_and(|model| model.starts_with("gpt-6"))
    }
}

/// All scenarios, each in the form that a client can be driven through.
pub const CATALOG: &[fn(Abilities) -> Scenario] = &[whole_session, broken_off_session, crashed_session];

/// Everything that can be in a session that goes well.
fn whole_session(can: Abilities) -> Scenario {
    let mut scenario = Scenario::new("whole", "compaction, every kind of call, two rewound turns, a last turn");
    if can.contains(Ability::Compact) {
        scenario = scenario.expecting(Expect::AsClient);
    }
    scenario =
        scenario.with_turn(&[&[Think, Say, Run], &[Say]]).with_turn(&[&[Read], &[Edit], &[Say]]).with_turn(&[&[Say]]);
    if can.contains(Ability::Compact) {
        scenario = scenario.with_compaction();
    }
    scenario = scenario
        .expecting(Expect::Live)
        .with_turn(&[&[Think, Say, Run], &[RunFailing], &[Read], &[Edit], &[Write], &[Say]])
        .with_turn(&[&[Search], &[Plan], &[Mcp], &[Unknown], &[SayUnicode]])
        // Alike, because 2.0 keeps one of parallel calls, and not always the same.
        .with_turn(&[&[Run, Run, Run], &[ViewImage], &[RunLong], &[Say]])
        .with_turn(&[&[Delegate], &[Say]]);
    if can.contains(Ability::Rewind) {
        // Twice: a client may build the second branch on its record of the first.
        scenario = scenario.with_rewound_turn(&[&[Run], &[Say]]).with_turn(&[&[Say]]).with_rewound_turn(&[&[Say]]);
    }
    if can.contains(Ability::Image) {
        // With the image last: 2.0 finds no message to rewind to once a prompt had two parts.
        scenario.with_image_turn(&[&[Say, Run], &[Say]])
    } else {
        scenario.with_turn(&[&[Say, Run], &[Say]])
    }
}

/// A session whose client died while a command ran.
fn crashed_session(_: Abilities) -> Scenario {
    Scenario::new("crashed", "the client is killed while a command runs")
        .with_turn(&[&[Think, Run], &[Say]])
        .with_turn(&[&[Say, Write], &[Say]])
        .expecting(Expect::AsClient)
        .with_crash()
}

/// A session that ends badly: a command interrupted, then a usage limit.
fn broken_off_session(can: Abilities) -> Scenario {
    let mut scenario = Scenario::new("broken-off", "an interrupted command, a turn after it, a usage limit at the end")
        .with_turn(&[&[Think, Run], &[Say]]);
    if can.contains(Ability::Interrupt) {
        scenario = scenario.with_interrupt();
    }
    scenario.with_turn(&[&[Run], &[Say]]).expecting(Expect::AsClient).with_usage_limit()
}
