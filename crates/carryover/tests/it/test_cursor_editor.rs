//! Sessions that go into Cursor's editor, which has a command line client beside it.

use std::path::PathBuf;

use carryover_testkit::agents::LABS;
use rusqlite::Connection;
use rusqlite::types::Value as Cell;
use serde_json::{Value, json};

use crate::support::{CLAUDE, TestEnv, write_loose_file};

const DATA: &str = if cfg!(target_os = "macos") { "Library/Application Support/Cursor" } else { ".config/Cursor" };
const RESUME: [&str; 5] = ["resume", CLAUDE, "--target", "cursor", "--into-editor"];

/// What the editor's shared database begins with since 3.12.
const NEWEST: &str = r#"
    CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
    CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
    CREATE TABLE composerHeaders (composerId TEXT PRIMARY KEY, workspaceId TEXT, createdAt INTEGER,
        lastUpdatedAt INTEGER, isArchived INTEGER, isSubagent INTEGER, recency INTEGER, checkpointAt INTEGER, value TEXT);
    INSERT INTO ItemTable VALUES ('theirs', x'00ff'), ('composer.composerHeaders', '{ "allComposers":[ {"composerId":"t","isDraft":true} ]}');
    INSERT INTO cursorDiskKV VALUES ('composerData:t', NULL), ('bubbleId:t:1', x'7b7d');
    INSERT INTO composerHeaders VALUES ('t', 'w', 1, 2, 0, 0, 2, NULL, '{"composerId":"t","isDraft":true}');"#;

fn env_with(env: TestEnv, sql: &str) -> TestEnv {
    let folder = format!("{DATA}/User/workspaceStorage/abc");
    let note = json!({ "folder": format!("file://{}", env.project().display()) });
    env.write(&format!("{folder}/workspace.json"), &note.to_string());
    let window = Connection::open(env.home().join(folder).join("state.vscdb")).unwrap();
    window.execute_batch("CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)").unwrap();
    fs_err::create_dir_all(database(&env).parent().unwrap()).unwrap();
    Connection::open(database(&env)).unwrap().execute_batch(sql).unwrap();
    env
}

fn env_with_editor() -> TestEnv {
    env_with(TestEnv::with_sessions(), NEWEST)
}

fn database(env: &TestEnv) -> PathBuf {
    env.home().join(format!("{DATA}/User/globalStorage/state.vscdb"))
}

/// A file and its bytes.
type FileBytes = (PathBuf, Vec<u8>);

/// The rows of all tables of the editor's database, and all files but that.
fn everything(env: &TestEnv) -> (Vec<Vec<Cell>>, Vec<FileBytes>) {
    let files = env.files().into_iter().filter(|(path, _)| *path != database(env)).collect();
    let connection = Connection::open(database(env)).unwrap();
    let mut query = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").unwrap();
    let tables: Vec<String> = query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let mut rows = Vec::new();
    for table in tables {
        let mut query = connection.prepare(&format!("SELECT '{table}', rowid, * FROM {table} ORDER BY 3")).unwrap();
        let columns = query.column_count();
        let found = query.query_map([], |row| (0..columns).map(|column| row.get(column)).collect()).unwrap();
        // Which row is numbered how is nobody's business.
        rows.extend(found.map(|row: rusqlite::Result<Vec<Cell>>| {
            let mut row = row.unwrap();
            row.remove(1);
            row
        }));
    }
    (rows, files)
}

/// Whether the editor runs, by the note of its process.
fn open_editor(env: &TestEnv) {
    env.write(&format!("{DATA}/code.lock"), &std::process::id().to_string());
}

fn close_editor(env: &TestEnv) {
    fs_err::remove_file(env.home().join(format!("{DATA}/code.lock"))).unwrap();
}

#[test]
fn a_session_goes_into_the_editor_on_request_and_out_again() {
    for journal_mode in ["DELETE", "WAL"] {
        let env = env_with_editor();
        let set = Connection::open(database(&env)).unwrap();
        set.execute_batch(&format!("PRAGMA journal_mode = {journal_mode}")).unwrap();
        drop(set);
        let before = everything(&env);
        let said = env.run(&RESUME);
        insta::allow_duplicates! {
            insta::assert_snapshot!(said, @"
            exit code 0
            --- stdout
            cursor .
            --- stderr
            carried over Claude Code → Cursor
              carried     6 messages, 7 tool calls
              translated  7 tool calls
              lost        3 pieces of thinking: shown; without its maker's seal, Cursor decides whether a model is sent it
                          1 image: what a tool gives back is text in the editor
              tokens      ▏░░░░░░░░░ about #.#k of ###k (1.6 %)
              added entries to ~/.config/Cursor/User/globalStorage/state.vscdb
            warning: Cursor is not installed: the session waits for it
            go on with
            hint: `carryover undo 00000000` takes it back
            hint: open the folder in the editor: the session is in the history of its agent, under its title
            ");
        }
        let beside: Vec<_> = env.files().into_iter().map(|(path, _)| path).collect();
        assert!(!beside.iter().any(|path| path.display().to_string().contains("vscdb-")), "{beside:?}");
        let listed = env.json("list", &["list", "--source", "cursor"]);
        let session = &listed["sessions"][0];
        assert!(session["title"].as_str().unwrap().starts_with("Please fix the bug in calc.py"), "{listed}");
        let shown = env.run(&["show", session["id"].as_str().unwrap()]);
        assert!(shown.code == Some(0), "{shown}");
        env.run(&["undo"]).success();
        assert_eq!(everything(&env), before);
    }
}

#[test]
fn a_database_of_3_0_has_a_list_and_no_table() {
    let sql = NEWEST
        .replace("CREATE TABLE composerHeaders", "CREATE TABLE other")
        .replace("INSERT INTO composerHeaders", "INSERT INTO other");
    let env = env_with(TestEnv::with_sessions(), &sql);
    let before = everything(&env);
    let id = env.resume_json(&RESUME)["session_id"].as_str().unwrap().to_owned();
    let query = "SELECT value FROM ItemTable WHERE key = 'composer.composerHeaders'";
    let list: String = Connection::open(database(&env)).unwrap().query_row(query, [], |row| row.get(0)).unwrap();
    assert!(
        list.starts_with(r#"{ "allComposers":[ {"composerId":"t","isDraft":true},{"#) && list.contains(&id),
        "{list}"
    );
    env.run(&["undo"]).success();
    assert_eq!(everything(&env), before);
}

#[test]
fn a_database_of_2_x_is_left_alone() {
    let sql = "CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
               CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);";
    let env = env_with(TestEnv::with_sessions(), sql);
    let before = everything(&env);
    insta::assert_snapshot!(env.run(&RESUME), @"
    exit code 3
    --- stderr
    error: Cursor cannot hold this session: it keeps no list of conversations as versions from 3.0 on do: update it, or begin a conversation there, and close it
    hint: hand it over in words: `carryover handoff d3a03cdd-c689-41e6-9587-86a6223f5251 --target cursor`
    ");
    assert_eq!(everything(&env), before);
}

#[test]
fn unasked_it_goes_to_the_command_line_client_as_before() {
    let env = env_with_editor();
    let rows = everything(&env).0;
    let said = env.run(&RESUME[..4]);
    assert!(said.code == Some(0) && said.stdout.starts_with("cursor-agent --resume="), "{said}");
    assert_eq!(everything(&env).0, rows);
}

#[test]
fn while_the_editor_is_open_only_the_command_line_clients_sessions_come_and_go() {
    let env = env_with_editor();
    env.run(&RESUME).success();
    open_editor(&env);
    let carried = everything(&env);
    let said = env.run(&RESUME);
    let told = said.to_string().replace(&std::process::id().to_string(), "[ID]");
    insta::assert_snapshot!(told, @"
    exit code 3
    --- stderr
    error: Cursor: the editor is running (process [ID]), and would write over what is added; nothing was added
    hint: close it and run this again in a terminal of its own, or leave a brief with `--context-only`
    ");
    let said = env.run(&["undo", "--force"]);
    assert!(said.code == Some(3) && said.stderr.contains("the editor is running"), "{said}");
    assert_eq!(everything(&env), carried);
    let report = env.resume_json(&RESUME[..4]);
    assert!(report["superseded"].is_null(), "one in the editor and one beside it are two: {report}");
    env.run(&["undo"]).success();
    assert_eq!(everything(&env).0, carried.0);
    close_editor(&env);
    env.run(&["undo"]).success();
}

#[test]
fn a_dry_run_tells_what_would_be_and_does_nothing() {
    let env = env_with_editor();
    let before = everything(&env);
    let report = env.resume_json(&[&RESUME[..], &["--dry-run"]].concat());
    let steps = report["steps"].to_string().replace(&env.home().display().to_string(), "[HOME]");
    assert!(steps.starts_with(r#"["add entries to [HOME]/"#) && steps.ends_with(r#"state.vscdb"]"#), "{steps}");
    assert_eq!(report["command"], json!(["cursor", "."]));
    assert_eq!(everything(&env), before);
}

#[test]
fn a_session_that_the_editor_went_on_with_stays_unless_it_is_to_go() {
    let env = env_with_editor();
    let before = everything(&env).0;
    let id = env.resume_json(&RESUME)["session_id"].as_str().unwrap().to_owned();
    let connection = Connection::open(database(&env)).unwrap();
    // What a look at it changes is no going on.
    connection.execute_batch(&format!("UPDATE composerHeaders SET recency = 9 WHERE composerId = '{id}'")).unwrap();
    let document = format!(
        "UPDATE cursorDiskKV SET value = replace(value, '\"_v\":17', '\"_v\":18') WHERE key = 'composerData:{id}'"
    );
    connection.execute_batch(&document).unwrap();
    connection.execute("INSERT INTO cursorDiskKV VALUES (?1, '{}')", [format!("bubbleId:{id}:new")]).unwrap();
    drop(connection);
    let said = env.run(&["undo"]);
    assert!(said.code != Some(0) && said.stderr.contains("has been changed since it was written"), "{said}");
    env.run(&["undo", "--force"]).success();
    assert_eq!(everything(&env).0, before);
}

#[test]
fn a_session_of_the_command_line_client_goes_into_the_editor_when_asked_for() {
    let env = env_with_editor();
    let beside = env.resume_json(&RESUME[..4])["session_id"].as_str().unwrap().to_owned();
    let said = env.run(&["resume", &beside, "--target", "cursor"]);
    assert!(said.stdout.contains(&beside), "its own client goes on with it: {said}");
    let report = env.resume_json(&["resume", &beside, "--target", "cursor", "--into-editor"]);
    assert_eq!(report["command"], json!(["cursor", "."]));
    let query = "SELECT count(*) FROM composerHeaders WHERE composerId = ?1";
    let id = report["session_id"].as_str().unwrap();
    let listed: i64 = Connection::open(database(&env)).unwrap().query_row(query, [id], |row| row.get(0)).unwrap();
    assert_eq!(listed, 1);
}

#[cfg(unix)]
#[test]
fn the_program_of_the_one_is_not_started_for_the_other() {
    let env = env_with(TestEnv::with_sessions().with_client("cursor").with_client("cursor-agent"), NEWEST);
    let said = env.run(&[&RESUME[..4], &["--launch"]].concat());
    assert!(said.stdout.contains("cursor-agent in [HOME]/calc: --resume="), "{said}");
    let said = env.run(&[&RESUME[..], &["--launch"]].concat());
    assert!(said.stdout.contains("cursor in [HOME]/calc: ."), "{said}");
}

#[test]
fn a_project_that_was_never_open_there_is_told() {
    let env = env_with_editor();
    fs_err::create_dir_all(env.home().join("new")).unwrap();
    let folder = env.home().join("new").display().to_string();
    let said = env.run(&[&RESUME[..], &["--project", &folder]].concat());
    assert!(said.code == Some(3) && said.stderr.contains("has not had [HOME]/new open yet"), "{said}");
}

#[test]
fn every_agents_sessions_go_there_and_undo_leaves_no_trace() {
    for (lab, loose) in LABS.iter().flat_map(|lab| lab.loose_files.iter().map(move |loose| (lab, loose))) {
        let env = env_with(TestEnv::new(), NEWEST);
        let file = write_loose_file(&env, lab, loose);
        let (before, project) = (everything(&env), env.project().display().to_string());
        let resume = ["resume", &file, "--target", "cursor", "--into-editor", "--project", &project, "--fork"];
        let report = env.resume_json(&resume);
        let told = |session: &str| -> Vec<String> {
            let output = env.command(&["show", session, "--json", "--no-redact"]).output().unwrap();
            let told: Value = serde_json::from_slice(&output.stdout).unwrap();
            let entries = told["entries"].as_array().unwrap().iter();
            let live = entries.filter(|entry| entry["live"] == true && entry["origin"] != "harness");
            let said = live.filter(|entry| ["prompt", "reply"].contains(&entry["kind"].as_str().unwrap_or_default()));
            let texts = said.flat_map(|entry| entry["parts"].as_array().unwrap().iter());
            texts.filter_map(|part| part["text"].as_str().map(|text| text.trim().to_owned())).collect()
        };
        let (meant, found) = (told(&file), told(report["session_id"].as_str().unwrap()));
        let missing: Vec<&String> =
            meant.iter().filter(|text| !found.iter().any(|found| found.contains(text.as_str()))).collect();
        assert!(missing.is_empty(), "{} {}: {missing:#?}", lab.id, loose.fixture);
        env.run(&["undo"]).success();
        assert_eq!(everything(&env), before, "{} {}", lab.id, loose.fixture);
    }
}
