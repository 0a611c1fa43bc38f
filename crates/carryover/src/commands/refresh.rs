//! `carryover refresh`.

use carryover_agents::all_facts;
use carryover_engine::context::Context;
use carryover_engine::install::detection;
use carryover_engine::install::record::InstallRecord;
use clap::Args;

use crate::args::Globals;
use crate::commands::install::{self, Chosen, SetupArgs};
use crate::error::{CommandError, ErrorKind};
use crate::ui::Ui;

/// Bring hooks up to date with the agents that are installed
///
/// Asks the question of `carryover install` again, with what was chosen before, and writes only what differs: for agents
/// that were added, removed or upgraded, and where carryover itself has moved. Without a terminal, what was chosen before
/// holds.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  carryover refresh
  carryover refresh --yes
  carryover refresh --agents claude-code,gemini-cli")]
pub(crate) struct RefreshArgs {
    #[command(flatten)]
    setup: SetupArgs,
}

pub(crate) fn cmd_refresh(
    ui: &mut Ui,
    context: &Context,
    globals: Globals,
    args: &RefreshArgs,
) -> Result<(), CommandError> {
    let Some(record) = InstallRecord::load(&context.home)? else {
        return Err(
            CommandError::new(ErrorKind::NotFound, "nothing is installed yet").with_hint("`carryover install` does it")
        );
    };
    let detected = detection::detect_hooked(context);
    let was_chosen = |id: &str| record.agents.iter().any(|chosen| chosen == id);
    let chosen =
        install::choose_agents(ui, context, globals, &args.setup, &detected, |found| was_chosen(found.facts.id))?;
    let agents = chosen.unwrap_or_else(|| all_facts().filter(|facts| was_chosen(facts.id)).collect());
    let is_new = |facts: &str| !was_chosen(facts) && !agents.iter().any(|chosen| chosen.id == facts);
    let added = detected.iter().filter(|found| found.presence.is_present() && is_new(found.facts.id));
    let added: Vec<&str> = added.map(|found| found.facts.id).collect();
    let service = record.uses_service && !args.setup.no_service;
    install::apply_choice(ui, context, &args.setup, Chosen { agents, service, earlier: Some(&record) })?;
    if !added.is_empty() {
        ui.hint(format_args!("also here, and not chosen: {}", added.join(", ")))?;
    }
    Ok(())
}
