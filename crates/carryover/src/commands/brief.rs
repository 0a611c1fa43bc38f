//! `carryover brief`.

use std::path::PathBuf;

use carryover_core::distill::{Brief, CommandRun, FileTouched, Item, TestState};
use carryover_core::plain::one_line;
use carryover_core::time::Timestamp;
use carryover_core::transcript::EntryKey;
use carryover_engine::context::Context;
use carryover_engine::handoff::{self, Distilled};
use clap::Args;
use serde::Serialize;

use crate::args::{Globals, SessionArgs};
use crate::choice;
use crate::error::CommandError;
use crate::surroundings::resolved;
use crate::ui::{BOLD, DIM, Ui};

/// How wide a finding may be; it is whole in `--json`.
const WIDTH: usize = 160;

/// Tell what a session was about
///
/// Shows what is found in a session without a model: the task, what was done, decisions, failures, open questions, files,
/// and what comes next. Behind each line stands whose words it is made of, when, and at which place in the session.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  carryover brief                       the newest session of this project
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

/// What was found, as `--json` tells it.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    #[serde(flatten)]
    brief: &'a Brief,
}

pub(crate) fn cmd_brief(
    ui: &mut Ui,
    context: &Context,
    globals: Globals,
    args: &BriefArgs,
) -> Result<(), CommandError> {
    let project = args.project.as_deref().map(resolved);
    let session = choice::select(ui, context, globals, &args.session, project.clone())?;
    let options = handoff::Options { project: project.as_deref(), redact: !args.no_redact };
    let Distilled { brief, warnings, .. } = handoff::distilled(context, &session, options)?;
    for warning in &warnings {
        ui.warning(warning)?;
    }
    if ui.json() {
        ui.write_json(&Document { schema: "carryover.brief/1", brief: &brief })?;
        return Ok(());
    }
    for (heading, lines) in sections(&brief) {
        if lines.is_empty() {
            continue;
        }
        writeln!(ui.out(), "{BOLD}{heading}{BOLD:#}")?;
        for Line { text, source } in lines {
            writeln!(ui.out(), "  {}  {DIM}{source}{DIM:#}", one_line(&text, WIDTH))?;
        }
    }
    Ok(())
}

/// One finding, and where it comes from.
struct Line {
    text: String,
    source: String,
}

fn sections(brief: &Brief) -> Vec<(&'static str, Vec<Line>)> {
    let items = |items: &[Item]| items.iter().map(of_item).collect::<Vec<_>>();
    let with = |item: &Item, more: Option<&String>| Line {
        text: more.map_or_else(|| item.text.clone(), |more| format!("{} ({more})", item.text)),
        ..of_item(item)
    };
    vec![
        ("Task", brief.task.iter().map(of_item).collect()),
        ("Done", items(&brief.done)),
        ("In progress", items(&brief.in_progress)),
        ("Remaining", items(&brief.remaining)),
        ("Next", brief.next.iter().map(of_item).collect()),
        ("Decisions", brief.decisions.iter().map(|one| with(&one.what, one.reason.as_ref())).collect()),
        ("Failed approaches", brief.failed.iter().map(|one| with(&one.what, one.reason.as_ref())).collect()),
        ("Blockers", items(&brief.blockers)),
        ("Open questions", items(&brief.questions)),
        ("Action items", items(&brief.action_items)),
        ("Said by the agent", items(&brief.remarks)),
        ("Files", brief.files.iter().map(of_file).collect()),
        ("Commands", brief.commands.iter().map(of_command).collect()),
        (
            "Errors",
            brief.errors.iter().map(|one| with(&one.what, one.resolution.as_ref().map(|by| &by.text))).collect(),
        ),
        ("References", items(&brief.references)),
        ("Limit", brief.limit.iter().map(|limit| of_item(&limit.what)).collect()),
        ("Changed since", items(&brief.drift.files)),
        ("Commits since", brief.drift.commits.iter().map(of_commit).collect()),
    ]
}

fn of_item(item: &Item) -> Line {
    let voice = format!("{:?}", item.voice).to_lowercase();
    Line { text: item.text.clone(), source: source(Some(&voice), item.at, &item.cites) }
}

fn of_file(file: &FileTouched) -> Line {
    let change = format!("{:?}", file.change).to_lowercase();
    let symbols = if file.symbols.is_empty() { String::new() } else { format!(": {}", file.symbols.join(", ")) };
    let tests = match file.tests {
        Some(TestState::Passing) => ", tests pass",
        Some(TestState::Failing) => ", tests fail",
        None => "",
    };
    Line { text: format!("{} {change}{symbols}{tests}", file.path), source: source(None, file.at, &file.cites) }
}

fn of_command(run: &CommandRun) -> Line {
    let code = run.exit_code.map(|code| format!(" (exit {code})")).unwrap_or_default();
    let ended = if run.failed { format!("failed{code}") } else { "ok".to_owned() };
    let times = if run.runs > 1 { format!(", {} times", run.runs) } else { String::new() };
    let tests = run.tests.as_ref().map(|tests| format!(", {tests}")).unwrap_or_default();
    Line { text: format!("{} → {ended}{tests}{times}", run.command), source: source(None, run.at, &run.cites) }
}

fn of_commit(commit: &carryover_core::distill::Commit) -> Line {
    Line { text: format!("{} {}", commit.id, commit.subject), source: source(Some("git"), Some(commit.at), &[]) }
}

/// Whose words, when, and at which byte of the session's file.
fn source(voice: Option<&str>, at: Option<Timestamp>, cites: &[EntryKey]) -> String {
    let at = at.map(|at| at.to_string());
    let place = cites.first().map(|key| format!("@{}", key.offset));
    [voice.map(str::to_owned), at, place].into_iter().flatten().collect::<Vec<_>>().join(" ")
}
