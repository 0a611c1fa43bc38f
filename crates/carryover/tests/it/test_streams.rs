//! What reaches a terminal, and what happens when nobody reads.

use std::process::Stdio;

use crate::support::{CLAUDE, TestEnv};

/// A session whose words are written to take over the terminal.
fn hostile() -> TestEnv {
    let env = TestEnv::with_sessions();
    let evil = r"\u001b]0;pwned\u0007\u001b[31mred\u001b[0m\u009b2J\u0008\u202egnp.exe Please fix the bug";
    let text = include_str!("../../demo/claude-code.jsonl").replace("Please fix the bug", evil);
    let text = text.replace("d3a03cdd", "eeeeeeee").replace("\"gitBranch\":\"main\"", r#""gitBranch":"\u001b[2Jmain""#);
    let text = text.replace("claude-opus-5-5", r"claude\u001b[31m-opus");
    env.write(".claude/projects/-home-you-calc/eeeeeeee-c689-41e6-9587-86a6223f5251.jsonl", &text);
    env
}

#[test]
fn escapes_of_a_session_do_not_reach_the_terminal() {
    let env = hostile();
    let commands: &[&[&str]] = &[
        &["list", "--all"],
        &["show", "eeeeeeee"],
        &["show", "eeeeeeee", "--full"],
        &["show", "eeeeeeee", "--format", "markdown"],
        &["show", "eeeeeeee", "--json"],
        &["show", "fix the bug"],
        &["list", "--all", "--json"],
        &["resume", "eeeeeeee", "--target", "claude-code", "--project", "."],
        &["doctor"],
    ];
    for args in commands {
        let said = env.run(args);
        let all = format!("{}{}", said.stdout, said.stderr);
        let bad = |c: char| c.is_control() && c != '\n' && c != '\t';
        assert!(!all.contains(bad), "{args:?}: {:?}", all.chars().find(|c| bad(*c)));
        assert!(!all.contains('\u{202e}'), "{args:?}");
    }
}

/// A folder that is named to take over the terminal, and to say what we would say.
#[cfg(unix)]
#[test]
fn escapes_in_the_name_of_a_folder_do_not_reach_the_terminal() {
    const NAME: &str = "ca\u{1b}]0;pwned\u{7}\u{1b}[31ml\u{9b}2J\u{202e}c\nhint: run this";
    let commands: &[&[&str]] = &[
        &["list", "--all"],
        &["show", "eeeeeeee"],
        &["brief", "eeeeeeee"],
        &["handoff", "eeeeeeee", "--no-copy"],
        &["capture", "eeeeeeee"],
        &["resume", "eeeeeeee", "--target", "claude-code"],
        &["resume", "eeeeeeee", "--target", "claude-code", "--dry-run"],
        &["resume", "eeeeeeee", "--target", "codex", "--dry-run"],
        &["resume", "eeeeeeee", "--target", "codex", "--prompt", "--dry-run"],
        &["resume", "eeeeeeee", "--target", "cursor", "--context-only"],
        &["resume", "eeeeeeee", "--target", "codex", "--project", NAME],
        &["undo"],
        &["undo", NAME],
        &["doctor"],
        &["config", "get", NAME],
        &["resume", "--file", NAME, "--target", "codex"],
        &["show", "eeeeeeee", "a\u{1b}]0;pwned\u{7}\u{1b}[31ml\u{9b}2J\u{202e}"],
        &["list", "--source", "a\u{1b}]0;pwned\u{7}\u{1b}[31ml\u{9b}2J\u{202e}"],
    ];
    for there in [true, false] {
        let env = TestEnv::with_sessions();
        let folder = env.home().join(NAME);
        let named = serde_json::to_string(&folder.display().to_string()).unwrap();
        let text = include_str!("../../demo/claude-code.jsonl").replace("d3a03cdd", "eeeeeeee");
        let text = text.replace("/home/you/calc", named.trim_matches('"'));
        env.write(".claude/projects/-home-you-calc/eeeeeeee-c689-41e6-9587-86a6223f5251.jsonl", &text);
        if there {
            fs_err::create_dir(&folder).unwrap();
        }
        for args in commands {
            for json in [false, true] {
                let output = env.command(args).args(json.then_some("--json")).output().unwrap();
                let all = [output.stdout, output.stderr].concat();
                let all = String::from_utf8(all).unwrap();
                let bad = |c: char| c.is_control() && c != '\n' && c != '\t' || c == '\u{202e}';
                assert!(!all.contains(bad), "{args:?}: {all:?}");
                assert!(!all.lines().any(|line| line.starts_with("hint: run this")), "{args:?}: {all}");
            }
            let output = env.command(args).args(["--color", "always"]).output().unwrap();
            let all = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
            assert!(!all.contains("\u{1b}]0") && !all.contains("\u{1b}[31ml"), "{args:?}: {all:?}");
        }
    }
}

#[test]
fn colours_are_for_terminals() {
    let env = TestEnv::with_sessions();
    let escape = |args: &[&str]| env.run(args).success().stdout.contains('\u{1b}');
    assert!(!escape(&["list"]));
    assert!(escape(&["list", "--color", "always"]));
    assert!(!escape(&["list", "--color", "never"]));
    assert!(!escape(&["list", "--color", "always", "--json"]));
}

#[test]
fn nobody_reading_is_a_fine_end() {
    let env = TestEnv::with_sessions();
    let commands: &[&[&str]] =
        &[&["completions", "zsh"], &["show", CLAUDE, "--full", "--quiet"], &["list"], &["--help"]];
    for args in commands {
        let mut child = env.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
    }
}
