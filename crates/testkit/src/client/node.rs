//! A newer Node than the machine's, from the npm package that carries its binary.

use std::env::consts::{ARCH, OS};
use std::path::{Path, PathBuf};

use fs_err as fs;

use super::ClientError;
use super::install::npm_install;

/// New enough for every client.
const NODE_VERSION: &str = "24.21.0";

/// Finds it in the cache, or installs it; returns the folder with the binary.
pub(super) fn find_or_install(cache: &Path) -> Result<PathBuf, ClientError> {
    let package = package_name();
    let folder = cache.join(format!("node-{NODE_VERSION}"));
    let bin = Path::new("node_modules").join(&package).join("bin");
    if folder.join(&bin).join("node").exists() {
        return Ok(folder.join(bin));
    }
    let staging = tempfile::Builder::new().prefix(".installing-").tempdir_in(cache)?;
    let unavailable = |reason| ClientError::Unavailable { client: format!("node {NODE_VERSION}"), reason };
    npm_install(staging.path(), &format!("{package}@{NODE_VERSION}")).map_err(unavailable)?;
    match fs::rename(staging.path(), &folder) {
        // Somebody else was faster; theirs is as good.
        Err(_) if folder.join(&bin).join("node").exists() => {}
        renamed => renamed?,
    }
    Ok(folder.join(bin))
}

fn package_name() -> String {
    let system = if OS == "macos" { "darwin" } else { OS };
    let machine = match ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    // The packages of one system are named in a way of their own.
    let prefix = if (system, machine) == ("darwin", "arm64") { "node-bin" } else { "node" };
    format!("{prefix}-{system}-{machine}")
}
