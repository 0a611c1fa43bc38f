//! `carryover install`.

mod checklist;
mod question;
mod summary;

use carryover_agents::{Facts, all_facts};
use carryover_engine::context::Context;
use carryover_engine::install::detection::{self, Detected};
use carryover_engine::install::record::InstallRecord;
use carryover_engine::install::service::{self, RealRunner, ServiceOutcome};
use carryover_engine::install::setup::{self, Choice};
use carryover_engine::install::{program, setup::Outcome};
use carryover_engine::own::config::{self, PROTOCOLS};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::args::Globals;
use crate::error::{CommandError, ErrorKind, NO_AGENT_HINTS};
use crate::ui::{self, BOLD, Ui};
use crate::{daemon, process_env, screen};

pub(super) use summary::{Telling, fail_if_any, tell_report, tell_service, write_document};

/// Let agents call carryover, so that the next one starts informed
///
/// Asks which agents shall call carryover, puts hooks into their own settings, and starts the daemon with every login.
/// Nothing else in those files changes, a copy of each is kept, and `carryover uninstall` takes all of it back. A file that
/// cannot be read is left alone.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  carryover install
  carryover install --yes
  carryover install --agents claude-code,codex --protocol brief
  carryover install --yes --commands
  carryover install --yes --dry-run")]
pub(crate) struct InstallArgs {
    #[command(flatten)]
    setup: SetupArgs,
}

/// How agents are set up, for the first time or again.
#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "they are switches of a command line")]
pub(crate) struct SetupArgs {
    /// These agents, with commas between them, and no question
    #[arg(long, value_name = "AGENTS", value_delimiter = ',', value_parser = facts_parser(), hide_possible_values = true)]
    agents: Vec<&'static Facts>,
    /// How the next agent opens with a handoff: ask, brief or silent
    #[arg(long, value_name = "PROTOCOL", value_parser = PROTOCOLS.to_vec(), hide_possible_values = true)]
    protocol: Option<String>,
    /// Aider has no hooks: let it read .carryover/handoff.md at every start
    #[arg(long)]
    aider_read: bool,
    /// Also put /workspace.resume, /workspace.plan and the like into agents that have commands
    #[arg(long)]
    commands: bool,
    /// Neither register nor start the daemon; `refresh` does not either, then
    #[arg(long)]
    pub(super) no_service: bool,
    /// Tell what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
}

/// Accepts ids and aliases of everybody, editors included.
fn facts_parser() -> impl TypedValueParser<Value = &'static Facts> {
    let named = |name: &str| all_facts().find(|facts| facts.id == name || facts.aliases.contains(&name));
    let values =
        all_facts().map(|facts| PossibleValue::new(facts.id).aliases(facts.aliases.iter().copied()).help(facts.name));
    PossibleValuesParser::new(values).try_map(move |name| named(&name).ok_or("no agent of that name"))
}

pub(crate) fn cmd_install(
    ui: &mut Ui,
    context: &Context,
    globals: Globals,
    args: &InstallArgs,
) -> Result<(), CommandError> {
    let detected = detection::detect_hooked(context);
    if args.setup.agents.is_empty() && !detected.iter().any(|found| found.presence.is_present()) {
        let error = CommandError::new(ErrorKind::NoAgent, "no agent with hooks was found");
        return Err(NO_AGENT_HINTS.into_iter().fold(error, CommandError::with_hint));
    }
    let earlier = InstallRecord::load(&context.home)?;
    let agents = choose_agents(ui, context, globals, &args.setup, &detected, |found| found.presence.is_present())?;
    let Some(agents) = agents else {
        return Err(CommandError::usage("nobody can be asked which agents shall call carryover")
            .with_hint("`--yes` takes those that are here, `--agents A,B` those that are named"));
    };
    let service = !args.setup.no_service;
    apply_choice(ui, context, &args.setup, Chosen { agents, service, earlier: earlier.as_ref() })
}

/// The agents that are named, taken without a question, or chosen; `None` where nobody can be asked.
pub(super) fn choose_agents(
    ui: &Ui,
    context: &Context,
    globals: Globals,
    args: &SetupArgs,
    detected: &[Detected],
    is_checked: impl Fn(&Detected) -> bool,
) -> Result<Option<Vec<&'static Facts>>, CommandError> {
    if !args.agents.is_empty() {
        return Ok(Some(args.agents.clone()));
    }
    let checked = || detected.iter().filter(|found| is_checked(found)).map(|found| found.facts).collect();
    if globals.yes {
        return Ok(Some(checked()));
    }
    if ui.is_interactive() && screen::is_usable(context) {
        let checklist = checklist::Checklist::new(detected, &is_checked);
        return question::ask_agents(checklist, ui::has_colors(globals.color, true)).map(Some);
    }
    Ok(args.dry_run.then(checked))
}

/// What was chosen now and before.
pub(super) struct Chosen<'a> {
    pub(super) agents: Vec<&'static Facts>,
    /// The daemon shall be registered and started.
    pub(super) service: bool,
    pub(super) earlier: Option<&'a InstallRecord>,
}

/// Sets up what was chosen, starts the daemon, and tells all of it.
pub(super) fn apply_choice(
    ui: &mut Ui,
    context: &Context,
    args: &SetupArgs,
    chosen: Chosen<'_>,
) -> Result<(), CommandError> {
    let Chosen { agents, service: uses_service, earlier } = chosen;
    service::check_own_home(context)?;
    let program = program::choose_program(context, &process_env::current_program()?)?;
    let choice = Choice {
        agents,
        uses_read_lists: args.aider_read || earlier.is_some_and(|record| record.uses_read_lists),
        uses_commands: args.commands || earlier.is_some_and(|record| record.uses_commands),
        protocol: args.protocol.clone(),
        uses_service: uses_service || earlier.is_some_and(|record| record.uses_service),
    };
    if let Some(protocol) = args.protocol.as_ref().filter(|_| !args.dry_run) {
        config::set(&context.home, "handoff.protocol", protocol)?;
    }
    let reports = setup::set_up(context, &program, &choice, args.dry_run)?;
    let telling = Telling { dry_run: args.dry_run, again: "refresh" };
    for report in &reports {
        tell_report(ui, context, report, telling)?;
    }
    if uses_service && args.dry_run {
        summary::tell_planned_service(ui, context)?;
    }
    let is_started = uses_service && !args.dry_run;
    if is_started && daemon::stop_another_program(context).is_err() {
        ui.warning("a daemon of another version does not end; `carryover daemon logs` tells what it does")?;
    }
    let service = match is_started.then(|| service::register(context, &program, &mut RealRunner::new(context))) {
        Some(registered) => Some(registered?),
        None => None,
    };
    if let Some(outcome) = &service {
        tell_service(ui, context, outcome)?;
    }
    if ui.is_json() {
        write_document(ui, &reports, service.as_ref(), args.dry_run)?;
    }
    if is_started {
        match service {
            // It is on its way; a second one would only be in its way.
            Some(ServiceOutcome::Registered(_) | ServiceOutcome::Unchanged(_)) => daemon::wait_for_answer(context)?,
            _ => drop(daemon::start_in_background(context)?),
        }
        if let Some(trouble) = daemon::client::query_status(context).and_then(|status| status.port_trouble) {
            ui.warning(trouble)?;
        }
    }
    fail_if_any(&reports, telling)?;
    if args.dry_run {
        ui.status(format_args!("{BOLD}nothing was written{BOLD:#}"))?;
    } else if reports.iter().any(|report| matches!(report.outcome, Outcome::Written)) {
        ui.hint("agents that are running see it after their next start; `carryover uninstall` takes it back")?;
    }
    Ok(())
}
