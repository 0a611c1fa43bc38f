//! Every agent in the laboratory: one file each, and one line in `LABS`.
//!
//! Whoever tests all agents goes through `LABS`; a list of agents stands nowhere else.

mod aider;
mod claude_code;
mod codex;
mod copilot_cli;
mod copilot_vscode;
mod cursor;
mod gemini_cli;
mod openclaw;
mod opencode;
mod pi;
mod qwen_code;
mod windsurf;

use crate::client::StoreJudge;
use crate::lab::{BenchStore, Lab};

/// Every agent's lab, in the order of `AGENTS`.
pub const LABS: &[&Lab] = &[
    &claude_code::LAB,
    &codex::LAB,
    &gemini_cli::LAB,
    &opencode::LAB,
    &qwen_code::LAB,
    &pi::LAB,
    &copilot_cli::LAB,
    &aider::LAB,
    &openclaw::LAB,
    &windsurf::LAB,
    &cursor::LAB,
    &copilot_vscode::LAB,
];

/// Vendors' own code that reads what is written for agents of which no client runs here.
pub const JUDGES: &[&StoreJudge] = &[&cursor::JUDGE];

/// What agents keep besides the sessions by which they are measured.
pub const BENCH_STORES: &[&BenchStore] = &[&cursor::BENCH_STORE, &copilot_vscode::BENCH_INDEX];

/// The lab of the agent with that id.
pub fn find_lab(id: &str) -> Option<&'static Lab> {
    LABS.iter().copied().find(|lab| lab.id == id)
}

#[cfg(test)]
mod tests {
    use carryover_agents::{AGENTS, Evidence};

    use super::*;

    #[test]
    fn labs_and_agents_are_the_same_list() {
        let labs: Vec<&str> = LABS.iter().map(|lab| lab.id).collect();
        let agents: Vec<&str> = AGENTS.iter().map(|agent| agent.facts().id).collect();
        assert_eq!(
            labs, agents,
            "add the agent to LABS here and to AGENTS in crates/agents/src/lib.rs, in the same place"
        );
    }

    #[test]
    fn every_client_that_is_installed_is_one_that_its_agent_knows() {
        for (lab, agent) in LABS.iter().zip(AGENTS) {
            let facts = agent.facts();
            let is_run = facts.evidence == Evidence::RealClient;
            assert_eq!(is_run, !lab.client.pins.is_empty(), "{}: a client is run, or it is not said to be", lab.id);
            if !is_run {
                continue;
            }
            assert!(facts.packages.contains(&lab.client.package.name), "{}: its package is none of its facts", lab.id);
            assert!(
                facts.binaries.contains(&lab.client.package.binary),
                "{}: its program is none of its facts",
                lab.id
            );
        }
    }
}
