//! The npm packages: one holds the program for one system, the other depends on those of all systems and starts the one
//! that npm found fit to install.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Map, Value, json};

use super::contents::TEXTS;
use super::licences;
use super::product::{Product, TARGETS, Target};
use crate::program_files::make_executable;
use crate::test::can_run;

const LAUNCHER: &str = include_str!("templates/launch.js");

/// The oldest Node that starts the program.
const NODE_RANGE: &str = ">=18";

/// Writes and packs both packages; nothing where npm is missing.
pub(super) fn pack(root: &Path, product: &Product) -> Result<Option<Vec<PathBuf>>, Box<dyn Error>> {
    if !can_run(npm_program(), &["--version"]) {
        return Ok(None);
    }
    let folder = product.folder.join("npm");
    if folder.exists() {
        fs_err::remove_dir_all(&folder)?;
    }
    let platform = folder.join(platform_name(product, product.target));
    let program = platform.join("bin").join(product.program_name());
    write_package(root, &platform, &platform_manifest(product))?;
    fs_err::create_dir_all(platform.join("bin"))?;
    fs_err::copy(&product.program, &program)?;
    make_executable(&program)?;
    fs_err::write(platform.join(licences::FILE_NAME), licences::render_third_party(root, product)?)?;

    let launcher = folder.join(&product.name);
    write_package(root, &launcher, &launcher_manifest(product))?;
    let script = launcher.join("bin").join(format!("{}.js", product.name));
    fs_err::create_dir_all(launcher.join("bin"))?;
    fs_err::write(&script, product.fill_in(LAUNCHER))?;
    make_executable(&script)?;
    Ok(Some(vec![pack_folder(product, &platform)?, pack_folder(product, &launcher)?]))
}

/// On Windows npm is a script, which is started by its whole name only.
pub(super) fn npm_program() -> &'static str {
    if cfg!(windows) { "npm.cmd" } else { "npm" }
}

/// The name of the package that holds the program for one system.
pub(super) fn platform_name(product: &Product, target: &Target) -> String {
    format!("{}-{}-{}", product.name, target.node.0, target.node.1)
}

/// The file that npm makes of a package.
pub(super) fn tarball_name(product: &Product, package: &str) -> String {
    format!("{package}-{}.tgz", product.version)
}

fn write_package(root: &Path, folder: &Path, manifest: &Value) -> Result<(), Box<dyn Error>> {
    fs_err::create_dir_all(folder)?;
    fs_err::write(folder.join("package.json"), serde_json::to_string_pretty(manifest)? + "\n")?;
    for name in TEXTS.iter().filter(|name| **name != "CHANGELOG.md") {
        fs_err::copy(root.join(name), folder.join(name))?;
    }
    Ok(())
}

fn base_manifest(product: &Product, name: &str) -> Map<String, Value> {
    let mut manifest = Map::new();
    manifest.insert("name".to_owned(), json!(name));
    manifest.insert("version".to_owned(), json!(product.version));
    manifest.insert("description".to_owned(), json!(product.description));
    // npm wants brackets around a choice.
    manifest.insert("license".to_owned(), json!(format!("({})", product.license)));
    if let Some(homepage) = &product.homepage {
        manifest.insert("homepage".to_owned(), json!(homepage));
    }
    manifest
}

fn platform_manifest(product: &Product) -> Value {
    let mut manifest = base_manifest(product, &platform_name(product, product.target));
    manifest.insert("os".to_owned(), json!([product.target.node.0]));
    manifest.insert("cpu".to_owned(), json!([product.target.node.1]));
    if let Some(libc) = product.target.libc {
        manifest.insert("libc".to_owned(), json!([libc]));
    }
    Value::Object(manifest)
}

fn launcher_manifest(product: &Product) -> Value {
    let mut manifest = base_manifest(product, &product.name);
    let platforms: Map<String, Value> =
        TARGETS.iter().map(|target| (platform_name(product, target), json!(product.version))).collect();
    manifest.insert("bin".to_owned(), json!({ &product.name: format!("bin/{}.js", product.name) }));
    manifest.insert("engines".to_owned(), json!({ "node": NODE_RANGE }));
    manifest.insert("optionalDependencies".to_owned(), Value::Object(platforms));
    Value::Object(manifest)
}

fn pack_folder(product: &Product, package: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let mut npm = Command::new(npm_program());
    // Nothing is asked of anybody for this.
    npm.args(["pack", "--silent", "--offline", "--no-update-notifier", "--pack-destination"]).arg(&product.folder);
    npm.arg("--cache").arg(product.folder.join("npm/.cache"));
    let status = npm.arg(package).current_dir(&product.folder).stdout(Stdio::null()).status()?;
    let name = package.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if status.success() {
        Ok(product.folder.join(tarball_name(product, &name)))
    } else {
        Err(format!("`npm pack` failed for {name}").into())
    }
}
