//! The facts that everything is made from: each is known once, most of them in `Cargo.toml`.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::DistOptions;
use crate::test::cargo_program;

/// A system that the program is built for, as everybody calls it.
pub(super) struct Target {
    /// As Rust does.
    pub(super) triple: &'static str,
    /// As `uname -s` and `uname -m` do; none where there is no shell to ask.
    pub(super) uname: Option<(&'static str, &'static str)>,
    /// As Node does: the system, the processor, and the C library.
    pub(super) node: (&'static str, &'static str),
    pub(super) libc: Option<&'static str>,
    /// As Homebrew does.
    pub(super) brew: Option<(&'static str, &'static str)>,
}

pub(super) const TARGETS: &[Target] = &[
    Target {
        triple: "x86_64-unknown-linux-gnu",
        uname: Some(("Linux", "x86_64")),
        node: ("linux", "x64"),
        libc: Some("glibc"),
        brew: Some(("on_linux", "on_intel")),
    },
    Target {
        triple: "aarch64-unknown-linux-gnu",
        uname: Some(("Linux", "aarch64")),
        node: ("linux", "arm64"),
        libc: Some("glibc"),
        brew: Some(("on_linux", "on_arm")),
    },
    Target {
        triple: "x86_64-apple-darwin",
        uname: Some(("Darwin", "x86_64")),
        node: ("darwin", "x64"),
        libc: None,
        brew: Some(("on_macos", "on_intel")),
    },
    Target {
        triple: "aarch64-apple-darwin",
        uname: Some(("Darwin", "arm64")),
        node: ("darwin", "arm64"),
        libc: None,
        brew: Some(("on_macos", "on_arm")),
    },
    Target { triple: "x86_64-pc-windows-msvc", uname: None, node: ("win32", "x64"), libc: None, brew: None },
];

/// What is made, for which system, and where.
pub(super) struct Product {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) description: String,
    pub(super) license: String,
    pub(super) homepage: Option<String>,
    pub(super) base_url: Option<String>,
    /// The system that this runs on.
    pub(super) target: &'static Target,
    /// The program that was built.
    pub(super) program: PathBuf,
    /// Whether it is small and fast, or only there to be tried.
    pub(super) is_optimised: bool,
    /// The time of every file in an archive, in seconds: that of the commit.
    pub(super) modified: u64,
    /// Where everything is written.
    pub(super) folder: PathBuf,
}

impl Product {
    pub(super) fn gather(root: &Path, options: &DistOptions) -> Result<Self, Box<dyn Error>> {
        let metadata = read_metadata(root)?;
        let packages = metadata["packages"].as_array().ok_or("cargo names no packages")?;
        let package = packages.iter().find(|package| package["name"] == "carryover").ok_or("carryover is missing")?;
        let fact = |name: &str| package[name].as_str().map(str::to_owned).ok_or(format!("Cargo.toml has no {name}"));
        let target_folder = PathBuf::from(metadata["target_directory"].as_str().ok_or("cargo names no target folder")?);
        let is_optimised = options.profile != "dev";
        let profile_folder = if is_optimised { &options.profile } else { "debug" };
        let name = fact("name")?;
        Ok(Self {
            program: target_folder.join(profile_folder).join(&name).with_extension(std::env::consts::EXE_EXTENSION),
            version: fact("version")?,
            description: fact("description")?,
            license: fact("license")?,
            homepage: options.homepage.clone(),
            base_url: options.base_url.as_ref().map(|url| url.trim_end_matches('/').to_owned()),
            target: host_target()?,
            is_optimised,
            modified: commit_time(root).unwrap_or(0),
            folder: options.folder.clone().unwrap_or_else(|| target_folder.join("dist")),
            name,
        })
    }

    /// The name of an archive, without its ending: also the name of the folder in it.
    pub(super) fn archive_stem(&self, target: &Target) -> String {
        format!("{}-{}-{}", self.name, self.version, target.triple)
    }

    pub(super) fn archive_name(&self, target: &Target) -> String {
        self.archive_stem(target) + ".tar.gz"
    }

    /// The program's name as a file.
    pub(super) fn program_name(&self) -> String {
        format!("{}{}", self.name, std::env::consts::EXE_SUFFIX)
    }

    /// Puts the facts into a text that names them as `@FACT@`.
    pub(super) fn fill_in(&self, template: &str) -> String {
        template
            .replace("@NAME@", &self.name)
            .replace("@VARIABLE@", &self.name.to_uppercase())
            .replace("@VERSION@", &self.version)
            .replace("@DESCRIPTION@", &self.description)
    }
}

fn read_metadata(root: &Path) -> Result<Value, Box<dyn Error>> {
    let args = ["metadata", "--no-deps", "--format-version", "1"];
    let output = Command::new(cargo_program()).args(args).current_dir(root).output()?;
    if !output.status.success() {
        return Err(format!("`cargo metadata` failed: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn host_target() -> Result<&'static Target, Box<dyn Error>> {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let output = Command::new(rustc).arg("-vV").output()?;
    let text = String::from_utf8(output.stdout)?;
    let triple = text.lines().find_map(|line| line.strip_prefix("host: ")).ok_or("rustc does not tell its host")?;
    let target = TARGETS.iter().find(|target| target.triple == triple);
    target.ok_or_else(|| format!("{triple} is not among the systems in crates/xtask/src/dist/product.rs").into())
}

/// When the commit was made, or what packagers say in its place.
fn commit_time(root: &Path) -> Option<u64> {
    if let Ok(told) = std::env::var("SOURCE_DATE_EPOCH") {
        return told.parse().ok();
    }
    let args = ["rev-list", "--max-count=1", "--no-commit-header", "--format=%ct", "HEAD"];
    let output = Command::new("git").args(args).current_dir(root).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}
