//! The project of a transcript: steps name files, and not the folder that is worked in.

use std::path::{Path, PathBuf};

use carryover_core::json::Json;
use carryover_core::transcript::Fact;

use super::dialect::local_path;
use super::record::Parsed;
use super::wire::WirePath;

/// The folder of the file that a step is about.
pub(super) fn file_folder(input: &Json) -> Option<PathBuf> {
    let file: WirePath<'_> = serde_json::from_str(input.as_str()).ok()?;
    let path = local_path(&file.path?);
    // A name on another machine is not looked up: whoever wrote the transcript would learn of it.
    let is_local = path.starts_with('/') && !path.starts_with("//") || path.get(1..3) == Some(":\\");
    is_local.then(|| Path::new(&path).parent().map(Path::to_path_buf)).flatten()
}

/// Looks up the repositories of files, one step after the other. Most files lie beside the one before.
#[derive(Default)]
pub(super) struct ProjectFinder {
    folder: PathBuf,
}

impl ProjectFinder {
    /// Tells the repository of a step's file, where that is in another folder than the file before.
    pub(super) fn add_project(&mut self, parsed: &mut Parsed) {
        let Some(folder) = parsed.more.folder.take().filter(|folder| *folder != self.folder) else { return };
        let repository = folder.ancestors().find(|above| above.join(".git").exists());
        parsed.facts.extend(repository.map(|found| Fact::Project(found.to_path_buf())));
        self.folder = folder;
    }
}
