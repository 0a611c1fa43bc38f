//! Whether hooks that were installed are still there: files of agents are written by others, too.

use super::error::InstallError;
use super::json_entries::{self, MadeMembers};
use super::managed_file::FoundFile;
use super::record::{FileKind, FileRecord};

/// How a file of ours stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HooksState {
    InPlace,
    /// The file is gone, or has no entry of ours any more.
    Gone,
    /// It cannot be read, and neither can its agent read it.
    Unreadable(String),
}

/// Looks at a file that was written at install.
pub fn check_hooks(file: &FileRecord) -> HooksState {
    match has_hooks(file) {
        Ok(true) => HooksState::InPlace,
        Ok(false) => HooksState::Gone,
        Err(error) => {
            let cause = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
            HooksState::Unreadable(cause)
        }
    }
}

fn has_hooks(file: &FileRecord) -> Result<bool, InstallError> {
    let found = FoundFile::read(&file.path)?;
    if !found.is_there() || file.kind != FileKind::Entries {
        return Ok(found.is_there());
    }
    let text = found.text()?;
    let wrong = |source| InstallError::Json { path: file.path.clone(), source };
    // Nothing to take out means that nothing is in it.
    Ok(json_entries::remove_entries(text, &file.owner, &MadeMembers::default()).map_err(wrong)? != text)
}
