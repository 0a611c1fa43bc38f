//! Where stores are looked for, on made-up machines.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use carryover_agents::{Env, Os};
use carryover_core::time::Timestamp;
use carryover_testkit::lab::Lab;

use crate::support::agents_and_labs;

fn env(os: Os, home: &str, vars: &[(&str, &str)]) -> Env {
    Env {
        home: PathBuf::from(home),
        vars: vars.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        os,
        now: Timestamp::EPOCH,
        zone: jiff::tz::TimeZone::UTC,
        stores: BTreeMap::from([("codex".to_owned(), vec![PathBuf::from("/more")])]),
        projects: vec![PathBuf::from("/work")],
    }
}

/// The store in this place, and what the settings name besides.
fn expected(lab: &Lab, store: &Path) -> Vec<PathBuf> {
    let named = (lab.id == "codex").then(|| PathBuf::from("/more"));
    let store = if lab.conformance.sessions.is_in_project() { Path::new("/work") } else { store };
    std::iter::once(store.to_owned()).chain(named).collect()
}

#[test]
fn stores_are_below_the_home_on_every_system() {
    for (os, home) in [(Os::Linux, "/home/u"), (Os::MacOs, "/Users/u"), (Os::Windows, "C:/Users/u")] {
        for (agent, lab) in agents_and_labs() {
            let found = agent.facts().store_candidates(&env(os, home, &[]));
            let sample = expected(lab, &Path::new(home).join(lab.sample.root));
            if os == Os::Linux {
                assert!(sample.iter().all(|store| found.contains(store)), "{} in {home}: {found:?}", lab.id);
            }
            let others = found.iter().filter(|store| !sample.contains(store));
            assert!(others.clone().all(|store| store.starts_with(home)), "{} in {home}: {found:?}", lab.id);
        }
    }
}

#[test]
fn variables_move_a_store_as_a_whole() {
    for (value, moved_to) in [("/x/y", "/x/y"), ("~/y", "/home/u/y")] {
        for (agent, lab) in agents_and_labs() {
            let Some((variable, below)) = lab.sample.root_variable else { continue };
            let found = agent.facts().store_candidates(&env(Os::Linux, "/home/u", &[(variable, value)]));
            assert_eq!(found, expected(lab, &Path::new(moved_to).join(below)), "{}: {variable}={value}", lab.id);
        }
    }
}
