//! `carryover import`.

mod document;
mod here;
mod listing;

use std::path::{Path, PathBuf};

use carryover_agents::{AGENTS, Agent, Target};
use carryover_engine::capsule::Capsule;
use carryover_engine::capsule::import::{
    ImportOptions, Imported, TargetChoice, WorkspaceOutcome, choose_target, import_capsule,
};
use carryover_engine::capsule::manifest::Manifest;
use carryover_engine::capsule::shelf::{ShelvedCapsule, find_capsules};
use carryover_engine::client;
use carryover_engine::context::Context;
use carryover_engine::sessions::select::{Query, select_session};
use clap::Args;

pub(crate) use document::import_document;
use here::{SessionHere, go_on_here};

use super::capsule::{list_masks, open_named};
use super::front::run_words;
use super::resume::native::{show_next_steps, write_report};
use crate::args::{Globals, agent_parser, parse_tokens};
use crate::error::{CommandError, ErrorKind};
use crate::process_env::resolve_path;
use crate::session_row::abbreviate_home;
use crate::ui::{DIM, GOOD, Ui};

/// Go on with a capsule, or list what can be gone on with
///
/// A capsule is verified before anything is written. Its files go into an empty folder, or into a clean checkout of the same
/// commit, where staged changes are staged again; then its session is written into an agent's own store, with the new folder
/// in place of the old. The agent is the one that it comes from if that is installed, else the best that is. Without FILE,
/// it lists capsules and sessions that were found. `carryover undo` takes the session back, and with
/// --files the files, too.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  carryover import                                      what there is
  carryover import fix.tar.zst --project ~/work/fix     into a new folder
  carryover import fix.tar.zst --target codex
  carryover import 5f404d9a --no-files                  in this folder, as it is")]
pub(crate) struct ImportArgs {
    /// A capsule: a file, a folder or an id; or a session
    #[arg(value_name = "FILE|ID", value_hint = clap::ValueHint::AnyPath)]
    capsule: Option<PathBuf>,
    #[command(flatten)]
    how: ImportHow,
}

/// How a capsule is gone on with.
#[derive(Args)]
pub(super) struct ImportHow {
    /// The agent to go on in [default: its own, if installed]
    #[arg(long, short, alias = "to", value_name = "AGENT", value_parser = agent_parser(), hide_possible_values = true)]
    target: Option<&'static dyn Agent>,
    /// The folder for its files, made where it is missing [default: this one]
    #[arg(long, alias = "workspace", value_name = "FOLDER", value_hint = clap::ValueHint::DirPath)]
    project: Option<PathBuf>,
    /// Make a copy, also of a session that is here already
    #[arg(long)]
    fork: bool,
    /// Leave the folder as it is, and tell what differs
    #[arg(long, conflicts_with = "force")]
    no_files: bool,
    /// Write files into a folder that is neither empty nor clean
    #[arg(long)]
    force: bool,
    /// Fit it into this many tokens [default: what the target takes]
    #[arg(long, value_name = "N", value_parser = parse_tokens)]
    tokens: Option<u64>,
}

pub(crate) fn cmd_import(
    ui: &mut Ui,
    context: &Context,
    globals: Globals,
    args: &ImportArgs,
) -> Result<(), CommandError> {
    let Some(word) = &args.capsule else { return listing::list_importable(ui, context, globals) };
    if let Some((words, capsule)) = find_session(context, &args.how, word) {
        if let Some(id) = capsule.filter(|_| !ui.is_json()) {
            ui.hint(format_args!("that is the session itself; `carryover import {id}` opens a capsule of it"))?;
        }
        if args.how.force {
            return Err(CommandError::usage(
                "`--force` writes a capsule's files, and that is a session of this machine",
            )
            .with_hint("leave it out: the session is gone on with, and no file is touched"));
        }
        return run_words(ui, globals, &words);
    }
    let (path, capsule) = open_named(context, word)?;
    import_opened(ui, context, globals, &args.how, &path, capsule)
}

/// Goes on with a capsule, whose name for people is a path.
pub(super) fn import_opened(
    ui: &mut Ui,
    context: &Context,
    globals: Globals,
    how: &ImportHow,
    path: &Path,
    capsule: Capsule,
) -> Result<(), CommandError> {
    let target = match how.target {
        Some(agent) if agent.writer().is_none() => return Err(explain_no_writer(agent)),
        Some(agent) => TargetChoice { agent, reason: "it was named".to_owned(), is_ambiguous: false },
        None => settle_target(ui, context, globals, &capsule.manifest)?,
    };
    let here = SessionHere::find(context, how, &capsule.manifest, target.agent);
    let mut verified = ui.while_doing("verifying the capsule…", || capsule.verify())?;
    let folder = how.project.as_deref().map_or_else(|| context.cwd.clone(), |project| context.cwd.join(project));
    let options = ImportOptions {
        target: target.agent,
        folder: resolve_path(&folder),
        files: !how.no_files,
        force: how.force,
        tokens: how.tokens.or(context.config.resume.tokens),
    };
    let mut copied = None;
    if let Some(here) = &here {
        copied = here.tell_longer_capsule(&verified.manifest);
        if copied.is_none() {
            if !here.is_left_behind(context, &mut verified, &options)? {
                return go_on_here(ui, context, globals, here, path, &mut verified, &options);
            }
            let name = target.agent.facts().name;
            copied = Some(format!("{name} has that session already, in another folder: this is a copy, in this one"));
        }
    }
    let mut imported =
        ui.while_doing("unpacking the capsule…", || import_capsule(context, &mut verified, &options))?;
    imported.report.warnings.extend(copied);
    if ui.is_json() {
        return Ok(ui.write_json(&import_document(path, &verified, &target, &imported))?);
    }
    tell_import(ui, context, &imported, &target, &verified.manifest)
}

/// An agent that takes words only gets them in a second step: the files of a capsule come with its session.
fn explain_no_writer(agent: &dyn Agent) -> CommandError {
    let facts = agent.facts();
    CommandError::new(ErrorKind::Io, format!("no session can be written for {}", facts.name))
        .with_hint("without `--target`, or with another, it is brought to an agent that takes it, and its id told")
        .with_hint(format!("`carryover resume ID --target {}` then hands it over as words", facts.id))
}

/// The command for a session that was found, where a word means one, with the id of a capsule of it: a session that is here may
/// have gone on since.
fn find_session(context: &Context, how: &ImportHow, word: &Path) -> Option<(Vec<String>, Option<String>)> {
    if context.cwd.join(word).exists() {
        return None;
    }
    let word = word.to_string_lossy();
    let capsules = find_capsules(context, &word);
    if capsules.iter().any(|capsule| capsule.manifest.id.starts_with(&*word)) {
        return None;
    }
    let query = Query { words: Some(word.clone().into_owned()), ..Query::default() };
    let session = select_session(context, &query).ok()?.session;
    let is_of_it = |capsule: &ShelvedCapsule| capsule.manifest.source.session_id == session.found.id.0;
    if !capsules.iter().all(is_of_it) {
        return None;
    }
    let capsule = capsules.into_iter().next().map(|capsule| capsule.manifest.id);
    let agent = how.target.unwrap_or(session.agent).facts().id;
    let (id, source) = (&session.found.id, session.agent.facts().id);
    let mut words = vec!["resume".to_owned(), format!("--session={id}"), format!("--source={source}")];
    words.push(format!("--target={agent}"));
    words.extend(how.project.as_ref().map(|project| format!("--project={}", project.display())));
    words.extend(how.tokens.map(|tokens| format!("--tokens={tokens}")));
    words.extend(how.fork.then(|| "--fork".to_owned()));
    Some((words, capsule))
}

/// The agent that is chosen by itself; where others would do as well and somebody is there, it is asked for.
fn settle_target(
    ui: &mut Ui,
    context: &Context,
    globals: Globals,
    manifest: &Manifest,
) -> Result<TargetChoice, CommandError> {
    let choice = choose_target(context, manifest)?;
    if !choice.is_ambiguous || !ui.is_interactive() || globals.yes {
        return Ok(choice);
    }
    ui.write_line(&choice.reason)?;
    let is_installed = |agent: &dyn Agent| client::find_agent_program(context, agent.facts()).is_some();
    let mut takers: Vec<&'static dyn Agent> = AGENTS.iter().copied().filter(|agent| agent.writer().is_some()).collect();
    takers.sort_by_key(|agent| !is_installed(*agent));
    for (index, agent) in takers.iter().enumerate() {
        let facts = agent.facts();
        let state = if is_installed(*agent) { "installed" } else { "not installed" };
        ui.write_line(format_args!("{:>2}  {:<20} {state}", index + 1, Target::from_facts(facts).name))?;
    }
    let answer = ui.ask_choice("go on in which one? (number, or q to leave)")?.ok_or_else(CommandError::left)?;
    let agent = answer.parse::<usize>().ok().and_then(|number| takers.get(number.checked_sub(1)?)).copied();
    let agent = agent.ok_or_else(|| CommandError::new(ErrorKind::Usage, "that is none of the numbers"))?;
    Ok(TargetChoice { agent, reason: "it was chosen".to_owned(), is_ambiguous: false })
}

fn tell_import(
    ui: &mut Ui,
    context: &Context,
    imported: &Imported,
    target: &TargetChoice,
    manifest: &Manifest,
) -> Result<(), CommandError> {
    ui.status(format_args!("{GOOD}verified{GOOD:#} capsule {}", manifest.id))?;
    tell_files(ui, context, &imported.workspace, &imported.project)?;
    ui.status(format_args!("  agent       {}: {}", target.agent.facts().name, target.reason))?;
    if imported.own_records {
        ui.status("  records     the agent's own, as it wrote them")?;
    }
    if manifest.redacted {
        ui.status(format_args!("  masked      {}", list_masks(&imported.masked)))?;
    }
    write_report(ui, context, &imported.report)?;
    show_next_steps(ui, context, &imported.report, false)
}

/// What became of the files, and in which folder.
fn tell_files(ui: &mut Ui, context: &Context, workspace: &WorkspaceOutcome, folder: &Path) -> Result<(), CommandError> {
    let files = match workspace {
        WorkspaceOutcome::Absent => "none in the capsule".to_owned(),
        WorkspaceOutcome::Same => "as in the capsule already".to_owned(),
        WorkspaceOutcome::Restored(restored) => {
            let deleted = if restored.deleted > 0 { format!(", {} deleted", restored.deleted) } else { String::new() };
            let staged = if restored.index { ", staged as they were" } else { "" };
            match (restored.files, restored.deleted, restored.index) {
                (0, 0, true) => "as in the capsule already; what was staged is staged again".to_owned(),
                (files, ..) => format!("{files} written{deleted}{staged}"),
            }
        }
        WorkspaceOutcome::Left(drift) => {
            let differs = if drift.count() == 1 { "differs" } else { "differ" };
            format!("left as they are; {} {differs}", drift.count())
        }
    };
    ui.status(format_args!("  files       {files}"))?;
    ui.status(format_args!("  folder      {DIM}{}{DIM:#}", abbreviate_home(context, folder)))?;
    Ok(())
}
