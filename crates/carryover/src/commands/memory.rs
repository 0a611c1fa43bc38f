//! `carryover memory`.

mod show;
mod sync;

use std::path::{Path, PathBuf};

use carryover_agents::{Facts, Target, all_facts};
use carryover_engine::context::Context;
use carryover_engine::memory::overview::present_agents;
use carryover_engine::memory::sync_plan::find_project;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};

use crate::args::Globals;
use crate::error::CommandError;
use crate::process_env::resolve_path;
use crate::ui::Ui;

/// Show which agent reads which instructions, and where they differ
///
/// Files that tell agents' models something: AGENTS.md, CLAUDE.md, GEMINI.md, rules, and the user's own in the home. Of the
/// project's, each is compared with the one that `carryover memory sync` would make the source of the others.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  carryover memory
  carryover memory --all --json
  carryover memory sync --dry-run
  carryover memory sync --from CLAUDE.md --to codex
  carryover undo               take the last sync back")]
pub(crate) struct MemoryArgs {
    #[command(subcommand)]
    action: Option<Action>,
    /// The folder of the project [default: this one]
    #[arg(long, alias = "workspace", value_name = "FOLDER", value_hint = clap::ValueHint::DirPath, global = true)]
    project: Option<PathBuf>,
    /// For every agent that is known, not only for those that are here
    #[arg(long, global = true)]
    all: bool,
}

#[derive(Subcommand)]
enum Action {
    Sync(sync::SyncArgs),
}

pub(crate) fn cmd_memory(
    ui: &mut Ui,
    context: &Context,
    globals: Globals,
    args: &MemoryArgs,
) -> Result<(), CommandError> {
    let given = args.project.as_deref().map(resolve_path);
    let project = find_project(context, context.project_or_cwd(given.as_deref()))?;
    match &args.action {
        None => show::show_files(ui, context, &project, &choose_agents(context, &project, args.all)),
        Some(Action::Sync(sync)) => {
            let present = choose_agents(context, &project, args.all);
            sync::sync_files(ui, context, globals, &project, &present, sync)
        }
    }
}

fn choose_agents(context: &Context, project: &Path, all: bool) -> Vec<&'static Facts> {
    if all { all_facts().collect() } else { present_agents(context, project) }
}

/// Accepts ids and aliases of everybody.
fn facts_parser() -> impl TypedValueParser<Value = &'static Facts> {
    let values = Target::all()
        .map(|target| PossibleValue::new(target.id).aliases(target.aliases.iter().copied()).help(target.name));
    PossibleValuesParser::new(values).try_map(|name| find_facts(&name).ok_or("no agent of that name"))
}

fn find_facts(name: &str) -> Option<&'static Facts> {
    all_facts().find(|facts| facts.id == name || facts.aliases.contains(&name))
}
