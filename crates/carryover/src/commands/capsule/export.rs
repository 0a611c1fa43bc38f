//! `carryover capsule export`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use carryover_engine::capsule::workspace::{FilesMode, LeftOut, WorkspaceRecord};
use carryover_engine::capsule::{PackedForm, SealedCapsule, seal, shelf};
use carryover_engine::context::Context;
use carryover_engine::sessions::list::ListedSession;
use clap::Args;
use serde::Serialize;

use super::pack::PackArgs;
use crate::args::{Globals, SessionArgs};
use crate::choice;
use crate::error::{CommandError, ErrorKind};
use crate::process_env::resolve_path;
use crate::quantity::{format_bytes, format_count};
use crate::session_row::abbreviate_home;
use crate::shell::quote_word;
use crate::ui::{DIM, GOOD, Ui};

/// So many of the files that were left out are named.
const MAX_NAMED: usize = 10;

/// Pack a session with its workspace
///
/// Secrets are masked in transcript, boundary and records; files are never altered: those that hold secrets are left out
/// and named. `full` takes everything that git does not ignore, so that the capsule opens anywhere; `changed` takes what
/// differs from the commit, which the receiver then has to have checked out. Without git, all files are taken.
#[derive(Args)]
pub(super) struct ExportArgs {
    #[command(flatten)]
    session: SessionArgs,
    /// A file (.tar.zst, .zip), else a folder [default: a file in ~/.carryover/capsules]
    #[arg(long, short, value_name = "FILE|DIR", value_hint = clap::ValueHint::AnyPath)]
    output: Option<PathBuf>,
    #[command(flatten)]
    pack: PackArgs,
}

/// The capsule, as `--json` tells it.
#[derive(Serialize)]
struct ExportDocument<'a> {
    schema: &'static str,
    id: &'a str,
    path: String,
    bytes: u64,
    source: &'a str,
    session_id: &'a str,
    files_mode: FilesMode,
    files: u64,
    file_bytes: u64,
    left_out: &'a [LeftOut],
    remarks: &'a [LeftOut],
    raw: bool,
    masked: BTreeMap<String, usize>,
    redacted: bool,
    warnings: &'a [String],
}

pub(super) fn export_session(
    ui: &mut Ui,
    context: &Context,
    globals: Globals,
    args: &ExportArgs,
) -> Result<(), CommandError> {
    let output = args.output.as_deref().map(|output| check_output(context, output)).transpose()?;
    let session = choice::choose_session(ui, context, globals, &args.session, None)?;
    let mut warnings = choice::announce_open(ui, &session)?;
    let sealed =
        ui.while_doing("packing the session and its files…", || seal(context, &session, &args.pack.options()))?;
    warnings.extend(sealed.warnings.iter().cloned());
    let (path, bytes) = write_capsule(ui, context, &sealed, output)?;
    let manifest = &sealed.manifest;
    if ui.is_json() {
        return Ok(ui.write_json(&ExportDocument {
            schema: "carryover.capsule-export/1",
            id: &manifest.id,
            path: path.display().to_string(),
            bytes,
            source: &manifest.source.agent,
            session_id: &manifest.source.session_id,
            files_mode: manifest.files,
            files: sealed.workspace.files,
            file_bytes: sealed.workspace.bytes,
            left_out: &sealed.workspace.left_out,
            remarks: &sealed.workspace.remarks,
            masked: sealed.count_masks(),
            raw: manifest.has_raw_records(),
            redacted: manifest.redacted,
            warnings: &warnings,
        })?);
    }
    for warning in &warnings {
        ui.warning(warning)?;
    }
    tell_export(ui, context, &session, &sealed, bytes)?;
    writeln!(ui.out(), "{}", path.display())?;
    let shown = path.strip_prefix(&context.cwd).unwrap_or(&path).display().to_string();
    ui.hint(format_args!("`carryover import {}` goes on with it, there or here", quote_word(&shown, context.env.os)))?;
    Ok(())
}

/// Where a capsule goes.
enum Output {
    File(PathBuf, PackedForm),
    Folder(PathBuf),
}

/// The form that a name asks for; what is there is not written over.
fn check_output(context: &Context, output: &Path) -> Result<Output, CommandError> {
    let path = context.cwd.join(output);
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let form = PackedForm::from_name(&name);
    let ends_in = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
    if ends_in(&[".tar", ".tgz", ".tar.gz", ".zst"]) && form.is_none() {
        return Err(CommandError::usage(format!("{} is no name for a capsule", output.display()))
            .with_hint("a packed capsule ends in .tar.zst or .zip; any other name is a folder"));
    }
    let is_taken = if form.is_some() { path.symlink_metadata().is_ok() } else { path.is_file() };
    if is_taken {
        return Err(CommandError::new(ErrorKind::Io, format!("{} is there already", output.display()))
            .with_hint("remove it, or name another"));
    }
    // A folder above it that is missing is a slip of the pen more often than a wish.
    if let Some(above) = path.parent().filter(|above| !above.is_dir()) {
        return Err(CommandError::usage(format!("the folder {} does not exist", above.display())));
    }
    let path = match (path.parent(), path.file_name()) {
        (Some(above), Some(name)) => resolve_path(above).join(name),
        _ => resolve_path(&path),
    };
    Ok(match form {
        Some(form) => Output::File(path, form),
        None => Output::Folder(path),
    })
}

fn write_capsule(
    ui: &Ui,
    context: &Context,
    sealed: &SealedCapsule,
    output: Option<Output>,
) -> Result<(PathBuf, u64), CommandError> {
    let on_shelf = || Output::File(shelf::default_path(context, &sealed.manifest), PackedForm::TarZst);
    let output = output.unwrap_or_else(on_shelf);
    ui.while_doing("writing the capsule…", || match output {
        Output::File(path, form) => Ok((path.clone(), sealed.write_file(&path, form)?)),
        Output::Folder(path) => Ok((path.clone(), sealed.write_folder(&path)?)),
    })
}

fn tell_export(
    ui: &mut Ui,
    context: &Context,
    session: &ListedSession,
    sealed: &SealedCapsule,
    bytes: u64,
) -> Result<(), CommandError> {
    let (manifest, workspace) = (&sealed.manifest, &sealed.workspace);
    ui.status(format_args!(
        "{GOOD}packed{GOOD:#} {} session {}",
        session.agent.facts().name,
        session.found.id.short()
    ))?;
    ui.status(format_args!("  capsule     {}, {}", manifest.id, format_bytes(bytes)))?;
    let messages = usize::try_from(manifest.source.messages).unwrap_or(usize::MAX);
    ui.status(format_args!("  transcript  {}", format_count(messages, "message", "messages")))?;
    let files = usize::try_from(workspace.files).unwrap_or(usize::MAX);
    match workspace.files_mode {
        FilesMode::None => ui.status("  files       none")?,
        mode => {
            let which = if mode == FilesMode::Full { "" } else { " that differ from the commit" };
            let files = format_count(files, "file", "files");
            ui.status(format_args!("  files       {files}{which}, {}", format_bytes(workspace.bytes)))?;
        }
    }
    if let Some(root) = &workspace.root {
        ui.status(format_args!("  from        {DIM}{}{DIM:#}", abbreviate_home(context, Path::new(root))))?;
    }
    if manifest.redacted {
        ui.status(format_args!("  masked      {}", list_masks(&sealed.count_masks())))?;
    }
    tell_left_out(ui, workspace)?;
    if !manifest.redacted {
        ui.warning("secrets are in it as they are: whoever has the capsule has them")?;
    }
    Ok(())
}

/// Each kind of secret that is masked, with how often.
pub(in crate::commands) fn list_masks(masks: &BTreeMap<String, usize>) -> String {
    let counts: Vec<String> = masks.iter().map(|(kind, count)| format!("{kind} ({count})")).collect();
    if counts.is_empty() { "nothing".to_owned() } else { counts.join(", ") }
}

/// Names what was left out, with the reason, and what comes along in part.
pub(in crate::commands) fn tell_left_out(ui: &mut Ui, workspace: &WorkspaceRecord) -> Result<(), CommandError> {
    let left_out = &workspace.left_out;
    for LeftOut { path, reason } in left_out.iter().take(MAX_NAMED) {
        match path.as_str() {
            // The folder as a whole is named by no name of its own.
            "." => ui.warning(format_args!("left out: {reason}"))?,
            path => ui.warning(format_args!("left out: {path} {reason}"))?,
        }
    }
    if left_out.len() > MAX_NAMED {
        ui.warning(format_args!("left out: {} more; `capsule inspect` names them", left_out.len() - MAX_NAMED))?;
    }
    for LeftOut { path, reason } in workspace.remarks.iter().take(MAX_NAMED) {
        ui.warning(format_args!("{path} {reason}"))?;
    }
    if workspace.remarks.len() > MAX_NAMED {
        let more = workspace.remarks.len() - MAX_NAMED;
        ui.warning(format_args!("and so do {more} more; `capsule inspect` names them"))?;
    }
    Ok(())
}
