//! The distiller: what a session was about, what was done, what failed, and what is next.
//!
//! A brief is a pure function of the story, the facts of the workspace, and now. Facts come from structure (calls,
//! outcomes, exit codes, plans, git) and from words only where structure has none.

mod actions;
mod attempts;
mod blockers;
mod brief;
mod changes;
mod choice;
mod commands;
mod commits;
mod cues;
mod decisions;
mod digest;
mod drift;
mod dump;
mod failures;
mod files;
mod heading;
mod language;
mod limit;
mod next;
mod outcome;
mod phrases;
mod plan;
mod progress;
mod prose;
mod questions;
mod references;
mod replaced;
mod request;
mod role;
mod roots;
mod shell;
mod story;
mod symbols;
mod task;
mod testrun;
#[cfg(test)]
mod tests;
mod todos;
mod turn;
mod verdict;
mod words;
mod workspace;

use std::collections::BTreeMap;

use self::digest::Digest;
use crate::time::Timestamp;

pub use brief::{
    Brief, CommandRun, Decision, Drift, ErrorSeen, FailedApproach, FileChange, FileTouched, Item, Limit, TestState,
    Voice,
};
pub use replaced::with_replacements;
pub use roots::Roots;
pub use story::{Deed, Ended, Step, Story};
pub use workspace::{Commit, FileNow, Git, Workspace};

/// Makes the brief of a session.
pub fn distill(story: &Story, workspace: &Workspace, now: Timestamp) -> Brief {
    let digest = Digest::of(story, workspace);
    let task = task::task(&digest);
    let progress = progress::progress(&digest, task.as_ref().map_or(0, |task| task.step));
    let attempts = attempts::attempts(&digest);
    let touches = changes::touches(&digest);
    let header = &story.header;
    Brief {
        agent: header.agent,
        session: header.session.clone(),
        title: header.title.clone(),
        project: header.project.as_ref().map(|path| path.display().to_string()),
        model: header.model.clone(),
        started_at: header.started_at,
        updated_at: header.updated_at,
        made_at: now,
        messages: digest.said.iter().filter(|said| !said.is_summary).count(),
        tools: tools(&digest),
        requests: task::requests(&digest),
        next: next::next(&digest, &progress),
        task: task.map(|task| task.item),
        done: progress.done,
        in_progress: progress.in_progress,
        remaining: progress.remaining,
        decisions: decisions::decisions(&digest),
        failed: failures::failures(&digest, &attempts),
        blockers: blockers::blockers(&digest, &attempts),
        questions: questions::questions(&digest, &touches),
        files: files::files(&digest, &touches),
        commands: commands::commands(&digest),
        errors: attempts::errors(&digest, &attempts),
        references: references::references(&digest),
        action_items: actions::action_items(&digest),
        limit: limit::limit(&digest),
        git: workspace.git.clone(),
        commits: commits::commits(&digest),
        drift: drift::drift(&digest, &touches),
    }
}

/// The tools that were used, most used first.
fn tools(digest: &Digest<'_>) -> Vec<String> {
    let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
    for call in &digest.calls {
        *uses.entry(call.tool).or_default() += 1;
    }
    let mut uses: Vec<(&str, usize)> = uses.into_iter().collect();
    uses.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
    uses.into_iter().map(|(name, _)| name.to_owned()).collect()
}
