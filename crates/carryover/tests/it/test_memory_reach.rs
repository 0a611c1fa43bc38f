//! Which files of instructions are told and captured: those above, a user's own, and rules that say when they are read.

use std::process::Command;

use serde_json::Value;

use crate::support::{CLAUDE, TestEnv};

/// A project in a repository of its own, in which two agents have worked.
fn project() -> TestEnv {
    let env = TestEnv::with_sessions().var("PATH", "/bin:/usr/bin");
    let mut git = Command::new("git");
    git.args(["init", "-q"]).current_dir(env.project()).env_clear().env("PATH", "/bin:/usr/bin");
    assert!(git.status().unwrap().success());
    env
}

/// The files of a capture, each with whether it is private.
fn captured_files(env: &TestEnv) -> (Vec<(String, bool)>, Value) {
    env.run(&["capture", CLAUDE]).success();
    let text = fs_err::read_to_string(env.project().join(".carryover/session.json")).unwrap();
    let project = serde_json::from_str::<Value>(&text).unwrap()["project"].clone();
    let files = project["memoryFiles"].as_array().unwrap().iter();
    let named = files.map(|file| (file["path"].as_str().unwrap().to_owned(), file["private"] == true));
    (named.collect(), project)
}

#[test]
fn a_users_own_files_are_captured_as_private_with_what_they_take_in() {
    let env = project();
    env.write("calc/CLAUDE.md", "# Rules\n");
    env.write("calc/.claude/rules/deep/tabs.md", "use tabs\n");
    env.write("CLAUDE.md", "for all that is below the home\n");
    env.write(".claude/CLAUDE.md", "for all\n@own.md\n@~/notes/more.md\n@../.env\n");
    env.write(".claude/own.md", "of mine");
    env.write("notes/more.md", "more of mine");
    env.write(".env", "TOKEN=1");
    env.write(".claude/rules/brief.md", "be brief");
    let slug = env.project().display().to_string().replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
    env.write(&format!(".claude/projects/{slug}/memory/MEMORY.md"), "what it noted");
    let (files, project) = captured_files(&env);
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    let memory = format!("~/.claude/projects/{slug}/memory/MEMORY.md");
    assert_eq!(
        names,
        [
            "CLAUDE.md",
            ".claude/rules/deep/tabs.md",
            "~/CLAUDE.md",
            "~/.claude/CLAUDE.md",
            "~/.claude/rules/brief.md",
            &memory,
            "~/.claude/own.md",
            "~/notes/more.md"
        ]
    );
    assert!(files.iter().all(|(name, is_private)| *is_private == name.starts_with('~')), "{files:?}");
    let contents = project["memoryFileContents"].as_str().unwrap();
    assert!(contents.contains("use tabs") && !contents.contains("mine"), "{contents}");
    let told = env.run(&["memory"]).success();
    assert!(told.stdout.contains("~/CLAUDE.md  above this project, for all below it"), "{told}");
    assert!(told.stdout.contains("Claude Code (through ~/.claude/CLAUDE.md)"), "{told}");
}

#[cfg(unix)]
#[test]
fn a_file_above_that_leads_elsewhere_is_not_read() {
    let env = project();
    env.write("calc/CLAUDE.md", "# Rules\n");
    fs_err::create_dir_all(env.home().join("elsewhere")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", env.home().join("CLAUDE.md")).unwrap();
    let (files, _) = captured_files(&env);
    assert_eq!(files, [("CLAUDE.md".to_owned(), false)]);
}

#[test]
fn a_rule_says_itself_whether_it_is_read_at_every_start() {
    let env = project();
    env.write("calc/.claude/rules/some.md", "---\npaths: [\"src/**\"]\n---\nof sources\n");
    env.write("calc/.claude/rules/all.md", "of all\n");
    let told = env.json("memory", &["memory"]);
    let reads = |path: &str| {
        let files = told["files"].as_array().unwrap();
        let file = files.iter().find(|file| file["path"] == path).unwrap();
        file["readers"].as_array().unwrap().iter().find(|reader| reader["agent"] == "claude-code").unwrap().clone()
    };
    assert_eq!(reads(".claude/rules/all.md")["reads"], "always");
    assert_eq!(reads(".claude/rules/some.md")["reads"], "sometimes");
    assert_eq!(reads(".claude/rules/some.md")["detail"], "where its `paths` fit");
}

#[test]
fn the_only_rule_that_is_always_read_can_be_the_source() {
    let env = project();
    env.write("calc/.cursor/rules/a.mdc", "---\nalwaysApply: true\n---\n\nuse tabs\n");
    env.write("calc/.cursor/rules/b.mdc", "---\nglobs: src/**\n---\n\nof sources\n");
    let before = env.files();
    let told = env.run(&["memory", "--all"]).success();
    assert!(!told.stdout.contains("Cursor reads none"), "{told}");
    let done = env.json("memory-sync", &["memory", "sync", "--to", "codex", "--to", "cursor", "--yes"]);
    assert_eq!(
        (&done["source"], &done["told"][0]["agent"]),
        (&".cursor/rules/a.mdc".into(), &"cursor".into()),
        "{done}"
    );
    let copy = fs_err::read_to_string(env.project().join("AGENTS.md")).unwrap();
    assert!(copy.contains("use tabs") && !copy.contains("alwaysApply") && !copy.contains("of sources"), "{copy}");
    let again = env.json("memory-sync", &["memory", "sync", "--to", "codex", "--yes"]);
    assert_eq!(again["changes"], Value::Array(Vec::new()), "{again}");
    env.run(&["undo"]).success();
    assert_eq!(env.files(), before);
}
