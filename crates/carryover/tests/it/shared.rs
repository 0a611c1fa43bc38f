//! What several sessions need, and several resumes at once.

use std::path::PathBuf;
use std::process::{Child, Stdio};

use crate::support::{CLAUDE, CODEX, TestEnv};

/// A seed whose first digits are a number, and whose last ones are like no other's.
fn seed(number: u128) -> String {
    ((number << 96) + number * 1000).to_string()
}

fn start(env: &TestEnv, session: &str, target: &str, number: u128) -> Child {
    let mut command = env.command(&["resume", session, "--target", target]);
    command.env("CARRYOVER_SEED", seed(number)).stderr(Stdio::piped()).spawn().unwrap()
}

fn resume(env: &TestEnv, session: &str, number: u128) -> String {
    assert!(start(env, session, "gemini-cli", number).wait().unwrap().success());
    format!("{number:08x}")
}

fn marker(env: &TestEnv) -> PathBuf {
    env.home().join(".gemini/tmp/calc/.project_root")
}

#[test]
fn a_projects_marker_goes_with_the_last_session_of_ours() {
    for order in [[0, 1], [1, 0]] {
        let env = TestEnv::with_sessions();
        let before = env.files();
        let ids = [resume(&env, CLAUDE, 1), resume(&env, CODEX, 2)];
        env.run(&["undo", &ids[order[0]]]).success();
        assert!(marker(&env).exists(), "{order:?}");
        env.run(&["undo", &ids[order[1]]]).success();
        assert_eq!(env.files(), before, "{order:?}");
        assert!(!env.home().join(".gemini").exists(), "{order:?}");
    }
}

#[test]
fn a_projects_marker_stays_with_a_copy_that_took_anothers_place() {
    let env = TestEnv::with_sessions();
    resume(&env, CLAUDE, 1);
    resume(&env, CLAUDE, 2);
    assert!(marker(&env).exists());
    env.run(&["undo"]).success();
    assert!(!env.home().join(".gemini").exists());
}

#[test]
fn a_projects_marker_stays_with_a_session_of_the_users() {
    let env = TestEnv::with_sessions();
    resume(&env, CLAUDE, 1);
    env.write(".gemini/tmp/calc/chats/session-2026-11-15T01-00-aaaabbbb.jsonl", "theirs\n");
    env.run(&["undo"]).success();
    assert!(marker(&env).exists());
    assert_eq!(fs_err::read_dir(env.home().join(".gemini/tmp/calc/chats")).unwrap().count(), 1);
}

#[test]
fn a_marker_that_says_something_else_is_not_ours() {
    let env = TestEnv::with_sessions();
    resume(&env, CLAUDE, 1);
    fs_err::write(marker(&env), "/elsewhere").unwrap();
    env.run(&["undo", "--force"]).code.filter(|code| *code != 0).unwrap();
    assert!(marker(&env).exists());
}

#[test]
fn several_at_once_all_come_through() {
    for target in ["gemini-cli", "aider", "codex"] {
        let env = TestEnv::with_sessions();
        let before = env.files();
        let children: Vec<Child> =
            (1..=6).map(|number| start(&env, if number % 2 == 0 { CLAUDE } else { CODEX }, target, number)).collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{target}: {}", String::from_utf8_lossy(&output.stderr));
        }
        while env.run(&["undo"]).code == Some(0) {}
        assert_eq!(env.files(), before, "{target}");
    }
}
