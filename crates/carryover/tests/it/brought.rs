//! What a clone brings: links, lists and ids that want us to read, show or run something else.

#![cfg(unix)]

use std::os::unix::fs::symlink;
use std::process::Command;

use crate::support::{CLAUDE, TestEnv};

const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
const SECRET: &str = "what only its owner may read";

fn git(env: &TestEnv, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=Dev", "-c", "user.email=dev@localhost"]).args(args);
    let output = command.current_dir(env.project()).env("HOME", env.home()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn in_project(env: &TestEnv, name: &str) -> String {
    fs_err::read_to_string(env.project().join(name)).unwrap()
}

#[test]
fn a_link_out_of_the_project_is_not_read() {
    let env = TestEnv::with_sessions();
    env.write("private.md", &format!("# Notes\n\n{SECRET}\n"));
    env.write("private.json", &format!("{{\"name\": \"{SECRET}\"}}"));
    env.write("private.py", "def only_its_owner_may_read():\n    pass\n");
    for (name, to) in [
        ("CLAUDE.md", "private.md"),
        ("AGENTS.md", "../private.md"),
        ("GEMINI.md", "../calc/../private.md"),
        ("package.json", "private.json"),
        ("calc.py", "private.py"),
    ] {
        let to = if to.starts_with("..") { to.into() } else { env.home().join(to) };
        symlink(to, env.project().join(name)).unwrap();
    }
    env.run(&["handoff", CLAUDE, "--no-copy"]).success();
    env.run(&["capture", CLAUDE]).success();
    for name in [".carryover/RESUME.md", ".carryover/handoff.md", ".carryover/session.json"] {
        let text = in_project(&env, name);
        assert!(!text.contains(SECRET) && !text.contains("only_its_owner"), "{name}: {text}");
    }
    let said = env.run(&["brief", CLAUDE]).success();
    assert!(!said.stdout.contains("only_its_owner"), "{said}");
}

#[test]
fn a_link_inside_the_project_is_read() {
    let env = TestEnv::with_sessions();
    env.write("calc/AGENTS.md", "Use tabs, never blanks.\n");
    symlink("AGENTS.md", env.project().join("CLAUDE.md")).unwrap();
    env.run(&["capture", CLAUDE]).success();
    assert!(in_project(&env, ".carryover/session.json").contains("Use tabs"));
}

#[test]
fn a_pipe_is_not_waited_for() {
    let env = TestEnv::with_sessions();
    assert!(Command::new("mkfifo").arg(env.project().join("CLAUDE.md")).status().unwrap().success());
    env.run(&["handoff", CLAUDE, "--no-copy"]).success();
    let said = env.run(&["resume", CLAUDE, "--target", "claude-code", "--context-only"]);
    assert!(said.code == Some(3) && said.stderr.contains("CLAUDE.md is a pipe, not a file"), "{said}");
}

#[test]
fn a_chat_history_that_leads_out_of_the_project_is_nobodys_session() {
    let env = TestEnv::new();
    env.write("private.md", &format!("# aider chat started at 2026-11-15 08:00:00\n\n#### {SECRET}\n\nyes\n"));
    symlink(env.home().join("private.md"), env.project().join(".aider.chat.history.md")).unwrap();
    let said = env.run(&["list", "--all"]);
    assert!(!said.stdout.contains(SECRET) && said.code == Some(3), "{said}");
    assert!(said.stderr.contains(".aider.chat.history.md is a link out of its folder"), "{said}");
}

#[test]
fn a_list_that_a_clone_brings_exposes_nothing() {
    for list in ["!*\n", "*\n!*", "*\n!RESUME.md\n", "# *\n", "*.tmp\r\n!*\r\n"] {
        let env = TestEnv::with_sessions().var("PATH", PATH);
        env.write("calc/.carryover/.gitignore", list);
        git(&env, &["init", "-q"]);
        git(&env, &["add", "-f", "."]);
        git(&env, &["commit", "-qm", "begin"]);
        env.run(&["handoff", CLAUDE, "--no-copy"]).success();
        env.run(&["capture", CLAUDE]).success();
        git(&env, &["add", "."]);
        let kept = git(&env, &["ls-files"]);
        assert_eq!(kept.trim(), ".carryover/.gitignore", "{list:?}");
        assert!(in_project(&env, ".carryover/.gitignore").starts_with(list), "what was there stays");
    }
}

#[test]
fn a_linked_list_is_replaced() {
    let env = TestEnv::with_sessions().var("PATH", PATH);
    env.write("calc/list", "!*\n");
    fs_err::create_dir(env.project().join(".carryover")).unwrap();
    symlink("../list", env.project().join(".carryover/.gitignore")).unwrap();
    git(&env, &["init", "-q"]);
    env.run(&["handoff", CLAUDE, "--no-copy"]).success();
    git(&env, &["add", "."]);
    assert_eq!(git(&env, &["ls-files"]).trim(), "list");
    assert_eq!(in_project(&env, "list"), "!*\n");
}

#[test]
fn a_file_that_git_keeps_is_not_written_to() {
    for (name, command) in [
        ("RESUME.md", &["handoff", CLAUDE, "--no-copy"][..]),
        ("RESUME.md", &["resume", CLAUDE, "--target", "codex", "--prompt"]),
        ("session.json", &["capture", CLAUDE]),
        ("context.md", &["resume", CLAUDE, "--target", "aider", "--context-only"]),
    ] {
        let env = TestEnv::with_sessions().var("PATH", PATH);
        env.write(&format!("calc/.carryover/{name}"), "planted\n");
        git(&env, &["init", "-q"]);
        git(&env, &["add", "-f", "."]);
        let said = env.run(command);
        assert!(said.code == Some(3) && said.stderr.contains("git rm --cached"), "{said}");
        assert_eq!(in_project(&env, &format!(".carryover/{name}")), "planted\n");
    }
}

#[test]
fn a_brief_that_cannot_be_left_costs_no_other() {
    let env = TestEnv::with_sessions();
    env.write("calc/.carryover/context.md", "an earlier one\n");
    env.write("calc/.carryover/.gitignore/in-the-way", "");
    let said = env.run(&["resume", CLAUDE, "--target", "aider", "--context-only"]);
    assert_eq!(said.code, Some(3), "{said}");
    assert_eq!(in_project(&env, ".carryover/context.md"), "an earlier one\n");
}

/// What looks like a pattern to git is a name.
#[test]
fn a_file_that_git_keeps_is_known_whatever_its_folder_is_called() {
    let env = TestEnv::with_sessions().var("PATH", PATH);
    env.write("calc/a[b]*/.carryover/RESUME.md", "planted\n");
    git(&env, &["init", "-q"]);
    git(&env, &["add", "-f", "."]);
    let said = env.run(&["handoff", CLAUDE, "--no-copy", "--project", "a[b]*"]);
    assert!(said.code == Some(3) && said.stderr.contains("tracked by git"), "{said}");
}

#[test]
fn an_id_that_is_a_command_is_quoted_wherever_a_command_is_told() {
    let env = TestEnv::with_sessions();
    let id = "x; curl localhost|sh #";
    let store = env.home().join(".codex/sessions/2026/11/15");
    let file = fs_err::read_dir(&store).unwrap().next().unwrap().unwrap().path();
    let text = fs_err::read_to_string(&file).unwrap().replace("01a1dcb4-8ab4-7e10-b6d2-c8b20e08cdf8", id);
    fs_err::write(&file, text).unwrap();
    let named = ["--source", "codex"];
    for command in [
        &["handoff", "--no-copy"][..],
        &["capture"],
        &["resume", "--target", "codex", "--context-only"],
        &["resume", "--target", "cursor", "--context-only"],
    ] {
        env.run(&[command, &named].concat()).success();
    }
    env.run(&["resume", "--file", ".carryover/session.json", "--target", "codex"]).success();
    for name in [".carryover/handoff.md", ".carryover/RESUME.md", ".carryover/context.md"] {
        let text = in_project(&env, name);
        assert!(!text.contains(&format!("show {id}")), "{name}: {text}");
        assert!(name.ends_with("RESUME.md") || text.contains(&format!("show '{id}' --full")), "{name}: {text}");
    }
}

/// Everything below a folder, with its mode.
fn modes(folder: &std::path::Path) -> Vec<(String, u32, Vec<u8>)> {
    use std::os::unix::fs::PermissionsExt;
    let entries = fs_err::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let look = |path: std::path::PathBuf| {
        let mode = fs_err::metadata(&path).unwrap().permissions().mode();
        (path.display().to_string(), mode, fs_err::read(&path).unwrap())
    };
    let mut found: Vec<_> = entries.map(look).collect();
    found.sort();
    found
}

#[test]
fn a_linked_folder_is_refused_before_anything_is_touched() {
    use std::os::unix::fs::PermissionsExt;
    for command in [
        &["resume", CLAUDE, "--target", "claude-code", "--context-only"][..],
        &["resume", CLAUDE, "--target", "aider", "--context-only"],
        &["resume", CLAUDE, "--target", "codex", "--prompt"],
        &["handoff", CLAUDE, "--no-copy"],
        &["capture", CLAUDE],
    ] {
        let env = TestEnv::with_sessions().var("PATH", PATH);
        env.write("calc/.gitignore", "target\n");
        for name in ["context.md", "RESUME.md", "session.json", ".gitignore", ".carryover-abc.tmp"] {
            env.write(&format!("out/{name}"), "theirs\n");
            fs_err::set_permissions(env.home().join("out").join(name), PermissionsExt::from_mode(0o644)).unwrap();
        }
        symlink("../out", env.project().join(".carryover")).unwrap();
        git(&env, &["init", "-q"]);
        let before = (env.files(), modes(&env.home().join("out")));
        let said = env.run(command);
        assert!(said.code == Some(3) && said.stderr.contains(".carryover is not a folder"), "{said}");
        if command[0] == "resume" {
            let dry = env.run(&[command, &["--dry-run"]].concat());
            assert_eq!((dry.code, dry.stderr), (said.code, said.stderr));
        }
        assert_eq!((env.files(), modes(&env.home().join("out"))), before, "{command:?}");
    }
}

#[test]
fn a_brief_of_somebody_elses_is_not_overwritten() {
    let env = TestEnv::with_sessions();
    env.write("calc/.carryover/context.md", "mine\n");
    let said = env.run(&["resume", CLAUDE, "--target", "aider", "--context-only"]);
    assert!(said.code == Some(3) && said.stderr.contains("context.md") && said.stderr.contains("hint: "), "{said}");
    assert_eq!(in_project(&env, ".carryover/context.md"), "mine\n");
}
