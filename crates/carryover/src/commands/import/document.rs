//! An import, as `--json` and the daemon tell it.

use std::collections::BTreeMap;
use std::path::Path;

use carryover_engine::capsule::VerifiedCapsule;
use carryover_engine::capsule::import::{BroughtFiles, Imported, TargetChoice, WorkspaceOutcome};
use carryover_engine::capsule::workspace::{Difference, LeftOut};
use serde::Serialize;

use super::here::SessionHere;
use crate::commands::resume::native::{ResumeDocument, report_document};

/// So many paths that differ are named.
const MAX_DIFFERENCES: usize = 100;

/// The import.
#[derive(Serialize)]
pub(crate) struct ImportDocument<'a> {
    schema: &'static str,
    capsule: &'a str,
    path: String,
    target: &'static str,
    target_reason: &'a str,
    project: String,
    workspace: WorkspaceRow,
    /// Files that the capsule does not have.
    left_out: &'a [LeftOut],
    /// How often each kind of secret is masked in what was said.
    masked: &'a BTreeMap<String, usize>,
    redacted: bool,
    own_records: bool,
    resume: ResumeDocument<'a>,
}

/// A capsule whose session is here already, and goes on as the one that it is.
#[derive(Serialize)]
pub(super) struct OwnDocument<'a> {
    schema: &'static str,
    capsule: &'a str,
    path: String,
    target: &'static str,
    /// The folder that the files are for.
    folder: String,
    workspace: WorkspaceRow,
    left_out: &'a [LeftOut],
    /// By which `undo --files` knows the files.
    undo_id: Option<&'a str>,
    session_id: &'a str,
    command: &'a [String],
    cwd: String,
    messages: Option<u64>,
    capsule_messages: u64,
    warnings: &'a [String],
}

/// What became of the files.
#[derive(Serialize, Default)]
struct WorkspaceRow {
    outcome: &'static str,
    files: u64,
    deleted: u64,
    staged: bool,
    differing: usize,
    /// The first of what differs.
    differences: Vec<DifferenceRow>,
}

#[derive(Serialize)]
struct DifferenceRow {
    path: String,
    how: Difference,
}

pub(crate) fn import_document<'a>(
    path: &Path,
    capsule: &'a VerifiedCapsule,
    target: &'a TargetChoice,
    imported: &'a Imported,
) -> ImportDocument<'a> {
    ImportDocument {
        schema: "carryover.import/1",
        capsule: &capsule.manifest.id,
        path: path.display().to_string(),
        target: target.agent.facts().id,
        target_reason: &target.reason,
        project: imported.project.display().to_string(),
        workspace: workspace_row(&imported.workspace),
        left_out: &capsule.workspace.left_out,
        masked: &imported.masked,
        redacted: capsule.manifest.redacted,
        own_records: imported.own_records,
        resume: report_document(&imported.report, false),
    }
}

pub(super) fn own_document<'a>(
    path: &Path,
    capsule: &'a VerifiedCapsule,
    target: &TargetChoice,
    here: &'a SessionHere,
    folder: &Path,
    brought: &'a BroughtFiles,
) -> OwnDocument<'a> {
    OwnDocument {
        schema: "carryover.import-own/1",
        capsule: &capsule.manifest.id,
        path: path.display().to_string(),
        target: target.agent.facts().id,
        folder: folder.display().to_string(),
        workspace: workspace_row(&brought.workspace),
        left_out: &capsule.workspace.left_out,
        undo_id: brought.undo_id.as_deref(),
        session_id: &here.session.found.id.0,
        command: &here.command.argv,
        cwd: here.command.cwd.display().to_string(),
        messages: here.messages,
        capsule_messages: capsule.manifest.source.messages,
        warnings: &brought.warnings,
    }
}

fn workspace_row(outcome: &WorkspaceOutcome) -> WorkspaceRow {
    match outcome {
        WorkspaceOutcome::Absent => WorkspaceRow { outcome: "absent", ..WorkspaceRow::default() },
        WorkspaceOutcome::Same => WorkspaceRow { outcome: "same", ..WorkspaceRow::default() },
        WorkspaceOutcome::Restored(restored) => WorkspaceRow {
            outcome: "restored",
            files: restored.files,
            deleted: restored.deleted,
            staged: restored.index,
            ..WorkspaceRow::default()
        },
        WorkspaceOutcome::Left(drift) => {
            let rows = drift.list().take(MAX_DIFFERENCES).map(|(path, how)| DifferenceRow { path, how });
            WorkspaceRow {
                outcome: "left",
                differing: drift.count(),
                differences: rows.collect(),
                ..WorkspaceRow::default()
            }
        }
    }
}
