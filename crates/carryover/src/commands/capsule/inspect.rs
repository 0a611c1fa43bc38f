//! `carryover capsule inspect`.

use std::path::PathBuf;

use carryover_engine::capsule::boundary::{Boundary, Knowledge, Known};
use carryover_engine::capsule::manifest::Manifest;
use carryover_engine::capsule::workspace::{FilesMode, WorkspaceRecord};
use carryover_engine::context::Context;
use clap::Args;
use serde::Serialize;

use super::open_named;
use crate::error::CommandError;
use crate::quantity::format_bytes;
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
    manifest: &'a Manifest,
    boundary: &'a Boundary,
    workspace: &'a WorkspaceRecord,
}

pub(super) fn inspect_capsule(ui: &mut Ui, context: &Context, args: &InspectArgs) -> Result<(), CommandError> {
    let (path, mut capsule) = open_named(context, &args.file)?;
    let (boundary, workspace) = capsule.read_documents()?;
    let manifest = &capsule.manifest;
    if ui.is_json() {
        return Ok(ui.write_json(&InspectDocument {
            schema: "carryover.capsule-inspect/1",
            path: path.display().to_string(),
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
        ("session", source.session_id.clone()),
        ("agent", format!("{agent} {}", text(&source.client_version))),
        ("last used", text(&source.updated_at)),
        ("messages", source.messages.to_string()),
        ("folder", text(&manifest.project)),
        ("secrets", if manifest.redacted { "masked" } else { "as they are" }.to_owned()),
        ("records", if manifest.has_raw_records() { "the agent's own came along" } else { "none" }.to_owned()),
    ];
    for (label, value) in rows {
        writeln!(ui.out(), "  {label:<13} {value}")?;
    }
    write_boundary(ui, &boundary)?;
    write_workspace(ui, &workspace)?;
    writeln!(ui.out(), "{BOLD}members{BOLD:#}")?;
    for member in &manifest.members {
        writeln!(ui.out(), "  {:<10} {} {DIM}{}{DIM:#}", format_bytes(member.bytes), member.name, member.sha256)?;
    }
    ui.hint("`carryover capsule verify` compares all of it with its digests")?;
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
    let names = |list: &Vec<String>| list.join(", ");
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
        writeln!(ui.out(), "  {label:<13} {value}")?;
    }
    Ok(())
}

fn write_workspace(ui: &mut Ui, workspace: &WorkspaceRecord) -> Result<(), CommandError> {
    writeln!(ui.out(), "{BOLD}workspace{BOLD:#}")?;
    let mode = match workspace.files_mode {
        FilesMode::Changed => "what differs from the commit",
        FilesMode::Full => "everything that git does not ignore",
        FilesMode::None => "none",
    };
    writeln!(ui.out(), "  {:<13} {mode}: {}, {}", "files", workspace.files, format_bytes(workspace.bytes))?;
    let staged = workspace.changes.iter().filter(|change| change.staged.is_some()).count();
    writeln!(ui.out(), "  {:<13} {} changed, {staged} of them staged", "state", workspace.changes.len())?;
    for left_out in &workspace.left_out {
        writeln!(ui.out(), "  {:<13} {} {}", "left out", left_out.path, left_out.reason)?;
    }
    Ok(())
}
