//! `carryover capsule inspect`.

use std::path::PathBuf;

use carryover_engine::capsule::boundary::{Boundary, Knowledge, Known};
use carryover_engine::capsule::fidelity::Fidelity;
use carryover_engine::capsule::manifest::Manifest;
use carryover_engine::capsule::workspace::{FilesMode, LeftOut, WorkspaceRecord};
use carryover_engine::context::Context;
use clap::Args;
use serde::Serialize;

use super::{name_fidelity, open_named};
use crate::error::CommandError;
use crate::quantity::format_bytes;
use crate::shell::quote_word;
use crate::ui::{BOLD, DIM, Ui};

/// Show what is in a capsule, and unpack nothing
#[derive(Args)]
pub(super) struct InspectArgs {
    /// A file, a folder, or the id of a capsule in ~/.carryover/capsules
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::AnyPath)]
    file: PathBuf,
}

/// A capsule, as `--json` tells it.
#[derive(Serialize)]
struct InspectDocument<'a> {
    schema: &'static str,
    path: String,
    /// `deterministic capsule` or `best-effort capsule`.
    kind: &'static str,
    /// What it lacks to be deterministic.
    lacks: &'a [String],
    manifest: &'a Manifest,
    boundary: &'a Boundary,
    workspace: &'a WorkspaceRecord,
}

pub(super) fn inspect_capsule(ui: &mut Ui, context: &Context, args: &InspectArgs) -> Result<(), CommandError> {
    let (path, mut capsule) = open_named(context, &args.file)?;
    let (boundary, workspace) = capsule.read_documents()?;
    let manifest = &capsule.manifest;
    let lacks = Fidelity::from_documents(manifest, &boundary, &workspace).lacks;
    let kind = name_fidelity(&lacks);
    if ui.is_json() {
        return Ok(ui.write_json(&InspectDocument {
            schema: "carryover.capsule-inspect/1",
            path: path.display().to_string(),
            kind,
            lacks: &lacks,
            manifest,
            boundary: &boundary,
            workspace: &workspace,
        })?);
    }
    let unknown = || "unknown".to_owned();
    let text = |text: &Option<String>| text.clone().unwrap_or_else(unknown);
    let source = &manifest.source;
    let agent =
        carryover_agents::agent_by_name(&source.agent).map_or(source.agent.as_str(), |agent| agent.facts().name);
    writeln!(ui.out(), "{BOLD}{}{BOLD:#}", source.title.as_deref().unwrap_or("a session without a title"))?;
    let rows = [
        ("capsule", manifest.id.clone()),
        ("kind", kind.to_owned()),
        ("session", source.session_id.clone()),
        ("agent", format!("{agent} {}", text(&source.client_version))),
        ("last used", text(&source.updated_at)),
        ("messages", source.messages.to_string()),
        ("folder", text(&manifest.project)),
        ("secrets", if manifest.redacted { "masked" } else { "as they are" }.to_owned()),
        ("records", if manifest.has_raw_records() { "the agent's own came along" } else { "none" }.to_owned()),
    ];
    for (label, value) in rows {
        ui.write_row(format_args!("  {label:<13} {value}"))?;
    }
    for lack in &lacks {
        ui.write_row(format_args!("  {:<13} {lack}", "lacks"))?;
    }
    write_boundary(ui, &boundary)?;
    write_workspace(ui, &workspace)?;
    writeln!(ui.out(), "{BOLD}members{BOLD:#}")?;
    for member in &manifest.members {
        let (bytes, name) = (format_bytes(member.bytes), &member.name);
        ui.write_row(format_args!("  {bytes:<10} {name} {DIM}{}{DIM:#}", member.sha256))?;
    }
    let name = quote_word(&args.file.display().to_string(), context.env.os);
    ui.hint(format_args!("`carryover capsule verify {name}` compares all of it with its digests"))?;
    Ok(())
}

/// A fact and how it is known.
fn describe<T>(known: &Known<T>, tell: impl Fn(&T) -> String) -> String {
    let value = known.value.as_ref().map(tell);
    match (known.known, value) {
        (Knowledge::Recorded, Some(value)) => format!("{value} (recorded)"),
        (Knowledge::Read, Some(value)) => format!("{value} (read)"),
        _ => "unknown".to_owned(),
    }
}

fn write_boundary(ui: &mut Ui, boundary: &Boundary) -> Result<(), CommandError> {
    let text = |known: &Known<String>| describe(known, String::clone);
    let names = |list: &Vec<String>| if list.is_empty() { "none".to_owned() } else { list.join(", ") };
    let rows = [
        ("model", text(&boundary.model)),
        ("routing", text(&boundary.routing)),
        ("permissions", text(&boundary.permission_mode)),
        ("approvals", text(&boundary.approval_policy)),
        ("sandbox", text(&boundary.sandbox)),
        ("rules", describe(&boundary.permission_rules, names)),
        ("output style", text(&boundary.output_style)),
        (
            "instructions",
            describe(&boundary.instruction_files, |files| {
                let names: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
                if names.is_empty() { "none".to_owned() } else { names.join(", ") }
            }),
        ),
        ("tools", describe(&boundary.tools, |tools| format!("{} offered", tools.len()))),
        (
            "tools used",
            describe(&boundary.tools_used, |used| {
                used.iter().map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", ")
            }),
        ),
        ("compactions", describe(&boundary.compaction, |state| state.count.to_string())),
        ("reminders", describe(&boundary.reminders, |reminders| reminders.len().to_string())),
        ("system prompt", describe(&boundary.system_prompt, |prompt| format_bytes(prompt.bytes))),
        (
            "git",
            describe(&boundary.git, |git| {
                let commit = git.commit.as_deref().map_or("no commit", |commit| commit.get(..12).unwrap_or(commit));
                format!("{commit} on {}", git.branch.as_deref().unwrap_or("no branch"))
            }),
        ),
        ("configuration", boundary.config_hash.clone()),
    ];
    writeln!(ui.out(), "{BOLD}boundary{BOLD:#}")?;
    for (label, value) in rows {
        ui.write_row(format_args!("  {label:<13} {value}"))?;
    }
    Ok(())
}

fn write_workspace(ui: &mut Ui, workspace: &WorkspaceRecord) -> Result<(), CommandError> {
    writeln!(ui.out(), "{BOLD}workspace{BOLD:#}")?;
    let held = format!("{}, {}", workspace.files, format_bytes(workspace.bytes));
    let files = match workspace.files_mode {
        FilesMode::Changed => format!("what differs from the commit: {held}"),
        FilesMode::Full => format!("everything that git does not ignore: {held}"),
        FilesMode::None => "none; what was changed in the folder was not looked at".to_owned(),
    };
    ui.write_row(format_args!("  {:<13} {files}", "files"))?;
    if workspace.files_mode != FilesMode::None {
        let staged = workspace.changes.iter().filter(|change| change.staged.is_some()).count();
        let changed = workspace.changes.len();
        ui.write_row(format_args!("  {:<13} {changed} changed, {staged} of them staged", "state"))?;
    }
    let notes = workspace.left_out.iter().map(|note| ("left out", note));
    for (label, LeftOut { path, reason }) in notes.chain(workspace.remarks.iter().map(|note| ("as it is", note))) {
        ui.write_row(format_args!("  {label:<13} {path} {reason}"))?;
    }
    Ok(())
}
