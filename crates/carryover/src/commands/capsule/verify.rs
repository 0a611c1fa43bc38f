//! `carryover capsule verify`.

use std::path::PathBuf;

use carryover_engine::context::Context;
use clap::Args;
use serde::Serialize;

use super::open_named;
use crate::error::CommandError;
use crate::quantity::format_count;
use crate::ui::{GOOD, Ui};

/// Check a capsule whole, and unpack nothing
///
/// Every member is compared with its digest, and every file of the workspace is looked at: no path or link leads out, none
/// comes twice, nothing unpacks to more than it may. `carryover import` does the same before it writes anything.
#[derive(Args)]
pub(super) struct VerifyArgs {
    /// A file, a folder, or the id of a capsule in ~/.carryover/capsules
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::AnyPath)]
    file: PathBuf,
}

/// A capsule that is what it says, as `--json` tells it; any other is an error.
#[derive(Serialize)]
struct VerifyDocument<'a> {
    schema: &'static str,
    path: String,
    id: &'a str,
    members: usize,
    files: u64,
    file_bytes: u64,
}

pub(super) fn verify_capsule(ui: &mut Ui, context: &Context, args: &VerifyArgs) -> Result<(), CommandError> {
    let (path, capsule) = open_named(context, &args.file)?;
    let verified = ui.while_doing("verifying the capsule…", || capsule.verify())?;
    let (manifest, workspace) = (&verified.manifest, &verified.workspace);
    if ui.is_json() {
        return Ok(ui.write_json(&VerifyDocument {
            schema: "carryover.capsule-verify/1",
            path: path.display().to_string(),
            id: &manifest.id,
            members: manifest.members.len(),
            files: workspace.files,
            file_bytes: workspace.bytes,
        })?);
    }
    let files = format_count(usize::try_from(workspace.files).unwrap_or(usize::MAX), "file", "files");
    let members = format_count(manifest.members.len(), "member", "members");
    writeln!(ui.out(), "{GOOD}whole{GOOD:#} {}: {members}, {files} of a workspace", manifest.id)?;
    Ok(())
}
