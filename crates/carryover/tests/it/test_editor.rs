//! Sessions that go into an editor's own history, for who asks for it.

use std::path::PathBuf;

use carryover_testkit::agents::LABS;
use rusqlite::Connection;
use serde_json::Value;

use crate::support::{CLAUDE, TestEnv, write_loose_file};

const TARGET: &str = "copilot-vscode";
const DATA: &str = if cfg!(target_os = "macos") { "Library/Application Support/Code" } else { ".config/Code" };

/// A home in which the editor has had the project open.
fn env_with_editor() -> TestEnv {
    let env = TestEnv::with_sessions();
    open_project(&env);
    env
}

fn open_project(env: &TestEnv) {
    let folder = format!("{DATA}/User/workspaceStorage/abc");
    let note = serde_json::json!({ "folder": format!("file://{}", env.project().display()) });
    env.write(&format!("{folder}/workspace.json"), &note.to_string());
    fs_err::create_dir_all(env.home().join(format!("{DATA}/User/globalStorage/github.copilot-chat"))).unwrap();
    let table = "CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
                 INSERT INTO ItemTable VALUES ('theirs', 'x')";
    Connection::open(database(env)).unwrap().execute_batch(table).unwrap();
}

fn database(env: &TestEnv) -> PathBuf {
    env.home().join(format!("{DATA}/User/workspaceStorage/abc/state.vscdb"))
}

/// A key and its value.
type Row = (String, String);

/// A file and its bytes.
type FileBytes = (PathBuf, Vec<u8>);

/// The rows of the editor's database, and all files but that.
fn everything(env: &TestEnv) -> (Vec<Row>, Vec<FileBytes>) {
    let connection = Connection::open(database(env)).unwrap();
    let mut query = connection.prepare("SELECT key, value FROM ItemTable").unwrap();
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect();
    let files = env.files().into_iter().filter(|(path, _)| *path != database(env)).collect();
    (rows, files)
}

#[test]
fn a_session_goes_into_the_editor_on_request_and_out_again() {
    let env = env_with_editor();
    let before = everything(&env);
    insta::assert_snapshot!(env.run(&["resume", CLAUDE, "--target", TARGET, "--into-editor"]), @"
    exit code 0
    --- stdout
    code .
    --- stderr
    carried over Claude Code → Copilot in VS Code
      carried     6 messages, 7 tool calls
      translated  7 tool calls
      lost        3 pieces of thinking: shown, but not sent to the model: the editor sends no reasoning of another client
                  1 image: kept, but the extension shows its model what a tool gave back in that turn only
      tokens      ▏░░░░░░░░░ about #.#k of ###k (1.6 %)
      created ~/.config/Code/User/workspaceStorage/abc/chatSessions/00000000-0000-4000-8000-0000000f4241.jsonl (## KB)
      added an entry to ~/.config/Code/User/workspaceStorage/abc/state.vscdb
    warning: Copilot in VS Code is not installed: the session waits for it
    go on with
    hint: `carryover undo 00000000` takes it back
    hint: open the folder in the editor: the session is in the history of its chat, under its title
    ");
    let listed = env.json("list", &["list", "--source", TARGET]);
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 1, "{listed}");
    env.run(&["undo"]).success();
    assert_eq!(everything(&env), before);
}

#[test]
fn unasked_it_gets_a_brief_as_before() {
    let env = env_with_editor();
    let rows = everything(&env).0;
    let said = env.run(&["resume", CLAUDE, "--target", TARGET]);
    assert!(said.code == Some(0) && said.stderr.contains("takes no sessions"), "{said}");
    assert_eq!(everything(&env).0, rows);
}

#[test]
fn a_setting_asks_once_for_all_and_a_project_cannot() {
    let env = env_with_editor();
    env.write("calc/.carryover.toml", "into_editor = true\n");
    let said = env.run(&["resume", CLAUDE, "--target", TARGET, "--dry-run"]);
    assert!(!said.stderr.contains("would carry over"), "{said}");
    fs_err::remove_file(env.project().join(".carryover.toml")).unwrap();
    env.run(&["config", "set", "resume.into_editor", "true"]).success();
    let said = env.run(&[TARGET, "--dry-run"]);
    assert!(said.code == Some(0) && said.stderr.contains("would carry over"), "the short road, too: {said}");
    let report = env.resume_json(&["resume", CLAUDE, "--target", TARGET]);
    assert_eq!(report["files"].as_array().unwrap().len(), 1);
    let said = env.run(&["resume", CLAUDE, "--target", TARGET, "--context-only"]);
    assert!(said.code == Some(0) && !said.stderr.contains("carried over"), "{said}");
}

#[test]
fn while_the_editor_is_open_nothing_is_written() {
    let env = env_with_editor();
    env.write(&format!("{DATA}/code.lock"), &std::process::id().to_string());
    let before = everything(&env);
    let said = env.run(&["resume", CLAUDE, "--target", TARGET, "--into-editor"]);
    let told = said.to_string().replace(&std::process::id().to_string(), "[ID]");
    insta::assert_snapshot!(told, @"
    exit code 3
    --- stderr
    error: Copilot in VS Code: the editor is running (process [ID]), and would write over what is added; nothing was added
    hint: close it and run this again in a terminal of its own, or leave a brief with `--context-only`
    ");
    assert_eq!(everything(&env), before);
}

#[test]
fn a_project_that_was_never_open_there_is_told() {
    let env = env_with_editor();
    fs_err::create_dir_all(env.home().join("new")).unwrap();
    let folder = env.home().join("new").display().to_string();
    let resume = ["resume", CLAUDE, "--target", TARGET, "--project", &folder];
    insta::assert_snapshot!(env.run(&[&resume[..], &["--into-editor"]].concat()), @"
    exit code 3
    --- stderr
    error: Copilot in VS Code cannot hold this session: the editor has not had [HOME]/new open yet: open it there once, and close it
    hint: hand it over in words: `carryover handoff d3a03cdd-c689-41e6-9587-86a6223f5251 --target copilot-vscode`
    ");
    env.run(&["config", "set", "resume.into_editor", "true"]).success();
    let said = env.run(&resume);
    assert!(said.code == Some(0) && said.stderr.contains("it gets a brief instead"), "{said}");
}

#[test]
fn an_agent_without_an_editor_is_told() {
    let env = env_with_editor();
    insta::assert_snapshot!(env.run(&["resume", CLAUDE, "--target", "codex", "--into-editor"]), @"
    exit code 64
    --- stderr
    error: Codex CLI has no editor that sessions are written into
    hint: `carryover info` tells which agents have one
    ");
}

#[test]
fn every_agents_sessions_go_there_and_undo_leaves_no_trace() {
    for (lab, loose) in LABS.iter().flat_map(|lab| lab.loose_files.iter().map(move |loose| (lab, loose))) {
        let env = TestEnv::new();
        open_project(&env);
        let file = write_loose_file(&env, lab, loose);
        let (before, project) = (everything(&env), env.project().display().to_string());
        let resume = ["resume", &file, "--target", TARGET, "--into-editor", "--project", &project, "--fork"];
        let report = env.resume_json(&resume);
        let written = report["files"][0].as_str().unwrap().to_owned();
        let told = |file: &str| -> Vec<String> {
            let output = env.command(&["show", file, "--json", "--no-redact"]).output().unwrap();
            let told: Value = serde_json::from_slice(&output.stdout).unwrap();
            let entries = told["entries"].as_array().unwrap().iter();
            let live = entries.filter(|entry| entry["live"] == true && entry["origin"] != "harness");
            let said = live.filter(|entry| ["prompt", "reply"].contains(&entry["kind"].as_str().unwrap_or_default()));
            let texts = said.flat_map(|entry| entry["parts"].as_array().unwrap().iter());
            texts.filter_map(|part| part["text"].as_str().map(|text| text.trim().to_owned())).collect()
        };
        let (meant, found) = (told(&file), told(&written));
        let missing: Vec<&String> =
            meant.iter().filter(|text| !found.iter().any(|found| found.contains(text.as_str()))).collect();
        assert!(missing.is_empty(), "{} {}: {missing:#?}", lab.id, loose.fixture);
        env.run(&["undo"]).success();
        assert_eq!(everything(&env), before, "{} {}", lab.id, loose.fixture);
    }
}
