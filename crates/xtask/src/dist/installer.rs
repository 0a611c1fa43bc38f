//! The installer: a script for any POSIX shell.

use std::error::Error;
use std::fmt::Write as _;
use std::path::PathBuf;

use super::product::{Product, TARGETS};
use crate::program_files::make_executable;

const TEMPLATE: &str = include_str!("templates/install.sh");

pub(super) const SCRIPT: &str = "install.sh";

pub(super) fn write_script(product: &Product) -> Result<PathBuf, Box<dyn Error>> {
    let mut cases = String::new();
    for (target, (system, processor)) in TARGETS.iter().filter_map(|target| Some((target, target.uname?))) {
        writeln!(cases, "        \"{system} {processor}\") echo {} ;;", target.triple)?;
    }
    let script = product.fill_in(TEMPLATE).replace("@TARGETS@", cases.trim_end());
    let path = product.folder.join(SCRIPT);
    fs_err::write(&path, script)?;
    make_executable(&path)?;
    Ok(path)
}
