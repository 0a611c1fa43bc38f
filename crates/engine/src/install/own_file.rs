//! Files that are ours alone, in places where somebody else may have put one of that name before.

use super::error::InstallError;
use super::managed_file::{FileChange, FoundFile, PutRequest};
use super::record::{FileRecord, InstallRecord};
use crate::context::Context;

/// Plans to write a file of ours. One that is there is ours if the record or its first line says so, or if it is the same
/// already; any other is never overwritten.
pub(super) fn plan_put(
    context: &Context,
    record: &InstallRecord,
    draft: FileRecord,
    text: String,
    mark: Option<&str>,
) -> Result<FileChange, InstallError> {
    let found = FoundFile::read(&draft.path)?;
    let is_draft = |file: &&FileRecord| file.owner == draft.owner && file.kind == draft.kind && file.path == draft.path;
    let earlier = record.files.iter().find(is_draft);
    let is_ours = earlier.is_some_and(|earlier| earlier.before.is_none())
        || (found.is_there() && (found.text()? == text || mark.is_some_and(|mark| starts_with_line(&found, mark))));
    if found.is_there() && !is_ours {
        return Err(InstallError::NotOurs(draft.path));
    }
    let mut change = FileChange::put(context, found, earlier, PutRequest { record: draft, text, without_us: "" })?;
    change.forget_before(context);
    Ok(change)
}

fn starts_with_line(found: &FoundFile, mark: &str) -> bool {
    found.text().is_ok_and(|text| text.lines().any(|line| line == mark))
}
