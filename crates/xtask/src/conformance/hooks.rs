//! Hooks with the real clients: one is killed in the middle of its work, and the next starts informed.
//!
//! In a throw-away home everything is installed as a user installs it. The first client works on something and is killed;
//! the handoff is published; the next client is opened in a terminal, and the first request that it sends to its model
//! must hold the handoff's words, or the pointer to them where the client takes nothing else.

mod checks;
pub(super) mod stage;

use carryover_agents::{AGENTS, Injection};
use carryover_engine::handoff::project_dir::handoff_path;
use carryover_testkit::client::Client;
use carryover_testkit::lab::Lab;
use carryover_testkit::scenario::Source;

use self::stage::Stage;
use super::plan::{self, Options};
use super::{ConformanceError, tier, walk};

/// One row of the walk.
enum HookCase {
    /// The first dies, the second starts; with what must not happen to the second, once for each.
    Handoff { from: Source, to: Source, has_negatives: bool },
    /// A compaction is told before it happens.
    Compaction { client: Source, command: &'static str },
}

impl HookCase {
    fn name(&self) -> String {
        match self {
            Self::Handoff { from, to, .. } => format!("{} → {}", plan::client_name(from), plan::client_name(to)),
            Self::Compaction { client, .. } => format!("{} is compacted", plan::client_name(client)),
        }
    }

    fn involves(&self, filter: &str) -> bool {
        match self {
            Self::Handoff { from, to, .. } => from.label().contains(filter) || to.label().contains(filter),
            Self::Compaction { client, .. } => client.label().contains(filter),
        }
    }
}

/// How a handoff gets into a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arrival {
    /// A hook of ours puts its words there.
    Injected,
    /// The client reads the file itself, because its user told it to.
    ReadByClient,
    /// Its instruction file points to the handoff.
    Pointed,
}

impl Arrival {
    fn of_lab(lab: &Lab) -> Self {
        let facts = AGENTS.iter().map(|agent| agent.facts()).find(|facts| facts.id == lab.id);
        let injects = facts.and_then(|facts| facts.hooks).is_some_and(|hooks| hooks.injection != Injection::Nothing);
        if injects {
            Self::Injected
        } else if lab.reads_opted_in_handoff() {
            Self::ReadByClient
        } else {
            Self::Pointed
        }
    }
}

/// Runs the ring of clients, or all pairs.
pub(super) fn run_walks(options: &Options) -> Result<(), ConformanceError> {
    // One after the other: an interface misses keys where several are drawn at once, and there is one port.
    let options = &Options { jobs: 1, ..options.clone() };
    let cases = list_cases(options);
    if cases.is_empty() {
        return Err(ConformanceError::NothingToRun);
    }
    let rows = walk::run_rows(options, "hooks", &cases, HookCase::name, |case| run_case(options, case));
    walk::check_rows(&rows)
}

/// Every client once dies and, where its interface can be driven, once starts.
fn list_cases(options: &Options) -> Vec<HookCase> {
    let clients = tier::Tier::new(false).list_newest();
    let mut cases = Vec::new();
    let mut started: Vec<Source> = Vec::new();
    for (index, from) in clients.iter().enumerate() {
        let later = clients.iter().cycle().skip(index + 1).take(clients.len() - 1);
        let targets = later.filter(|to| to.lab.interface_ready_text().is_some());
        for to in targets.take(if options.full { usize::MAX } else { 1 }) {
            let has_negatives = !started.contains(to);
            started.push(*to);
            cases.push(HookCase::Handoff { from: *from, to: *to, has_negatives });
        }
    }
    let compacted = clients.iter().filter_map(|client| Some((*client, client.lab.compact_command()?)));
    cases.extend(compacted.map(|(client, command)| HookCase::Compaction { client, command }));
    cases.retain(|case| keeps_case(options, case));
    cases
}

fn keeps_case(options: &Options, case: &HookCase) -> bool {
    if options.without.as_ref().is_some_and(|without| case.involves(without)) {
        return false;
    }
    let matches = |filter: &Option<String>, client: &Source| plan::matches_filter(filter.as_ref(), &client.label());
    match case {
        HookCase::Handoff { from, to, .. } => matches(&options.from, from) && matches(&options.to, to),
        HookCase::Compaction { client, .. } => matches(&options.from, client) && matches(&options.to, client),
    }
}

fn run_case(options: &Options, case: &HookCase) -> Result<Vec<String>, ConformanceError> {
    match case {
        HookCase::Handoff { from, to, has_negatives } => {
            let (first, next) = (plan::install_client(from, options)?, plan::install_client(to, options)?);
            let stage = Stage::prepare(options, &[(from, &first), (to, &next)], &[])?;
            let mut findings = hand_over(&stage, (from, &first), (to, &next))?;
            if *has_negatives && findings.is_empty() {
                findings.extend(checks::check_negatives(&stage, (from, &first), (to, &next))?);
            }
            Ok(findings)
        }
        HookCase::Compaction { client: kind, command } => {
            let client = plan::install_client(kind, options)?;
            let stage = Stage::prepare(options, &[(kind, &client)], &[])?;
            Ok(checks::check_compaction(&stage, kind, &client, command)?)
        }
    }
}

/// The first client dies; what the next one is told.
fn hand_over(
    stage: &Stage<'_>,
    (from, first): (&Source, &Client),
    (to, next): (&Source, &Client),
) -> Result<Vec<String>, ConformanceError> {
    stage.work_and_die(from, first)?;
    if !stage.await_handoff() {
        return Ok(vec![format!("{} does not hold what was asked of {}", handoff_path(), first.label())]);
    }
    // The others read the file in whatever session they start.
    let arrival = Arrival::of_lab(next.lab);
    let delegates = arrival == Arrival::Injected && checks::script_sub_agent(stage, to);
    let request = stage.type_first_prompt(to, next, None)?;
    let (has_words, has_pointer) = (stage::holds_words(&request), stage::holds_pointer(&request));
    let finding = match arrival {
        Arrival::Injected if !has_words => Some("its first request does not hold the handoff that is injected"),
        Arrival::ReadByClient if !has_words => {
            Some("its first request does not hold the handoff that it was told to read")
        }
        Arrival::Pointed if !has_words && !has_pointer => Some("its first request does not point to the handoff"),
        _ => None,
    };
    let finding = finding.map(|finding| format!("{}: {finding}", next.label()));
    let of_sub_agent = if delegates { checks::check_sub_agent(stage, next) } else { None };
    Ok(finding.into_iter().chain(of_sub_agent).collect())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use carryover_testkit::scenario::Source;

    use super::{HookCase, Options, list_cases, tier};

    fn list_pairs(full: bool) -> Vec<(Source, Source, bool)> {
        let options = Options { full, ..Options::new(Path::new("/nowhere")) };
        let pair = |case| match case {
            HookCase::Handoff { from, to, has_negatives } => Some((from, to, has_negatives)),
            HookCase::Compaction { .. } => None,
        };
        list_cases(&options).into_iter().filter_map(pair).collect()
    }

    #[test]
    fn every_client_dies_once_and_every_interface_starts_and_is_spared_once() {
        let pairs = list_pairs(false);
        for client in tier::Tier::new(false).list_newest() {
            assert_eq!(pairs.iter().filter(|(from, ..)| *from == client).count(), 1, "{}", client.label());
            let spared = pairs.iter().filter(|(_, to, has_negatives)| *to == client && *has_negatives).count();
            assert_eq!(spared, usize::from(client.lab.interface_ready_text().is_some()), "{}", client.label());
        }
        assert!(pairs.iter().all(|(from, to, _)| from != to));
    }

    #[test]
    fn all_pairs_hold_those_of_every_day() {
        let all = list_pairs(true);
        assert!(list_pairs(false).iter().all(|(from, to, _)| all.iter().any(|pair| (pair.0, pair.1) == (*from, *to))));
    }
}
