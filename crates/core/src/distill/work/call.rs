//! A call with what became of it: what it is for, whether it failed, and what its tests came to.

use std::cell::OnceCell;

use super::outcome::{self, exit_code_in_text};
use super::role::{self, Role};
use super::shell::CommandLine;
use super::test_run::{self, TestReport};
use crate::distill::{CallEnd, CallEvent, Item, Quoting, Step, Voice};
use crate::time::Timestamp;
use crate::transcript::{Action, Change, EntryKey, Status};

/// The longest command that is quoted, in characters.
const COMMAND_CHARS: usize = 600;

pub(in crate::distill) struct Call<'a> {
    pub(in crate::distill) step: usize,
    pub(in crate::distill) key: EntryKey,
    pub(in crate::distill) at: Option<Timestamp>,
    pub(in crate::distill) tool: &'a str,
    pub(in crate::distill) action: &'a Action,
    pub(super) end: Option<&'a CallEnd>,
    pub(super) failed: bool,
    /// The user turned it down.
    pub(super) is_refused: bool,
    pub(super) role: Role,
    /// The commands that it runs, where it does.
    pub(super) line: Option<CommandLine<'a>>,
    /// The counts of its tests, where it ran some and printed them.
    pub(super) report: Option<TestReport>,
    /// Put together when it is asked for: most calls are never compared.
    aim: OnceCell<String>,
}

impl<'a> Call<'a> {
    pub(super) fn new(index: usize, step: &'a Step, call: &'a CallEvent) -> Self {
        let line = match &call.action {
            Action::Run { command, .. } => Some(CommandLine::parse(command)),
            _ => None,
        };
        let end = call.end.as_ref();
        let role = role::of_action(&call.action, line.as_ref());
        let output = end.filter(|_| role == Role::Check).map(|end| end.text.as_str());
        let report = output.and_then(|output| test_run::read_report(line.as_ref()?, output));
        let failed = end.is_some_and(|end| {
            outcome::has_failed(&call.action, line.as_ref(), end, report.as_ref(), role == Role::Check)
        });
        Self {
            step: index,
            key: step.key,
            at: step.at,
            tool: &call.tool,
            action: &call.action,
            end,
            failed,
            is_refused: call.refusal.is_some(),
            role,
            line,
            report,
            aim: OnceCell::new(),
        }
    }

    pub(super) fn entries(&self) -> Vec<EntryKey> {
        std::iter::once(self.key).chain(self.end.map(|end| end.key)).collect()
    }

    /// When it was over.
    pub(super) fn over_at(&self) -> Option<Timestamp> {
        self.end.and_then(|end| end.at).or(self.at)
    }

    pub(super) fn succeeded(&self) -> bool {
        self.end.is_some() && !self.failed && !self.is_untold_run()
    }

    /// Whether a command came to an end that nothing tells: no exit code, no counts, and no word of its client's.
    pub(super) fn is_untold_run(&self) -> bool {
        let is_untold = |end: &CallEnd| {
            let code = end.exit_code.or_else(|| exit_code_in_text(&end.text));
            end.status == Status::Ended && code.is_none() && self.report.is_none() && !self.failed
        };
        matches!(self.action, Action::Run { .. }) && self.end.is_some_and(is_untold)
    }

    /// Its aim as text, the same for a thing that is tried again.
    pub(super) fn aim(&self) -> &str {
        self.aim.get_or_init(|| self.build_aim())
    }

    fn build_aim(&self) -> String {
        match self.action {
            Action::Write { path, .. } => format!("change {path}"),
            Action::Edit(changes) => format!("change {}", changed_paths(changes).join(" ")),
            Action::Run { .. } => {
                format!("run {}", self.line.as_ref().map(CommandLine::comparison_key).unwrap_or_default())
            }
            Action::Other | Action::Step(_) => format!("other {}", self.tool),
            action => format!("{} {}", action.kind(), action.subject()),
        }
    }

    /// The files that it changes.
    pub(super) fn changed_files(&self) -> Vec<&'a str> {
        match self.action {
            Action::Write { path, .. } => vec![path],
            Action::Edit(changes) => changed_paths(changes),
            _ => Vec::new(),
        }
    }

    /// The command as it ran, or the tool with what it was about.
    pub(super) fn to_item(&self, quoting: Quoting) -> Item {
        let text = match self.action {
            Action::Run { command, .. } => quoting.quote_passage(command, COMMAND_CHARS),
            action => quoting.quote_passage(format!("{} {}", self.tool, action.subject()).trim(), COMMAND_CHARS),
        };
        Item { text, voice: Voice::Agent, at: self.over_at(), entries: self.entries() }
    }
}

fn changed_paths(changes: &[Change]) -> Vec<&str> {
    changes.iter().map(Change::path).collect()
}
