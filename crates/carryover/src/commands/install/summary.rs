//! What an installation did, agent by agent.

use carryover_engine::context::Context;
use carryover_engine::install::service::{self, ServiceOutcome};
use carryover_engine::install::setup::{AgentReport, Outcome};
use serde::Serialize;

use crate::error::{CommandError, ErrorKind, explain_install_error};
use crate::session_row::abbreviate_home;
use crate::ui::{BAD, BOLD, DIM, DOUBTFUL, GOOD, Ui};

/// How it is told: as what was done, or as what would be.
#[derive(Clone, Copy)]
pub(crate) struct Telling {
    pub(crate) dry_run: bool,
    /// The command that goes on once something is mended.
    pub(crate) again: &'static str,
}

impl Telling {
    fn choose(self, done: &'static str, would: &'static str) -> &'static str {
        if self.dry_run { would } else { done }
    }
}

/// One agent, as `--json` tells it.
#[derive(Serialize)]
struct AgentRow {
    agent: &'static str,
    version: Option<String>,
    /// `written`, `unchanged`, `removed`, `not-detected`, `too-old`, `no-hooks` or `failed`.
    outcome: &'static str,
    file: Option<String>,
    hooks: Vec<&'static str>,
    /// What is typed for our commands.
    commands: Vec<String>,
    /// The newest version that was seen, where the installed one is newer.
    newer_than: Option<&'static str>,
    user_step: Option<&'static str>,
    was_edited: bool,
    backup: Option<String>,
    error: Option<String>,
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    dry_run: bool,
    agents: Vec<AgentRow>,
    /// `registered`, `unchanged`, `removed`, `unavailable` or `failed`; null where none was asked for.
    service: Option<&'static str>,
}

/// Writes the report as data.
pub(crate) fn write_document(
    ui: &mut Ui,
    reports: &[AgentReport],
    service: Option<&ServiceOutcome>,
    dry_run: bool,
) -> Result<(), CommandError> {
    let agents = reports.iter().map(agent_row).collect();
    let service = service.map(|outcome| match outcome {
        ServiceOutcome::Registered(_) => "registered",
        ServiceOutcome::Unchanged(_) => "unchanged",
        ServiceOutcome::Unavailable { .. } => "unavailable",
        ServiceOutcome::Removed(_) => "removed",
        ServiceOutcome::Failed { .. } => "failed",
    });
    Ok(ui.write_json(&Document { schema: "carryover.install-report/1", dry_run, agents, service })?)
}

fn agent_row(report: &AgentReport) -> AgentRow {
    let error = if let Outcome::Failed(error) = &report.outcome { Some(describe_error(error)) } else { None };
    AgentRow {
        agent: report.facts.id,
        version: report.version.map(|version| version.to_string()),
        outcome: match report.outcome {
            Outcome::Written => "written",
            Outcome::Unchanged => "unchanged",
            Outcome::Removed => "removed",
            Outcome::NotDetected => "not-detected",
            Outcome::TooOld(_) => "too-old",
            Outcome::NoHooks => "no-hooks",
            Outcome::Failed(_) => "failed",
        },
        file: report.file.as_ref().map(|path| path.display().to_string()),
        hooks: report.events.clone(),
        commands: report.commands.clone(),
        newer_than: report.newer_than,
        user_step: user_step(report),
        was_edited: report.was_edited,
        backup: report.backup.clone(),
        error,
    }
}

/// The step that is left to the user, where hooks were written.
fn user_step(report: &AgentReport) -> Option<&'static str> {
    let is_in_place = matches!(report.outcome, Outcome::Written | Outcome::Unchanged);
    report.facts.hooks.filter(|_| is_in_place && !report.events.is_empty())?.user_step
}

/// An error with its causes in one line.
fn describe_error(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let mut words: Vec<String> = causes.map(ToString::to_string).collect();
    words.dedup();
    words.join(": ")
}

/// Tells one agent's part.
pub(crate) fn tell_report(
    ui: &mut Ui,
    context: &Context,
    report: &AgentReport,
    telling: Telling,
) -> Result<(), CommandError> {
    let name = report.facts.name;
    let version = report.version.map_or_else(String::new, |version| format!(" {version}"));
    let file = report.file.as_ref().map(|path| abbreviate_home(context, path)).unwrap_or_default();
    let skipped = telling.choose("skipped", "would be skipped");
    match &report.outcome {
        Outcome::Written => {
            let note = telling.choose("", " (would be written)");
            tell_hooks(ui, report, &format!("{name}{version}"), note, &file)?;
        }
        Outcome::Unchanged => {
            let note = telling.choose(" (as it was)", " (would stay as it is)");
            tell_hooks(ui, report, &format!("{name}{version}"), note, &file)?;
        }
        Outcome::Removed => {
            let taken = telling.choose("taken", "would be taken");
            let edited = match (report.was_edited, &report.backup) {
                (true, None) => {
                    telling.choose("; what was changed there since stays", "; what was changed there since would stay")
                }
                (true, Some(_)) => "; it was changed since",
                (false, _) => ", byte for byte",
            };
            ui.status(format_args!("{GOOD}✓{GOOD:#} {name}: {taken} out of {file}{edited}"))?;
        }
        Outcome::NotDetected => {
            ui.status(format_args!("{BAD}✗{BAD:#} {name} was chosen but is not on this machine"))?;
            ui.status(format_args!("    {skipped}; run `carryover {}` after installing it", telling.again))?;
        }
        Outcome::TooOld(since) => {
            ui.status(format_args!("{BAD}✗{BAD:#} {name}{version} is older than the first with hooks, {since}"))?;
            ui.status(format_args!("    {skipped}; update it, then run `carryover {}`", telling.again))?;
        }
        Outcome::NoHooks => {
            let watched = telling.choose("are watched", "would be watched");
            ui.status(format_args!("{DIM}–{DIM:#} {name} has no hooks: its sessions {watched}"))?;
        }
        Outcome::Failed(error) => {
            ui.write_line(format_args!("{BAD}✗{BAD:#} {name}{version}: {}", describe_error(error)))?;
            let again = format!("run `carryover {}`", telling.again);
            ui.status(format_args!("    {}", explain_install_error(error, &again)))?;
        }
    }
    tell_doubts(ui, context, report, telling)
}

/// Tells an agent whose hooks or commands are, or would be, in place.
fn tell_hooks(ui: &mut Ui, report: &AgentReport, name: &str, note: &str, file: &str) -> Result<(), CommandError> {
    ui.status(format_args!("{GOOD}✓{GOOD:#} {BOLD}{name}{BOLD:#}{DIM}{note}{DIM:#}"))?;
    ui.status(format_args!("    file   {file}"))?;
    if !report.commands.is_empty() {
        ui.status(format_args!("    types  {}", report.commands.join(", ")))?;
    } else if report.events.is_empty() {
        ui.status("    reads  .carryover/handoff.md at every start")?;
    } else {
        ui.status(format_args!("    hooks  {}", report.events.join(", ")))?;
    }
    if let Some(step) = user_step(report) {
        ui.status(format_args!("    {DOUBTFUL}you{DOUBTFUL:#}    {step}"))?;
    }
    Ok(())
}

fn tell_doubts(ui: &mut Ui, context: &Context, report: &AgentReport, telling: Telling) -> Result<(), CommandError> {
    if let Some((version, known)) = report.version.zip(report.newer_than) {
        let (name, has) = (report.facts.name, telling.choose("it has", "it would have"));
        ui.warning(format_args!(
            "{name} {version} is newer than what carryover knows ({known}): {has} the hooks of that version; update \
             carryover when you can"
        ))?;
    }
    if let Some(backup) = report.backup.as_ref().filter(|_| report.was_edited) {
        let path = abbreviate_home(context, &context.home.join("backups").join(backup));
        let is = telling.choose("is", "would be");
        ui.status(format_args!("    {DIM}a copy of it {is} in {path}{DIM:#}"))?;
    }
    Ok(())
}

/// Tells what became of the service.
pub(crate) fn tell_service(ui: &mut Ui, context: &Context, outcome: &ServiceOutcome) -> Result<(), CommandError> {
    let shown = |path: &std::path::Path| abbreviate_home(context, path);
    match outcome {
        ServiceOutcome::Registered(path) => {
            ui.status(format_args!("{GOOD}✓{GOOD:#} the daemon starts at login ({})", shown(path)))?;
        }
        ServiceOutcome::Unchanged(path) => {
            ui.status(format_args!("{GOOD}✓{GOOD:#} the daemon starts at login ({}, as it was)", shown(path)))?;
        }
        ServiceOutcome::Removed(path) => {
            ui.status(format_args!("{GOOD}✓{GOOD:#} the daemon no longer starts at login ({})", shown(path)))?;
        }
        ServiceOutcome::Unavailable { line, file } => {
            ui.status("– nobody starts services for a user here, so the daemon is started now only")?;
            ui.hint(format_args!("to start it at every login, put this line into {file}: {line}"))?;
        }
        ServiceOutcome::Failed { reason, .. } => {
            ui.warning(format_args!("the daemon could not be registered, and is started now only: {reason}"))?;
        }
    }
    Ok(())
}

/// Tells what would become of the service.
pub(crate) fn tell_planned_service(ui: &mut Ui, context: &Context) -> Result<(), CommandError> {
    if service::find_manager(context).is_some() {
        ui.status(format_args!("{GOOD}✓{GOOD:#} the daemon would be started, and with every login"))?;
    } else {
        ui.status("– nobody starts services for a user here, so the daemon would be started now only")?;
    }
    Ok(())
}

/// Fails where an agent's file could not be changed; the others are set up all the same.
pub(crate) fn fail_if_any(reports: &[AgentReport], telling: Telling) -> Result<(), CommandError> {
    let failed = reports.iter().filter(|report| matches!(report.outcome, Outcome::Failed(_))).count();
    if failed == 0 {
        return Ok(());
    }
    let words = if failed == 1 {
        format!("1 file {} left as it is", telling.choose("was", "would be"))
    } else {
        format!("{failed} files {} left as they are", telling.choose("were", "would be"))
    };
    let hint = format!("once that is mended, run `carryover {}`", telling.again);
    Err(CommandError::new(ErrorKind::Io, words).with_hint(hint))
}
