//! Capsules that are gone on with.

use std::path::Path;

use carryover_testkit::agents::LABS;
use serde_json::Value;

use crate::support::{CLAUDE, TestEnv, check_schema, file_targets};
use crate::test_capsule::{env_with_git, export, git, make_repository, tree};

/// What the model would see of a session, with the folders that it was in named.
fn live_context(env: &TestEnv, session: &str, projects: &[&Path]) -> Vec<Value> {
    let output = env.command(&["show", session, "--json"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let named = |text: String, project: &&Path| text.replace(project.to_str().unwrap(), "[PROJECT]");
    let text = projects.iter().fold(String::from_utf8(output.stdout).unwrap(), named);
    let shown: Value = serde_json::from_str(&text).unwrap();
    let entries = shown["entries"].as_array().unwrap();
    let fields = ["kind", "origin", "parts", "text", "tool", "input", "status", "exit_code"];
    let live = entries.iter().filter(|entry| entry["live"] == true);
    live.map(|entry| fields.iter().map(|field| entry[field].clone()).collect()).collect()
}

fn receiver() -> TestEnv {
    TestEnv::new().var("PATH", "/usr/bin:/bin")
}

fn import(env: &TestEnv, capsule: &Path, more: &[&str]) -> Value {
    env.json("import", &[&["import", capsule.to_str().unwrap()], more].concat())
}

/// Once more, with ids of its own.
fn import_again(env: TestEnv, capsule: &Path, more: &[&str]) -> (TestEnv, Value) {
    let env = env.var("CARRYOVER_SEED", "2000000");
    let told = import(&env, capsule, more);
    (env, told)
}

#[test]
fn session_goes_on_elsewhere_as_it_was() {
    let sender = env_with_git();
    make_repository(&sender);
    let original = live_context(&sender, CLAUDE, &[&sender.project()]);
    for more in [&[] as &[&str], &["--raw"]] {
        let (capsule, _) = export(&sender, &format!("a{}.tar.zst", more.len()), more);
        let env = receiver();
        let folder = env.home().join("work/moved");
        let told = import(&env, &capsule, &["--project", folder.to_str().unwrap()]);
        assert_eq!(told["target"], "claude-code", "{told:#}");
        assert_eq!(
            (&told["workspace"]["outcome"], &told["own_records"]),
            (&"restored".into(), &(!more.is_empty()).into())
        );
        assert_eq!(tree(&folder), tree(&sender.project()));
        let session = told["resume"]["session_id"].as_str().unwrap();
        assert_ne!(session, "d3a03cdd-c689-41e6-9587-86a6223f5251");
        assert_eq!(live_context(&env, session, &[&folder, &sender.project()]), original, "{more:?}");
        env.run(&["undo", told["resume"]["undo_id"].as_str().unwrap()]).success();
        assert!(!env.home().join(".claude").exists() && folder.join("kept.txt").exists());
        assert_eq!(fs_err::read_dir(env.home().join(".carryover/importing")).unwrap().count(), 0);
    }
}

#[test]
fn same_agent_gets_its_own_records_back() {
    let sender = env_with_git();
    let (with, _) = export(&sender, "with.tar.zst", &["--raw"]);
    let (without, _) = export(&sender, "without.tar.zst", &[]);
    let records = |capsule: &Path| {
        let env = receiver();
        let told = import(&env, capsule, &[]);
        let text = fs_err::read_to_string(told["resume"]["files"][0].as_str().unwrap()).unwrap();
        let records: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        records.iter().filter_map(|record| record["message"]["id"].as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    let source = include_str!("../../demo/claude-code.jsonl");
    let is_original = |id: &String| source.contains(&format!("\"id\":\"{id}\""));
    let (own, told) = (records(&with), records(&without));
    assert!(!own.is_empty() && own.iter().all(is_original), "{own:?}");
    assert!(!told.iter().any(is_original), "{told:?}");
}

#[test]
fn session_goes_on_in_another_agent_as_it_would_have_at_home() {
    let sender = env_with_git();
    let (capsule, _) = export(&sender, "a.tar.zst", &["--raw"]);
    let there = sender.resume_json(&["resume", CLAUDE, "--target", "codex"]);
    let at_home = live_context(&sender, there["session_id"].as_str().unwrap(), &[&sender.project()]);
    let env = receiver();
    let told = import(&env, &capsule, &["--target", "codex"]);
    assert_eq!((&told["target_reason"], &told["own_records"]), (&"it was named".into(), &false.into()));
    let here = live_context(&env, told["resume"]["session_id"].as_str().unwrap(), &[&env.project(), &sender.project()]);
    assert_eq!(here, at_home);
}

#[test]
fn clean_checkout_gets_its_changes_and_what_was_staged() {
    let sender = env_with_git();
    make_repository(&sender);
    let state = |folder: &Path| git(folder, &["status", "--porcelain=v2", "--untracked-files=all"]);
    let staged = |folder: &Path| git(folder, &["diff", "--cached", "--no-color"]);
    for mode in ["changed", "full"] {
        let (capsule, _) = export(&sender, &format!("{mode}.tar.zst"), &["--files", mode]);
        let env = receiver();
        let folder = env.home().join("clone");
        git(&env.home(), &["clone", "-q", sender.project().to_str().unwrap(), folder.to_str().unwrap()]);
        let told = import(&env, &capsule, &["--project", folder.to_str().unwrap()]);
        assert_eq!((&told["workspace"]["staged"], &told["workspace"]["deleted"]), (&true.into(), &2.into()));
        assert_eq!(tree(&folder), tree(&sender.project()), "{mode}");
        assert_eq!(state(&folder), state(&sender.project()), "{mode}");
        assert_eq!(staged(&folder), staged(&sender.project()), "{mode}");
        // Once more, it is there already.
        let (_env, again) = import_again(env, &capsule, &["--project", folder.to_str().unwrap()]);
        assert_eq!(again["workspace"]["outcome"], "same");
    }
}

#[test]
fn zip_opens_as_the_other_forms_do() {
    let sender = env_with_git();
    make_repository(&sender);
    let (capsule, told) = export(&sender, "a.zip", &["--raw"]);
    assert!(fs_err::read(&capsule).unwrap().starts_with(b"PK"));
    let env = receiver();
    let folder = env.home().join("there");
    let opened = import(&env, &capsule, &["--project", folder.to_str().unwrap()]);
    assert_eq!(opened["workspace"]["files"], told["files"]);
    assert_eq!(tree(&folder), tree(&sender.project()));
}

#[test]
fn changes_alone_need_their_commit() {
    let sender = env_with_git();
    make_repository(&sender);
    let (capsule, _) = export(&sender, "changed.tar.zst", &["--files", "changed"]);
    let env = receiver();
    let said = env.run(&["import", capsule.to_str().unwrap(), "--project", "empty"]);
    assert!(said.code == Some(3) && said.stderr.contains("is not at it"), "{said}");
    assert!(!env.project().join("empty").exists() && !env.home().join(".claude").exists());
}

#[test]
fn folder_with_other_work_in_it_is_left_alone() {
    let sender = env_with_git();
    make_repository(&sender);
    let (capsule, _) = export(&sender, "a.tar.zst", &[]);
    let env = receiver();
    env.write("calc/kept.txt", "mine\n");
    let before = env.files();
    let said = env.run(&["import", capsule.to_str().unwrap()]);
    assert!(said.code == Some(3) && said.stderr.contains("is not empty"), "{said}");
    assert_eq!(env.files(), before);
    let left = import(&env, &capsule, &["--no-files"]);
    assert_eq!(left["workspace"]["outcome"], "left");
    assert!(left["resume"]["warnings"].to_string().contains("otherwise in this folder"), "{left:#}");
    assert_eq!(fs_err::read_to_string(env.project().join("kept.txt")).unwrap(), "mine\n");
    let (env, done) = import_again(env, &capsule, &["--force"]);
    assert!(done["resume"]["warnings"].to_string().contains("are not kept"), "{done}");
    assert_eq!(fs_err::read_to_string(env.project().join("kept.txt")).unwrap(), "kept.txt as it was\n");
}

#[test]
fn repository_without_a_commit_and_folder_without_one_come_along_whole() {
    for has_repository in [true, false] {
        let sender = env_with_git();
        sender.write("calc/a/b.txt", "b\n");
        sender.write("calc/c.txt", "c\n");
        fs_err::create_dir_all(sender.project().join("empty")).unwrap();
        if has_repository {
            git(&sender.project(), &["init", "-q"]);
            git(&sender.project(), &["add", "c.txt"]);
        }
        let (capsule, _) = export(&sender, "a.tar.zst", &["--files", "changed"]);
        let env = receiver();
        let told = import(&env, &capsule, &["--project", "new"]);
        assert_eq!(told["workspace"]["files"], 2, "{told:#}");
        assert_eq!(tree(&env.project().join("new")), tree(&sender.project()));
        assert_eq!(env.project().join("new/empty").is_dir(), !has_repository);
    }
}

#[test]
fn session_of_a_folder_in_a_repository_goes_on_in_the_same_folder() {
    let sender = env_with_git();
    git(&sender.home(), &["init", "-q", "."]);
    // The home is a repository, too; it is not taken along.
    let (capsule, told) = export(&sender, "home.tar.zst", &[]);
    assert_eq!(told["files"], 0, "{told:#}");
    drop(capsule);
    let sender = env_with_git();
    let above = sender.home().join("mono");
    fs_err::create_dir_all(&above).unwrap();
    fs_err::rename(sender.project(), above.join("calc")).unwrap();
    std::os::unix::fs::symlink(above.join("calc"), sender.project()).unwrap();
    let path = above.join("calc").display().to_string();
    let text = include_str!("../../demo/claude-code.jsonl").replace("/home/you/calc", &path);
    let slug: String = path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let text = text.replace("d3a03cdd-c689-41e6-9587-86a6223f5251", "e4b14dee-c689-41e6-9587-86a6223f5251");
    sender.write(&format!(".claude/projects/{slug}/e4b14dee-c689-41e6-9587-86a6223f5251.jsonl"), &text);
    sender.write("mono/README.md", "above\n");
    sender.write("mono/calc/calc.py", "below\n");
    git(&above, &["init", "-q"]);
    let out = sender.home().join("sub.tar.zst");
    sender.run_in(&above, &["capsule", "export", "e4b14dee", "-o", out.to_str().unwrap()]).success();
    let env = receiver();
    let told = import(&env, &out, &["--project", "new"]);
    assert_eq!(told["project"], env.project().join("new/calc").to_str().unwrap());
    assert_eq!(fs_err::read_to_string(env.project().join("new/README.md")).unwrap(), "above\n");
}

#[test]
fn import_alone_lists_capsules_and_sessions() {
    let env = env_with_git();
    env.run(&["capsule", "export", CLAUDE]).success();
    let listed = env.json("import-list", &["import"]);
    let items = listed["items"].as_array().unwrap();
    let kinds: Vec<&str> = items.iter().map(|item| item["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["best-effort capsule", "best-effort", "best-effort"]);
    assert_eq!(items[0]["client_version"], items[1]["client_version"]);
    assert!(items[1]["client_version"].is_string() && items[1]["model"].is_string());
    for item in items {
        for action in ["details", "export"] {
            let Some(words) = item["actions"][action].as_array() else { continue };
            env.run(&words.iter().map(|word| word.as_str().unwrap()).collect::<Vec<_>>()).success();
        }
    }
    let said = env.run(&["import"]).success();
    assert!(said.stdout.contains("best-effort capsule · claude-code 2."), "{said}");
    assert!(said.stdout.contains("best-effort · codex"), "{said}");
    assert!(
        said.stdout.contains("\n  not recorded: system prompt, tools with their schemas, sampling settings\n"),
        "{said}"
    );
    // A session that is here is not copied unasked, neither from its capsule nor by its name.
    for word in [items[0]["id"].as_str().unwrap(), "01a1dcb4"] {
        let said = env.run(&["import", word]).success();
        assert!(said.stderr.contains("nothing was written"), "{said}");
    }
    let id = items[0]["id"].as_str().unwrap();
    let forked = env.json("import", &["import", id, "--fork"]);
    assert_eq!(forked["workspace"]["outcome"], "same");
    assert_eq!(TestEnv::new().run(&["import"]).code, Some(1));
}

#[test]
fn target_is_the_agent_of_the_session_if_it_is_installed_else_one_that_is() {
    let sender = env_with_git();
    let (capsule, _) = export(&sender, "a.tar.zst", &["--files", "none"]);
    for (client, target, reason) in [
        ("claude", "claude-code", "the session comes from it, and it is installed"),
        ("codex", "codex", "Claude Code, which it comes from, is not installed; Codex CLI is"),
    ] {
        let env = TestEnv::new().with_client(client);
        let output = env.command(&["import", capsule.to_str().unwrap(), "--json"]).output().unwrap();
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&told["target"], &told["target_reason"]), (&target.into(), &reason.into()));
    }
}

/// Capsules of every version that was ever written are kept, and open.
#[test]
fn kept_capsules_of_every_version_open() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/capsules");
    let mut capsules: Vec<_> = fs_err::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    capsules.sort();
    let names: Vec<_> = capsules.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["version-1", "version-1.tar.zst", "version-1.zip"]);
    for capsule in capsules {
        let env = receiver();
        let path = capsule.to_str().unwrap();
        let inspected = env.json("capsule-inspect", &["capsule", "inspect", path]);
        check_schema("capsule", &inspected["manifest"]);
        assert_eq!(inspected["manifest"]["id"], "00643ab80e0d26a6");
        assert_eq!(inspected["boundary"]["instruction_files"]["value"][0]["path"], "CLAUDE.md");
        env.json("capsule-verify", &["capsule", "verify", path]);
        let told = import(&env, &capsule, &["--target", "claude-code"]);
        assert_eq!((&told["own_records"], &told["workspace"]["files"]), (&true.into(), &5.into()));
        let python = fs_err::read_to_string(env.project().join("calc.py")).unwrap();
        assert_eq!(python, "def add(a, b):\n    return a + b\n# fixed\n");
        assert_eq!(fs_err::read_link(env.project().join("link")).unwrap(), Path::new("calc.py"));
        let session = told["resume"]["session_id"].as_str().unwrap();
        assert_eq!(live_context(&env, session, &[]).len(), 23);
        env.run(&["undo", "--yes"]).success();
        let (env, told) = import_again(env, &capsule, &["--target", "codex"]);
        assert_eq!((&told["own_records"], &told["workspace"]["outcome"]), (&false.into(), &"same".into()));
        assert_eq!(live_context(&env, told["resume"]["session_id"].as_str().unwrap(), &[]).len(), 20);
    }
}

/// Whatever agent a session is of, what its capsule gives is what the session itself would.
#[test]
fn sessions_of_every_agent_come_through() {
    for (lab, loose) in LABS.iter().filter_map(|lab| Some((lab, lab.loose_files.first()?))) {
        let env = TestEnv::new();
        let project = env.project().display().to_string();
        let fixture = format!("{}/fixtures/{}", lab.id.replace('-', "_"), loose.fixture);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/src").join(&fixture);
        env.write(loose.name, &fs_err::read_to_string(path).unwrap());
        let session = env.home().join(loose.name).display().to_string();
        let capsule = env.home().join("a.tar.zst");
        let more = ["--raw", "--no-redact", "--files", "none", "-o", capsule.to_str().unwrap()];
        env.run(&[&["capsule", "export", session.as_str()], &more as &[&str]].concat()).success();
        let finish = |told: &Value| {
            let context = live_context(&env, told["session_id"].as_str().unwrap(), &[]);
            env.run(&["undo", told["undo_id"].as_str().unwrap()]).success();
            context
        };
        let own = file_targets().filter(|target| *target == lab.id);
        let other = if lab.id == "codex" { "claude-code" } else { "codex" };
        for target in own.chain([other]) {
            let output = env.command(&["resume", &session, "--target", target, "--project", &project, "--json"]);
            let direct = { output }.output().unwrap();
            let direct = finish(&serde_json::from_slice(&direct.stdout).unwrap());
            let output = env.command(&["import", capsule.to_str().unwrap(), "--target", target, "--project", &project]);
            let through = { output }.arg("--json").output().unwrap();
            let told: Value = serde_json::from_slice(&through.stdout).unwrap();
            assert_eq!(told["own_records"], (target == lab.id), "{fixture} to {target}");
            let through = finish(&told["resume"]);
            assert!(!direct.is_empty());
            assert_eq!(direct, through, "{fixture} to {target}");
        }
    }
}

#[test]
fn agent_that_takes_words_only_is_told_of_with_the_way_there() {
    let env = TestEnv::with_sessions();
    env.run(&["capsule", "export", CLAUDE, "--files", "none", "-o", "fix.tar.zst"]).success();
    let said = env.run(&["import", "fix.tar.zst", "--target", "windsurf"]);
    assert_eq!(said.code, Some(3));
    assert!(said.stderr.contains("no session can be written for Windsurf"), "{}", said.stderr);
    assert!(said.stderr.contains("carryover resume ID --target windsurf"), "{}", said.stderr);
    assert!(!env.home().join(".carryover/resumes").exists(), "nothing was written");
    // The way that it tells of.
    let brought = env.json("import", &["import", "fix.tar.zst", "--project", "elsewhere", "--target", "codex"]);
    let id = brought["resume"]["session_id"].as_str().unwrap();
    env.run(&["resume", id, "--target", "windsurf"]).success();
    assert!(env.project().join("elsewhere/.windsurf/rules/resumed-session.md").exists());
}

#[test]
fn session_of_this_machine_is_gone_on_with_as_resume_does() {
    let env = TestEnv::with_sessions();
    let said = env.run(&["import", CLAUDE, "--target", "codex", "--tokens", "500"]).success();
    assert!(said.stderr.contains("of 500"), "{}", said.stderr);
    let said = env.run(&["import", CLAUDE, "--force"]);
    assert!(said.code == Some(64) && said.stderr.contains("session of this machine"), "{}", said.stderr);
}

#[test]
fn session_that_is_here_is_taken_before_a_capsule_of_it() {
    let env = TestEnv::with_sessions();
    env.run(&["capsule", "export", CLAUDE, "--files", "none"]).success();
    let said = env.run(&["import", CLAUDE, "--target", "codex"]).success();
    assert!(said.stderr.contains("that is the session itself; `carryover import "), "{}", said.stderr);
    assert!(!said.stderr.contains("verified"), "{}", said.stderr);
    // By its own id, it is the capsule.
    let listed = env.json("import-list", &["import"]);
    let capsule = listed["items"].as_array().unwrap().iter().find(|item| item["path"].is_string()).unwrap();
    let said = env.run(&["import", capsule["id"].as_str().unwrap(), "--target", "pi"]).success();
    assert!(said.stderr.contains("verified"), "{}", said.stderr);
}
