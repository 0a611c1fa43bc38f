//! Fixtures, the sessions that real clients wrote in the agent's folder of `carryover-agents`, and what is told of them.

/// A fixture, and what is told of it beside its conversation.
pub struct ExpectedReading {
    /// The file in the agent's `fixtures`.
    pub fixture: &'static str,
    /// The tokens as the client counted them; `nothing` where it does not count.
    pub tokens: &'static str,
    /// How the session was begun, in the client's words; empty where it does not say.
    pub start_settings: &'static str,
    /// The messages as a person counts them.
    pub messages: &'static str,
}

/// A fixture as a loose file.
pub struct LooseFile {
    pub fixture: &'static str,
    /// The name by which it is known for a session.
    pub name: &'static str,
}

impl LooseFile {
    /// A file that is known by what is in it.
    pub(crate) const fn from_jsonl(fixture: &'static str) -> Self {
        Self { fixture, name: "s.jsonl" }
    }

    /// An export that is known by what is in it.
    pub(crate) const fn from_json(fixture: &'static str) -> Self {
        Self { fixture, name: "s.json" }
    }
}
