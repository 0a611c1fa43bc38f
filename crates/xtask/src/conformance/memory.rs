//! Files of instructions in the real clients: words are put wherever one may look for such a file, the client is started in
//! a folder below the root of a repository, and its first request must hold those that it is said to read, and no others.
//! A capture of that session must hold the same, and what `memory sync` wrote must reach the model.

mod marked_files;

use std::path::{Path, PathBuf};

use carryover_agents::{Facts, all_facts};
use carryover_testkit::client::{Client, ClientError, Launch, RUN_LIMIT, Sandbox};
use carryover_testkit::scenario::Source;
use fs_err as fs;
use serde_json::Value;
use tempfile::TempDir;

use super::plan::{self, Options};
use super::{ConformanceError, tier, walk};
use marked_files::{MarkedFiles, Round};

const PROMPT: &str = "Tell me what is to be done here.";

/// Files that become the source of others.
const SOURCES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];
/// A word in each of them.
const SOURCE_WORD: &str = "Source417Word";

/// Runs every client that reads files of a project by itself.
pub(super) fn run_walks(options: &Options) -> Result<(), ConformanceError> {
    let is_meant = |client: &Source| {
        let reads = find_facts(client).is_some_and(|facts| facts.instruction_files().next().is_some());
        reads && plan::matches_filter(options.from.as_ref(), &client.label())
    };
    let clients: Vec<Source> = tier::Tier::new(false).list_newest().into_iter().filter(is_meant).collect();
    if clients.is_empty() {
        return Err(ConformanceError::NothingToRun);
    }
    let rows = walk::run_rows(options, "memory", &clients, plan::client_name, |kind| run_case(options, kind));
    walk::check_rows(&rows)
}

fn find_facts(kind: &Source) -> Option<&'static Facts> {
    all_facts().find(|facts| facts.id == kind.lab.id)
}

fn run_case(options: &Options, kind: &Source) -> Result<Vec<String>, ConformanceError> {
    let Some(facts) = find_facts(kind) else { return Ok(Vec::new()) };
    let client = plan::install_client(kind, options)?;
    let mut findings = Vec::new();
    for round in [Round::Hiding, Round::Hidden] {
        findings.extend(find_strays(options, kind, &client, facts, round)?);
    }
    for source in SOURCES {
        findings.extend(sync_from(options, kind, &client, source, None)?);
    }
    // A file that is there already, in a folder of its own, names the source from there.
    let in_folder = facts.instruction_files().find(|name| name.contains('/')).filter(|_| facts.memory.import.is_some());
    if let Some(own) = in_folder {
        findings.extend(sync_from(options, kind, &client, SOURCES[0], Some(own))?);
    }
    Ok(findings)
}

/// A home, and elsewhere a repository in a folder.
struct Place {
    home: PathBuf,
    outside: PathBuf,
    repository: PathBuf,
    _scratch: TempDir,
}

impl Place {
    fn prepare(options: &Options) -> Result<Self, ConformanceError> {
        let runs = options.cache.join("runs");
        fs::create_dir_all(&runs)?;
        let mut scratch = tempfile::Builder::new().prefix("memory-").tempdir_in(fs::canonicalize(runs)?)?;
        scratch.disable_cleanup(options.keep);
        let (home, outside) = (scratch.path().join("home"), scratch.path().join("outside"));
        let repository = outside.join("repository");
        fs::create_dir_all(&home)?;
        walk::make_repository(&Sandbox { home: home.clone(), project: repository.clone() })?;
        Ok(Self { home, outside, repository, _scratch: scratch })
    }

    fn sandbox(&self, project: &Path) -> Sandbox {
        Sandbox { home: self.home.clone(), project: project.to_owned() }
    }
}

/// What the client is told and should not be, or is not told and should be; the same of a capture.
fn find_strays(
    options: &Options,
    kind: &Source,
    client: &Client,
    facts: &'static Facts,
    round: Round,
) -> Result<Vec<String>, ConformanceError> {
    let place = Place::prepare(options)?;
    let below = place.repository.join("middle/below");
    let sandbox = place.sandbox(&below);
    fs::create_dir_all(&below)?;
    let mut folders: Vec<&Path> = below.ancestors().take_while(|folder| folder.starts_with(&place.outside)).collect();
    folders.reverse();
    let marked = MarkedFiles::write(facts, &place.home, &folders, &place.repository, round)?;
    let request = send_prompt(&sandbox, kind, client)?;
    let mut findings = marked.compare(&request, &format!("{}'s request", client.label()), true);
    let carryover = Launch::new(&options.carryover, &below).env(sandbox.base_env(&[client]));
    carryover.args(["capture"]).run_to_success(RUN_LIMIT)?;
    let captured = fs::read_to_string(below.join(".carryover/session.json"))?;
    findings.extend(marked.compare(&captured, &format!("the capture of {}", client.label()), false));
    Ok(findings)
}

/// The source's words must reach a client that was told of it.
fn sync_from(
    options: &Options,
    kind: &Source,
    client: &Client,
    source: &str,
    own: Option<&str>,
) -> Result<Vec<String>, ConformanceError> {
    let place = Place::prepare(options)?;
    let sandbox = place.sandbox(&place.repository);
    fs::write(place.repository.join(source), format!("# Rules\n\nThe word is {SOURCE_WORD}.\n"))?;
    if let Some(path) = own.map(|own| place.repository.join(own)) {
        fs::create_dir_all(path.parent().unwrap_or(&path))?;
        fs::write(path, "# Mine\n")?;
    }
    let carryover = Launch::new(&options.carryover, &place.repository).env(sandbox.base_env(&[client]));
    let args = ["memory", "sync", "--from", source, "--to", client.lab.id, "--yes", "--json"];
    let synced: Value =
        serde_json::from_str(&carryover.args(args).run_to_success(RUN_LIMIT)?.stdout).map_err(ClientError::from)?;
    let n_told = send_prompt(&sandbox, kind, client)?.matches(SOURCE_WORD).count();
    let through = synced["changes"][0]["file"].as_str().map(|file| format!(" through {file}")).unwrap_or_default();
    let finding = format!("{}: the words of {source} do not reach it{through}", client.label());
    Ok((n_told == 0).then_some(finding).into_iter().collect())
}

/// The first request of a new session.
fn send_prompt(sandbox: &Sandbox, kind: &Source, client: &Client) -> Result<String, ClientError> {
    Ok(client.start_session(sandbox, &kind.setup(), PROMPT)?.first().to_string())
}
