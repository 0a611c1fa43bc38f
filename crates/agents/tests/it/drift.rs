//! A store of a made-up future version says so.

use std::ops::ControlFlow;

use carryover_agents::{AGENTS, Store};

use crate::support::file_name;

#[test]
fn renamed_kinds_are_noticed() {
    for agent in AGENTS {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(file_name(*agent).0);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "{\"v\":9,\"kind\":\"turn\",\"body\":{}}\n{\"v\":9,\"kind\":\"reply\",\"body\":{}}\n")
            .unwrap();
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
