//! A store of a made-up future version says so.

use std::ops::ControlFlow;

use carryover_agents::{AGENTS, Store};

use crate::support::future;

#[test]
fn renamed_kinds_are_noticed() {
    for agent in AGENTS {
        let folder = tempfile::tempdir().unwrap();
        future(*agent, folder.path());
        let mut drifted = Vec::new();
        let store = Store { root: folder.path().to_path_buf() };
        agent
            .discover(&store, &mut |found| {
                drifted.push(found.drifted);
                ControlFlow::Continue(())
            })
            .unwrap();
        assert_eq!(drifted, [true], "{}", agent.facts().id);
    }
}
