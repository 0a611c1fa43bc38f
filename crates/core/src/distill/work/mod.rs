//! Facts by structure alone: calls and their outcomes, files, commands, test runs, plans, commits.

mod call;
mod changes;
mod commands;
mod commits;
mod drift;
mod effects;
mod failing;
mod files;
mod language;
mod outcome;
mod plan;
mod role;
mod script;
mod shell;
mod symbols;
mod test_run;
mod todos;

use std::collections::BTreeMap;

pub(super) use self::outcome::{error_lines, is_stack_frame, reads_like_error};

use self::call::Call;
use self::changes::FileTouch;
use super::{
    CommandRun, Commit, Drift, Event, FailedApproach, FailingCommand, History, Item, Plan, Quoting, Roots, TestRun,
    TouchedFile, Workspace,
};

/// The work of a session.
pub(super) struct Work<'a> {
    history: &'a History,
    workspace: &'a Workspace,
    quoting: Quoting,
    roots: Roots,
    /// In order.
    calls: Vec<Call<'a>>,
    /// Effects on files, in order.
    touches: Vec<FileTouch<'a>>,
}

impl<'a> Work<'a> {
    pub(super) fn from_history(history: &'a History, workspace: &'a Workspace, quoting: Quoting) -> Self {
        let roots = Roots::from_history(history, &workspace.root);
        let steps = history.steps.iter().enumerate();
        let calls: Vec<Call<'a>> = steps
            .filter_map(|(index, step)| match &step.event {
                Event::Call(call) => Some(Call::new(index, step, call)),
                _ => None,
            })
            .collect();
        let touches = changes::collect_touches(&calls, &roots);
        Self { history, workspace, quoting, roots, calls, touches }
    }

    pub(super) fn calls(&self) -> impl Iterator<Item = &Call<'a>> {
        self.calls.iter()
    }

    /// The tools that were used, most used first.
    pub(super) fn tools(&self) -> Vec<String> {
        let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
        for call in &self.calls {
            *uses.entry(call.tool).or_default() += 1;
        }
        let mut uses: Vec<(&str, usize)> = uses.into_iter().collect();
        uses.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
        uses.into_iter().map(|(name, _)| self.quoting.quote_line(name, 80)).collect()
    }

    pub(super) fn plan(&self, present_from: usize) -> Plan {
        plan::build_from(self, present_from)
    }

    pub(super) fn failing(&self, present_from: usize) -> Vec<FailingCommand> {
        failing::collect_from(self, present_from)
    }

    pub(super) fn failed_approaches(&self) -> Vec<FailedApproach> {
        failing::failed_approaches(self)
    }

    pub(super) fn files(&self) -> Vec<TouchedFile> {
        files::collect_from(self)
    }

    pub(super) fn todos(&self) -> Vec<Item> {
        todos::collect_from(self)
    }

    pub(super) fn last_test_run(&self) -> Option<TestRun> {
        commands::last_test_run(self)
    }

    pub(super) fn commands(&self) -> Vec<CommandRun> {
        commands::collect_from(self)
    }

    pub(super) fn commits(&self) -> Vec<Commit> {
        commits::collect_from(self)
    }

    pub(super) fn drift(&self) -> Drift {
        drift::collect_from(self)
    }
}
