//! The files of an archive. They stand as they are installed: `bin` and `share` are copied into a prefix.

use std::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};

use super::licences;
use super::product::Product;

/// A file of the archive.
pub(super) struct PackedFile {
    /// Where it stands in the archive's folder.
    pub(super) path: String,
    pub(super) bytes: Vec<u8>,
    pub(super) is_program: bool,
}

impl PackedFile {
    fn new(path: String, bytes: Vec<u8>) -> Self {
        Self { path, bytes, is_program: false }
    }
}

/// The texts that come along from the repository.
pub(super) const TEXTS: &[&str] = &["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];

pub(super) fn gather_files(root: &Path, product: &Product) -> Result<Vec<PackedFile>, Box<dyn Error>> {
    let program = format!("bin/{}", product.program_name());
    let mut files = vec![PackedFile { path: program, bytes: fs_err::read(&product.program)?, is_program: true }];
    for name in TEXTS {
        files.push(PackedFile::new((*name).to_owned(), fs_err::read(root.join(name))?));
    }
    let third_party = licences::render_third_party(root, product)?;
    files.push(PackedFile::new(licences::FILE_NAME.to_owned(), third_party.into_bytes()));
    files.extend(read_manual(product)?);
    for (name, script) in carryover::completion_scripts() {
        files.push(PackedFile::new(completion_path(product, &name), script));
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// The pages as the program itself writes them: they tell its version.
fn read_manual(product: &Product) -> Result<Vec<PackedFile>, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let mut man = Command::new(&product.program);
    man.args(["man", "--to"]).arg(folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
    // It needs no home, and gets none of ours.
    man.env("HOME", folder.path());
    if !man.status()?.success() {
        return Err(format!("`{} man` failed", product.name).into());
    }
    let mut pages = Vec::new();
    for entry in fs_err::read_dir(folder.path())? {
        let path = entry?.path();
        if let Some(name) = path.file_name().and_then(|name| name.to_str()).filter(|name| name.ends_with(".1")) {
            pages.push(PackedFile::new(format!("share/man/man1/{name}"), fs_err::read(&path)?));
        }
    }
    Ok(pages)
}

/// Where a shell looks for its script.
fn completion_path(product: &Product, name: &str) -> String {
    let program = &product.name;
    if name == format!("{program}.bash") {
        format!("share/bash-completion/completions/{program}")
    } else if name == format!("_{program}") {
        format!("share/zsh/site-functions/{name}")
    } else if name == format!("{program}.fish") {
        format!("share/fish/vendor_completions.d/{name}")
    } else {
        // The others have no such folder: their users name the file in their settings.
        format!("share/{program}/completions/{name}")
    }
}
