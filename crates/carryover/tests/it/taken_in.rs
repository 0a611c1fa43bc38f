//! What files of instructions lead to: links, files that they take in, and what carryover itself has put there.

use std::process::Command;

use serde_json::Value;

use crate::support::{CLAUDE, TestEnv};

const WORDS: &str = "DB_HOST=db.internal.example";

/// A project in a repository of its own, in which two agents have worked.
fn project() -> TestEnv {
    let env = TestEnv::with_sessions().var("PATH", "/bin:/usr/bin");
    let mut git = Command::new("git");
    git.args(["init", "-q"]).current_dir(env.project()).env_clear().env("PATH", "/bin:/usr/bin");
    assert!(git.status().unwrap().success());
    env
}

#[cfg(unix)]
fn link(env: &TestEnv, to: &str, name: &str) {
    let place = env.project().join(name);
    fs_err::create_dir_all(place.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(to, place).unwrap();
}

/// The project, as a capture of its session tells it.
fn capture(env: &TestEnv) -> (Value, String) {
    let said = env.run(&["capture", CLAUDE]).success().stderr;
    let text = fs_err::read_to_string(env.project().join(".carryover/session.json")).unwrap();
    (serde_json::from_str::<Value>(&text).unwrap()["project"].clone(), said)
}

#[cfg(unix)]
#[test]
fn a_link_to_a_private_file_is_as_private_as_that() {
    for (file, ignored, reason) in [
        (".env", ".env\n", "it leads to settings, which may hold passwords"),
        (".env.local", "", "it leads to settings, which may hold passwords"),
        (".git/config", "", "it leads to settings, which may hold passwords"),
        ("secret/notes.md", "secret/\n", "it leads to a file that git ignores"),
        ("CLAUDE.local.md", "", "it leads to a person's own file"),
    ] {
        let env = project();
        env.write("calc/.gitignore", ignored);
        env.write(&format!("calc/{file}"), &format!("[x]\nword = {WORDS}\n"));
        link(&env, file, ".cursorrules");
        let before = env.files();
        for to in ["codex", "gemini"] {
            let said = env.run(&["memory", "sync", "--from", ".cursorrules", "--to", to, "--yes"]);
            assert!(said.code == Some(64) && said.stderr.contains(reason), "{file}: {said}");
        }
        assert!(env.run(&["memory", "sync", "--yes", "--to", "codex"]).code != Some(0));
        assert_eq!(env.files(), before, "{file}");
        let told = env.json("memory", &["memory", "--all"]);
        let row = told["files"].as_array().unwrap().iter().find(|row| row["path"] == ".cursorrules").unwrap();
        assert_eq!((row["private"].as_str(), told["source"].as_str()), (Some(reason), None), "{told}");
        // No text gets into such a file by its link, either.
        env.write("calc/CLAUDE.md", "# Rules\n");
        link(&env, file, "AGENTS.md");
        let said = env.run(&["memory", "sync", "--from", "CLAUDE.md", "--to", "codex", "--yes"]);
        assert!(said.code == Some(64) && said.stderr.contains(reason), "{file}: {said}");
    }
}

#[cfg(unix)]
#[test]
fn what_git_has_gets_nothing_private_through_a_name_that_git_ignores() {
    let env = project();
    env.write("calc/.gitignore", "AGENTS.md\n");
    env.write("calc/CLAUDE.local.md", "my own\n");
    env.write("calc/docs/shared.md", "for all\n");
    link(&env, "docs/shared.md", "AGENTS.md");
    let said = env.run(&["memory", "sync", "--from", "CLAUDE.local.md", "--to", "codex", "--yes"]);
    assert_eq!(said.code, Some(64), "{said}");
    assert_eq!(fs_err::read_to_string(env.project().join("docs/shared.md")).unwrap(), "for all\n");
}

#[cfg(unix)]
#[test]
fn a_capture_reads_no_private_file_behind_a_link() {
    for (file, ignored) in [(".env", ""), ("secret/notes.md", "secret/\n"), ("CLAUDE.local.md", "")] {
        let env = project();
        env.write("calc/.gitignore", ignored);
        env.write(&format!("calc/{file}"), WORDS);
        link(&env, &format!("../{file}"), ".claude/CLAUDE.md");
        env.write("calc/CLAUDE.md", &format!("# Rules\n\n@{file}\n@.claude/CLAUDE.md\n"));
        let (project, said) = capture(&env);
        assert_eq!(project["memoryFileContents"], format!("# CLAUDE.md\n\n# Rules\n\n@{file}\n@.claude/CLAUDE.md\n"));
        assert!(said.contains(".claude/CLAUDE.md is not read: it leads to"), "{said}");
        for (path, bytes) in env.files().iter().filter(|(path, _)| path.starts_with(env.project().join(".carryover"))) {
            let is_own = file == "CLAUDE.local.md" && path.ends_with("session.json");
            assert!(is_own || !String::from_utf8_lossy(bytes).contains(WORDS), "{}", path.display());
        }
    }
}

#[test]
fn what_git_ignores_is_captured_as_private() {
    let env = project();
    env.write("calc/.gitignore", "CLAUDE.md\n");
    env.write("calc/CLAUDE.md", WORDS);
    let (project, _) = capture(&env);
    assert_eq!(project["memoryFileContents"], Value::Null);
    assert_eq!(project["memoryFiles"][0]["private"], true);
    let handoff = env.run(&["handoff", CLAUDE, "--target", "codex", "--print"]);
    assert!(!handoff.stdout.contains(WORDS), "{handoff}");
}

#[test]
fn files_that_are_taken_in_are_told_and_captured() {
    let env = project();
    env.write("elsewhere.md", "not the project's");
    env.write("calc/.gitignore", "own.md\n");
    env.write("calc/own.md", "mine alone");
    env.write("calc/CLAUDE.md", "# Rules\n\nSee @docs/style.md, @own.md @../elsewhere.md\n@docs/style.md\n@.env\n");
    env.write("calc/.env", WORDS);
    env.write("calc/docs/style.md", "tabs\n@more.md\n");
    env.write("calc/docs/more.md", "and a newline\n@style.md\n@d2.md");
    for (n, next) in (2..8).map(|n| (n, n + 1)) {
        env.write(&format!("calc/docs/d{n}.md"), &format!("depth {n}\n@d{next}.md"));
    }
    let (project, _) = capture(&env);
    let names: Vec<&str> =
        project["memoryFiles"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    let taken_in = ["docs/style.md", "docs/more.md", "docs/d2.md", "docs/d3.md", "docs/d4.md"];
    assert_eq!(names, [&["CLAUDE.md"], &taken_in as &[&str]].concat());
    let contents = project["memoryFileContents"].as_str().unwrap();
    assert!(contents.contains("# docs/more.md\n\nand a newline") && !contents.contains(WORDS), "{contents}");
    let told = env.json("memory", &["memory"]);
    let readers = |path: &str| {
        let files = told["files"].as_array().unwrap();
        files.iter().find(|file| file["path"] == path).map(|file| file["readers"][0].clone())
    };
    assert_eq!(
        readers("docs/more.md"),
        Some(serde_json::json!({ "agent": "claude-code", "reads": "through", "detail": "docs/style.md" }))
    );
    assert_eq!((readers("docs/d5.md"), readers("../elsewhere.md")), (None, None));
    assert_eq!(told["source"], "CLAUDE.md", "what is taken in is no source by itself");
    let info = env.run(&["info", "claude-code"]).success();
    assert!(info.stdout.contains("docs/more.md (here; taken in by docs/style.md)"), "{info}");
}

#[test]
fn our_own_words_are_not_captured_as_the_projects() {
    let env = project();
    env.write("calc/CLAUDE.md", "# Mine\n");
    env.run(&["resume", CLAUDE, "--context-only", "-t", "claude-code"]).success();
    env.run(&["memory", "sync", "--to", "codex"]).success();
    env.run(&["resume", CLAUDE, "--context-only", "-t", "codex"]).success();
    assert!(fs_err::read_to_string(env.project().join("AGENTS.md")).unwrap().contains(".carryover/context.md"));
    let (project, _) = capture(&env);
    assert_eq!(project["memoryFileContents"], "# CLAUDE.md\n\n# Mine\n");
    // A copy of another file is what its agent is told.
    env.run(&["capture", crate::support::CODEX]).success();
    let text = fs_err::read_to_string(env.project().join(".carryover/session.json")).unwrap();
    assert!(text.contains("# Mine") && !text.contains("was handed over"), "{text}");
}

#[cfg(unix)]
/// Three ways in which git cannot be asked what it ignores.
fn unasked_projects() -> Vec<(&'static str, TestEnv)> {
    let ways = ["no git", "no trust", "broken"].into_iter().map(|way| {
        let env = project();
        env.write("calc/.gitignore", "GEMINI.md\n");
        env.write("calc/GEMINI.md", &format!("{WORDS}\n"));
        let env = match way {
            "no git" => env.var("PATH", "/nowhere"),
            "no trust" => {
                env.write("bin/git", "#!/bin/sh\necho 'fatal: detected dubious ownership' >&2\nexit 128\n");
                let folder = env.home().join("bin");
                let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
                fs_err::set_permissions(folder.join("git"), mode).unwrap();
                env.var("PATH", &format!("{}:/bin", folder.display()))
            }
            _ => {
                env.write("calc/.git/HEAD", "");
                env
            }
        };
        (way, env)
    });
    ways.collect()
}

#[cfg(unix)]
#[test]
fn where_git_does_not_tell_what_it_ignores_everything_is_private() {
    for (way, env) in unasked_projects() {
        let before = env.files();
        for from in [&["--from", "GEMINI.md"][..], &[]] {
            let said = env.run(&[&["memory", "sync", "--to", "codex", "--yes"], from].concat());
            assert!(
                said.code == Some(64) && said.stderr.contains("git does not tell what it ignores"),
                "{way}: {said}"
            );
            assert!(said.stderr.contains("`git status` there says why"), "{way}: {said}");
        }
        assert_eq!(env.files(), before, "{way}");
        env.write("calc/CLAUDE.md", WORDS);
        let (project, said) = capture(&env);
        assert_eq!(project["memoryFileContents"], Value::Null, "{way}");
        assert_eq!(project["memoryFiles"][0]["private"], true, "{way}");
        assert!(said.contains("are kept as private"), "{way}: {said}");
    }
}

#[cfg(unix)]
#[test]
fn nothing_is_written_into_a_handoff_that_git_keeps_also_where_it_does_not_tell() {
    for (way, env) in unasked_projects() {
        env.run(&["handoff", CLAUDE, "--no-copy"]).success();
        let mut git = Command::new("git");
        git.args(["add", "-f", ".carryover/handoff.md"]).env("PATH", "/bin:/usr/bin").current_dir(env.project());
        if way == "broken" {
            env.write("calc/.git/HEAD", "ref: refs/heads/main\n");
        }
        assert!(git.status().unwrap().success(), "{way}");
        if way == "broken" {
            env.write("calc/.git/HEAD", "");
        }
        let said = env.run(&["handoff", CLAUDE, "--no-copy"]);
        assert!(said.code != Some(0) && said.stderr.contains("is tracked by git"), "{way}: {said}");
    }
}
