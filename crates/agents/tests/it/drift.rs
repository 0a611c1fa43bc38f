//! A store of a made-up future version says so.

use std::ops::ControlFlow;

use carryover_agents::Store;

use crate::support::agents_and_forms;

#[test]
fn renamed_kinds_are_noticed() {
    for (agent, form, name) in agents_and_forms() {
        let folder = tempfile::tempdir().unwrap();
        if !form.write_future_version(folder.path()).unwrap() {
            continue;
        }
        let mut drifted = Vec::new();
        let store = Store { root: folder.path().to_path_buf() };
        agent
            .list_sessions(&store, &mut |found| {
                drifted.push(found.drifted);
                ControlFlow::Continue(())
            })
            .unwrap();
        assert_eq!(drifted, [true], "{name}");
    }
}
