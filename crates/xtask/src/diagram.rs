//! `cargo xtask diagram`: pictures that are drawn from a source beside them.
//!
//! A picture names the SHA-256 of its source. So it is seen that one is out of date without the package that draws it.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::dist::archive::hex_sha256;
use crate::write_line;

/// Where sources and pictures are.
const FOLDER: &str = "docs/diagrams";

/// The package that draws, and its version: another one would draw other bytes.
const PACKAGE: &str = "@terrastruct/d2";
const VERSION: &str = "0.1.33";

const SCRIPT: &str = include_str!("diagram/draw.mjs");

/// Draws every picture anew.
pub(crate) fn write_pictures(root: &Path) -> Result<(), Box<dyn Error>> {
    let tool = install_tool(root)?;
    for source in list_sources(root)? {
        let picture = picture_of(&source);
        let mut node = Command::new("node");
        node.arg(tool.join("draw.mjs")).arg(&source).arg(&picture);
        if !node.status()?.success() {
            return Err(format!("{} could not be drawn", source.display()).into());
        }
        let drawn = fs_err::read_to_string(&picture)?;
        fs_err::write(&picture, format!("{}\n{}\n", source_mark(&source)?, drawn.trim()))?;
        write_line(&format!("drew {}", picture.strip_prefix(root).unwrap_or(&picture).display()));
    }
    Ok(())
}

/// The pictures that are missing, or drawn from what their source is no longer.
pub(crate) fn find_outdated(root: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut outdated = Vec::new();
    for source in list_sources(root)? {
        let picture = picture_of(&source);
        if !picture.is_file() || !fs_err::read_to_string(&picture)?.starts_with(&source_mark(&source)?) {
            outdated.push(picture);
        }
    }
    Ok(outdated)
}

/// The first line of a picture. A checkout may have changed the ends of lines, which are no part of the source.
fn source_mark(source: &Path) -> Result<String, Box<dyn Error>> {
    let text = fs_err::read_to_string(source)?.replace('\r', "");
    let name = source.file_name().unwrap_or_default().to_string_lossy();
    Ok(format!("<!-- Drawn by `cargo xtask diagram` from {name}, SHA-256 {} -->", hex_sha256(text.as_bytes())))
}

fn picture_of(source: &Path) -> PathBuf {
    source.with_extension("svg")
}

fn list_sources(root: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut found = Vec::new();
    for entry in fs_err::read_dir(root.join(FOLDER))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "d2") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The package in a folder of ours, with the script beside it.
fn install_tool(root: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let folder = root.join("target/tools").join(format!("d2-{VERSION}"));
    if !folder.join("node_modules").join(PACKAGE).is_dir() {
        fs_err::create_dir_all(&folder)?;
        let package = format!("{PACKAGE}@{VERSION}");
        write_line(&format!("installing {package}"));
        let mut npm = Command::new("npm");
        npm.args(["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"]).arg(&folder);
        if !npm.arg(&package).stdout(Stdio::null()).status()?.success() {
            return Err(format!("{package} could not be installed").into());
        }
    }
    fs_err::write(folder.join("draw.mjs"), SCRIPT)?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_outdated_when_its_source_has_changed() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join(FOLDER);
        fs_err::create_dir_all(&folder).unwrap();
        let source = folder.join("a.d2");
        fs_err::write(&source, "a -> b\n").unwrap();
        let picture = picture_of(&source);
        assert_eq!(find_outdated(root.path()).unwrap(), std::slice::from_ref(&picture));
        fs_err::write(&picture, source_mark(&source).unwrap() + "\n<svg/>\n").unwrap();
        assert!(find_outdated(root.path()).unwrap().is_empty());
        fs_err::write(&source, "a -> b\r\n").unwrap();
        assert!(find_outdated(root.path()).unwrap().is_empty());
        fs_err::write(&source, "a -> c\n").unwrap();
        assert_eq!(find_outdated(root.path()).unwrap(), [picture]);
    }
}
