//! The distiller: what a session was about, what was done, what failed, and what is next.
//!
//! A brief is a pure function of the story, the facts of the workspace, and now. Facts come from structure (calls,
//! outcomes, exit codes, plans, git) and from words only where structure has none.

mod actions;
mod aim;
mod answer;
mod attempts;
mod beginning;
mod blockers;
mod brief;
mod changes;
mod commands;
mod commits;
mod decisions;
mod digest;
mod drift;
mod failures;
mod files;
mod heard;
mod language;
mod limit;
mod next;
mod outcome;
mod plan;
mod progress;
mod questions;
mod references;
mod remarks;
mod replaced;
mod role;
mod roots;
mod shell;
mod speech;
mod story;
mod symbols;
mod task;
mod testrun;
#[cfg(test)]
mod tests;
mod todos;
mod workspace;

use std::collections::BTreeMap;

use self::digest::Digest;
use self::speech::choice::{self, act, verdict};
use self::speech::{cues, dump, heading, prose, request, sayings, turn, vocabulary, wording, words};
use crate::time::Timestamp;

pub use brief::{
    Brief, CommandRun, Decision, Drift, ErrorSeen, FailedApproach, FileChange, FileTouched, Item, Limit, TestState,
    Voice,
};
pub use heard::{Heard, MANY as MANY_MESSAGES, Message, Speaker};
pub use replaced::with_replacements;
pub use roots::Roots;
pub use story::{Deed, Ended, Step, Story};
pub use workspace::{Commit, FileNow, Git, Workspace};

/// So many steps are worth another thread.
const MANY: usize = 512;
/// So many of them are worth one once it runs.
const ENOUGH: usize = 128;

/// Makes the brief of a session.
pub fn distill(story: &Story, workspace: &Workspace, now: Timestamp) -> Brief {
    distill_heard(story, &Heard::default(), workspace, now)
}

/// Makes the brief of a session, some of whose words are understood already.
pub fn distill_heard(story: &Story, heard: &Heard, workspace: &Workspace, now: Timestamp) -> Brief {
    let digest = Digest::of(story, heard, workspace);
    let (words, work) = crate::parts::both(story.steps.len() >= MANY, || Words::of(&digest), || Work::of(&digest));
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
        requests: work.requests,
        next: words.next,
        task: words.task,
        done: words.progress.done,
        in_progress: words.progress.in_progress,
        remaining: words.progress.remaining,
        decisions: words.decisions,
        failed: work.failed,
        blockers: work.blockers,
        questions: work.questions,
        files: work.files,
        commands: work.commands,
        errors: work.errors,
        references: words.references,
        action_items: words.action_items,
        remarks: words.remarks,
        limit: limit::limit(&digest),
        git: workspace.git.clone(),
        commits: work.commits,
        drift: work.drift,
    }
}

/// What is found in words.
struct Words {
    task: Option<Item>,
    progress: progress::Progress,
    next: Option<Item>,
    decisions: Vec<Decision>,
    action_items: Vec<Item>,
    remarks: Vec<Item>,
    references: Vec<Item>,
}

impl Words {
    fn of(digest: &Digest<'_>) -> Self {
        let given = task::given(digest);
        let task = task::task(digest, &given);
        let progress = progress::progress(digest, task.as_ref().map_or(0, |task| task.step));
        let decisions = decisions::decisions(digest, &given);
        Self {
            task: task.map(|task| task.item),
            next: next::next(digest, &progress),
            progress,
            remarks: remarks::remarks(digest, &decisions),
            decisions: decisions::newest(decisions),
            action_items: actions::action_items(digest),
            references: references::references(digest),
        }
    }
}

/// What is found in calls and what came of them.
struct Work {
    requests: Vec<Item>,
    failed: Vec<FailedApproach>,
    blockers: Vec<Item>,
    questions: Vec<Item>,
    files: Vec<FileTouched>,
    commands: Vec<CommandRun>,
    errors: Vec<ErrorSeen>,
    commits: Vec<Commit>,
    drift: Drift,
}

impl Work {
    fn of(digest: &Digest<'_>) -> Self {
        let attempts = attempts::attempts(digest);
        let touches = changes::touches(digest);
        Self {
            failed: failures::failures(digest, &attempts),
            blockers: blockers::blockers(digest, &attempts),
            questions: questions::questions(digest, &touches),
            files: files::files(digest, &touches),
            commands: commands::commands(digest),
            errors: attempts::errors(digest, &attempts),
            commits: commits::commits(digest),
            drift: drift::drift(digest, &touches),
            // Last, since who is done with words helps with it.
            requests: task::requests(digest),
        }
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
