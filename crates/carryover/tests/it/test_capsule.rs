//! Sessions that are packed, looked into and verified.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::{CLAUDE, CODEX, TestEnv, append_record, check_schema};

pub(crate) const SECRET: &str = concat!("ghp_", "x8Kq2Vn5Rt7Lw3Zp9Hs4Jd6Fb1Gc0MyTeUaB");

/// A home with sessions, in which git is found.
pub(crate) fn env_with_git() -> TestEnv {
    TestEnv::with_sessions().var("PATH", "/usr/bin:/bin")
}

pub(crate) fn git(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "init.defaultBranch=main"]);
    command.args(["-c", "commit.gpgsign=false", "-c", "core.quotePath=false"]).args(args).current_dir(folder);
    command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", folder);
    command.env("GIT_AUTHOR_DATE", "2026-11-14T00:00:00Z").env("GIT_COMMITTER_DATE", "2026-11-14T00:00:00Z");
    let output = command.output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A repository in every state that it can be in at once.
pub(crate) fn make_repository(env: &TestEnv) {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{PermissionsExt, symlink};
    let project = env.project();
    let write = |name: &str, text: &str| env.write(&format!("calc/{name}"), text);
    for name in
        ["kept.txt", "edited.txt", "staged.txt", "both.txt", "gone.txt", "deep/unstaged-gone.txt", "untracked-now"]
    {
        write(name, &format!("{name} as it was\n"));
    }
    write(".gitignore", "*.log\n");
    write("run.sh", "#!/bin/sh\n");
    symlink("kept.txt", project.join("link")).unwrap();
    fs_err::write(project.join("picture.bin"), [0, 159, 146, 150, 0, 255]).unwrap();
    git(&project, &["init", "-q"]);
    git(&project, &["add", "-A"]);
    git(&project, &["commit", "-q", "-m", "begin"]);
    write("edited.txt", "edited\n");
    write("staged.txt", "staged\n");
    write("both.txt", "staged first\n");
    write("added.txt", "new and staged\n");
    git(&project, &["add", "staged.txt", "both.txt", "added.txt"]);
    write("both.txt", "and edited after\n");
    git(&project, &["rm", "-q", "gone.txt"]);
    git(&project, &["rm", "-q", "--cached", "untracked-now"]);
    fs_err::remove_file(project.join("deep/unstaged-gone.txt")).unwrap();
    let executable = std::fs::Permissions::from_mode(0o755);
    fs_err::set_permissions(project.join("run.sh"), executable).unwrap();
    fs_err::write(project.join(std::ffi::OsStr::from_bytes(b"odd\xff name %41")), b"odd").unwrap();
    write("new/deep/file.txt", "untracked\n");
    write("noise.log", "ignored\n");
}

/// Every path of a folder but git's own, with mode, kind and content.
pub(crate) fn tree(folder: &Path) -> Vec<(PathBuf, u32, Vec<u8>)> {
    use std::os::unix::fs::PermissionsExt;
    fn walk(root: &Path, folder: &Path, found: &mut Vec<(PathBuf, u32, Vec<u8>)>) {
        for entry in fs_err::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = path.symlink_metadata().unwrap();
            let name = path.strip_prefix(root).unwrap().to_owned();
            if metadata.is_symlink() {
                let target = fs_err::read_link(&path).unwrap();
                found.push((name, 0, target.as_os_str().as_encoded_bytes().to_vec()));
            } else if !metadata.is_dir() {
                found.push((name, metadata.permissions().mode() & 0o777, fs_err::read(&path).unwrap()));
            } else if ![".git", ".carryover"].iter().any(|own| path.ends_with(own)) {
                walk(root, &path, found);
            }
        }
    }
    let mut found = Vec::new();
    walk(folder, folder, &mut found);
    found.retain(|(path, ..)| !path.to_string_lossy().ends_with(".log"));
    found.sort();
    found
}

/// Exports into a file of the home, outside of the project.
pub(crate) fn export(env: &TestEnv, name: &str, more: &[&str]) -> (PathBuf, Value) {
    let path = env.home().join(name);
    let told =
        env.json("capsule-export", &[&["capsule", "export", CLAUDE, "-o", path.to_str().unwrap()], more].concat());
    (path, told)
}

fn documents(folder: &Path) -> [Value; 3] {
    let read = |name: &str| serde_json::from_slice(&fs_err::read(folder.join(name)).unwrap()).unwrap();
    [read("manifest.json"), read("boundary.json"), read("workspace/metadata.json")]
}

#[test]
fn capsules_have_the_layout_and_the_schemas_that_they_should() {
    let env = env_with_git();
    make_repository(&env);
    env.write("calc/CLAUDE.md", "be brief\n");
    let (folder, told) = export(&env, "capsule", &["--raw"]);
    let [manifest, boundary, workspace] = documents(&folder);
    check_schema("capsule", &manifest);
    check_schema("capsule-boundary", &boundary);
    check_schema("capsule-workspace", &workspace);
    let names: Vec<&str> =
        manifest["members"].as_array().unwrap().iter().map(|m| m["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"workspace/snapshot.tar.zst") && names.iter().any(|name| name.starts_with("source/raw/")));
    assert_eq!(boundary["model"]["known"], "recorded");
    assert_eq!(boundary["instruction_files"]["known"], "read");
    assert_eq!(boundary["instruction_files"]["value"][0]["path"], "CLAUDE.md");
    assert_eq!(boundary["system_prompt"], serde_json::json!({ "known": "unknown" }));
    assert_eq!(boundary["git"]["value"]["branch"], "main");
    let inspected = env.json("capsule-inspect", &["capsule", "inspect", folder.to_str().unwrap()]);
    assert_eq!(inspected["manifest"]["id"], told["id"]);
    let verified = env.json("capsule-verify", &["capsule", "verify", folder.to_str().unwrap()]);
    assert_eq!(verified["files"], told["files"]);
    let shown = env.run(&["capsule", "inspect", folder.to_str().unwrap()]).success();
    assert!(shown.stdout.contains("system prompt unknown") && shown.stdout.contains("claude-opus"), "{shown}");
}

fn append_lines(env: &TestEnv, records: &[Value]) {
    for record in records {
        append_record(env, record);
    }
}

#[test]
fn conditions_are_those_at_the_sessions_end() {
    let env = env_with_git();
    let mode = |mode: &str| serde_json::json!({"type": "permission-mode", "permissionMode": mode});
    append_lines(&env, &[mode("plan"), mode("default"), mode("acceptEdits")]);
    let (folder, _) = export(&env, "capsule", &[]);
    let [_, boundary, _] = documents(&folder);
    assert_eq!(boundary["permission_mode"], serde_json::json!({"known": "recorded", "value": "acceptEdits"}));
    assert_eq!(boundary["permission_rules"], serde_json::json!({"known": "unknown"}));
    // None is told in this log, and none is told to have been told.
    assert_eq!(boundary["reminders"], serde_json::json!({"known": "unknown"}));
}

#[test]
fn what_the_client_logs_of_its_requests_is_told_by_digests() {
    let env = env_with_git();
    let shape = serde_json::json!({"system": [{"type": "text", "text": "vendors words"}],
        "tools": [{"name": "Read", "description": "reads", "input_schema": {"type": "object"}}]});
    append_lines(
        &env,
        &[
            serde_json::json!({"type": "api-request-shape", "shapeHash": "s1", "shape": shape}),
            serde_json::json!({"type": "api-request", "querySource": "repl_main_thread:outputStyle:Learning",
                "shapeHash": "s1", "params": {"model": "m", "max_tokens": 7}}),
            serde_json::json!({"type": "attachment", "uuid": "a1", "parentUuid": null, "isSidechain": false,
                "attachment": {"type": "date", "date": "2026-11-15"}, "rendered": [{"content": "Today is a day."}]}),
        ],
    );
    let (folder, _) = export(&env, "capsule", &[]);
    let [_, boundary, _] = documents(&folder);
    check_schema("capsule-boundary", &boundary);
    assert_eq!(boundary["system_prompt"]["value"]["bytes"], 13);
    assert_eq!(boundary["tools"]["value"][0]["name"], "Read");
    assert!(boundary["tools"]["value"][0]["schema_sha256"].is_string());
    assert_eq!(boundary["sampling"]["value"], serde_json::json!({"max_tokens": 7}));
    assert_eq!(boundary["output_style"], serde_json::json!({"known": "recorded", "value": "Learning"}));
    assert_eq!(boundary["reminders"]["value"][0]["bytes"], 15);
    let text = fs_err::read_to_string(folder.join("boundary.json")).unwrap();
    assert!(!text.contains("vendors words") && !text.contains("Today"), "{text}");
}

#[test]
fn rules_of_permission_are_read_from_the_settings_and_masked() {
    let env = env_with_git();
    let rules = |rules: &[&str]| serde_json::json!({"permissions": {"allow": rules}}).to_string();
    env.write("calc/.claude/settings.local.json", &rules(&["Bash(ls:*)", &format!("Bash(curl -H {SECRET}:*)")]));
    env.write(".claude/settings.json", r#"{"permissions":{"deny":["Read(.env)"]}}"#);
    let (folder, _) = export(&env, "capsule", &[]);
    let [_, boundary, _] = documents(&folder);
    let told = &boundary["permission_rules"];
    assert_eq!(told["known"], "read");
    assert_eq!(told["value"][0], "allow Bash(ls:*)");
    assert_eq!(told["value"][2], "deny Read(.env)");
    assert!(told["value"][1].as_str().unwrap().starts_with("allow Bash(curl") && !told.to_string().contains(SECRET));
}

#[test]
fn a_folder_that_is_gone_is_named_all_the_same() {
    let env = env_with_git();
    let project = env.project();
    fs_err::remove_dir_all(&project).unwrap();
    fs_err::create_dir_all(env.home().join("elsewhere")).unwrap();
    let path = env.home().join("capsule");
    env.run_in(&env.home().join("elsewhere"), &["capsule", "export", CLAUDE, "-o", path.to_str().unwrap()]).success();
    let [manifest, boundary, _] = documents(&path);
    assert_eq!(manifest["project"], project.display().to_string());
    assert_eq!(boundary["git"], serde_json::json!({"known": "unknown"}));
}

#[test]
fn the_commit_that_a_client_wrote_down_is_told_as_recorded() {
    let env = env_with_git();
    make_repository(&env);
    let path = env.home().join("capsule");
    env.run(&["capsule", "export", CODEX, "-o", path.to_str().unwrap()]).success();
    let [_, boundary, workspace] = documents(&path);
    assert_eq!(boundary["git"]["known"], "recorded");
    assert_eq!(boundary["git"]["value"]["commit"], "713d6406e33da86822018254bc23f511f543c7c8");
    assert_ne!(workspace["commit"], boundary["git"]["value"]["commit"]);
    assert_eq!(boundary["routing"], serde_json::json!({"known": "recorded", "value": "openai"}));
    assert_eq!(boundary["system_prompt"]["known"], "recorded");
}

#[test]
fn same_session_gives_the_same_bytes() {
    let env = env_with_git();
    make_repository(&env);
    let (first, _) = export(&env, "a.tar.zst", &["--raw"]);
    let (second, _) = export(&env, "b.tar.zst", &["--raw"]);
    assert_eq!(fs_err::read(first).unwrap(), fs_err::read(second).unwrap());
    let (first, _) = export(&env, "a.zip", &["--raw"]);
    let (second, _) = export(&env, "b.ZIP", &["--raw"]);
    assert_eq!(fs_err::read(first).unwrap(), fs_err::read(second).unwrap());
}

#[test]
fn capsule_without_a_name_goes_where_it_is_found_again() {
    let env = env_with_git();
    let said = env.run(&["capsule", "export", CODEX]).success();
    assert!(said.stdout.starts_with("[HOME]/.carryover/capsules/codex-"), "{said}");
    let id = said.stdout.trim().rsplit('-').next().unwrap().trim_end_matches(".tar.zst").to_owned();
    env.run(&["capsule", "verify", &id]).success();
    env.run(&["capsule", "inspect", &id[..6]]).success();
    assert_eq!(env.run(&["capsule", "inspect", "nothing-there"]).code, Some(2));
    // Nothing of the making is left behind.
    assert_eq!(fs_err::read_dir(env.home().join(".carryover/sealing")).unwrap().count(), 0);
}

#[test]
fn wrong_names_are_told_before_anything_is_read() {
    let env = env_with_git();
    env.write("there.tar.zst", "mine");
    let run = |output: &str| env.run(&["capsule", "export", CLAUDE, "-o", output]);
    assert_eq!(run("capsule.tar.gz").code, Some(64));
    assert_eq!(run("../missing/capsule").code, Some(64));
    let taken = run("../there.tar.zst");
    assert_eq!(taken.code, Some(3), "{taken}");
    assert_eq!(fs_err::read(env.home().join("there.tar.zst")).unwrap(), b"mine");
    let filled = run("..");
    assert_eq!(filled.code, Some(3), "{filled}");
}

#[test]
fn secrets_stay_at_home_unless_they_are_wanted() {
    let env = env_with_git();
    make_repository(&env);
    env.write("calc/.env", &format!("TOKEN={SECRET}\n"));
    env.write("calc/keys.txt", &format!("{SECRET}\n"));
    git(&env.project(), &["add", "keys.txt"]);
    let prompt = serde_json::json!({ "role": "user", "content": format!("log in with {SECRET}") });
    append_record(
        &env,
        &serde_json::json!({ "type": "user", "parentUuid": "b7144843-8586-4407-a37b-b369bf0d8e95", "isSidechain": false,
        "sessionId": "d3a03cdd-c689-41e6-9587-86a6223f5251", "uuid": "00000000-0000-4000-8000-000000000002",
        "timestamp": "2026-11-15T09:30:00.000Z", "cwd": env.project(), "message": prompt }),
    );
    let (masked, told) = export(&env, "masked", &["--raw"]);
    let left_out = told["left_out"].to_string();
    assert!(left_out.contains(r#"{"path":".env","reason":"holds secrets"}"#), "{left_out}");
    assert!(left_out.contains(r#"{"path":"keys.txt","reason":"what is staged holds secrets"}"#), "{left_out}");
    let holds = |folder: &Path| {
        let mut found = tree(folder);
        found.retain(|(path, ..)| path.extension().is_some_and(|end| end != "zst"));
        found.iter().filter(|(.., bytes)| String::from_utf8_lossy(bytes).contains(SECRET)).count()
    };
    assert_eq!(holds(&masked), 0);
    let transcript = fs_err::read_to_string(masked.join("transcript.jsonl")).unwrap();
    assert!(transcript.contains("log in with [redacted: "), "{transcript}");
    let snapshot = zstd::decode_all(&fs_err::read(masked.join("workspace/snapshot.tar.zst")).unwrap()[..]).unwrap();
    assert!(!String::from_utf8_lossy(&snapshot).contains(SECRET));
    let (whole, told) = export(&env, "whole", &["--raw", "--no-redact"]);
    assert_eq!((told["left_out"].as_array().unwrap().len(), told["redacted"].as_bool()), (0, Some(false)));
    assert_eq!(holds(&whole), 2, "transcript and record");
    let snapshot = zstd::decode_all(&fs_err::read(whole.join("workspace/snapshot.tar.zst")).unwrap()[..]).unwrap();
    assert!(String::from_utf8_lossy(&snapshot).contains(SECRET));
    let said = env.run(&["capsule", "export", CLAUDE, "-o", "../again"]).success();
    assert!(said.stderr.contains("left out: .env holds secrets"), "{said}");
}

#[test]
fn damaged_capsules_are_told_from_whole_ones() {
    let env = env_with_git();
    make_repository(&env);
    let (packed, _) = export(&env, "a.tar.zst", &[]);
    let bytes = fs_err::read(&packed).unwrap();
    let verify = |path: &Path| env.run(&["capsule", "verify", path.to_str().unwrap()]);
    verify(&packed).success();
    fs_err::write(&packed, &bytes[..bytes.len() - 40]).unwrap();
    let cut = verify(&packed);
    assert!(cut.code == Some(3) && cut.stderr.contains("damaged"), "{cut}");
    let (folder, _) = export(&env, "b", &[]);
    let transcript = folder.join("transcript.jsonl");
    let text = fs_err::read_to_string(&transcript).unwrap();
    fs_err::write(&transcript, text.replacen("calc", "calk", 1)).unwrap();
    let changed = verify(&folder);
    assert!(changed.stderr.contains("transcript.jsonl has another digest"), "{changed}");
    fs_err::write(&transcript, text).unwrap();
    fs_err::write(folder.join("extra.txt"), "x").unwrap();
    let extra = verify(&folder);
    assert!(extra.stderr.contains("extra.txt is not in the manifest"), "{extra}");
    fs_err::remove_file(folder.join("extra.txt")).unwrap();
    fs_err::remove_file(folder.join("boundary.json")).unwrap();
    let missing = verify(&folder);
    assert!(missing.stderr.contains("boundary.json is missing"), "{missing}");
    env.write("text.tar.zst", "this is no archive");
    let none = verify(&env.home().join("text.tar.zst"));
    assert!(none.code == Some(3) && none.stderr.contains("text.tar.zst is no capsule: "), "{none}");
}

#[test]
fn session_of_the_home_folder_takes_no_files() {
    let env = env_with_git();
    env.write("private.txt", "mine");
    let slug: String =
        env.home().display().to_string().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let text =
        include_str!("../../demo/claude-code.jsonl").replace("/home/you/calc", &env.home().display().to_string());
    let text = text.replace("d3a03cdd-c689-41e6-9587-86a6223f5251", "e4b14dee-c689-41e6-9587-86a6223f5251");
    env.write(&format!(".claude/projects/{slug}/e4b14dee-c689-41e6-9587-86a6223f5251.jsonl"), &text);
    let out = env.home().join("home.tar.zst");
    let told = env.json("capsule-export", &["capsule", "export", "e4b14dee", "-o", out.to_str().unwrap()]);
    assert_eq!((&told["files"], &told["files_mode"]), (&0.into(), &"none".into()));
    assert!(told["left_out"][0]["reason"].as_str().unwrap().contains("home folder"));
}
