//! The lines in which every rendering tells what a brief holds: quotes, and facts in fixed words.

use super::escape::{
    flatten_text, format_item, format_time, inline_code, inline_path, label_tool_output, quote_inline, text_end,
    time_suffix,
};
use crate::distill::{
    ApproachKind, Brief, CommandRun, Commit, Decision, DecisionKind, FailedApproach, FailingCommand, FileChange, Item,
    StateKind, TestResult, TestRun, TouchedFile,
};

/// How the session stands, the most needed first.
pub(super) fn state_lines(brief: &Brief, width: usize) -> Vec<String> {
    let state = &brief.state;
    let time = time_suffix(state.at);
    let about = state.detail.as_ref().map(|detail| format!(": {}", format_item(detail, width))).unwrap_or_default();
    let call = state.detail.as_ref().map(|detail| last_call(detail, width)).unwrap_or_default();
    let said = match state.kind {
        StateKind::Empty => "Nothing was said in this session.".to_owned(),
        StateKind::Waiting => {
            let ran =
                state.detail.as_ref().map(|ran| format!(" Since then the user ran {}.", inline_code(&ran.text, width)));
            let open = open_end(brief).map(|end| format!(" Its last message ends without a full stop: {end}."));
            let rest = [open, ran].into_iter().flatten().collect::<String>();
            format!("The agent had finished its turn and waits for the user{time}.{rest}")
        }
        StateKind::MidTurn => format!("The agent was in the middle of a turn{time}.{call}"),
        StateKind::Unanswered => format!("The user's last prompt got no answer{time}{about}"),
        StateKind::AskedUser => format!("The agent asked the user and got no answer{time}{about}"),
        StateKind::Interrupted => format!("The user interrupted the agent{time}.{call}"),
        StateKind::Limit => {
            let until = state.until.map(|until| format!(", until {}", format_time(until))).unwrap_or_default();
            format!("A limit stopped the agent{time}{until}{about}")
        }
        StateKind::ServiceError => format!("An error of the service stopped the agent{time}{about}"),
    };
    let output = state.output.as_ref().map(|output| format!("; {}", format_item(output, width))).unwrap_or_default();
    let mut lines = vec![said + &output];
    lines.extend(state.queued.iter().map(|queued| {
        format!(
            "The user had typed ahead, and the agent never saw it{}: {}",
            time_suffix(queued.at),
            format_item(queued, width)
        )
    }));
    lines.extend(state.cleared.then(|| CLEARED_NOTICE.to_owned()));
    lines.extend(plan_is_done(brief));
    lines
}

/// The end of a last message that stops in a sentence: clients record a reply that broke off like any other.
fn open_end(brief: &Brief) -> Option<String> {
    let line = brief.last_words.last()?.text.lines().rev().find(|line| !line.trim().is_empty())?.trim();
    let is_sentence = line.starts_with(char::is_alphabetic) && line.split_whitespace().count() > MIN_WORDS;
    let is_open = line.ends_with(|last: char| last.is_ascii_alphabetic() || last == ',');
    (is_sentence && is_open && line.is_ascii()).then(|| quote_inline(text_end(line, 80), 100))
}

/// Shorter lines are headings and names.
const MIN_WORDS: usize = 5;

/// The call at which the session stands; whether it came back is told by whether it has a second place.
fn last_call(call: &Item, width: usize) -> String {
    let end = if call.entries.len() > 1 { "" } else { ", which has no outcome" };
    format!(" The last call{end}: {}", inline_code(&call.text, width))
}

const CLEARED_NOTICE: &str = "The context was cleared on the way; nothing that was said before that is quoted.";

fn plan_is_done(brief: &Brief) -> Option<String> {
    let plan = &brief.plan;
    let is_done = !plan.done.is_empty() && plan.in_progress.is_empty() && plan.left.is_empty();
    is_done.then(|| format!("All {} steps of the agent's plan are marked done.", plan.done.len()))
}

/// How many prompts came after one, where it was not the last but one.
pub(super) fn prompts_since(brief: &Brief, said: &Item) -> String {
    let since = brief.requests.iter().rev().position(|other| other.entries == said.entries);
    since.filter(|n| *n > 1).map(|n| format!(", {n} prompts back")).unwrap_or_default()
}

pub(super) fn format_decision(decision: &Decision, width: usize) -> String {
    let (what, time) = (&decision.what, time_suffix(decision.what.at));
    let asked = decision.question.as_deref().map(|asked| quote_inline(asked, width)).unwrap_or_default();
    match decision.kind {
        DecisionKind::Answered => {
            format!("asked {asked}, the user answered{time}: {}", quote_inline(&what.text, width))
        }
        DecisionKind::Approved => format!("the user approved this plan{time}: {}", quote_inline(&what.text, width * 2)),
        DecisionKind::Refused if asked.is_empty() => {
            format!("the user turned this down{time}: {}", inline_code(&what.text, width))
        }
        DecisionKind::Refused => {
            format!("the user turned this down{time}: {}, and said {asked}", inline_code(&what.text, width))
        }
        DecisionKind::Said => format!("the user{time}: {}", quote_inline(&what.text, width)),
    }
}

/// Words with their time before them.
pub(super) fn with_time(said: &Item, width: usize) -> String {
    format!("{}{}", said.at.map(|at| format!("{}: ", format_time(at))).unwrap_or_default(), format_item(said, width))
}

pub(super) fn format_failing(failing: &FailingCommand, width: usize) -> String {
    let code_told = failing.exit_code.map(|code| format!(" with exit code {code}")).unwrap_or_default();
    let times = if failing.runs > 1 { format!(", {} times", failing.runs) } else { String::new() };
    let output = failing.output.join("\n");
    let why = if output.is_empty() { String::new() } else { format!("; {}", label_tool_output(&output, width)) };
    format!("{} failed{code_told}{times}{}{why}", inline_code(&failing.what.text, width), time_suffix(failing.what.at))
}

pub(super) fn format_approach(failed: &FailedApproach, width: usize) -> String {
    let (what, time) = (inline_code(&failed.what.text, width), time_suffix(failed.what.at));
    match (failed.kind, &failed.detail) {
        (ApproachKind::Failed, Some(detail)) => {
            format!("tried {} ways, the last {what}{time}; {}", failed.tries, label_tool_output(detail, width))
        }
        (ApproachKind::Failed, None) => format!("tried {} ways, the last {what}{time}", failed.tries),
        (ApproachKind::TakenBack, Some(by)) => {
            format!("an edit of {what}{time}, taken back by {}", inline_code(by, width))
        }
        (ApproachKind::TakenBack, None) => format!("an edit of {what}{time}, taken back by a later edit"),
    }
}

pub(super) fn change_word(change: FileChange) -> &'static str {
    match change {
        FileChange::Created => "created",
        FileChange::Written => "written",
        FileChange::Modified => "modified",
        FileChange::Deleted => "deleted",
        FileChange::Moved => "moved away",
        FileChange::Read => "read",
    }
}

/// The change of a file, without its path.
pub(super) fn format_file_change(file: &TouchedFile, width: usize) -> String {
    let symbols: Vec<&str> = file.symbols.iter().take(6).map(String::as_str).collect();
    let within =
        if symbols.is_empty() { String::new() } else { format!(", in {}", inline_code(&symbols.join(", "), width)) };
    let tests = match file.tests {
        Some(TestResult::Passed) => ", tests that name it passed since",
        Some(TestResult::Failed) => ", tests that name it failed since",
        Some(TestResult::Unknown) | None => "",
    };
    let time = match file.change {
        FileChange::Created => file.at.map(|at| format!(", last edit {}", format_time(at))).unwrap_or_default(),
        _ => time_suffix(file.at),
    };
    format!("{}{time}{within}{tests}", change_word(file.change))
}

pub(super) fn format_file(file: &TouchedFile, width: usize) -> String {
    format!("{} {}", inline_path(&file.path, width), format_file_change(file, width))
}

pub(super) fn format_test_run(run: &TestRun, width: usize) -> String {
    let result = match run.result {
        TestResult::Passed => "passed",
        TestResult::Failed => "failed",
        TestResult::Unknown => "ended, how is not recorded",
    };
    let counts = run.counts.as_ref().map(|counts| format!(" ({})", flatten_text(counts, 120))).unwrap_or_default();
    let since = if run.edited_since { "; files were changed after it" } else { "" };
    format!("the last run, {}, {result}{counts}{}{since}", inline_code(&run.what.text, width), time_suffix(run.what.at))
}

pub(super) fn format_command(run: &CommandRun, width: usize) -> String {
    let end = match (&run.tests, run.failed, run.exit_code) {
        (Some(tests), _, _) => format!(": {}", flatten_text(tests, 80)),
        (None, true, Some(code)) => format!(": failed with exit code {code}"),
        (None, true, None) => ": failed".to_owned(),
        (None, false, _) if !run.is_end_known => ": ended, how is not recorded".to_owned(),
        (None, false, _) => String::new(),
    };
    format!("{}{end}", inline_code(&run.command, width))
}

pub(super) fn format_commit(commit: &Commit, width: usize) -> String {
    let id: String = commit.id.chars().take(10).collect();
    format!("{} {} ({})", inline_code(&id, 12), quote_inline(&commit.subject, width), format_time(commit.at))
}

/// The repository as it is now, in few lines.
pub(super) fn git_lines(brief: &Brief, n_commits: usize, width: usize) -> Vec<String> {
    let made = brief.commits.iter().take(n_commits).map(|made| format_own_commit(made, width));
    let Some(git) = &brief.git else { return made.collect() };
    let branch = git.branch.as_deref().map(|branch| format!("branch {}", inline_code(branch, width)));
    let head = git.head.as_ref().map(|head| format!("HEAD {}", format_commit(head, width)));
    let mut lines: Vec<String> = [branch, head].into_iter().flatten().collect();
    let stat = git.diff_stat.last().map(|stat| stat.trim()).filter(|stat| !stat.is_empty());
    let uncommitted = match (git.status.len(), stat) {
        (0, _) => "nothing uncommitted".to_owned(),
        (n, Some(stat)) => format!("uncommitted paths: {n} ({})", flatten_text(stat, 80)),
        (n, None) => format!("uncommitted paths: {n}"),
    };
    lines.push(uncommitted);
    let n = brief.commits.len();
    lines.extend((n > n_commits).then(|| format!("commits during the session: {n}")));
    let mut lines = vec![lines.join("; ")];
    lines.extend(made);
    lines
}

fn format_own_commit(made: &Commit, width: usize) -> String {
    format!("committed during the session: {}", format_commit(made, width))
}

/// Changes that the session did not see; files that are not there stand on one line, since there may be many.
pub(super) fn drift_lines(brief: &Brief, width: usize) -> Vec<String> {
    let (gone, changed): (Vec<&Item>, Vec<&Item>) =
        brief.drift.files.iter().partition(|file| file.text.ends_with(GONE_SUFFIX));
    let mut lines: Vec<String> = changed.into_iter().map(|changed| format_item(changed, width)).collect();
    lines.extend(brief.drift.commits.iter().map(|after| format!("committed since: {}", format_commit(after, width))));
    let names: Vec<&str> = gone.iter().map(|file| file.text.trim_end_matches(GONE_SUFFIX)).collect();
    if !names.is_empty() {
        lines.push(format!("not in the project's folder now: {}", inline_code(&names.join(", "), width * 2)));
    }
    lines
}

/// How the distiller tells that a file is not there.
const GONE_SUFFIX: &str = ": is gone";
