//! `carryover memory sync`.

use std::path::Path;

use carryover_agents::Facts;
use carryover_core::plain::one_line;
use carryover_engine::context::Context;
use carryover_engine::memory::sync::apply_sync;
use carryover_engine::memory::sync_plan::{FileChange, SyncPlan, SyncRequest, plan_sync};
use clap::Args;
use serde::Serialize;

use super::facts_parser;
use crate::args::Globals;
use crate::error::{CommandError, ErrorKind};
use crate::ui::{DIM, GOOD, Ui};

/// Make one file of instructions the source of the others
///
/// Each agent gets a line that takes the source in, or a copy where it cannot import, in carryover's one block of a file that
/// it reads anyway. Words of yours stay as they are. A file is made only where no agent reads less because of it. Run it again
/// when the source has changed; `carryover undo` takes it back.
#[derive(Args)]
pub(super) struct SyncArgs {
    /// The source: a file, or an agent whose file it is [default: AGENTS.md, or the only one]
    #[arg(long, value_name = "FILE|AGENT")]
    from: Option<String>,
    /// Only for this agent; can be given several times [default: all that are here]
    #[arg(long, value_name = "AGENT", value_parser = facts_parser(), hide_possible_values = true)]
    to: Vec<&'static Facts>,
    /// Tell what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
}

/// The result, as `--json` tells it.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    project: String,
    source: &'a str,
    dry_run: bool,
    undo_id: Option<&'a str>,
    changes: Vec<ChangeRow<'a>>,
    told: Vec<AgentRow<'a>>,
    left: Vec<AgentRow<'a>>,
    warnings: &'a [String],
}

#[derive(Serialize)]
struct ChangeRow<'a> {
    file: &'a str,
    form: &'static str,
    created: bool,
    agents: Vec<&'static str>,
}

#[derive(Serialize)]
struct AgentRow<'a> {
    agent: &'static str,
    reason: &'a str,
}

pub(super) fn sync_files(
    ui: &mut Ui,
    context: &Context,
    globals: Globals,
    project: &Path,
    present: &[&'static Facts],
    args: &SyncArgs,
) -> Result<(), CommandError> {
    let agents = if args.to.is_empty() { present } else { &args.to };
    let request = SyncRequest { project, from: args.from.as_deref(), agents };
    let mut plan = plan_sync(context, &request)?;
    refuse_left(args, &plan)?;
    for warning in &plan.warnings {
        ui.warning(warning)?;
    }
    if args.dry_run {
        return tell_result(ui, &plan, args, None);
    }
    if !confirm(ui, globals, args, &plan)? {
        return Ok(ui.status("nothing was written")?);
    }
    let report = apply_sync(context, &plan)?;
    for warning in &report.warnings {
        ui.warning(warning)?;
    }
    plan.warnings.extend(report.warnings);
    // Who read one file before may read another one now.
    let is_told_by_it =
        |facts: &Facts| plan.changes.iter().any(|change| change.agents.iter().any(|agent| agent.id == facts.id));
    let request = SyncRequest { from: Some(&plan.source), ..request };
    if let Ok(now) = plan_sync(context, &request) {
        plan.told = now.told.into_iter().filter(|(facts, _)| !is_told_by_it(facts)).collect();
    }
    tell_result(ui, &plan, args, report.undo_id.as_deref())
}

/// An agent that was asked for by name is not left out in silence.
fn refuse_left(args: &SyncArgs, plan: &SyncPlan) -> Result<(), CommandError> {
    if args.to.is_empty() || plan.left.is_empty() {
        return Ok(());
    }
    let reasons = plan.left.iter().map(|(facts, reason)| format!("{}: {reason}", facts.name));
    Err(CommandError::new(
        ErrorKind::Usage,
        format!("{} could not be told of {}", count_agents(&plan.left), plan.source),
    )
    .with_details(reasons)
    .with_hint("`carryover memory --all` shows which agent reads which file"))
}

fn count_agents(left: &[(&'static Facts, String)]) -> String {
    if left.len() == 1 { "one agent".to_owned() } else { format!("{} agents", left.len()) }
}

/// Asks where somebody can answer; where nobody can, it must have been said.
fn confirm(ui: &mut Ui, globals: Globals, args: &SyncArgs, plan: &SyncPlan) -> Result<bool, CommandError> {
    if globals.yes || plan.changes.is_empty() || !args.to.is_empty() {
        return Ok(true);
    }
    if !ui.is_interactive() {
        let changes = plan.changes.iter().map(|change| describe_change(change, &plan.source));
        return Err(CommandError::usage("this would be written, and nobody can be asked")
            .with_details(changes)
            .with_hint("say so with `--yes`, or name one agent with `--to`"));
    }
    for change in &plan.changes {
        ui.write_line(describe_change(change, &plan.source))?;
    }
    let answer = ui.ask("write it? (y/N)")?;
    Ok(matches!(answer.to_lowercase().as_str(), "y" | "yes"))
}

/// A file that is changed, for whom and how, in a line.
fn describe_change(change: &FileChange, source: &str) -> String {
    let names: Vec<&str> = change.agents.iter().map(|facts| facts.name).collect();
    let form = if change.is_copy { "a copy" } else { "an import" };
    let made = if change.is_new { " (new)" } else { "" };
    format!("{}{made}: {form} of {source}, for {}", change.name, names.join(", "))
}

fn tell_result(ui: &mut Ui, plan: &SyncPlan, args: &SyncArgs, undo_id: Option<&str>) -> Result<(), CommandError> {
    if ui.is_json() {
        return write_json(ui, plan, args, undo_id);
    }
    let verb = if args.dry_run { "would write" } else { "wrote" };
    for change in &plan.changes {
        ui.status(format_args!("{GOOD}{verb}{GOOD:#} {}", one_line(&describe_change(change, &plan.source), 400)))?;
    }
    for (facts, how) in &plan.told {
        ui.status(format_args!("{DIM}{} {}{DIM:#}", facts.name, one_line(how, 200)))?;
    }
    for (facts, reason) in &plan.left {
        ui.status(format_args!("{} is not told of {}: {}", facts.name, plan.source, one_line(reason, 200)))?;
    }
    match (plan.changes.is_empty(), plan.left.is_empty()) {
        (true, true) if plan.told.is_empty() => ui.status("nothing to do: no agent is here that could be told")?,
        (true, true) => ui.status(format_args!("nothing to do: all of them are told of {}", plan.source))?,
        (true, false) => ui.status("nothing was written")?,
        (false, _) => {}
    }
    if let Some(id) = undo_id {
        ui.hint(format_args!("`carryover undo {id}` takes it back"))?;
    }
    Ok(())
}

fn write_json(ui: &mut Ui, plan: &SyncPlan, args: &SyncArgs, undo_id: Option<&str>) -> Result<(), CommandError> {
    Ok(ui.write_json(&Document {
        schema: "carryover.memory-sync/1",
        project: plan.project.display().to_string(),
        source: &plan.source,
        dry_run: args.dry_run,
        undo_id,
        changes: plan.changes.iter().map(change_row).collect(),
        told: plan.told.iter().map(agent_row).collect(),
        left: plan.left.iter().map(agent_row).collect(),
        warnings: &plan.warnings,
    })?)
}

fn change_row(change: &FileChange) -> ChangeRow<'_> {
    ChangeRow {
        file: &change.name,
        form: if change.is_copy { "copy" } else { "import" },
        created: change.is_new,
        agents: change.agents.iter().map(|facts| facts.id).collect(),
    }
}

fn agent_row<'a>((facts, reason): &'a (&'static Facts, String)) -> AgentRow<'a> {
    AgentRow { agent: facts.id, reason }
}
