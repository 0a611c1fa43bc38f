//! Patches in the form that several agents share, as far as their heads tell.

use carryover_core::transcript::Change;

/// Which files a patch is about, and what becomes of each.
pub(crate) fn changed_files(text: &str) -> Vec<Change> {
    let change = |line: &str| {
        let (what, path) = line.strip_prefix("*** ")?.split_once(" File: ")?;
        let path = path.trim().to_owned();
        match what {
            "Add" | "Update" => Some(Change::Update { path, moved_to: None, hunks: Vec::new() }),
            "Delete" => Some(Change::Delete { path }),
            _ => None,
        }
    };
    text.lines().filter_map(change).collect()
}
