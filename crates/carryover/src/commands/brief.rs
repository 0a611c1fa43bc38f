//! `carryover brief`.

use std::path::PathBuf;

use carryover_agents::Env;
use carryover_core::distill::{
    ApproachKind, Brief, CommandRun, Commit, Decision, DecisionKind, FailedApproach, FailingCommand, Item, TestResult,
    TestRun, TouchedFile,
};
use carryover_core::plain::one_line;
use carryover_core::time::Timestamp;
use carryover_core::tokens;
use carryover_core::transcript::EntryKey;
use carryover_engine::context::Context;
use carryover_engine::handoff::{self, DistilledSession};
use carryover_engine::sessions::unread::Unread;
use clap::Args;
use serde::Serialize;

use crate::args::{Globals, SessionArgs};
use crate::choice;
use crate::error::CommandError;
use crate::process_env::resolve_path;
use crate::quantity;
use crate::relative_time::{format_clock, format_until};
use crate::told_words::describe_state;
use crate::ui::{BOLD, DIM, Ui};

/// How wide a finding may be; it is whole in `--json`.
const MAX_FINDING_CHARS: usize = 160;

/// Tell what a session was about
///
/// Shows how a session stands and what it was about, in quotes and facts: the task, the agent's last words, the plan,
/// decisions, failures, files. Behind each line stands whose words it is, when, and the entry that `show --entry` shows.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  carryover brief             the newest session here
  carryover brief 8f3c21aa --json | jq .next")]
pub(crate) struct BriefArgs {
    #[command(flatten)]
    session: SessionArgs,
    /// The project whose newest session is meant where none is named, and which is looked at
    #[arg(long, alias = "workspace", value_name = "FOLDER", value_hint = clap::ValueHint::DirPath)]
    project: Option<PathBuf>,
    /// Show keys, tokens and passwords as they are
    #[arg(long)]
    no_redact: bool,
}

/// The brief, as `--json` tells it.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    unread: &'a Unread,
    #[serde(flatten)]
    brief: &'a Brief,
}

pub(crate) fn cmd_brief(
    ui: &mut Ui,
    context: &Context,
    globals: Globals,
    args: &BriefArgs,
) -> Result<(), CommandError> {
    let project = args.project.as_deref().map(resolve_path);
    let session = choice::choose_session(ui, context, globals, &args.session, project.clone())?;
    let options = handoff::Options { project: project.as_deref(), redact: !args.no_redact };
    let DistilledSession { brief, unread, warnings, .. } =
        ui.while_reading(&session, || handoff::distil_session(context, &session, options))?;
    for warning in &warnings {
        ui.warning(warning)?;
    }
    if ui.is_json() {
        ui.write_json(&Document { schema: "carryover.brief/2", unread: &unread, brief: &brief })?;
        return Ok(());
    }
    let mut n_bytes = 0;
    let mut names_entries = false;
    let teller = Teller { env: &context.env };
    for (heading, lines) in teller.build_sections(&brief) {
        if lines.is_empty() {
            continue;
        }
        writeln!(ui.out(), "{BOLD}{heading}{BOLD:#}")?;
        n_bytes += heading.len() + 1;
        for BriefLine { text, source } in lines {
            let text = one_line(&text, MAX_FINDING_CHARS);
            ui.write_row(format_args!("  {text}  {DIM}{source}{DIM:#}"))?;
            names_entries |= source.contains("entry ");
            n_bytes += text.len() + source.len() + "    \n".len();
        }
    }
    let tokens = quantity::format_tokens(tokens::estimate_bytes(n_bytes));
    writeln!(ui.out(), "{DIM}about {tokens} tokens{DIM:#}")?;
    if names_entries {
        let id = one_line(&session.found.id.0, 80);
        ui.hint(format_args!("`carryover show {id} --entry REF` shows an entry"))?;
    }
    Ok(())
}

/// One finding, and where it comes from.
struct BriefLine {
    text: String,
    source: String,
}

/// Tells findings in the user's time.
struct Teller<'a> {
    env: &'a Env,
}

impl Teller<'_> {
    fn build_sections(&self, brief: &Brief) -> Vec<(&'static str, Vec<BriefLine>)> {
        let items = |items: &[Item]| items.iter().map(|it| self.item_line(it)).collect::<Vec<_>>();
        let task = &brief.task;
        vec![
            ("State", self.state_lines(brief)),
            ("Task", task.request.iter().map(|it| self.item_line(it)).collect()),
            ("The last prompt", task.follow_up.iter().map(|it| self.item_line(it)).collect()),
            ("The work began with", task.began_with.iter().map(|it| self.item_line(it)).collect()),
            ("The agent's last words", items(&brief.last_words)),
            ("Plan: in progress", items(&brief.plan.in_progress)),
            ("Plan: left", items(&brief.plan.left)),
            ("Plan: done", items(&brief.plan.done)),
            ("Decisions", brief.decisions.iter().map(|it| self.decision_line(it)).collect()),
            ("Still failing", brief.failing.iter().map(|it| self.failing_line(it)).collect()),
            ("Failed approaches", brief.failed.iter().map(|it| self.approach_line(it)).collect()),
            ("Open questions", items(&brief.questions)),
            ("From the agent's summary", items(&brief.summary)),
            ("Tests", brief.tests.iter().map(|it| self.test_run_line(it)).collect()),
            ("Files", brief.files.iter().map(|it| self.file_line(it)).collect()),
            ("TODO and FIXME added", items(&brief.todos)),
            ("Commands", brief.commands.iter().map(|it| self.command_line(it)).collect()),
            ("References", items(&brief.references)),
            ("Next", brief.next.iter().map(|it| self.item_line(it)).collect()),
            ("Commits", brief.commits.iter().map(|it| self.commit_line(it)).collect()),
            (
                "Changed since the session last saw them",
                brief.drift.files.iter().map(|it| self.drift_line(it)).collect(),
            ),
            ("Commits since", brief.drift.commits.iter().map(|it| self.commit_line(it)).collect()),
            ("What the user said", items(&brief.requests)),
        ]
    }

    fn state_lines(&self, brief: &Brief) -> Vec<BriefLine> {
        let state = &brief.state;
        let word = describe_state(state.kind);
        let until = state.until.map(|until| format!(", until {}", format_until(until, self.env))).unwrap_or_default();
        let mut lines =
            vec![BriefLine { text: format!("{word}{until}"), source: self.format_source(None, state.at, &[]) }];
        lines.extend(state.detail.iter().map(|it| self.item_line(it)));
        lines.extend(
            state
                .queued
                .iter()
                .map(|queued| BriefLine { text: format!("typed ahead: {}", queued.text), ..self.item_line(queued) }),
        );
        lines
    }

    fn item_line(&self, item: &Item) -> BriefLine {
        let voice = format!("{:?}", item.voice).to_lowercase();
        BriefLine { text: item.text.clone(), source: self.format_source(Some(&voice), item.at, &item.entries) }
    }

    /// The time stands behind it, as everywhere.
    fn drift_line(&self, item: &Item) -> BriefLine {
        let line = self.item_line(item);
        let text = item.at.map_or_else(|| item.text.clone(), |at| item.text.replace(&format!(" at {at}"), ""));
        BriefLine { text, ..line }
    }

    fn decision_line(&self, decision: &Decision) -> BriefLine {
        let word = match decision.kind {
            DecisionKind::Answered => "answered",
            DecisionKind::Approved => "approved",
            DecisionKind::Refused => "turned down",
            DecisionKind::Said => "said",
        };
        let asked = decision.question.as_ref().map(|asked| format!("{asked} → ")).unwrap_or_default();
        BriefLine { text: format!("{word}: {asked}{}", decision.what.text), ..self.item_line(&decision.what) }
    }

    fn failing_line(&self, failing: &FailingCommand) -> BriefLine {
        let code = failing.exit_code.map(|code| format!(" (exit {code})")).unwrap_or_default();
        let text = format!("{} failed{code}: {}", failing.what.text, failing.output.join(" ⏎ "));
        BriefLine { text, ..self.item_line(&failing.what) }
    }

    fn approach_line(&self, failed: &FailedApproach) -> BriefLine {
        let detail = failed.detail.as_deref().unwrap_or_default();
        let text = match failed.kind {
            ApproachKind::Failed => format!("{} (tried {} ways): {detail}", failed.what.text, failed.tries),
            ApproachKind::TakenBack => format!("an edit of {} was taken back {detail}", failed.what.text),
        };
        BriefLine { text, ..self.item_line(&failed.what) }
    }

    fn test_run_line(&self, run: &TestRun) -> BriefLine {
        let result = match run.result {
            TestResult::Passed => "passed",
            TestResult::Failed => "failed",
            TestResult::Unknown => "ended, how is not recorded",
        };
        let counts = run.counts.as_ref().map(|counts| format!(" ({counts})")).unwrap_or_default();
        BriefLine { text: format!("{} {result}{counts}", run.what.text), ..self.item_line(&run.what) }
    }

    fn file_line(&self, file: &TouchedFile) -> BriefLine {
        let change = format!("{:?}", file.change).to_lowercase();
        let symbols = if file.symbols.is_empty() { String::new() } else { format!(": {}", file.symbols.join(", ")) };
        let tests = match file.tests {
            Some(TestResult::Passed) => ", tests passed since",
            Some(TestResult::Failed) => ", tests failed since",
            Some(TestResult::Unknown) | None => "",
        };
        // The last entry is the one that left the file like this.
        let changed_by = file.entries.last().map_or(&[][..], std::slice::from_ref);
        BriefLine {
            text: format!("{} {change}{symbols}{tests}", file.path),
            source: self.format_source(None, file.at, changed_by),
        }
    }

    fn command_line(&self, run: &CommandRun) -> BriefLine {
        let code = run.exit_code.map(|code| format!(" (exit {code})")).unwrap_or_default();
        let ended = match run {
            run if run.failed => format!("failed{code}"),
            run if run.is_end_known => "ok".to_owned(),
            _ => "ended, how is not recorded".to_owned(),
        };
        let times = if run.runs > 1 { format!(", {} times", run.runs) } else { String::new() };
        let tests = run.tests.as_ref().map(|tests| format!(", {tests}")).unwrap_or_default();
        BriefLine {
            text: format!("{} → {ended}{tests}{times}", run.command),
            source: self.format_source(None, run.at, &run.entries),
        }
    }

    fn commit_line(&self, commit: &Commit) -> BriefLine {
        BriefLine {
            text: format!("{} {}", commit.id, commit.subject),
            source: self.format_source(Some("git"), Some(commit.at), &[]),
        }
    }

    /// Whose words, when, and the entry that `show --entry` shows.
    fn format_source(&self, voice: Option<&str>, at: Option<Timestamp>, entries: &[EntryKey]) -> String {
        let at = at.map(|at| format_clock(at, self.env));
        let place = entries.first().map(|key| format!("entry {}", key.reference()));
        [voice.map(str::to_owned), at, place].into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}
