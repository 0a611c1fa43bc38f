//! What an import tells: what is otherwise than it was, what is missing, and what is in the way.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{TestEnv, write_session};
use crate::test_capsule::{SECRET, env_with_git, export, git, make_repository, tree};

fn receiver() -> TestEnv {
    TestEnv::new().var("PATH", "/usr/bin:/bin")
}

fn import(env: &TestEnv, capsule: &Path, more: &[&str]) -> Value {
    env.json("import", &[&["import", capsule.to_str().unwrap()], more].concat())
}

/// A sender with a repository, its capsule, and a receiver with a clean checkout of the same commit.
fn checkout(mode: &str) -> (TestEnv, PathBuf, TestEnv, PathBuf) {
    let sender = env_with_git();
    make_repository(&sender);
    let (capsule, _) = export(&sender, "a.tar.zst", &["--files", mode]);
    let env = receiver();
    let folder = env.home().join("clone");
    git(&env.home(), &["clone", "-q", sender.project().to_str().unwrap(), folder.to_str().unwrap()]);
    (sender, capsule, env, folder)
}

fn again(env: TestEnv) -> TestEnv {
    env.var("CARRYOVER_SEED", "2000000")
}

fn staged(folder: &Path) -> String {
    git(folder, &["diff", "--cached", "--no-color"])
}

#[test]
fn permissions_that_differ_are_told_or_put_right() {
    for mode in ["changed", "full"] {
        let (sender, capsule, env, folder) = checkout(mode);
        let into = ["--project", folder.to_str().unwrap()];
        import(&env, &capsule, &into);
        let set = |path: &str, mode| fs_err::set_permissions(folder.join(path), Permissions::from_mode(mode)).unwrap();
        // As the commit has it: nobody's work is lost where it is put right.
        set("run.sh", 0o644);
        let env = again(env);
        let told = import(&env, &capsule, &[&into[..], &["--no-files"]].concat());
        let row = json!({"path": "run.sh", "how": "permissions"});
        assert_eq!((&told["workspace"]["outcome"], &told["workspace"]["differences"]), (&"left".into(), &json!([row])));
        let env = env.var("CARRYOVER_SEED", "3000000");
        assert_eq!(import(&env, &capsule, &into)["workspace"]["outcome"], "restored");
        assert_eq!(tree(&folder), tree(&sender.project()), "{mode}");
        set("edited.txt", 0o755);
        let env = env.var("CARRYOVER_SEED", "4000000");
        let said = env.run(&[&["import", capsule.to_str().unwrap()], &into[..]].concat());
        assert!(said.code == Some(3) && said.stderr.contains("\n  edited.txt has other permissions\nhint"), "{said}");
    }
}

#[test]
fn what_was_staged_is_staged_again_where_the_files_are_there_already() {
    for mode in ["changed", "full"] {
        let (sender, capsule, env, folder) = checkout(mode);
        let into = ["--project", folder.to_str().unwrap()];
        import(&env, &capsule, &into);
        git(&folder, &["reset", "-q"]);
        let env = again(env);
        let left = import(&env, &capsule, &[&into[..], &["--no-files"]].concat());
        assert!(left["resume"]["warnings"].to_string().contains("staged.txt was staged, and is not"), "{left:#}");
        let env = env.var("CARRYOVER_SEED", "3000000");
        let before = tree(&folder);
        let told = import(&env, &capsule, &into);
        assert_eq!((&told["workspace"]["outcome"], &told["workspace"]["staged"]), (&"restored".into(), &true.into()));
        assert_eq!((staged(&folder), tree(&folder)), (staged(&sender.project()), before), "{mode}");
        // It is taken back as it was found.
        env.run(&["undo", told["resume"]["undo_id"].as_str().unwrap(), "--files"]).success();
        assert_eq!((staged(&folder), tree(&folder)), (String::new(), tree(&sender.project())), "{mode}");
    }
}

#[test]
fn something_else_that_is_staged_is_told() {
    let (_sender, capsule, env, folder) = checkout("changed");
    let into = ["--project", folder.to_str().unwrap()];
    import(&env, &capsule, &into);
    let content = fs_err::read_to_string(folder.join("both.txt")).unwrap();
    git(&folder, &["add", "both.txt"]);
    let env = again(env);
    let said = env.run(&[&["import", capsule.to_str().unwrap()], &into[..]].concat());
    assert!(said.code == Some(3) && said.stderr.contains("both.txt is staged otherwise"), "{said}");
    assert_eq!(fs_err::read_to_string(folder.join("both.txt")).unwrap(), content);
}

#[test]
fn folder_that_is_not_clean_is_told_with_what_is_in_it() {
    let (_sender, capsule, env, folder) = checkout("full");
    fs_err::write(folder.join("dirt.txt"), "mine").unwrap();
    fs_err::write(folder.join("kept.txt"), "mine").unwrap();
    let said = env.run(&["import", capsule.to_str().unwrap(), "--project", folder.to_str().unwrap()]);
    assert!(said.code == Some(3) && said.stderr.contains("not a clean checkout of"), "{said}");
    assert!(said.stderr.contains("\n  dirt.txt is new there\n  kept.txt has another content\n"), "{said}");
    // What is as the commit has it is in nobody's way.
    assert!(!said.stderr.contains("edited.txt"), "{said}");
    let fresh = env.home().join("fresh");
    fs_err::create_dir(&fresh).unwrap();
    git(&fresh, &["init", "-q"]);
    let said = env.run(&["import", capsule.to_str().unwrap(), "--project", fresh.to_str().unwrap()]);
    assert!(said.code == Some(3) && said.stderr.contains(".git is there: a repository that is not at"), "{said}");
    let other = env.home().join("other");
    for index in 0..12 {
        env.write(&format!("other/mine-{index:02}"), "mine");
    }
    env.write("other/kept.txt", "mine");
    let said = env.run(&["import", capsule.to_str().unwrap(), "--project", other.to_str().unwrap()]);
    assert!(said.stderr.contains("\n  kept.txt has another content\n  mine-00 is there\n"), "{said}");
    assert!(said.stderr.contains("\n  and 5 more\n") && !said.stderr.contains("mine-08"), "{said}");
}

#[test]
fn every_path_that_differs_is_listed_where_files_are_left() {
    let (_sender, capsule, env, folder) = checkout("full");
    let into = ["--project", folder.to_str().unwrap(), "--no-files"];
    let told = import(&env, &capsule, &into);
    let rows = told["workspace"]["differences"].as_array().unwrap();
    assert_eq!(told["workspace"]["differing"], rows.len());
    let has = |path: &str, how: &str| rows.contains(&json!({"path": path, "how": how}));
    assert!(has("edited.txt", "content") && has("gone.txt", "still-there") && has("added.txt", "missing"), "{told:#}");
    assert!(has("run.sh", "permissions") && has("untracked-now", "not-staged"), "{told:#}");
    let warnings = told["resume"]["warnings"].to_string();
    assert!(warnings.contains("added.txt is missing; both.txt has another content; "), "{warnings}");
    // One that differs is told as one.
    let (env, at) = (again(env), folder.join("edited.txt"));
    import(&env, &capsule, &into[..2]);
    fs_err::write(at, "other").unwrap();
    let env = env.var("CARRYOVER_SEED", "3000000");
    let told = import(&env, &capsule, &into).to_string();
    assert!(told.contains("one of the capsule's files is otherwise in this folder: edited.txt has another"), "{told}");
}

/// A session's beginning, in a home of its own.
fn receiver_with_beginning(n_records: usize) -> TestEnv {
    let env = env_with_git();
    let folder = fs_err::read_dir(env.home().join(".claude/projects")).unwrap().next().unwrap().unwrap().path();
    let path = folder.join(format!("{CLAUDE_ID}.jsonl"));
    let text = fs_err::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().take(n_records).collect();
    env.write(path.strip_prefix(env.home()).unwrap().to_str().unwrap(), &(lines.join("\n") + "\n"));
    env
}

const CLAUDE_ID: &str = "d3a03cdd-c689-41e6-9587-86a6223f5251";

#[test]
fn capsule_that_has_more_of_a_session_than_is_here_is_gone_on_with() {
    let sender = env_with_git();
    sender.write("calc/calc.py", "print(1)\n");
    let (capsule, _) = export(&sender, "a.tar.zst", &[]);
    let env = receiver_with_beginning(6);
    let told = import(&env, &capsule, &[]);
    assert_ne!(told["resume"]["session_id"], CLAUDE_ID);
    assert_eq!(told["workspace"]["outcome"], "restored");
    let warnings = told["resume"]["warnings"].to_string();
    assert!(warnings.contains("Claude Code has that session already, and the capsule has"), "{warnings}");
    assert!(env.project().join("calc.py").exists());
}

#[test]
fn files_come_along_where_the_session_is_here_already() {
    let sender = env_with_git();
    sender.write("calc/calc.py", "print(1)\n");
    let (capsule, _) = export(&sender, "a.tar.zst", &[]);
    let env = env_with_git();
    let args = ["import", capsule.to_str().unwrap()];
    let told = env.json("import-own", &args);
    assert_eq!((&told["session_id"], &told["workspace"]["outcome"]), (&CLAUDE_ID.into(), &"restored".into()));
    assert!(env.project().join("calc.py").exists());
    // What somebody has changed stays, and is told.
    env.write("calc/calc.py", "mine\n");
    let said = env.run(&args).success();
    assert!(said.stderr.contains("calc.py has another content"), "{said}");
    assert!(said.stderr.contains("files       left as they are; 1 differs"), "{said}");
    assert!(said.stderr.contains("already in Claude Code: nothing was written"), "{said}");
    env.write("calc/calc.py", "print(1)\n");
    let listed = env.json("undo-list", &["undo", "--list"]);
    assert_eq!(listed["resumes"][0]["undo_id"], told["undo_id"]);
    env.run(&["undo", told["undo_id"].as_str().unwrap(), "--files"]).success();
    assert!(!env.project().join("calc.py").exists());
    // Another folder that takes the files gets the session, too.
    let other = env.home().join("other");
    fs_err::create_dir(&other).unwrap();
    let said = env.run_in(&other, &args).success();
    assert!(said.stderr.contains("in another folder: this is a copy, in this one"), "{said}");
    assert!(said.stdout.contains("cd [HOME]/other") || said.stdout.contains("claude --resume"), "{said}");
    assert!(other.join("calc.py").exists());
}

#[test]
fn longer_session_here_is_told() {
    let sender = receiver_with_beginning(6);
    let (capsule, _) = export(&sender, "a.tar.zst", &[]);
    let env = env_with_git();
    let told = env.json("import-own", &["import", capsule.to_str().unwrap()]);
    assert!(told["messages"].as_u64() > told["capsule_messages"].as_u64(), "{told:#}");
    assert!(told["warnings"].to_string().contains("more than the capsule; `--fork` copies"), "{told:#}");
}

#[test]
fn what_the_capsule_does_not_have_is_told() {
    let sender = env_with_git();
    make_repository(&sender);
    sender.write("calc/deploy.cfg", &format!("token = {SECRET}\n"));
    let id = "00000000-0000-4000-8000-0000000000aa";
    write_session(
        &sender,
        id,
        &[("user", format!("use {SECRET}").into()), ("assistant", json!([{"type": "text", "text": "ok"}]))],
    );
    let capsule = sender.home().join("a.tar.zst");
    let args = ["capsule", "export", id, "-o", capsule.to_str().unwrap()];
    let packed = sender.json("capsule-export", &args);
    assert_eq!(packed["masked"]["github-pat"], 1, "{packed:#}");
    fs_err::remove_file(&capsule).unwrap();
    let said = sender.run(&args).success();
    assert!(said.stderr.contains("  masked      github-pat (1)"), "{said}");
    let env = receiver();
    let told = import(&env, &capsule, &["--project", "w1"]);
    assert_eq!(told["left_out"], json!([{"path": "deploy.cfg", "reason": "holds secrets"}]));
    assert_eq!(told["masked"]["github-pat"], 1);
    let warnings = told["resume"]["warnings"].to_string();
    assert!(warnings.contains("not in the capsule: deploy.cfg holds secrets"), "{warnings}");
    assert!(warnings.contains(", and this folder is in no repository"), "{warnings}");
    let said = again(env).run(&["import", capsule.to_str().unwrap(), "--project", "w2"]).success();
    assert!(said.stderr.contains("warning: not in the capsule: deploy.cfg holds secrets"), "{said}");
    assert!(said.stderr.contains("  masked      github-pat (1)"), "{said}");
}

#[test]
fn session_that_was_imported_names_the_one_that_it_comes_from() {
    let sender = env_with_git();
    let (capsule, _) = export(&sender, "a.tar.zst", &["--files", "none"]);
    let env = receiver();
    import(&env, &capsule, &["--project", "nn/deep"]);
    assert!(env.project().join("nn/deep").is_dir());
    let listed = env.json("list", &["list", "--all"]);
    assert_eq!(listed["sessions"][0]["carried_from"], json!({"agent": "claude-code", "id": CLAUDE_ID}), "{listed:#}");
}

#[test]
fn capsule_without_files_says_that_they_were_not_looked_at() {
    let sender = env_with_git();
    make_repository(&sender);
    let (capsule, _) = export(&sender, "a.tar.zst", &["--files", "none"]);
    let name = capsule.to_str().unwrap();
    let said = sender.run(&["capsule", "inspect", name]).success();
    assert!(said.stdout.contains("none; what was changed in the folder was not looked at"), "{said}");
    assert!(!said.stdout.contains("0 changed"), "{said}");
    assert!(said.stderr.contains("`carryover capsule verify [HOME]/a.tar.zst`"), "{said}");
}

#[test]
fn what_git_was_told_of_a_file_is_no_file_that_is_left_out() {
    let sender = env_with_git();
    make_repository(&sender);
    git(&sender.project(), &["update-index", "--assume-unchanged", "edited.txt"]);
    sender.write("calc/soon.txt", "soon\n");
    git(&sender.project(), &["add", "-N", "soon.txt"]);
    let said = sender.run(&["capsule", "export", CLAUDE_ID, "-o", "../a.tar.zst"]).success();
    assert!(said.stderr.contains("warning: edited.txt comes along as it is here, without git's mark"), "{said}");
    assert!(said.stderr.contains("warning: soon.txt comes along as a new file, without git's mark"), "{said}");
    assert!(!said.stderr.contains("left out"), "{said}");
    let (_, told) = export(&sender, "b.tar.zst", &[]);
    assert_eq!((told["left_out"].as_array().unwrap().len(), told["remarks"].as_array().unwrap().len()), (0, 2));
}

#[test]
fn session_in_which_nothing_was_said_is_not_the_newest() {
    let sender = env_with_git();
    let clear =
        "<command-name>/clear</command-name>\n<command-message>clear</command-message>\n<command-args></command-args>";
    write_session(&sender, "00000000-0000-4000-8000-0000000000ab", &[("user", clear.into())]);
    let packed = sender.json("capsule-export", &["capsule", "export", "-o", "../a.tar.zst"]);
    assert_eq!(packed["session_id"], CLAUDE_ID);
    let shown = sender.json("session", &["show", "@last"]);
    assert_eq!(shown["header"]["session"].as_str().or(shown["session_id"].as_str()).unwrap_or(CLAUDE_ID), CLAUDE_ID);
}

#[test]
fn file_that_is_no_capsule_is_named() {
    let env = env_with_git();
    env.write("calc/notes.txt", "no capsule\n");
    let said = env.run(&["import", "notes.txt"]);
    assert!(said.stderr.contains("error: notes.txt is no capsule: "), "{said}");
    env.run(&["share", CLAUDE_ID, "--dest", "x.carryover", "--files", "none"]).success();
    let said = env.run(&["import", "x.carryover"]);
    assert!(
        said.stderr.contains("x.carryover is no capsule") && said.stderr.contains("`carryover open x.carryover`"),
        "{said}"
    );
}

#[test]
fn command_of_a_client_that_fails_is_told_with_its_words() {
    let sender = env_with_git();
    let (capsule, _) = export(&sender, "a.tar.zst", &["--files", "none"]);
    let env = TestEnv::new().with_client("opencode");
    env.write("bin/opencode", "#!/bin/sh\nprintf '\\033[31mno room\\033[0m left\\n' >&2\nexit 7\n");
    fs_err::set_permissions(env.home().join("bin/opencode"), Permissions::from_mode(0o755)).unwrap();
    let said = env.run(&["import", capsule.to_str().unwrap(), "--target", "opencode"]);
    assert!(said.code == Some(3) && said.stderr.contains("it ended with exit code 7; nothing was added"), "{said}");
    assert!(said.stderr.contains("\n  opencode: no room left\n") && said.stderr.contains("hint: see that"), "{said}");
}
