use crate::support::TestEnv;

/// A home in which one agent's hooks are installed, without a daemon.
fn installed() -> TestEnv {
    let env = TestEnv::with_sessions();
    env.set_daemon_port(0);
    env.write(".claude/settings.json", "{}\n");
    env.run(&["install", "--yes", "--agents", "claude-code", "--no-service"]).success();
    env
}

#[test]
fn without_a_daemon_it_says_how_to_start_one_and_which_hooks_there_are() {
    let env = installed();
    let said = env.run(&["status"]).success();
    assert!(
        said.stdout.contains("does not run") && said.stderr.contains("`carryover daemon start` starts it"),
        "{said}"
    );
    assert!(said.stdout.contains("events in ~/.claude/settings.json"), "{said}");
    let document = env.json("status", &["status"]);
    assert_eq!((document["installed"].as_bool(), &document["daemon"]), (Some(true), &serde_json::Value::Null));
}

#[test]
fn hooks_that_somebody_took_out_since_are_told() {
    let env = installed();
    for (text, told) in [("{}", "taken out since"), ("{ nonsense", "cannot be read")] {
        env.write(".claude/settings.json", text);
        let said = env.run(&["status"]).success();
        assert!(said.stdout.contains(told) && !said.stdout.contains("events in"), "{said}");
    }
}

#[test]
fn before_anything_is_installed_it_names_the_command_that_does() {
    let env = TestEnv::with_sessions();
    let said = env.run(&["status"]).success();
    assert!(said.stderr.contains("`carryover install` starts it"), "{said}");
}
