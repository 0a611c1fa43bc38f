//! The distiller: what a session was about, in quotes and facts.
//!
//! A brief is a pure function of the history, the facts of the workspace, and now. Every line of it is somebody's own words,
//! verbatim, or a fact of structure: a call, an outcome, an exit code, an item of a plan, an answer, a commit, a file. Words
//! may rank what is quoted where room is short; they never assert anything.

mod brief;
mod history;
mod quote;
mod replacements;
mod roots;
mod state;
#[cfg(test)]
pub(crate) mod tests;
mod words;
mod work;
mod workspace;

use crate::time::Timestamp;

pub use brief::{
    ApproachKind, Brief, CommandRun, Decision, DecisionKind, Drift, FailedApproach, FailingCommand, FileChange, Item,
    Plan, State, StateKind, Task, TestResult, TestRun, TouchedFile, Voice,
};
pub use history::{CallEnd, CallEvent, Event, History, QueuedPrompt, Step};
pub use quote::Quoting;
pub(crate) use quote::clip_middle;
pub use replacements::with_replacements;
pub use roots::Roots;
pub use workspace::{Commit, CurrentFile, Git, MemoryText, Workspace};

use self::words::Words;
use self::work::Work;

/// How a session stands at its end, for whoever needs no brief.
pub fn find_state(history: &History, quoting: Quoting) -> State {
    state::classify_end(history, &Words::from_history(history, quoting), quoting)
}

/// Makes the brief of a session.
pub fn distill_session(history: &History, workspace: &Workspace, quoting: Quoting, now: Timestamp) -> Brief {
    let work = Work::from_history(history, workspace, quoting);
    let words = Words::from_history(history, quoting);
    let state = state::classify_end(history, &words, quoting);
    let header = &history.header;
    let present_from = words.present_from();
    let plan = work.plan(present_from);
    Brief {
        agent: header.agent,
        session: header.session.clone(),
        // The title is most often the first prompt, which may have been cleared.
        title: header.title.as_deref().filter(|_| history.context_from() == 0).map(|title| words.quote_title(title)),
        project: header.project.as_ref().map(|path| quoting.quote_line(&path.display().to_string(), 400)),
        model: header.model.clone(),
        started_at: header.started_at,
        updated_at: header.updated_at.filter(|at| header.started_at != Some(*at)),
        made_at: now,
        messages: words.n_messages(),
        tools: work.tools(),
        task: words.task(),
        requests: words.requests(),
        last_words: words.last_words(),
        decisions: words.decisions(),
        questions: words.open_questions(&state),
        summary: words.summary(),
        references: words.references(&work),
        failing: work.failing(present_from),
        failed: work.failed_approaches(),
        files: work.files(),
        todos: work.todos(),
        tests: work.last_test_run(),
        commands: work.commands(),
        commits: work.commits(),
        drift: work.drift(),
        next: words.next_action(&state, &plan),
        git: workspace.git.clone(),
        plan,
        state,
    }
}
