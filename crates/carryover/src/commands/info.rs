//! `carryover info`.

use carryover_agents::{AGENTS, Agent, Facts, FrontMatter, MemoryFile, MemoryPlace, Reach};
use carryover_core::plain::one_line;
use carryover_engine::context::Context;
use carryover_engine::memory::files::find_files;
use carryover_engine::memory::imports::find_imported;
use clap::Args;
use serde::Serialize;

use crate::args::agent_parser;
use crate::error::CommandError;
use crate::quantity;
use crate::session_row::abbreviate_home;
use crate::settings::{Setting, collect_settings};
use crate::ui::{BOLD, DIM, Ui};

/// Tell what is known of an agent, and the settings in force
#[derive(Args)]
pub(crate) struct InfoArgs {
    /// The agent; all by default
    #[arg(value_name = "AGENT", value_parser = agent_parser(), hide_possible_values = true)]
    agent: Option<&'static dyn Agent>,
}

/// Known facts, as `--json` tells them.
#[derive(Serialize)]
struct Info {
    schema: &'static str,
    version: &'static str,
    home: String,
    settings: Vec<Setting>,
    agents: Vec<AgentInfo>,
}

#[derive(Serialize)]
struct AgentInfo {
    id: &'static str,
    name: &'static str,
    aliases: &'static [&'static str],
    programs: &'static [&'static str],
    stores: Vec<StoreInfo>,
    instruction_files: Vec<&'static str>,
    memory_files: Vec<MemoryInfo>,
    /// What stands before the path of a file that another one takes in.
    import_prefix: Option<&'static str>,
    versions_seen: VersionsSeen,
    windows: Vec<Window>,
    windows_as_of: Option<&'static str>,
    default_window: u64,
    native_resume: bool,
    /// Whether `--into-editor` writes sessions into its editor.
    into_editor: bool,
    /// How far what is known of it was verified.
    evidence: &'static str,
}

#[derive(Serialize)]
struct StoreInfo {
    path: String,
    exists: bool,
}

/// A file that tells its model something.
#[expect(clippy::struct_excessive_bools, reason = "each is a field of the document")]
#[derive(Serialize)]
struct MemoryInfo {
    path: String,
    /// `project` or `user`.
    scope: &'static str,
    /// At least one that fits is there.
    exists: bool,
    when: Option<&'static str>,
    unless: &'static [&'static str],
    read_above: bool,
    read_below: bool,
    private: bool,
    #[serde(skip)]
    notes: Vec<String>,
}

#[derive(Serialize)]
struct VersionsSeen {
    oldest: &'static str,
    newest: &'static str,
}

#[derive(Serialize)]
struct Window {
    model: &'static str,
    tokens: u64,
}

pub(crate) fn cmd_info(ui: &mut Ui, context: &Context, args: &InfoArgs) -> Result<(), CommandError> {
    let chosen: Vec<&'static dyn Agent> = match args.agent {
        Some(agent) => vec![agent],
        None => AGENTS.to_vec(),
    };
    let agents: Vec<AgentInfo> = chosen.into_iter().map(|agent| collect_info(context, agent)).collect();
    if ui.is_json() {
        let version = env!("CARGO_PKG_VERSION");
        let home = context.home.display().to_string();
        let settings = collect_settings(context);
        ui.write_json(&Info { schema: "carryover.info/1", version, home, settings, agents })?;
        return Ok(());
    }
    if args.agent.is_none() {
        write_settings(ui, context)?;
    }
    for (index, agent) in agents.iter().enumerate() {
        if index > 0 || args.agent.is_none() {
            writeln!(ui.out())?;
        }
        write_agent(ui, context, agent)?;
    }
    Ok(())
}

fn write_settings(ui: &mut Ui, context: &Context) -> Result<(), CommandError> {
    let settings = collect_settings(context);
    let keys = settings.iter().map(|setting| setting.key.len()).max().unwrap_or(0);
    writeln!(ui.out(), "{BOLD}Settings{BOLD:#}")?;
    for setting in settings {
        let key = &setting.key;
        let source = match setting.variable {
            Some(variable) => format!("{variable} in the environment"),
            None => setting.source.to_owned(),
        };
        let value = one_line(&setting.value, 200);
        ui.write_row(format_args!("  {key:<keys$}  {value}  {DIM}{source}{DIM:#}"))?;
    }
    Ok(())
}

fn collect_info(context: &Context, agent: &dyn Agent) -> AgentInfo {
    let facts: &'static Facts = agent.facts();
    let candidates = facts.store_candidates(&context.env);
    AgentInfo {
        id: facts.id,
        name: facts.name,
        aliases: facts.aliases,
        programs: facts.binaries,
        stores: candidates
            .iter()
            .map(|path| StoreInfo { path: path.display().to_string(), exists: path.is_dir() })
            .collect(),
        instruction_files: facts.instruction_files().collect(),
        memory_files: list_memory(context, facts),
        import_prefix: facts.memory.import,
        versions_seen: VersionsSeen { oldest: facts.versions_seen.0, newest: facts.versions_seen.1 },
        windows: facts.windows.iter().map(|w| Window { model: w.prefix, tokens: w.tokens }).collect(),
        windows_as_of: Some(facts.windows_checked_on).filter(|day| !day.is_empty()),
        default_window: facts.default_window,
        native_resume: agent.writer().is_some(),
        into_editor: agent.editor_writer().is_some(),
        evidence: facts.evidence.name(),
    }
}

/// Files that it is known to read, and those here that they take in.
fn list_memory(context: &Context, facts: &'static Facts) -> Vec<MemoryInfo> {
    let known = facts.memory.files.iter().map(|file| memory_info(context, facts, file));
    let imported = find_imported(&context.env, facts, &context.cwd).into_iter();
    let taken_in = imported.map(|file| MemoryInfo {
        path: file.name,
        scope: if file.is_users { "user" } else { "project" },
        exists: true,
        when: None,
        unless: &[],
        read_above: false,
        read_below: false,
        private: file.is_users,
        notes: vec![format!("taken in by {}", file.through)],
    });
    known.chain(taken_in).collect()
}

fn memory_info(context: &Context, facts: &Facts, file: &'static MemoryFile) -> MemoryInfo {
    let found = find_files(&context.env, facts, &context.cwd);
    let is_user = file.place != MemoryPlace::Project;
    let root = file.root(facts, &context.env, &context.cwd).filter(|_| is_user);
    MemoryInfo {
        path: root.map_or_else(|| file.path.to_owned(), |root| root.join(file.path).display().to_string()),
        scope: if is_user { "user" } else { "project" },
        exists: found.iter().any(|found| std::ptr::eq(found.file, file)),
        when: file.when.or_else(|| file.front_matter.map(FrontMatter::describe)),
        unless: file.unless,
        read_above: !matches!(file.reach, Reach::Here),
        read_below: file.is_read_below,
        private: file.is_private,
        notes: file.notes(),
    }
}

fn describe_memory(context: &Context, file: &MemoryInfo) -> String {
    let is_user = file.scope == "user";
    let path = if is_user { abbreviate_home(context, file.path.as_ref()) } else { file.path.clone() };
    let there = file.exists.then(|| if is_user { "there" } else { "here" }.to_owned());
    let notes: Vec<String> = there.into_iter().chain(file.notes.iter().cloned()).collect();
    if notes.is_empty() { path } else { format!("{path} ({})", notes.join("; ")) }
}

fn write_agent(ui: &mut Ui, context: &Context, agent: &AgentInfo) -> Result<(), CommandError> {
    ui.write_row(format_args!("{BOLD}{}{BOLD:#}", agent.name))?;
    let names: Vec<&str> = std::iter::once(agent.id).chain(agent.aliases.iter().copied()).collect();
    ui.write_row(format_args!("  names          {}", names.join(", ")))?;
    ui.write_row(format_args!("  programs       {}", agent.programs.join(", ")))?;
    for (index, store) in agent.stores.iter().enumerate() {
        let label = if index == 0 { "stores" } else { "" };
        let there = if store.exists { "" } else { " (not there)" };
        ui.write_row(format_args!("  {label:<13}  {}{there}", abbreviate_home(context, store.path.as_ref())))?;
    }
    ui.write_row(format_args!("  versions read  {}", format_versions(&agent.versions_seen)))?;
    for (index, file) in agent.memory_files.iter().enumerate() {
        let label = if index == 0 { "instructions" } else { "" };
        ui.write_row(format_args!("  {label:<13}  {}", describe_memory(context, file)))?;
    }
    let windows = agent.windows.iter().map(|w| format!("{}* {}", w.model, quantity::format_tokens(w.tokens)));
    let windows: Vec<String> =
        windows.chain([format!("others {}", quantity::format_tokens(agent.default_window))]).collect();
    let as_of = agent.windows_as_of.map(|day| format!(" (as of {day})")).unwrap_or_default();
    ui.write_row(format_args!("  token windows  {}{as_of}", windows.join(", ")))?;
    let native = if agent.native_resume { "yes" } else { "no" };
    let editor = if agent.into_editor { "; into its editor with `--into-editor`, while that is closed" } else { "" };
    ui.write_row(format_args!("  native resume  {native}{editor}"))?;
    ui.write_row(format_args!("  verified by    {}", agent.evidence))?;
    Ok(())
}

/// The versions in between, or the one that there is.
fn format_versions(seen: &VersionsSeen) -> String {
    let VersionsSeen { oldest, newest } = seen;
    if oldest.is_empty() {
        return "not told".to_owned();
    }
    if oldest == newest { (*oldest).to_owned() } else { format!("{oldest} to {newest}") }
}
