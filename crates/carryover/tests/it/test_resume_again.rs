//! No silent copy, no lost thread: sessions that are the target's own, that are open, or that were carried before.

use crate::support::{CLAUDE, CODEX, TestEnv};

#[test]
fn a_session_that_is_the_targets_own_is_not_copied() {
    let env = TestEnv::with_sessions();
    let before = env.files();
    insta::assert_snapshot!(env.run(&["resume", CLAUDE, "--target", "claude"]), @"
    exit code 0
    --- stdout
    claude --resume d3a03cdd-c689-41e6-9587-86a6223f5251
    --- stderr
    warning: Claude Code is not installed
    already in Claude Code: nothing was written
    go on with
    hint: `--fork` makes a copy of it, and so does another `--project`
    ");
    let told = env.json("resume-own", &["resume", CODEX, "--target", "codex"]);
    assert_eq!(told["schema"], "carryover.resume-own/1");
    assert_eq!(told["command"][2], "01a1dcb4-8ab4-7e10-b6d2-c8b20e08cdf8");
    // Its own folder is no other one.
    env.run(&["resume", CLAUDE, "--target", "claude", "--project", "."]).success();
    assert_eq!(env.files(), before);
}

#[test]
fn a_fork_is_a_copy_in_the_same_agent() {
    let env = TestEnv::with_sessions();
    let before = env.files();
    let resumed = env.resume_json(&["resume", CLAUDE, "--target", "claude", "--fork"]);
    assert_eq!((&resumed["source"], &resumed["target"]), (&"claude-code".into(), &"claude-code".into()));
    assert_ne!(resumed["session_id"], resumed["source_session_id"]);
    assert_eq!(env.files().len(), before.len() + 1);
}

#[test]
fn a_loose_file_of_the_same_agent_is_carried_into_its_store() {
    let env = TestEnv::with_sessions();
    let id = "d3a03cdd-c689-41e6-9587-86a6223f5251";
    let (path, bytes) = env.files().into_iter().find(|(path, _)| path.ends_with(format!("{id}.jsonl"))).unwrap();
    env.write("calc/loose.jsonl", std::str::from_utf8(&bytes).unwrap());
    fs_err::remove_file(path).unwrap();
    let resumed = env.resume_json(&["resume", "loose.jsonl", "--target", "claude"]);
    assert_eq!(resumed["files"].as_array().unwrap().len(), 1, "{resumed}");
}

#[cfg(unix)]
#[test]
fn launching_starts_the_clients_own_command() {
    let env = TestEnv::with_sessions().with_client("codex");
    let said = env.run(&["resume", CODEX, "--target", "codex", "--launch", "--quiet"]).success();
    assert!(said.stdout.ends_with("codex in [HOME]/calc: resume 01a1dcb4-8ab4-7e10-b6d2-c8b20e08cdf8\n"), "{said}");
}

/// A client that runs: this very test.
fn open_in_claude(env: &TestEnv) {
    let note = format!(r#"{{"pid":{},"sessionId":"d3a03cdd-c689-41e6-9587-86a6223f5251"}}"#, std::process::id());
    env.write(".claude/sessions/1.json", &note);
}

#[test]
fn that_a_session_is_open_is_said_before_anything_is_written() {
    let env = TestEnv::with_sessions();
    open_in_claude(&env);
    let said = env.run(&["resume", CLAUDE, "--target", "codex"]).success();
    let lines: Vec<&str> = said.stderr.lines().collect();
    let open = "warning: Claude Code is still running in that session: what it does from now on is not carried over";
    assert_eq!(lines[0], open);
    assert!(lines[1].starts_with("carried over"), "{said}");
    assert_eq!(lines.iter().filter(|line| **line == open).count(), 1, "{said}");
    let told = env.json("resume-own", &["resume", CLAUDE, "--target", "claude"]);
    assert_eq!(told["is_open"], true);
    // Words are written, too.
    let said = env.run(&["resume", CLAUDE, "--target", "codex", "--prompt"]).success();
    assert_eq!(said.stderr.lines().next(), Some(open), "{said}");
    let said = env.run(&["handoff", CLAUDE, "--no-copy"]).success();
    assert_eq!(said.stderr.lines().next(), Some(open), "{said}");
}

/// Carries a session over, and lets somebody go on in the copy.
fn carry_and_go_on(env: &TestEnv) -> serde_json::Value {
    let first = env.resume_json(&["resume", CLAUDE, "--target", "codex"]);
    let file = first["files"][0].as_str().unwrap();
    let mut text = fs_err::read_to_string(file).unwrap();
    let last = text.lines().last().unwrap().to_owned();
    text.push_str(&last);
    text.push('\n');
    fs_err::write(file, text).unwrap();
    first
}

#[test]
fn a_copy_that_went_further_is_continued_and_not_made_again() {
    let env = TestEnv::with_sessions();
    let first = carry_and_go_on(&env);
    let before = env.files();
    let said = env.run(&["resume", CLAUDE, "--target", "codex"]).success();
    assert_eq!(said.stdout, format!("codex resume {}\n", first["session_id"].as_str().unwrap()));
    assert!(
        said.stderr.contains("gone on with in Codex CLI since it was carried there: nothing was written"),
        "{said}"
    );
    let told = env.json("resume-own", &["resume", CLAUDE, "--target", "codex"]);
    assert_eq!(told["session_id"], first["session_id"]);
    assert_eq!(env.files(), before);
}

#[test]
fn carrying_again_names_the_copy_and_whether_it_was_gone_on_with() {
    let env = TestEnv::with_sessions();
    let first = carry_and_go_on(&env);
    assert!(first["earlier"].is_null());
    let again = ["resume", CLAUDE, "--target", "codex", "--fork"];
    let env = env.var("CARRYOVER_SEED", "2000000").var("CARRYOVER_NOW", "2026-11-15T13:00:00Z");
    let told = env.resume_json(&[&again[..], &["--dry-run"]].concat());
    assert_eq!(told["earlier"]["session_id"], first["session_id"]);
    assert_eq!(told["earlier"]["used"], true);
    assert_eq!(told["earlier"]["command"], first["command"]);
    let said = env.run(&again).success();
    assert!(said.stderr.contains("  earlier     01a1de6f-6dd8, carried there 3 h ago, gone on with since\n"), "{said}");
    let hint = format!("hint: continue the earlier copy: `codex resume {}`\n", first["session_id"].as_str().unwrap());
    assert!(said.stderr.contains(&hint), "{said}");
}

#[test]
fn leaving_out_older_messages_is_a_warning_with_the_way_to_keep_them() {
    let env = TestEnv::with_sessions();
    let args = ["resume", CLAUDE, "--target", "codex", "--tokens", "700", "--dry-run"];
    let told = env.resume_json(&args);
    let warning = told["warnings"][0].as_str().unwrap();
    assert!(warning.starts_with("leaves out the ") && warning.contains(" to fit 700 tokens: `--tokens "), "{warning}");
    assert!(told["left_out"].as_u64().unwrap() > 0);
    let said = env.run(&args).success();
    assert!(said.stderr.starts_with("would carry over in part: Claude Code → Codex CLI\n"), "{said}");
    // The figure that it names does keep them.
    let tokens = warning.split("--tokens ").nth(1).unwrap().split('`').next().unwrap();
    let told = env.resume_json(&["resume", CLAUDE, "--target", "codex", "--tokens", tokens, "--dry-run"]);
    assert_eq!(told["left_out"], 0, "{told}");
}
