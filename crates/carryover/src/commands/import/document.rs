//! An import, as `--json` and the daemon tell it.

use std::path::Path;

use carryover_engine::capsule::import::{Imported, TargetChoice, WorkspaceOutcome};
use carryover_engine::capsule::manifest::Manifest;
use serde::Serialize;

use crate::commands::resume::native::{ResumeDocument, report_document};

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
    own_records: bool,
    resume: ResumeDocument<'a>,
}

/// What became of the files.
#[derive(Serialize, Default)]
struct WorkspaceRow {
    outcome: &'static str,
    files: u64,
    deleted: u64,
    staged: bool,
    differing: u64,
}

pub(crate) fn import_document<'a>(
    path: &Path,
    manifest: &'a Manifest,
    target: &'a TargetChoice,
    imported: &'a Imported,
) -> ImportDocument<'a> {
    ImportDocument {
        schema: "carryover.import/1",
        capsule: &manifest.id,
        path: path.display().to_string(),
        target: target.agent.facts().id,
        target_reason: &target.reason,
        project: imported.project.display().to_string(),
        workspace: workspace_row(&imported.workspace),
        own_records: imported.own_records,
        resume: report_document(&imported.report, false),
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
            differing: 0,
        },
        WorkspaceOutcome::Left(drift) => {
            WorkspaceRow { outcome: "left", differing: drift.count, ..WorkspaceRow::default() }
        }
    }
}
