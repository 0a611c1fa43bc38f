//! A word that one element of a session planted.

use serde::{Deserialize, Serialize};

/// The kind of element that holds the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Nature {
    Prompt,
    Reply,
    /// Sealed for its own model: another agent's model can do nothing with it.
    Reasoning,
    Call,
    Outcome,
    Summary,
    SubAgent,
}

/// Where the word must be found after a resume, if anywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expect {
    Live,
    Ghost,
    /// Clients differ (which prompts outlive a compaction, how much of a big output stays): the client's own request decides.
    AsClient,
    /// Some clients lose it by a fault of their own (all but one of parallel calls, a call without an outcome): if the
    /// client's own request has it, it is live; if not, it may be there or not.
    Tolerated,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    pub word: String,
    /// Which element, for people: `run: output`.
    pub about: String,
    pub nature: Nature,
    pub expect: Expect,
}
