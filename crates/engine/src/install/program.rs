//! The path by which hooks call us.

use std::path::{Path, PathBuf};

use super::error::InstallError;
use crate::client;
use crate::context::Context;

const NAME: &str = "carryover";

/// The path on the search path that leads to this program, so that it still does after an upgrade; else the program's own
/// place. Hooks are known by our name, so another one is refused.
pub fn choose_program(context: &Context, current: &Path) -> Result<PathBuf, InstallError> {
    let real = fs_err::canonicalize(current)?;
    let on_path = client::find_program(context, NAME);
    let leads_here = |path: &PathBuf| fs_err::canonicalize(path).is_ok_and(|path| path == real);
    if let Some(path) = on_path.filter(leads_here) {
        return Ok(path);
    }
    match real.file_stem() {
        Some(name) if name == NAME => Ok(real),
        name => Err(InstallError::ProgramName(name.unwrap_or_default().to_string_lossy().into_owned())),
    }
}
