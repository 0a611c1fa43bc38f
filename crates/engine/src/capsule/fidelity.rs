//! Whether a session goes on from its capsule as it would have where it was.
//!
//! A capsule is *deterministic* where nothing is missing for that: all that its agent's model is told was recorded, the agent's own
//! records came along unchanged, and so did all files that git does not ignore, as git has them. Else it is *best-effort*, and what it lacks is named.

use super::boundary::{Boundary, Knowledge, Known};
use super::manifest::{Manifest, SOURCE};
use super::workspace::{FilesMode, WorkspaceRecord};

/// What a capsule lacks to be deterministic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fidelity {
    /// In words for people; nothing where it is deterministic.
    pub lacks: Vec<String>,
}

impl Fidelity {
    /// Looks at what a capsule says of itself.
    pub fn from_documents(manifest: &Manifest, boundary: &Boundary, workspace: &WorkspaceRecord) -> Self {
        let lacks = [
            name_unrecorded(boundary),
            find_missing_records(manifest, workspace),
            find_missing_files(workspace),
            find_masked_words(manifest),
        ];
        Self { lacks: lacks.into_iter().flatten().collect() }
    }

    pub fn is_deterministic(&self) -> bool {
        self.lacks.is_empty()
    }
}

/// What the model is told beside the conversation, and that its client did not write down. What was read from the machine later may
/// have been otherwise then.
fn name_unrecorded(boundary: &Boundary) -> Option<String> {
    fn is_recorded<T>(known: &Known<T>) -> bool {
        known.known == Knowledge::Recorded && known.value.is_some()
    }
    let tools = boundary.tools.value.iter().flatten();
    let has_schemas = is_recorded(&boundary.tools) && { tools }.all(|tool| tool.schema_sha256.is_some());
    let fields = [
        ("model", is_recorded(&boundary.model)),
        ("system prompt", is_recorded(&boundary.system_prompt)),
        ("tools with their schemas", has_schemas),
        ("sampling settings", is_recorded(&boundary.sampling)),
    ];
    let unknown: Vec<&str> = fields.iter().filter(|(_, is_known)| !is_known).map(|(name, _)| *name).collect();
    (!unknown.is_empty()).then(|| format!("not recorded: {}", unknown.join(", ")))
}

fn find_missing_records(manifest: &Manifest, workspace: &WorkspaceRecord) -> Option<String> {
    if !manifest.has_raw_records() {
        return Some("the agent's own records did not come along".to_owned());
    }
    if !manifest.raw_records_fit() {
        return Some("the agent's own records are too many or too long to move as they are".to_owned());
    }
    let is_record = |path: &str| path.starts_with(SOURCE);
    let n_missing = workspace.left_out.iter().filter(|left_out| is_record(&left_out.path)).count();
    (n_missing > 0).then(|| format!("left out of the agent's own records: {n_missing}"))
}

fn find_missing_files(workspace: &WorkspaceRecord) -> Option<String> {
    if workspace.files_mode == FilesMode::None {
        return Some("no files came along".to_owned());
    }
    let n_missing = workspace.left_out.iter().filter(|left_out| !left_out.path.starts_with(SOURCE)).count();
    if n_missing > 0 {
        return Some(format!("left out of the files: {n_missing}"));
    }
    // A conflict, or what git was told to overlook: its client may tell the model what git says.
    let n_odd = workspace.remarks.len();
    (n_odd > 0).then(|| format!("files that git sees otherwise there: {n_odd}"))
}

/// A masked secret is another word than the one that was said. Capsules from before they were counted do not say whether any is.
fn find_masked_words(manifest: &Manifest) -> Option<String> {
    if !manifest.redacted {
        return None;
    }
    match &manifest.masked {
        None => Some("secrets may be masked in what was said".to_owned()),
        Some(masked) => {
            let count: usize = masked.values().sum();
            (count > 0).then(|| format!("secrets that are masked: {count}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::workspace::LeftOut;
    use super::*;

    #[test]
    fn files_that_git_sees_otherwise_are_lacking() {
        let mut workspace = WorkspaceRecord {
            schema: String::new(),
            files_mode: FilesMode::Full,
            root: None,
            project: String::new(),
            commit: None,
            branch: None,
            files: 1,
            bytes: 1,
            changes: Vec::new(),
            left_out: Vec::new(),
            remarks: Vec::new(),
        };
        assert_eq!(find_missing_files(&workspace), None);
        workspace.remarks.push(LeftOut { path: "a".to_owned(), reason: "is in conflict".to_owned() });
        assert_eq!(find_missing_files(&workspace).unwrap(), "files that git sees otherwise there: 1");
    }
}
