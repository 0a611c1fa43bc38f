//! `carryover detect` with every agent's client installed and its version known from the run before.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use carryover_agents::{AGENTS, Facts, Version};
use carryover_testkit::client::cache_folder;

use super::figure::Figure;
use super::{Binaries, Result, quickest_run};
use crate::program_files::{link_program, make_executable};

const MAX_TIME: Duration = Duration::from_millis(100);

/// Measures it in a home with sessions of all agents.
pub(super) fn measure_detect(binaries: &Binaries, folder: &Path, home: &Path) -> Result<Figure> {
    let programs = folder.join("programs");
    if programs.exists() {
        fs_err::remove_dir_all(&programs)?;
    }
    let bin = programs.join("bin");
    fs_err::create_dir_all(&bin)?;
    let mut stand_ins = Vec::new();
    for facts in AGENTS.iter().map(|agent| agent.facts()) {
        let program = if let Some(program) = find_real_client(facts) {
            program
        } else {
            stand_ins.push(facts.id);
            make_stand_in(&programs, facts)?
        };
        link_program(&program, &bin.join(facts.binaries[0]))?;
    }
    // Clients are scripts that need the system's programs when they are first asked for their version.
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let detect = || {
        Command::new(&binaries.carryover)
            .args(["detect", "--json"])
            .current_dir(home.join("project-0"))
            .env_clear()
            .env("HOME", home)
            .env("PATH", &path)
            .output()
    };
    let told: serde_json::Value = serde_json::from_slice(&detect()?.stdout)?;
    let lacks = |agent: &&serde_json::Value| agent["version"].is_null() || agent["sessions"] == 0;
    if let Some(agent) = told["agents"].as_array().into_iter().flatten().find(lacks) {
        return Err(format!("detect did not find a client and sessions of {}", agent["id"]).into());
    }
    let made_up = if stand_ins.is_empty() { String::new() } else { format!(" (made up: {})", stand_ins.join(", ")) };
    let name = format!("detect {} installed clients{made_up}", AGENTS.len());
    Ok(Figure::from_time(name, quickest_run(detect)?, MAX_TIME))
}

/// The newest real client in the cache of the conformance runs, if a manifest tells its version: a client that must be
/// started to tell it could reach for the network.
fn find_real_client(facts: &Facts) -> Option<PathBuf> {
    let folders = fs_err::read_dir(cache_folder()).ok()?.filter_map(std::result::Result::ok).map(|entry| entry.path());
    let version = |folder: &PathBuf| {
        let name = folder.file_name()?.to_str()?.strip_prefix(facts.id)?.strip_prefix('-')?;
        Version::find_in(name)
    };
    let newest = folders.filter_map(|folder| Some((version(&folder)?, folder))).max()?.1;
    Some(newest.join("node_modules/.bin").join(facts.binaries[0])).filter(|program| program.exists())
}

/// A program that does nothing, with the manifest of the package that it would come in.
fn make_stand_in(programs: &Path, facts: &Facts) -> Result<PathBuf> {
    let package = programs.join(facts.id);
    fs_err::create_dir_all(&package)?;
    let manifest = serde_json::json!({ "name": facts.packages[0], "version": facts.versions_seen.1 });
    fs_err::write(package.join("package.json"), manifest.to_string())?;
    let program = package.join(facts.binaries[0]);
    fs_err::write(&program, "#!/bin/sh\n")?;
    make_executable(&program)?;
    Ok(program)
}
