//! What a session does now, by the structure of its newest entries.
//!
//! Nothing is guessed from words. What stands in the texts comes from a store and may hold keys: it is masked and short.

use std::path::Path;

use carryover_agents::Agent;
use carryover_core::plain::one_line;
use carryover_core::redact::redact_text;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{
    Action, Body, Call, CallId, Change, Entry, Failure, FailureKind, Limit, Origin, Outcome, Status, Tokens, text_cow,
};

/// The longest text that is told, in characters.
const MAX_CHARS: usize = 200;

/// So much of a text is looked at: more than is told, and no file that a command holds.
const MAX_SCANNED_BYTES: usize = 4096;

/// So many calls without an outcome are kept in mind.
const MAX_OPEN_CALLS: usize = 32;

/// What a session does now.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Doing {
    /// What was read of it does not tell.
    #[default]
    Unknown,
    /// The model has a prompt, or an answer to its question, and has said nothing yet.
    Prompted,
    Thinking,
    /// A call has no outcome yet: it runs, or waits to be allowed.
    Calling(CallSummary),
    /// A call has ended, and the model has said nothing yet.
    Called {
        call: CallSummary,
        failed: bool,
    },
    /// A tool put a question to the user.
    Asking {
        question: String,
    },
    /// A plan is laid before the user.
    Proposing,
    /// The agent's words are the last.
    Replied {
        text: String,
    },
    /// A limit stopped it.
    AtLimit {
        message: String,
        resets_at: Option<Timestamp>,
    },
    /// Something else stopped it.
    Failed {
        message: String,
    },
    /// The user stopped it.
    Interrupted,
    Compacted,
}

/// A call in a few words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallSummary {
    /// The kind of its action (`Action::kind`).
    pub action: &'static str,
    /// A command, a path in the project, a pattern; where nothing of that kind is known, the tool's name.
    pub subject: String,
}

/// The tokens and limits that a client told last.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LastUsage {
    /// Of the last reply; its input is what the model had before it.
    pub tokens: Option<Tokens>,
    /// How far limits are used up.
    pub limits: Vec<Limit>,
}

/// Takes entries as they come, and knows what the session does after the last of them.
#[derive(Default)]
pub(super) struct DoingTracker {
    last: Doing,
    /// Calls without an outcome, in the order in which they were made.
    open: Vec<(CallId, Doing)>,
    pub(super) usage: LastUsage,
}

impl DoingTracker {
    pub(super) fn current(&self) -> Doing {
        self.open.last().map_or(&self.last, |(_, doing)| doing).clone()
    }

    /// Forgets what was read: it was taken back, or will be told anew. The tokens stay true until others are told.
    pub(super) fn restart(&mut self) {
        self.last = Doing::Unknown;
        self.open.clear();
    }

    pub(super) fn note_entry(&mut self, entry: &Entry, agent: &dyn Agent, project: Option<&Path>) {
        if entry.side {
            return;
        }
        if let Some(usage) = entry.usage() {
            self.usage.tokens = Some(usage.tokens).filter(|tokens| !tokens.is_empty()).or(self.usage.tokens);
            if usage.limits.iter().any(Option::is_some) {
                self.usage.limits = usage.limits.into_iter().flatten().collect();
            }
        }
        match &entry.body {
            Body::Prompt(_) if entry.origin == Origin::User => self.set_last(Doing::Prompted),
            Body::Reasoning(_) => self.set_last(Doing::Thinking),
            Body::Reply(parts) => {
                let text = shorten(&text_cow(parts));
                if !text.is_empty() {
                    self.set_last(Doing::Replied { text });
                }
            }
            Body::Call(call) => self.note_call(call, agent, project),
            Body::Outcome(outcome) => self.note_outcome(outcome),
            Body::Compacted(_) => {
                // The context that they counted is no more.
                self.usage.tokens = None;
                self.set_last(Doing::Compacted);
            }
            Body::Failure(failure) => self.note_failure(failure),
            _ => {}
        }
    }

    /// What a client calls a failure is a limit.
    pub(super) fn note_limit(&mut self, failure: &Failure) {
        let known = match &self.last {
            Doing::AtLimit { resets_at, .. } => *resets_at,
            _ => None,
        };
        let message = shorten(&failure.message);
        self.set_last(Doing::AtLimit { message, resets_at: failure.resets_at.or(known) });
    }

    fn note_failure(&mut self, failure: &Failure) {
        self.set_last(match failure.kind {
            FailureKind::Interrupted => Doing::Interrupted,
            _ => Doing::Failed { message: shorten(&failure.message) },
        });
    }

    /// The turn has gone on, so that calls before it are over.
    fn set_last(&mut self, doing: Doing) {
        self.open.clear();
        self.last = doing;
    }

    fn note_call(&mut self, call: &Call, agent: &dyn Agent, project: Option<&Path>) {
        let doing = match agent.action(call, None) {
            Action::Ask(questions) => {
                Doing::Asking { question: shorten(questions.first().map_or("", |question| &question.text)) }
            }
            Action::Propose { .. } => Doing::Proposing,
            action => Doing::Calling(summarise_call(call, &action, project)),
        };
        if self.open.len() == MAX_OPEN_CALLS {
            self.open.remove(0);
        }
        self.open.push((call.id.clone(), doing));
    }

    fn note_outcome(&mut self, outcome: &Outcome) {
        let Some(at) = self.open.iter().position(|(id, _)| *id == outcome.call) else { return };
        let (_, doing) = self.open.remove(at);
        let failed = outcome.status == Status::Failed || outcome.exit_code.is_some_and(|code| code != 0);
        self.last = match doing {
            _ if outcome.status == Status::Interrupted => Doing::Interrupted,
            Doing::Calling(call) => Doing::Called { call, failed },
            _ => Doing::Prompted,
        };
    }
}

fn summarise_call(call: &Call, action: &Action, project: Option<&Path>) -> CallSummary {
    let subject = match action {
        Action::Read { path, .. } | Action::View { path } | Action::Write { path, .. } => shorten_path(path, project),
        Action::Edit(changes) => summarise_changes(changes, project),
        action => shorten(&action.subject()),
    };
    let subject = if subject.is_empty() { shorten(&call.tool) } else { subject };
    CallSummary { action: action.kind(), subject }
}

fn summarise_changes(changes: &[Change], project: Option<&Path>) -> String {
    let first = changes.first().map(|change| shorten_path(change.path(), project)).unwrap_or_default();
    match changes.len() {
        0 | 1 => first,
        more => format!("{first} and {} more", more - 1),
    }
}

/// A path as it is called in its project.
fn shorten_path(path: &str, project: Option<&Path>) -> String {
    let inside = project.and_then(|project| Path::new(path).strip_prefix(project).ok()).and_then(Path::to_str);
    shorten(inside.filter(|inside| !inside.is_empty()).unwrap_or(path))
}

fn shorten(text: &str) -> String {
    one_line(&redact_text(&text[..text.floor_char_boundary(MAX_SCANNED_BYTES)]), MAX_CHARS)
}
