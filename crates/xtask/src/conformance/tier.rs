//! Which pairs are run every day, and which when the page is written.

use carryover_testkit::scenario::{Abilities, CATALOG, Source, list_sources};

use super::plan;

/// The session that has everything.
pub(super) const WHOLE_SESSION: &str = "whole";

/// The clients of agents that are proven, and which pairs of them are run.
pub(super) struct Tier {
    pub(super) clients: Vec<Source>,
    full: bool,
}

impl Tier {
    pub(super) fn new(full: bool) -> Self {
        let is_proven = |source: &Source| source.lab.conformance.is_proven;
        Self { clients: list_sources().into_iter().filter(is_proven).collect(), full }
    }

    /// The clients of all agents.
    pub(super) fn all_agents(full: bool) -> Self {
        Self { clients: list_sources(), full }
    }

    /// Every pair, by names, in the order in which they are run.
    pub(super) fn list_pairs(&self) -> Vec<(String, &'static str, String)> {
        let sessions: Vec<&'static str> = CATALOG.iter().map(|scenario| scenario(Abilities::none()).name).collect();
        let mut pairs = Vec::new();
        for source in &self.clients {
            for session in &sessions {
                let targets = self.clients.iter().filter(|target| self.has_pair(source, session, target));
                pairs.extend(targets.map(|target| (plan::client_name(source), *session, plan::client_name(target))));
            }
        }
        pairs
    }

    /// Whether a session of this source goes into this target.
    pub(super) fn has_pair(&self, source: &Source, session: &str, target: &Source) -> bool {
        if self.full {
            self.has_full_pair(source, session, target)
        } else {
            self.has_daily_pair(source, session, target)
        }
    }

    /// Every ordered pair of agents. Between those with several clients, every client; what is special about a target
    /// shows in the session that has everything.
    fn has_full_pair(&self, source: &Source, session: &str, target: &Source) -> bool {
        if is_multi_version(source) && is_multi_version(target) {
            return session == WHOLE_SESSION || target.is_plain();
        }
        let through_newest = self.is_newest(source) && self.is_newest(target);
        // How a session ends is the source's matter, how it is told the target's: two counterparts show both.
        through_newest && (session == WHOLE_SESSION || is_multi_version(source) || is_multi_version(target))
    }

    /// Every agent is twice a source and twice a target; the older clients and the sessions that end badly once each.
    fn has_daily_pair(&self, source: &Source, session: &str, target: &Source) -> bool {
        if session != daily_session(source) {
            return is_multi_version(source) && is_multi_version(target) && self.are_newest_of_two(source, target);
        }
        if let (Some(from), Some(to)) = (self.newest_index(source), self.newest_index(target)) {
            let n_agents = self.newest_clients().count();
            return (from + 1) % n_agents == to || (from + 2) % n_agents == to;
        }
        let older = |client: &Source| is_multi_version(client) && client.is_plain() && !self.is_newest(client);
        older(source) && older(target) && source.lab != target.lab
    }

    fn are_newest_of_two(&self, source: &Source, target: &Source) -> bool {
        self.is_newest(source) && self.is_newest(target) && source.lab != target.lab
    }

    /// The first client of each agent.
    fn newest_clients(&self) -> impl Iterator<Item = &Source> {
        self.clients.iter().filter(|client| self.is_newest(client))
    }

    pub(super) fn list_newest(&self) -> Vec<Source> {
        self.newest_clients().copied().collect()
    }

    /// Those of them whose interface can be driven by keys, and whose sessions are apart from the project, which walks share.
    pub(super) fn newest_with_interface(&self) -> Vec<Source> {
        let has_interface = |client: &&Source| {
            client.lab.interface_ready_text().is_some() && !client.lab.conformance.sessions.is_in_project()
        };
        self.newest_clients().filter(has_interface).copied().collect()
    }

    fn is_newest(&self, client: &Source) -> bool {
        self.clients.iter().find(|other| other.lab == client.lab) == Some(client)
    }

    fn newest_index(&self, client: &Source) -> Option<usize> {
        self.newest_clients().position(|other| other == client)
    }
}

/// Whether several versions of the client are run; of the other agents there is one client.
fn is_multi_version(client: &Source) -> bool {
    client.lab.pins().len() > 1
}

/// Who takes most of a minute for a turn has the shortest session every day.
pub(super) fn daily_session(source: &Source) -> &'static str {
    if source.lab.conformance.is_slow { "crashed" } else { WHOLE_SESSION }
}

#[cfg(test)]
mod tests {
    use carryover_testkit::scenario::list_sources;

    use super::{Tier, WHOLE_SESSION};

    const SESSIONS: [&str; 3] = [WHOLE_SESSION, "broken-off", "crashed"];

    fn label_pairs(tier: &Tier) -> Vec<(String, &'static str, String)> {
        let mut pairs = Vec::new();
        for source in &tier.clients {
            for session in SESSIONS {
                let targets = tier.clients.iter().filter(|target| tier.has_pair(source, session, target));
                pairs.extend(targets.map(|target| (source.label(), session, target.label())));
            }
        }
        pairs
    }

    #[test]
    fn every_agent_is_twice_a_source_and_twice_a_target_every_day() {
        let tier = Tier { clients: list_sources(), full: false };
        let pairs = label_pairs(&tier);
        for client in tier.newest_clients() {
            let label = client.label();
            assert!(pairs.iter().filter(|(from, ..)| *from == label).count() >= 2, "{label}");
            assert!(pairs.iter().filter(|(.., to)| *to == label).count() >= 2, "{label}");
        }
        assert!(pairs.len() <= 26, "{}", pairs.len());
    }

    #[test]
    fn full_tier_has_all_ordered_pairs_and_all_of_every_day() {
        let all = label_pairs(&Tier { clients: list_sources(), full: true });
        let daily = Tier { clients: list_sources(), full: false };
        assert!(label_pairs(&daily).iter().all(|pair| all.contains(pair)));
        for source in daily.newest_clients() {
            for target in daily.newest_clients() {
                assert!(all.contains(&(source.label(), WHOLE_SESSION, target.label())));
            }
        }
    }

    #[test]
    fn two_agents_alone_keep_their_eighty_four_rows() {
        let clients = list_sources().into_iter().filter(super::is_multi_version).collect();
        assert_eq!(label_pairs(&Tier { clients, full: true }).len(), 84);
    }
}
