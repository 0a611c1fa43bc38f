use crate::support::{CLAUDE, CODEX, TestEnv};

#[test]
fn a_session_goes_on_in_the_other_agent() {
    let env = TestEnv::with_sessions();
    insta::assert_snapshot!(env.run(&["resume", CLAUDE, "--target", "codex"]), @"
    exit code 0
    --- stdout
    codex resume 01a1de6f-6dd8-7000-8000-0000000f4241
    --- stderr
    carried over Claude Code → Codex CLI
      carried     6 messages, 7 tool calls
      translated  6 tool calls
      lost        3 pieces of thinking: shown on the screen, not sent to the model
      tokens      ▏░░░░░░░░░ about #.#k of ###k (0.8 %)
      created ~/.codex/sessions/2026/11/15/rollout-2026-11-15T09-00-07-01a1de6f-6dd8-7000-8000-0000000f4241.jsonl (## KB)
    warning: Codex CLI is not installed: the session waits for it
    go on with
    hint: `carryover undo 00000000` takes it back
    ");
    insta::assert_snapshot!(env.run(&["resume", CODEX, "--target", "claude"]), @"
    exit code 0
    --- stdout
    claude --resume 00000000-0000-4000-8000-0000000f4241
    --- stderr
    carried over Codex CLI → Claude Code
      carried     4 messages, 4 tool calls
      translated  3 tool calls
      lost        2 pieces of thinking: shown, but not sent to the model: only the model that thought it may be sent it
      tokens      ▏░░░░░░░░░ about #.#k of 1.0M (0.2 %)
      created ~/.claude/projects/[SLUG]-calc/00000000-0000-4000-8000-0000000f4241.jsonl (## KB)
    warning: Claude Code is not installed: the session waits for it
    go on with
    hint: `carryover undo 00000001` takes it back
    ");
    insta::assert_snapshot!(env.run(&["list"]), @"
    exit code 0
    --- stdout
    AGENT        SESSION   WHEN        MESSAGES   SIZE  BRANCH  TITLE
    claude-code  d3a03cdd  56 min ago         6  ## KB  main    Please fix the bug in calc.py and add a t…  → codex 01a1de6f
    codex        01a1de6f  56 min ago         6  ## KB  main    Please fix the bug in calc.py and a…  ← claude-code d3a03cdd
    codex        01a1dcb4  1 h ago            4  ## KB  main    mean() crashes on an empty list, se…  → claude-code 00000000
    claude-code  00000000  1 h ago            4  ## KB  main    mean() crashes on an empty list, see the…  ← codex 01a1dcb4
    ");
}

#[test]
fn one_clients_wrapping_of_outcomes_does_not_reach_another() {
    let env = TestEnv::with_sessions();
    let resumed = env.resume_json(&["resume", CODEX, "--target", "claude"]);
    let file = fs_err::read_to_string(resumed["files"][0].as_str().unwrap()).unwrap();
    assert!(file.contains("tool_result") && !file.contains("Chunk ID"));
    let resumed = env.resume_json(&["resume", CLAUDE, "--target", "codex"]);
    let file = fs_err::read_to_string(resumed["files"][0].as_str().unwrap()).unwrap();
    assert!(file.contains("Process exited with code 1") && !file.contains("Exit code 1\\n"));
}

#[test]
fn the_contract_of_json_holds() {
    let env = TestEnv::with_sessions();
    let before = env.files();
    let planned = env.resume_json(&["resume", CLAUDE, "--target", "codex", "--dry-run"]);
    assert_eq!(env.files(), before, "a dry run writes nothing");
    assert!(planned["undo_id"].is_null());
    let resumed = env.resume_json(&["resume", CLAUDE, "--target", "codex"]);
    assert_eq!(resumed["source"], "claude-code");
    assert_eq!(resumed["target"], "codex");
    assert_eq!(resumed["command"][0], "codex");
    assert_eq!(resumed["cwd"], env.project().display().to_string());
    for file in resumed["files"].as_array().unwrap() {
        assert!(std::path::Path::new(file.as_str().unwrap()).is_file());
    }
    let listed = env.json("list", &["list", "--source", "codex"]);
    assert_eq!(listed["total"], 2);
}

#[test]
fn a_dry_run_prints_the_plan() {
    let env = TestEnv::with_sessions();
    insta::assert_snapshot!(env.run(&["resume", CLAUDE, "--target", "codex", "--dry-run"]), @"
    exit code 0
    --- stdout
    codex resume 01a1de6f-6dd8-7000-8000-0000000f4241
    --- stderr
    would carry over Claude Code → Codex CLI
      carried     6 messages, 7 tool calls
      translated  6 tool calls
      lost        3 pieces of thinking: shown on the screen, not sent to the model
      tokens      ▏░░░░░░░░░ about #.#k of ###k (0.8 %)
      would create ~/.codex/sessions/2026/11/15/rollout-2026-11-15T09-00-07-01a1de6f-6dd8-7000-8000-0000000f4241.jsonl (## KB)
    warning: Codex CLI is not installed: the session waits for it
    nothing was written; it would go on with
    ");
}

#[test]
fn quiet_leaves_the_command_alone() {
    let env = TestEnv::with_sessions();
    let said = env.run(&["resume", CLAUDE, "--target", "codex", "--quiet", "--dry-run"]).success();
    assert_eq!(said.stdout.lines().count(), 1);
    assert!(said.stdout.starts_with("codex resume "), "{said}");
}

#[test]
fn another_folder_is_entered_first() {
    let env = TestEnv::with_sessions();
    fs_err::create_dir_all(env.home().join("new place")).unwrap();
    let args = ["resume", CLAUDE, "--target", "claude-code", "--project", "../new place", "--dry-run", "--quiet"];
    let said = env.run(&args).success();
    assert!(said.stdout.starts_with("cd '[HOME]/new place' && claude --resume "), "{said}");
}

#[test]
fn a_target_must_be_known() {
    let env = TestEnv::with_sessions();
    insta::assert_snapshot!(env.run(&["resume", CLAUDE]).without_agents(), @"
    exit code 64
    --- stderr
    error: no target was named
    hint: name one with `--target AGENT`: [AGENTS]
    hint: `carryover config set resume.target AGENT` makes it the default
    ");
    insta::assert_snapshot!(env.run(&["resume", CLAUDE, "--target", "codx"]).without_agents(), @"
    exit code 64
    --- stderr
    error: invalid value 'codx' for '--target <AGENT>'
      [possible values: [AGENTS]]

      tip: a similar value exists: 'codex'

    For more information, try '--help'.
    ");
    env.run(&["config", "set", "resume.target", "codex"]).success();
    env.run(&["resume", CLAUDE, "--dry-run"]).success();
}

#[test]
fn what_cannot_be_fitted_is_an_exit_code() {
    let env = TestEnv::with_sessions();
    insta::assert_snapshot!(env.run(&["resume", CLAUDE, "--target", "codex", "--tokens", "1"]), @"
    exit code 4
    --- stderr
    error: the last turn alone needs about 103 tokens, and 1 are allowed
    hint: allow more with `--tokens N` if the target's model takes more
    ");
}

#[test]
fn a_folder_that_does_not_exist_is_refused() {
    let env = TestEnv::with_sessions();
    let before = env.files();
    let args = ["resume", CLAUDE, "--target", "codex", "--project", "/no/such/folder"];
    insta::assert_snapshot!(env.run(&args), @"
    exit code 64
    --- stderr
    error: the project folder /no/such/folder does not exist
    hint: name a folder that exists with `--project`
    ");
    assert_eq!(env.files(), before);
}

#[cfg(unix)]
#[test]
fn launching_becomes_the_client_in_its_folder() {
    use std::os::unix::fs::PermissionsExt;
    let env = TestEnv::with_sessions();
    env.write("bin/claude", "#!/bin/sh\necho \"started in $PWD with $*\" | sed 's/[0-9a-f]\\{8\\}-[0-9a-f-]*/ID/g'\n");
    let program = env.home().join("bin/claude");
    fs_err::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/bin:/usr/bin", env.home().join("bin").display());
    let env = env.var("PATH", &path);
    let said = env.run(&["resume", CODEX, "--target", "claude", "--launch", "--quiet"]).success();
    assert!(said.stdout.ends_with("started in [HOME]/calc with --resume ID\n"), "{said}");
}

#[test]
fn captured_session_needs_no_flag() {
    let env = TestEnv::with_sessions();
    env.run(&["capture", CLAUDE]).success();
    let said = env.run(&["resume", ".carryover/session.json", "--target", "codex"]).success();
    assert!(env.project().join(".carryover/RESUME.md").exists(), "{said}");
    let said = env.run(&["resume", ".carryover/session.json", "--target", "codex", "--native"]);
    assert_eq!(said.code, Some(64), "{said}");
}

#[test]
fn plan_and_deed_are_told_alike() {
    let env = TestEnv::with_sessions();
    // The second takes the place of the first, which is told before, too.
    for seed in ["1", "2"] {
        let told = |more: &[&str]| -> Vec<String> {
            let args = [&["resume", CLAUDE, "--target", "codex"], more].concat();
            let output = env.command(&args).env("CARRYOVER_SEED", seed).output().unwrap();
            let stderr = String::from_utf8(output.stderr).unwrap();
            stderr.lines().filter(|line| line.starts_with("  ")).map(str::to_owned).collect()
        };
        let plan = told(&["--dry-run"]);
        assert!(plan.len() > 4, "{plan:?}");
        let deed =
            |line: &String| line.replacen("would create ", "created ", 1).replacen("would replace ", "replaces ", 1);
        let plan: Vec<String> = plan.iter().map(deed).collect();
        assert_eq!(plan, told(&[]));
    }
}

#[cfg(unix)]
#[test]
fn file_that_cannot_be_written_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let env = TestEnv::with_sessions();
    let lock = |mode| fs_err::set_permissions(env.project(), PermissionsExt::from_mode(mode)).unwrap();
    lock(0o500);
    let is_root = fs_err::write(env.project().join("probe"), "").is_ok();
    let said = env.run(&["handoff", CLAUDE, "--no-copy"]);
    lock(0o700);
    assert!(is_root || said.stderr.contains("could not write [HOME]/calc/.carryover"), "{said}");
}

#[test]
fn title_is_there_where_the_client_has_never_been_started() {
    let env = TestEnv::with_sessions();
    fs_err::remove_dir_all(env.home().join(".codex")).unwrap();
    let before = env.files();
    // The prompt by which it would be known did not fit.
    let resumed = env.resume_json(&["resume", CLAUDE, "--target", "codex", "--tokens", "700"]);
    let listed = env.json("list", &["list"]);
    let sessions = listed["sessions"].as_array().unwrap();
    let title = |id: &str| {
        sessions.iter().find(|session| session["id"].as_str().unwrap().starts_with(id)).unwrap()["title"].clone()
    };
    assert_eq!(title(resumed["session_id"].as_str().unwrap()), title(CLAUDE), "{listed}");
    env.run(&["undo"]).success();
    assert_eq!(env.files(), before);
    assert!(!env.home().join(".codex").exists());
}

/// The next agent may do more than the session could: that is told wherever the target cannot be held to it.
#[test]
fn that_a_session_was_held_to_planning_is_told() {
    let mode = r#"{"type":"permission-mode","permissionMode":"plan","sessionId":"s"}"#;
    let prompt = r#"{"parentUuid":null,"type":"user","message":{"role":"user","content":"Plan it."},"uuid":"u","timestamp":"2026-11-15T00:00:00.000Z","sessionId":"s"}"#;
    let path = ".claude/projects/-p/00000000-0000-4000-8000-000000000001.jsonl";
    let env = TestEnv::new();
    env.write(path, &format!("{mode}\n{prompt}\n"));
    for (target, is_told) in [("codex", true), ("gemini-cli", true), ("claude-code", false)] {
        let said = env.run(&["resume", "@last", "--target", target, "--dry-run"]).success();
        assert_eq!(said.stderr.contains("it was held to planning and reading"), is_told, "{target}: {said}");
    }
}
