//! `carryover codex`: an agent's name is enough.

use crate::support::{CLAUDE, TestEnv};

#[test]
fn an_agents_name_resumes_the_newest_session_of_another_agent_there() {
    let env = TestEnv::with_sessions();
    // The newest of all is Claude Code's; whoever names it means the other one's.
    let told = env.command(&["claude", "--json", "--dry-run"]).output().unwrap();
    let told: serde_json::Value = serde_json::from_slice(&told.stdout).unwrap();
    assert_eq!((&told["source"], &told["target"]), (&"codex".into(), &"claude-code".into()));
    let said = env.run(&["-q", "codex", "--dry-run"]).success();
    assert!(said.stdout.starts_with("codex resume "), "{said}");
    let said = env.run(&["codex", "add", "a", "test", "--dry-run"]).success();
    assert!(said.stderr.contains("Claude Code → Codex CLI"), "{said}");
    let said = env.run(&["copilot-vscode", "--dry-run"]).success();
    assert!(said.stderr.contains("would leave a brief for"), "{said}");
}

#[test]
fn a_copy_that_nobody_used_is_not_what_is_meant() {
    let env = TestEnv::with_sessions();
    let codex = env.home().join(".codex");
    fs_err::remove_dir_all(codex).unwrap();
    env.run(&["codex"]).success();
    // There is the copy in Codex, newer or not, and the session that it was made of: that goes on in its own client.
    let said = env.run(&["claude"]).success();
    assert!(said.stderr.contains("already in Claude Code"), "{said}");
    assert!(said.stdout.ends_with("claude --resume d3a03cdd-c689-41e6-9587-86a6223f5251\n"), "{said}");
}

#[test]
fn its_help_is_that_of_resume() {
    let env = TestEnv::new();
    let said = env.run(&["codex", "--help"]).success();
    assert_eq!(said.stdout, env.run(&["resume", "--help"]).success().stdout);
}

#[cfg(unix)]
#[test]
fn the_configuration_may_start_the_client_and_print_never_does() {
    let env = TestEnv::with_sessions().with_client("codex");
    let seed = std::cell::Cell::new(1);
    let started = |args: &[&str]| {
        seed.set(seed.get() + 1);
        let output = env.command(args).env("CARRYOVER_SEED", seed.get().to_string()).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().contains("/calc: resume ")
    };
    assert!(!started(&["codex", CLAUDE]));
    env.run(&["config", "set", "resume.launch", "true"]).success();
    assert!(started(&["codex", CLAUDE]));
    assert!(!started(&["codex", CLAUDE, "--print"]));
    assert!(!started(&["codex", CLAUDE, "--no-launch"]));
    assert!(!started(&["codex", CLAUDE, "--dry-run"]));
    // A client that is missing is no reason to fail: nobody asked for it this time.
    env.run(&["gemini", CLAUDE]).success();
    assert_eq!(env.run(&["gemini", CLAUDE, "--launch"]).code, Some(1));
    assert_eq!(env.run(&["config", "set", "resume.launch", "maybe"]).code, Some(64));
}

#[cfg(unix)]
#[test]
fn a_client_that_is_there_and_was_not_started_is_told_how() {
    let hint = "hint: `--launch` starts it\n";
    let env = || TestEnv::with_sessions().with_client("codex");
    let said = env().run(&["codex", CLAUDE]).success();
    assert!(said.stderr.ends_with(hint), "{said}");
    for more in ["--print", "--dry-run", "--quiet"] {
        let said = env().run(&["codex", CLAUDE, more]).success();
        assert!(!said.stderr.contains(hint), "{said}");
    }
    // Nobody is there to be started.
    let said = env().run(&["gemini", CLAUDE]).success();
    assert!(!said.stderr.contains(hint), "{said}");
}
