//! `.carryover/` on the project's own list of what git ignores.

use std::process::Command;

use crate::support::{CLAUDE, TestEnv};

const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A project that git knows, with a list.
fn repository(list: &str) -> TestEnv {
    let env = TestEnv::with_sessions().var("PATH", PATH);
    env.write("calc/.gitignore", list);
    git(&env, &["init", "-q"]);
    env
}

fn git(env: &TestEnv, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=Dev", "-c", "user.email=dev@localhost"]).args(args);
    let output = command.current_dir(env.project()).env("HOME", env.home()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn list(env: &TestEnv) -> String {
    fs_err::read_to_string(env.project().join(".gitignore")).unwrap()
}

#[test]
fn every_command_that_writes_there_adds_the_line_once_and_undo_takes_it_out() {
    for command in [
        &["handoff", CLAUDE, "--no-copy"][..],
        &["capture", CLAUDE],
        &["resume", CLAUDE, "--target", "codex", "--prompt"],
        &["resume", CLAUDE, "--target", "aider", "--context-only"],
    ] {
        for (before, after) in [
            ("target\n", "target\n# Carryover (auto-added)\n.carryover/\n"),
            ("target", "target\n# Carryover (auto-added)\n.carryover/\n"),
            ("*.o\r\ntarget", "*.o\r\ntarget\r\n# Carryover (auto-added)\r\n.carryover/\r\n"),
        ] {
            let env = repository(before);
            let said = env.run(command).success();
            assert!(said.stderr.contains(".gitignore gets the line `.carryover/`"), "{said}");
            assert_eq!(list(&env), after, "{command:?}");
            let again = env.run(command).success();
            assert!(!again.stderr.contains(".gitignore"), "{again}");
            assert_eq!(list(&env), after, "{command:?}");
            env.run(&["undo"]).success();
            assert_eq!(list(&env), before, "{command:?}");
        }
    }
}

#[test]
fn the_line_is_told_in_json_and_before_it_is_written() {
    let env = repository("target\n");
    let told = env.json("handoff", &["resume", CLAUDE, "--target", "codex", "--prompt", "--dry-run"]);
    assert!(told["warnings"].to_string().contains(".gitignore would get the line"), "{told}");
    assert_eq!(list(&env), "target\n");
    assert!(!env.project().join(".carryover").exists());
    let told = env.json("handoff", &["handoff", CLAUDE, "--no-copy"]);
    assert!(told["warnings"].to_string().contains("carryover undo "), "{told}");
    assert_eq!(list(&env), "target\n# Carryover (auto-added)\n.carryover/\n");
}

#[test]
fn what_the_user_wrote_since_stays() {
    let env = repository("target");
    env.run(&["handoff", CLAUDE, "--no-copy"]).success();
    env.write("calc/.gitignore", "dist\ntarget\n# Carryover (auto-added)\n.carryover/\nnotes\n");
    env.run(&["undo"]).success();
    assert_eq!(list(&env), "dist\ntarget\nnotes\n");
}

#[test]
fn a_list_that_needs_no_line_is_left_alone() {
    for before in [".carryover/\n", "/.carryover\n", "!.carryover/\n", ".*\n"] {
        let env = repository(before);
        env.run(&["handoff", CLAUDE, "--no-copy"]).success();
        assert_eq!(list(&env), before);
    }
    let env = repository("target\n");
    env.write("calc/.git/info/exclude", ".carryover/\n");
    env.run(&["handoff", CLAUDE, "--no-copy"]).success();
    assert_eq!(list(&env), "target\n", "git ignores it by another list");
}

#[test]
fn no_list_is_made_and_none_outside_of_git_is_touched() {
    let bare = TestEnv::with_sessions().var("PATH", PATH);
    git(&bare, &["init", "-q"]);
    bare.run(&["handoff", CLAUDE, "--no-copy"]).success();
    assert!(!bare.project().join(".gitignore").exists());

    let plain = TestEnv::with_sessions().var("PATH", PATH);
    plain.write("calc/.gitignore", "target\n");
    plain.run(&["handoff", CLAUDE, "--no-copy"]).success();
    assert_eq!(list(&plain), "target\n");
}

#[cfg(unix)]
#[test]
fn a_link_is_not_followed() {
    let env = TestEnv::with_sessions().var("PATH", PATH);
    env.write("elsewhere", "target\n");
    std::os::unix::fs::symlink(env.home().join("elsewhere"), env.project().join(".gitignore")).unwrap();
    git(&env, &["init", "-q"]);
    env.run(&["handoff", CLAUDE, "--no-copy"]).success();
    assert_eq!(list(&env), "target\n");
}

/// One agent keeps its sessions with the work, and its own client keeps git from them.
const AIDER: &[&str] = &["resume", CLAUDE, "--target", "aider"];

#[test]
fn a_session_that_is_kept_with_the_work_is_kept_from_git() {
    for (before, after) in [("target\n", "target\n.aider*\n"), ("target", "target\n.aider*\n")] {
        let env = repository(before);
        let dry = env.run(&[AIDER, &["--dry-run"]].concat()).success();
        assert!(dry.stderr.contains(".gitignore would get the line `.aider*`"), "{dry}");
        assert_eq!(list(&env), before);
        let said = env.run(AIDER).success();
        assert!(said.stderr.contains(".gitignore gets the line `.aider*`"), "{said}");
        assert_eq!(list(&env), after);
        env.run(&["undo"]).success();
        assert_eq!(list(&env), before);
    }
}

#[test]
fn the_line_goes_with_the_last_session_that_needs_it() {
    let env = repository("target\n");
    let resume = |session: &str, number: u128| {
        let mut command = env.command(&["resume", session, "--target", "aider"]);
        assert!(command.env("CARRYOVER_SEED", (number << 96).to_string()).output().unwrap().status.success());
    };
    resume(CLAUDE, 1);
    resume(crate::support::CODEX, 2);
    env.run(&["undo", "00000001"]).success();
    assert_eq!(list(&env), "target\n.aider*\n");
    env.run(&["undo"]).success();
    assert_eq!(list(&env), "target\n");
}

#[test]
fn a_session_that_git_sees_all_the_same_is_told() {
    let env = repository("target\n!.aider.chat.history.md\n");
    let said = env.run(AIDER).success();
    assert!(said.stderr.contains("git sees .aider.chat.history.") && said.stderr.contains("`.aider*`"), "{said}");
    assert_eq!(list(&env), "target\n!.aider.chat.history.md\n");
    let env = repository("");
    fs_err::remove_file(env.project().join(".gitignore")).unwrap();
    let said = env.run(AIDER).success();
    assert!(said.stderr.contains("git sees .aider.chat.history."), "{said}");
    assert!(!env.project().join(".gitignore").exists(), "a list is never made");
    let env = repository(".aider*\n");
    let said = env.run(AIDER).success();
    assert!(!said.stderr.contains("git"), "{said}");
}

/// The line of a handoff that tells what is not committed.
fn uncommitted(env: &TestEnv) -> String {
    env.run(&["handoff", CLAUDE, "--no-copy"]).success();
    let handoff = fs_err::read_to_string(env.project().join(".carryover/handoff.md")).unwrap();
    handoff.lines().find(|line| line.contains("uncommitted")).unwrap_or_default().to_owned()
}

#[test]
fn our_own_lines_and_blocks_are_not_counted_as_uncommitted_work() {
    for has_instructions in [false, true] {
        let env = repository("target\n");
        if has_instructions {
            env.write("calc/AGENTS.md", "# Rules\n");
        }
        git(&env, &["add", "."]);
        git(&env, &["commit", "-qm", "begin"]);
        env.run(&["resume", CLAUDE, "--target", "codex", "--context-only"]).success();
        let listed = git(&env, &["status", "--short"]);
        assert_eq!(listed.lines().count(), 2, "the block and the line: {listed}");
        assert!(uncommitted(&env).ends_with("nothing uncommitted"), "{}", uncommitted(&env));
        env.write("calc/notes.txt", "mine\n");
        assert!(uncommitted(&env).ends_with("uncommitted paths: 1"), "{}", uncommitted(&env));
        let instructions = fs_err::read_to_string(env.project().join("AGENTS.md")).unwrap();
        env.write("calc/AGENTS.md", &format!("{instructions}Be kind.\n"));
        assert!(uncommitted(&env).contains("uncommitted paths: 2"), "{}", uncommitted(&env));
    }
}
