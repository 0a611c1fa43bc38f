//! Installed clients and their versions.
//!
//! No read path comes here: a client that is asked for its version may write into its store.

mod probe;

use std::path::{Path, PathBuf};

use carryover_agents::{Agent, Facts, Os, Version};
use serde::Deserialize;

use crate::context::Context;
use crate::own::cache::{Cache, ProbedVersion};
use crate::own::files::{self, Stamp};

/// How far above a program its package's manifest may stand.
const MAX_PARENTS: usize = 6;
const MAX_MANIFEST_BYTES: u64 = 1 << 20;

/// A client that is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    pub program: PathBuf,
    pub version: Option<Version>,
}

/// Looks for an agent's client on the search path; versions come from package manifests, else from one probe with a
/// throw-away home, cached.
pub fn find_installed(context: &Context, agent: &dyn Agent) -> Option<Client> {
    find_installed_client(context, agent.facts())
}

/// The same for whoever is known by facts alone.
pub fn find_installed_client(context: &Context, facts: &Facts) -> Option<Client> {
    let program = find_agent_program(context, facts)?;
    let version = manifest_version(&program, facts).or_else(|| cached_probe(context, &program));
    Some(Client { program, version })
}

/// The program that starts an agent, without asking it anything.
pub fn find_agent_program(context: &Context, facts: &Facts) -> Option<PathBuf> {
    facts.binaries.iter().find_map(|name| find_program(context, name))
}

/// A program on the search path.
pub fn find_program(context: &Context, name: &str) -> Option<PathBuf> {
    let folders = context.search_path();
    let windows = context.env.os == Os::Windows;
    let names = if windows { vec![format!("{name}.exe"), format!("{name}.cmd")] } else { vec![name.to_owned()] };
    // A relative folder in the search path would mean another program in every directory.
    let places = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    places.filter(|place| place.is_absolute()).find(|place| is_program(place))
}

fn is_program(path: &Path) -> bool {
    let Ok(metadata) = fs_err::metadata(path) else { return false };
    #[cfg(unix)]
    let executable = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let executable = true;
    metadata.is_file() && executable
}

#[derive(Deserialize)]
struct Manifest {
    name: String,
    version: String,
}

/// The version in the manifest of the package that the program belongs to.
fn manifest_version(program: &Path, facts: &Facts) -> Option<Version> {
    let real = fs_err::canonicalize(program).ok()?;
    real.ancestors().skip(1).take(MAX_PARENTS).find_map(|folder| {
        let bytes = files::read_bounded(&folder.join("package.json"), MAX_MANIFEST_BYTES).ok()??;
        let manifest: Manifest = serde_json::from_slice(&bytes).ok()?;
        facts.packages.contains(&manifest.name.as_str()).then(|| Version::find_in(&manifest.version))?
    })
}

/// The version that the program itself gives, asked once per build.
fn cached_probe(context: &Context, program: &Path) -> Option<Version> {
    let stamp = Stamp::from_path(program).ok()?;
    let mut cache = Cache::load(context);
    if let Some(ProbedVersion(version)) = cache.probed_version(program, stamp) {
        return version;
    }
    let version = probe::query_version(program, context.env.var("PATH"));
    cache.remember_version(program, stamp, version);
    // A cache that cannot be written costs a probe next time, and is no reason to fail.
    cache.save(context).ok();
    version
}

#[cfg(test)]
mod tests;
