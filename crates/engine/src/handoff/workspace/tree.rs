//! The folders of a project, two levels deep.

use std::path::Path;

/// Folders whose contents say nothing about the project.
const SKIPPED_FOLDERS: &[&str] = &["node_modules", "target", "dist", "build", "__pycache__", "venv", "vendor"];
const MAX_LINES: usize = 120;
const MAX_FOLDER_ENTRIES: usize = 40;

/// A line for each file and folder, folders with a slash at their end.
pub(super) fn list_lines(project: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, is_folder) in list_entries(project) {
        if lines.len() >= MAX_LINES {
            lines.push("…".to_owned());
            break;
        }
        if !is_folder {
            lines.push(name);
            continue;
        }
        lines.push(format!("{name}/"));
        if !SKIPPED_FOLDERS.contains(&name.as_str()) {
            let inside = list_entries(&project.join(&name));
            lines.extend(
                inside.into_iter().map(|(name, is_folder)| format!("  {name}{}", if is_folder { "/" } else { "" })),
            );
        }
    }
    lines
}

/// The entries of a folder, by name; hidden ones are left out.
fn list_entries(folder: &Path) -> Vec<(String, bool)> {
    let Ok(entries) = fs_err::read_dir(folder) else { return Vec::new() };
    let visible = |entry: fs_err::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        let is_folder = entry.file_type().ok()?.is_dir();
        (!name.starts_with('.')).then_some((name, is_folder))
    };
    let mut names: Vec<(String, bool)> = entries.flatten().filter_map(visible).collect();
    names.sort();
    names.truncate(MAX_FOLDER_ENTRIES);
    names
}
