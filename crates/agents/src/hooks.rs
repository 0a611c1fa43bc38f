//! Hooks: how an agent calls us when something happens in it, and how it takes what we tell it then.
//!
//! What differs between agents and their versions is data (`HookSet`, in the agent's own folder). What they send is read
//! by one reader (`read_call`), for all of them tell the same things under few names.

mod caller;
mod payload;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use carryover_core::transcript::SessionId;
use serde_json::{Value, json};

use crate::{Env, Facts, PathRule, Version};

pub use caller::{CallerMark, CallerProcess, HeadlessMarks, VariableMark};
pub use payload::{HookCall, HookError, prompt_text, read_call};

/// An event's meaning, as far as it matters to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HookKind {
    SessionStart,
    /// The user has said something.
    Prompt,
    TurnEnd,
    /// A turn ended with an error, which may be a limit.
    TurnFailure,
    BeforeCompaction,
    SessionEnd,
}

impl HookKind {
    /// The name by which it is kept.
    pub fn name(self) -> &'static str {
        match self {
            Self::SessionStart => "session-start",
            Self::Prompt => "prompt",
            Self::TurnEnd => "turn-end",
            Self::TurnFailure => "turn-failure",
            Self::BeforeCompaction => "before-compaction",
            Self::SessionEnd => "session-end",
        }
    }

    /// The kind of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [
            Self::SessionStart,
            Self::Prompt,
            Self::TurnEnd,
            Self::TurnFailure,
            Self::BeforeCompaction,
            Self::SessionEnd,
        ];
        all.into_iter().find(|kind| kind.name() == name)
    }
}

/// Why a session began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartReason {
    New,
    Resumed,
    Forked,
    /// Its user threw the context away and begins anew.
    Cleared,
    Compacted,
    /// The agent did not say.
    Unknown,
}

/// Whether a person sits before the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunMode {
    Interactive,
    Headless,
    Unknown,
}

/// One event, as an agent told it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookEvent {
    /// Whose event it is.
    pub agent: &'static str,
    /// It came through the hook of another agent: its own tells the same, where it is installed.
    pub is_through_another: bool,
    pub kind: HookKind,
    pub session: Option<SessionId>,
    /// The folder that the agent works in.
    pub folder: Option<PathBuf>,
    /// The file that holds the session.
    pub transcript: Option<PathBuf>,
    pub start: StartReason,
    pub run_mode: RunMode,
    /// It happened in a sub-agent.
    pub is_sub_agent: bool,
}

/// Everything that is known of an agent's hooks.
#[derive(Debug)]
pub struct HookSet {
    pub place: HookPlace,
    /// Event names by version, the oldest first: each holds from its version on, until the next.
    pub tables: &'static [HookTable],
    /// How it takes text at the start of a session.
    pub injection: Injection,
    /// It takes text in the same form when the user has said something.
    pub injects_at_prompt: bool,
    /// The values of `source` in an event at the start of a session, with what they mean.
    pub start_reasons: &'static [(&'static str, StartReason)],
    /// What a start means whose source is none of these.
    pub unnamed_start: StartReason,
    /// By what a run without a person is known.
    pub headless: HeadlessMarks,
    /// By what its calls are known where they come through another agent's hook.
    pub marks: &'static [CallerMark],
    /// A step that is left to the user, in one sentence.
    pub user_step: Option<&'static str>,
    /// Whether that step is done for the hooks of ours in this file; not known where there are none.
    pub is_trusted: Option<fn(hooks_file: &Path) -> Option<bool>>,
}

/// The events of a range of versions.
#[derive(Debug)]
pub struct HookTable {
    pub since: Version,
    pub events: &'static [HookBinding],
}

/// One event that we want to be called for.
#[derive(Debug, Clone, Copy)]
pub struct HookBinding {
    /// The agent's own name for it.
    pub event: &'static str,
    pub kind: HookKind,
    /// Which of the cases of this event, where the agent lets one choose.
    pub matcher: Option<&'static str>,
    /// How long the agent waits for us, in seconds, where its default is too short.
    pub timeout: Option<u32>,
}

impl HookBinding {
    pub const fn new(event: &'static str, kind: HookKind) -> Self {
        Self { event, kind, matcher: None, timeout: None }
    }

    /// For some cases of the event only.
    #[must_use]
    pub const fn matching(mut self, matcher: &'static str) -> Self {
        self.matcher = Some(matcher);
        self
    }

    /// With time that the agent's own default would not give.
    #[must_use]
    pub const fn within_seconds(mut self, seconds: u32) -> Self {
        self.timeout = Some(seconds);
        self
    }
}

/// Where hooks are put.
#[derive(Debug)]
pub enum HookPlace {
    /// Entries beside those of others, in a file of JSON (with comments), under `hooks` and the event's name.
    Entries { file: &'static [PathRule], shape: EntryShape },
    /// A file that is ours alone.
    OwnFile { file: &'static [PathRule], render: fn(&OwnHookFile<'_>) -> String },
}

impl HookPlace {
    /// The file that hooks are put into, in these surroundings.
    pub fn file_path(&self, env: &Env) -> Option<PathBuf> {
        let (Self::Entries { file, .. } | Self::OwnFile { file, .. }) = self;
        crate::facts::candidate_paths(file, env).into_iter().next()
    }
}

/// What a hook file of our own is made from.
pub struct OwnHookFile<'a> {
    /// Our program, as a path.
    pub program: &'a str,
    pub events: &'a [HookBinding],
}

impl OwnHookFile<'_> {
    /// The command line for an event.
    pub fn command(&self, agent: &str, event: &str) -> String {
        hook_command(self.program, agent, event)
    }

    /// The source of a plugin, with our program in the place that is left for it.
    pub fn fill_program(&self, source: &str) -> String {
        source.replace(r#""{PROGRAM}""#, &json!(self.program).to_string())
    }
}

/// The shape of an entry.
#[derive(Debug, Clone, Copy)]
pub enum EntryShape {
    /// `{"matcher": …, "hooks": [{"type": "command", "command": …, "timeout": …}]}`; so many units of time are a second.
    Grouped { units_per_second: u32 },
    /// `{"command": …}`, in a file that begins with a version where it has one.
    Flat { file_version: Option<u32> },
}

impl EntryShape {
    /// The entry for an event.
    pub fn entry(self, agent: &str, program: &str, binding: &HookBinding) -> Value {
        let command = hook_command(program, agent, binding.event);
        match self {
            Self::Grouped { units_per_second } => {
                let mut hook = json!({ "type": "command", "command": command });
                if let Some(seconds) = binding.timeout {
                    hook["timeout"] = json!(seconds * units_per_second);
                }
                match binding.matcher {
                    Some(matcher) => json!({ "matcher": matcher, "hooks": [hook] }),
                    None => json!({ "hooks": [hook] }),
                }
            }
            Self::Flat { .. } => json!({ "command": command }),
        }
    }
}

/// The command line that a hook runs. Agents give it to a shell.
fn hook_command(program: &str, agent: &str, event: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+:\\".contains(letter);
    let program = if program.chars().all(is_plain) {
        program.to_owned()
    } else {
        format!("'{}'", program.replace('\'', r"'\''"))
    };
    format!("{program} hook {agent} {event}")
}

/// How an agent takes text that a hook prints at the start of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Injection {
    /// `{"hookSpecificOutput": {"hookEventName": …, "additionalContext": …}}`
    HookOutput,
    /// `{"additionalContext": …}`, with the form above beside it: two clients share one hook file.
    TopLevel,
    /// `{"additional_context": …}`
    SnakeCase,
    /// The text itself: a plugin of ours puts it in its place.
    Plain,
    /// It takes nothing.
    Nothing,
}

impl Injection {
    /// What is to be printed, so that the agent's model sees the text.
    pub fn render(self, event: &str, text: &str) -> Option<String> {
        let nested = json!({ "hookEventName": event, "additionalContext": text });
        match self {
            Self::HookOutput => Some(json!({ "hookSpecificOutput": nested }).to_string()),
            Self::TopLevel => {
                // The client that looks there writes the names of events with a capital.
                let mut letters = event.chars();
                let first = letters.next().map(|letter| letter.to_ascii_uppercase());
                let event: String = first.into_iter().chain(letters).collect();
                let nested = json!({ "hookEventName": event, "additionalContext": text });
                Some(json!({ "additionalContext": text, "hookSpecificOutput": nested }).to_string())
            }
            Self::SnakeCase => Some(json!({ "additional_context": text }).to_string()),
            Self::Plain => Some(text.to_owned()),
            Self::Nothing => None,
        }
    }
}

/// The events for a version, and whether the version is one that was seen.
#[derive(Debug)]
pub struct ResolvedHooks {
    pub events: &'static [HookBinding],
    /// The newest version that was seen, where the installed one is newer.
    pub newer_than: Option<&'static str>,
}

impl HookSet {
    /// The events of a client's version. One that is newer than what was seen, or not known, gets the last known ones;
    /// one that is older than the first that has hooks gets none.
    pub fn resolve(&self, facts: &Facts, version: Option<Version>) -> ResolvedHooks {
        let fits = |table: &&HookTable| version.is_none_or(|version| table.since <= version);
        let table = self.tables.iter().rev().find(fits);
        let seen = facts.versions_seen.1;
        let is_newer = version.zip(Version::find_in(seen)).is_some_and(|(version, seen)| version > seen);
        ResolvedHooks { events: table.map_or(&[], |table| table.events), newer_than: is_newer.then_some(seen) }
    }

    /// The binding of an event by the agent's name for it, in whichever version has it.
    pub fn binding(&self, event: &str) -> Option<&'static HookBinding> {
        self.tables.iter().rev().flat_map(|table| table.events).find(|binding| binding.event == event)
    }
}
