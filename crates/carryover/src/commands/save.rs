//! `carryover save`.

mod sealing;

use std::collections::BTreeMap;
use std::path::PathBuf;

use carryover_core::render::saved::{SavedStatus, is_type};
use carryover_engine::context::Context;
use carryover_engine::conversations::commit::{CommitError, Committed, commit_conversation};
use carryover_engine::conversations::save::{SaveOptions, SavePlan, Saved, apply_save, plan_save};
use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::args::{Globals, SessionArgs};
use crate::choice;
use crate::error::{CommandError, ErrorKind};
use crate::process_env::resolve_path;
use crate::quantity;
use crate::session_row::abbreviate_home;
use crate::ui::{DIM, GOOD, Ui};

/// Keep a session in its project, to commit it and go on later
///
/// Writes `conversations/<date>/<nnn>-<type>-<topic>/`: a document for people, and `.session/` for the next agent. Saving
/// again adds what was said since. Keys, tokens and passwords are masked, and with --encrypt all that was said is sealed.
/// `carryover resume ID` goes on with it, in any agent, also on another machine.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  carryover save                                    the newest session here
  carryover save --type plan --topic \"move to axum\"
  carryover save 8f3c21aa --status completed --commit
  carryover save --encrypt --recipient ~/.ssh/id_ed25519.pub
  carryover resume 001-plan-move-to-axum --target codex

Without --type, the command that began the session names it (/workspace.plan: plan), else it is a `conversation`.
An agent that runs it keeps its own session. Where nobody can be asked, one of several that are in use must be named.
--commit makes a commit of these files alone, with git's own hooks; what else is staged stays staged.
--encrypt seals what was said, in age's format. Topic, type, times, agent and tools stay readable. A conversation that is sealed
stays so when it is saved again, with the same keys.")]
pub(crate) struct SaveArgs {
    #[command(flatten)]
    session: SessionArgs,
    /// Its kind: brainstorm, debug, plan, learn, or another word
    #[arg(long = "type", value_name = "TYPE", value_parser = parse_type)]
    kind: Option<String>,
    /// What it is about [default: the session's title]
    #[arg(long, value_name = "WORDS")]
    topic: Option<String>,
    /// How it stands: active, paused or completed
    #[arg(long, value_name = "STATUS", hide_possible_values = true)]
    status: Option<StatusArg>,
    /// Commit it
    #[arg(long)]
    commit: bool,
    #[command(flatten)]
    seal: sealing::SealArgs,
    /// The project to keep it in [default: the session's own]
    #[arg(long, alias = "workspace", value_name = "FOLDER", value_hint = clap::ValueHint::DirPath)]
    project: Option<PathBuf>,
    /// Tell what would be written, and write nothing
    #[arg(long, conflicts_with = "commit")]
    dry_run: bool,
    /// Write keys, tokens and passwords as they are
    #[arg(long, hide_short_help = true)]
    no_redact: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum StatusArg {
    Active,
    Paused,
    Completed,
}

impl From<StatusArg> for SavedStatus {
    fn from(status: StatusArg) -> Self {
        match status {
            StatusArg::Active => Self::Active,
            StatusArg::Paused => Self::Paused,
            StatusArg::Completed => Self::Completed,
        }
    }
}

/// Reads a type, which names a file.
fn parse_type(word: &str) -> Result<String, String> {
    let word = word.to_lowercase();
    if is_type(&word) { Ok(word) } else { Err("a type is one word of up to 24 letters, such as `plan`".to_owned()) }
}

/// The save, as `--json` tells it.
#[derive(Serialize)]
struct SaveDocument<'a> {
    schema: &'static str,
    conversation_id: &'a str,
    conversation_type: &'a str,
    title: &'a str,
    status: &'static str,
    source: &'a str,
    session_id: &'a str,
    folder: String,
    files: Vec<String>,
    is_new: bool,
    messages: usize,
    added: usize,
    tokens: u64,
    masked: &'a BTreeMap<String, usize>,
    sealed: bool,
    images_left_out: usize,
    clipped: usize,
    thread: Option<&'a str>,
    continues: Option<&'a str>,
    commit: Option<&'a str>,
    undo_id: Option<&'a str>,
    dry_run: bool,
    resume: Vec<&'a str>,
    warnings: &'a [String],
}

pub(crate) fn cmd_save(ui: &mut Ui, context: &Context, globals: Globals, args: &SaveArgs) -> Result<(), CommandError> {
    let project = args.project.as_deref().map(resolve_path);
    let session = choice::choose_calling_session_or_refuse(ui, context, globals, &args.session)?;
    let options = SaveOptions {
        project: project.as_deref(),
        kind: args.kind.as_deref(),
        topic: args.topic.as_deref(),
        status: args.status.map(SavedStatus::from),
        redact: !args.no_redact,
        encrypt: args.seal.encrypt,
    };
    let mut plan = ui.while_reading(&session, || plan_save(context, &session, &options))?;
    if !args.dry_run && !confirm(ui, context, globals, &plan)? {
        ui.status("nothing was saved")?;
        return Ok(());
    }
    if !args.dry_run {
        sealing::seal_plan(ui, context, &args.seal, &mut plan)?;
    }
    let saved = if args.dry_run { None } else { Some(apply_save(context, &plan)?) };
    plan.warnings.extend(saved.iter().flat_map(|saved| saved.warnings.clone()));
    let committed =
        if args.commit { Some(commit_conversation(context, &plan.root, &plan.conversation)?) } else { None };
    if committed.as_ref().is_some_and(|committed| committed.leaves_session) {
        plan.warnings.push("git ignores its `.session/`: only the document was committed".to_owned());
    }
    if ui.is_json() {
        return write_document(ui, &plan, saved.as_ref(), committed.as_ref());
    }
    tell_save(ui, context, &plan, saved.as_ref(), committed.as_ref())
}

/// Asks where a person would be surprised: the files are somebody else's folder's, or nobody's project. Where nobody can
/// be asked, it must have been said.
fn confirm(ui: &mut Ui, context: &Context, globals: Globals, plan: &SavePlan) -> Result<bool, CommandError> {
    let is_elsewhere = !context.cwd.starts_with(&plan.root);
    let is_home = context.env.home.starts_with(&plan.root);
    if globals.yes || !(is_elsewhere || is_home) {
        return Ok(true);
    }
    let folder = abbreviate_home(context, &plan.conversation.folder);
    if !ui.is_interactive() {
        let whose = if is_home { "your home" } else { "not this project's" };
        return Err(CommandError::usage(format!(
            "it would be saved in {folder}, which is {whose}, and nobody can be asked"
        ))
        .with_hint("say so with `--yes`, or look with `--dry-run`"));
    }
    let answer = ui.ask(&format!("save it in {folder}? (y/N)"))?;
    Ok(matches!(answer.to_lowercase().as_str(), "y" | "yes"))
}

fn list_files(plan: &SavePlan) -> [PathBuf; 3] {
    let conversation = &plan.conversation;
    [conversation.document_file(), conversation.session_file(), sealing::messages_file(plan)]
}

fn write_document(
    ui: &mut Ui,
    plan: &SavePlan,
    saved: Option<&Saved>,
    committed: Option<&Committed>,
) -> Result<(), CommandError> {
    let conversation = &plan.conversation;
    let told = &conversation.saved;
    Ok(ui.write_json(&SaveDocument {
        schema: "carryover.save/1",
        conversation_id: &conversation.id,
        conversation_type: &told.conversation_type,
        title: &told.title,
        status: told.status.name(),
        source: &told.agent,
        session_id: &told.session_id,
        folder: conversation.folder.display().to_string(),
        files: list_files(plan).iter().map(|file| file.display().to_string()).collect(),
        is_new: plan.is_new,
        messages: told.message_count,
        added: plan.added,
        tokens: told.token_count,
        masked: &plan.masked,
        sealed: plan.sealing().is_some(),
        images_left_out: plan.left_out.images,
        clipped: plan.left_out.clipped,
        thread: told.thread.as_deref(),
        continues: told.continues.as_deref(),
        commit: committed.and_then(|committed| committed.commit.as_deref()),
        undo_id: saved.and_then(|saved| saved.undo_id.as_deref()),
        dry_run: saved.is_none(),
        resume: vec!["carryover", "resume", &conversation.id],
        warnings: &plan.warnings,
    })?)
}

fn tell_save(
    ui: &mut Ui,
    context: &Context,
    plan: &SavePlan,
    saved: Option<&Saved>,
    committed: Option<&Committed>,
) -> Result<(), CommandError> {
    for warning in &plan.warnings {
        ui.warning(warning)?;
    }
    let conversation = &plan.conversation;
    let done = match (saved.is_some(), plan.is_new) {
        (true, true) => "saved",
        (true, false) => "saved again",
        (false, _) => "would save",
    };
    ui.status(format_args!("{GOOD}{done}{GOOD:#} {}", conversation.id))?;
    tell_files(ui, context, plan, saved)?;
    let added = if plan.is_new { String::new() } else { format!(", {} lines new", plan.added) };
    ui.status(format_args!("  messages  {}{added}", conversation.saved.message_count))?;
    if plan.keeps_document {
        let added = if plan.sealing().is_some() { "it stays as it is" } else { "what is new stands at its end" };
        ui.status(format_args!("  document  was written in by hand: {added}"))?;
    }
    tell_masked(ui, plan)?;
    sealing::tell_sealed(ui, plan, saved.is_some())?;
    if let Some(continues) = &conversation.saved.continues {
        ui.status(format_args!("  goes on   from {continues}"))?;
    }
    match committed {
        Some(Committed { commit: Some(commit), .. }) => ui.status(format_args!("  commit    {commit}"))?,
        Some(Committed { commit: None, .. }) => ui.status("  commit    none: there is nothing new in it")?,
        None => {}
    }
    if saved.is_some() || !plan.is_new {
        ui.hint(format_args!("`carryover resume {}` goes on with it, `--target AGENT` elsewhere", conversation.id))?;
    }
    if let Some(id) = saved.and_then(|saved| saved.undo_id.as_ref()) {
        ui.hint(format_args!("`carryover undo {id}` takes it back"))?;
    }
    Ok(())
}

/// Names the files that have changed, or would.
fn tell_files(ui: &mut Ui, context: &Context, plan: &SavePlan, saved: Option<&Saved>) -> Result<(), CommandError> {
    let changed = saved.map_or_else(|| plan.list_changed(), |saved| saved.files.clone());
    let verb = if saved.is_some() { "wrote    " } else { "would write" };
    for file in list_files(plan).iter().filter(|file| changed.contains(file)) {
        ui.status(format_args!("  {verb} {DIM}{}{DIM:#}", abbreviate_home(context, file)))?;
    }
    if changed.is_empty() {
        ui.status(format_args!("  {verb} nothing: all of it is there as it is"))?;
    }
    Ok(())
}

fn tell_masked(ui: &mut Ui, plan: &SavePlan) -> Result<(), CommandError> {
    if !plan.masked.is_empty() {
        let kinds = plan.masked.iter().map(|(kind, count)| format!("{count} {kind}"));
        ui.status(format_args!("  masked    {}", kinds.collect::<Vec<_>>().join(", ")))?;
    }
    let images = quantity::format_count(plan.left_out.images, "image", "images");
    let outputs = quantity::format_count(plan.left_out.clipped, "long output", "long outputs");
    if plan.left_out.images > 0 {
        ui.status(format_args!("  left out  {images}"))?;
    }
    if plan.left_out.clipped > 0 {
        ui.status(format_args!("  clipped   {outputs}"))?;
    }
    Ok(())
}

impl From<CommitError> for CommandError {
    fn from(error: CommitError) -> Self {
        let hint = match &error {
            CommitError::NoRepository(_) => "it is saved all the same; `git init` makes a repository",
            CommitError::Ignored(_) => "it is saved all the same; a line of a .gitignore keeps it from git",
            _ => "it is saved all the same, and nothing of it is staged",
        };
        Self::new(ErrorKind::Io, error).with_hint(hint)
    }
}
