//! The handoffs of every agent's fixtures, as the next agent would read them. No vendor is named: the list is walked.

use carryover_agents::{AGENTS, AgentError};
use carryover_core::distill::{Quoting, Workspace, distill_session};
use carryover_core::render::{HandoffOptions, Protocol, render_handoff};
use carryover_core::time::Timestamp;

use super::agents::list_fixtures;
use super::world::World;
use crate::handoff::history;
use crate::sessions::select::{Query, SelectError, select_session};

#[test]
fn every_fixture_has_its_handoff() {
    let world = World::new();
    for agent in AGENTS {
        for path in list_fixtures(*agent) {
            let query = Query { words: Some(path.display().to_string()), ..Query::default() };
            let session = match select_session(&world.context, &query) {
                Ok(selected) => selected.session,
                Err(SelectError::Agent(AgentError::MissingBase { .. })) => continue,
                Err(error) => panic!("{}: {error}", path.display()),
            };
            let Ok(history) = history::read_session(&session) else { continue };
            let root = history.header.project.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
            let workspace = Workspace { root, ..Workspace::default() };
            let now = Timestamp::from_millis(1_800_000_000_000);
            let brief = distill_session(&history, &workspace, Quoting::Masked, now);
            let show_command = format!("carryover show {} --full", brief.session);
            let options = HandoffOptions {
                agent_name: agent.facts().name,
                protocol: Protocol::Silent,
                show_command: &show_command,
            };
            let name = format!("{}-{}", agent.facts().id, path.file_stem().unwrap().to_string_lossy());
            insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
                // Where the repository lies must not show, and some agents' ids are made of a path.
                let text = render_handoff(&brief, &options)
                    .replace(env!("CARGO_MANIFEST_DIR"), "[engine]")
                    .replace(&brief.session.0, "[session]");
                insta::assert_snapshot!(name, text);
            });
        }
    }
}
