//! The pairs that are run: which sessions, into which clients.

use std::env;
use std::path::{Path, PathBuf};

use carryover_testkit::client::{Client, ClientError, Provider, cache_folder};
use carryover_testkit::scenario::{Abilities, CATALOG, MadeSession, Scenario, Source, load_or_make};

use super::report::PairRow;
use super::tier::{Tier, WHOLE_SESSION};
use super::{ConformanceError, ordered_pool};

/// How often a session is tried to be made.
const MAX_TRIES: u32 = 3;

/// What is proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    /// That sessions get from every agent to every other.
    Matrix,
    /// That the picker leads there and back.
    FrontDoor,
    /// That a deleted session comes back.
    Restore,
    /// That the next agent starts informed.
    Hooks,
    /// That recordings are exact, and change nothing.
    Recording,
    /// That commands of ours reach the model.
    Commands,
    /// That files of instructions reach the model as it is told.
    Memory,
    /// That vendors' own code reads what is written for a client that does not run here.
    Judges,
}

/// How the matrix is run.
#[derive(Clone)]
#[expect(clippy::struct_excessive_bools, reason = "they are switches of a command line")]
pub(crate) struct Options {
    /// The built `carryover`.
    pub(crate) carryover: PathBuf,
    /// Where installed clients are kept.
    pub(crate) clients: PathBuf,
    /// Where made sessions and the homes of the runs are kept.
    pub(crate) cache: PathBuf,
    /// The page with the matrix.
    pub(crate) output: PathBuf,
    /// Only sources, sessions and targets whose names contain these.
    pub(crate) from: Option<String>,
    pub(crate) session: Option<String>,
    pub(crate) to: Option<String>,
    /// No pairs with clients whose names contain this.
    pub(crate) without: Option<String>,
    pub(crate) jobs: usize,
    /// All pairs, not only those that are enough for every day.
    pub(crate) full: bool,
    /// Compare with the committed page instead of writing it.
    pub(crate) check: bool,
    /// Write what was found into the page, also where only some pairs were run: the others stay as they are.
    pub(crate) write: bool,
    /// Keep the homes of the runs, to look into them.
    pub(crate) keep: bool,
    pub(crate) proof: Proof,
    /// Called after each pair.
    pub(crate) progress: fn(&PairRow),
}

impl Options {
    pub(crate) fn new(workspace: &Path) -> Self {
        let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace.join("target"), PathBuf::from);
        Self {
            carryover: target.join("debug/carryover"),
            clients: cache_folder(),
            cache: target.join("conformance"),
            output: workspace.join("docs/conformance.md"),
            from: None,
            session: None,
            to: None,
            without: None,
            jobs: 2,
            full: false,
            check: false,
            write: false,
            keep: false,
            proof: Proof::Matrix,
            progress: |_| {},
        }
    }

    /// Who asks for certain pairs may ask for those of any agent.
    fn chosen_tier(&self) -> Tier {
        let mut tier =
            if self.from.is_some() || self.to.is_some() { Tier::all_agents(self.full) } else { Tier::new(self.full) };
        if let Some(without) = &self.without {
            tier.clients.retain(|client| !client.label().contains(without.as_str()));
        }
        tier
    }

    /// Which sessions are needed, and where they go.
    fn needed_sessions(&self) -> Vec<(Source, Scenario, Vec<Source>)> {
        let tier = self.chosen_tier();
        let mut sessions = Vec::new();
        for source in tier.clients.iter().filter(|source| matches_filter(self.from.as_ref(), &source.label())) {
            for scenario in CATALOG.iter().map(|scenario| scenario(Abilities::from_lab(source.lab))) {
                let goes = |target: &&Source| {
                    tier.has_pair(source, scenario.name, target) && matches_filter(self.to.as_ref(), &target.label())
                };
                let targets: Vec<Source> = tier.clients.iter().filter(goes).copied().collect();
                if !targets.is_empty() && matches_filter(self.session.as_ref(), scenario.name) {
                    sessions.push((*source, scenario, targets));
                }
            }
        }
        sessions
    }

    /// Only a whole matrix is worth writing down.
    pub(super) fn is_whole(&self) -> bool {
        let filters = [&self.from, &self.session, &self.to, &self.without];
        self.full && filters.iter().all(|filter| filter.is_none())
    }
}

/// One session into one client.
pub(super) struct Case {
    pub(super) made: MadeSession,
    pub(super) source: Client,
    pub(super) target: Client,
    pub(super) target_kind: Source,
}

impl Case {
    pub(super) fn source_name(&self) -> String {
        client_name(&self.made.source)
    }

    pub(super) fn target_name(&self) -> String {
        client_name(&self.target_kind)
    }
}

/// Makes a session; a client that lost something on the way gets another chance.
fn make_session(
    client: &Client,
    source: &Source,
    scenario: &Scenario,
    cache: &Path,
) -> Result<MadeSession, ClientError> {
    let mut tries = 1;
    loop {
        match load_or_make(client, source, scenario, cache) {
            Err(_) if tries < MAX_TRIES => tries += 1,
            made => return made,
        }
    }
}

/// The session that has everything, of one client.
pub(super) fn make_whole_session(
    client: &Client,
    source: &Source,
    options: &Options,
) -> Result<MadeSession, ConformanceError> {
    make_named_session(client, source, WHOLE_SESSION, options)
}

/// A session of the catalog, of one client.
pub(super) fn make_named_session(
    client: &Client,
    source: &Source,
    name: &str,
    options: &Options,
) -> Result<MadeSession, ConformanceError> {
    let abilities = || Abilities::from_lab(source.lab);
    let named = CATALOG.iter().map(|scenario| scenario(abilities())).find(|scenario| scenario.name == name);
    let named = named.ok_or(ConformanceError::NothingToRun)?;
    Ok(make_session(client, source, &named, &options.cache)?)
}

/// How a page names a client: `Codex CLI 0.166.0 (gpt-6-sol)`.
pub(super) fn client_name(source: &Source) -> String {
    let model = source.model.map(|model| format!(" ({model})")).unwrap_or_default();
    let provider = if source.provider == Provider::BuiltIn { " (own provider)" } else { "" };
    format!("{} {}{model}{provider}", source.lab.name, source.version)
}

pub(super) struct Plan {
    pub(super) cases: Vec<Case>,
}

impl Plan {
    /// Installs the clients and makes the sessions that are needed.
    pub(super) fn new(options: &Options) -> Result<Self, ConformanceError> {
        let wanted = options.needed_sessions();
        let made = ordered_pool::map_ordered(options.jobs, &wanted, |(source, scenario, _)| {
            let client = install_client(source, options)?;
            Ok::<_, ConformanceError>((make_session(&client, source, scenario, &options.cache)?, client))
        });
        let mut cases = Vec::new();
        for ((.., targets), made) in wanted.into_iter().zip(made) {
            let (made, source) = made?;
            for target in targets {
                let (made, source) = (made.clone(), source.clone());
                cases.push(Case { made, source, target: install_client(&target, options)?, target_kind: target });
            }
        }
        if cases.is_empty() { Err(ConformanceError::NothingToRun) } else { Ok(Self { cases }) }
    }
}

/// Installs the clients that these options may need.
pub(super) fn install_all(options: &Options) -> Result<(), ConformanceError> {
    for client in &options.chosen_tier().clients {
        if matches_filter(options.from.as_ref(), &client.label())
            || matches_filter(options.to.as_ref(), &client.label())
        {
            install_client(client, options)?;
        }
    }
    Ok(())
}

pub(super) fn matches_filter(filter: Option<&String>, name: &str) -> bool {
    filter.is_none_or(|part| name.contains(part.as_str()))
}

pub(super) fn install_client(source: &Source, options: &Options) -> Result<Client, ConformanceError> {
    Ok(Client::find_or_install(source.lab, source.version, &options.clients)?)
}
