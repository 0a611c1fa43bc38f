use carryover_agents::AGENTS;

use crate::support::{Said, TestEnv};

/// Takes off the rows of agents that are not here, after a look at whether every agent has its row.
fn without_absent(mut said: Said) -> Said {
    let told = said.stdout.lines().skip(1).filter_map(|row| row.split_whitespace().next());
    assert!(told.eq(AGENTS.iter().map(|agent| agent.facts().id)), "{said}");
    let is_here = |row: &&str| !row.ends_with('–');
    said.stdout = said.stdout.lines().filter(is_here).collect::<Vec<_>>().join("\n");
    said
}

#[test]
fn agents_are_told_with_their_stores() {
    let env = TestEnv::with_sessions();
    insta::assert_snapshot!(without_absent(env.run(&["detect"])), @"
    exit code 0
    --- stdout
    AGENT           CLIENT         SESSIONS  NATIVE RESUME  STORE
    claude-code     not installed         1  yes            ~/.claude
    codex           not installed         1  yes            ~/.codex
    ");
    let detected = env.json("detect", &["detect"])["agents"].clone();
    assert_eq!(detected[0]["sessions"], 1);
    assert_eq!(detected[1]["sessions"], 1);
    assert_eq!(detected[0]["installed"], false);
}

#[test]
fn no_agent_is_an_answer_and_an_exit_code() {
    let env = TestEnv::new();
    insta::assert_snapshot!(without_absent(env.run(&["detect"])), @"
    exit code 1
    --- stdout
    AGENT           CLIENT         SESSIONS  NATIVE RESUME  STORE
    --- stderr
    error: no agent was found
    hint: run `carryover info` to see where carryover looks for sessions
    hint: run `carryover demo` to see it work without an agent
    ");
}

#[test]
fn a_moved_store_is_followed() {
    let env = TestEnv::with_sessions().var("CODEX_HOME", "~/nowhere");
    insta::assert_snapshot!(without_absent(env.run(&["detect"])), @"
    exit code 0
    --- stdout
    AGENT           CLIENT         SESSIONS  NATIVE RESUME  STORE
    claude-code     not installed         1  yes            ~/.claude
    ");
}

#[cfg(unix)]
#[test]
fn an_installed_client_tells_its_version() {
    use std::os::unix::fs::PermissionsExt;
    let env = TestEnv::with_sessions();
    env.write("bin/claude", "#!/bin/sh\necho '2.1.325 (Claude Code)'\n");
    let program = env.home().join("bin/claude");
    fs_err::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = env.home().join("bin").display().to_string();
    let env = env.var("PATH", &format!("{path}:/bin:/usr/bin"));
    let detected = env.json("detect", &["detect"])["agents"].clone();
    assert_eq!(detected[0]["installed"], true);
    assert_eq!(detected[0]["version"], "2.1.325");
}
