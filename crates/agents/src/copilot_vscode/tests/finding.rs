//! Finding sessions in stores.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::{Value, json};

use super::super::CopilotVscode;
use super::{AGENT_ID, AGENT_LOG};
use crate::copilot_cli::CopilotCli;
use crate::fixtures::{list_sessions, read_session};
use crate::formats::sqlite::DatabaseTrouble;
use crate::{Agent, AgentError, Discovery, Env, FoundSession, Os, Store};

const DOCUMENT: &str = include_str!("../fixtures/v2.json");
const DOCUMENT_ID: &str = "2e1f6a52-0a3f-4a4e-9b53-6a8a7f0d2222";
const TRANSCRIPT: &str = include_str!("../fixtures/hook-transcript.jsonl");
const TRANSCRIPT_ID: &str = "ce29fe96-112a-5f82-92c5-43c492a47e43";

/// A folder of the editor's.
struct Editor(tempfile::TempDir);

impl Editor {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn root(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// A workspace with a session.
    fn with_workspace(folder: &str) -> Self {
        let editor = Self::new();
        editor.write("workspaceStorage/w/workspace.json", &json!({ "folder": folder }).to_string());
        editor.write(&session_path(AGENT_ID, "jsonl"), AGENT_LOG);
        editor
    }

    /// Writes the editor's list of sessions.
    fn write_index(&self, folder: &str, entries: &Value) -> Connection {
        std::fs::create_dir_all(self.root().join(folder)).unwrap();
        let connection = Connection::open(self.root().join(folder).join("state.vscdb")).unwrap();
        connection.execute_batch("CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)").unwrap();
        let index = json!({ "version": 1, "entries": entries }).to_string();
        let row = ("chat.ChatSessionStore.index", index.into_bytes());
        connection.execute("INSERT INTO ItemTable VALUES (?1, ?2)", row).unwrap();
        connection
    }

    fn list(&self) -> Vec<FoundSession> {
        list_sessions(&CopilotVscode, self.root())
    }

    /// The sessions that are told although something could not be looked at, and what that was.
    fn list_with_error(&self) -> (Vec<FoundSession>, AgentError) {
        let mut all = Vec::new();
        let told = CopilotVscode.list_sessions(&Store { root: self.root().to_owned() }, &mut |session| {
            all.push(session);
            ControlFlow::Continue(())
        });
        (all, told.unwrap_err())
    }

    fn sessions_in(&self, path: &Path) -> Vec<FoundSession> {
        CopilotVscode.sessions_in(&Store { root: self.root().to_owned() }, path).unwrap()
    }
}

fn session_path(id: &str, end: &str) -> String {
    format!("workspaceStorage/w/chatSessions/{id}.{end}")
}

fn titles(found: &[FoundSession]) -> Vec<(&str, Option<&str>)> {
    found.iter().map(|session| (session.id.0.as_str(), session.title.as_deref())).collect()
}

fn listed(title: &str) -> Value {
    let timing = json!({ "created": 1_794_700_000_000_u64, "lastRequestEnded": 1_794_700_099_000_u64 });
    json!({ "title": title, "lastMessageDate": 1_794_700_090_000_u64, "timing": timing, "isEmpty": false, "isExternal": false })
}

#[test]
fn a_session_is_listed_as_the_editor_lists_it() {
    let editor = Editor::with_workspace("file:///home/dev/work/demo-app");
    let external = json!({ "title": "Somebody else's", "isExternal": true });
    editor.write("workspaceStorage/w/chatSessions/other.json", DOCUMENT);
    editor.write_index("workspaceStorage/w", &json!({ AGENT_ID: listed("By the list"), "other": external }));
    let found = editor.list();
    assert_eq!(titles(&found), [(AGENT_ID, Some("By the list"))]);
    assert_eq!(found[0].project.as_deref(), Some(Path::new("/home/dev/work/demo-app")));
    let times = [found[0].started_at, found[0].updated_at].map(|at| at.unwrap().millis());
    assert_eq!(times, [1_794_700_000_000, 1_794_700_099_000]);
}

#[test]
fn a_session_that_is_on_no_list_is_listed_from_its_file() {
    let editor = Editor::with_workspace("file:///home/dev/work/demo-app");
    editor.write(&session_path(DOCUMENT_ID, "json"), DOCUMENT);
    editor.write(&session_path("empty", "jsonl"), "{\"kind\":0,\"v\":{\"requests\":[]}}\n");
    editor.write_index("workspaceStorage/w", &json!({ "empty": { "isEmpty": true } }));
    let found = editor.list();
    assert_eq!(titles(&found), [(DOCUMENT_ID, Some("What app.py does")), (AGENT_ID, Some("Greeting with a test"))]);
    assert_eq!(found[1].model.as_deref(), Some("gpt-5-mini"));
}

#[test]
fn of_a_document_and_a_log_the_log_counts() {
    let editor = Editor::with_workspace("file:///home/dev/work/demo-app");
    let document = editor.write(&session_path(AGENT_ID, "json"), DOCUMENT);
    assert_eq!(titles(&editor.list()), [(AGENT_ID, Some("Greeting with a test"))]);
    assert_eq!(editor.sessions_in(&document), []);
}

#[test]
fn windows_without_a_folder_have_their_own_places() {
    let editor = Editor::new();
    editor.write(&format!("globalStorage/emptyWindowChatSessions/{AGENT_ID}.jsonl"), AGENT_LOG);
    // An older editor's, which was taken over.
    let old = AGENT_LOG.replace("Greeting with a test", "NEVER").replace("17947000", "17940000");
    editor.write(&format!("workspaceStorage/no-workspace/chatSessions/{AGENT_ID}.jsonl"), &old);
    editor.write(&format!("globalStorage/transferredChatSessions/{DOCUMENT_ID}.json"), DOCUMENT);
    editor.write_index("globalStorage", &json!({ DOCUMENT_ID: listed("By the list") }));
    let found = editor.list();
    assert_eq!(titles(&found), [(DOCUMENT_ID, Some("By the list")), (AGENT_ID, Some("Greeting with a test"))]);
    assert!(found.iter().all(|session| session.project.is_none()));
}

#[test]
fn a_transcript_for_hooks_counts_where_there_is_nothing_better() {
    let editor = Editor::with_workspace("file:///home/dev/work/demo-app");
    let name = |id| format!("workspaceStorage/w/GitHub.copilot-chat/transcripts/{id}.jsonl");
    let told_twice = editor.write(&name(AGENT_ID), &TRANSCRIPT.replace(TRANSCRIPT_ID, AGENT_ID));
    let alone = editor.write(&name(TRANSCRIPT_ID), TRANSCRIPT);
    let found = editor.list();
    let first_prompt = "Rename greet to hello in app.py";
    assert_eq!(titles(&found), [(AGENT_ID, Some("Greeting with a test")), (TRANSCRIPT_ID, Some(first_prompt))]);
    assert_eq!(found[1].project.as_deref(), Some(Path::new("/home/dev/work/demo-app")));
    assert_eq!(editor.sessions_in(&told_twice), []);
    assert_eq!(titles(&editor.sessions_in(&alone)), [(TRANSCRIPT_ID, Some(first_prompt))]);
    let transcript = read_session(&CopilotVscode, &alone);
    assert_eq!(transcript.header.project.as_deref(), Some(Path::new("/home/dev/work/demo-app")));
}

#[test]
fn a_file_that_changed_is_looked_at_itself() {
    let editor = Editor::with_workspace("file:///home/dev/work/demo-app");
    editor.write_index("workspaceStorage/w", &json!({ AGENT_ID: listed("By the list") }));
    let path = editor.root().join(session_path(AGENT_ID, "jsonl"));
    let more = r#"{"kind":2,"k":["requests"],"v":[{"timestamp":1794800000000,"message":{"text":"One more"}}]}"#;
    std::fs::write(&path, format!("{AGENT_LOG}{more}\n")).unwrap();
    let found = editor.sessions_in(&path);
    assert_eq!(titles(&found), [(AGENT_ID, Some("By the list"))]);
    assert_eq!(found[0].updated_at.unwrap().millis(), 1_794_800_000_000);
}

#[test]
fn the_list_is_read_while_the_editor_writes_it() {
    let editor = Editor::with_workspace("file:///home/dev/work/demo-app");
    let owner = editor.write_index("workspaceStorage/w", &json!({ AGENT_ID: listed("By the list") }));
    owner.execute_batch("PRAGMA journal_mode = WAL; BEGIN IMMEDIATE; INSERT INTO ItemTable VALUES ('a', 'b')").unwrap();
    assert_eq!(titles(&editor.list()), [(AGENT_ID, Some("By the list"))]);
    drop(owner);
}

#[test]
fn a_list_that_cannot_be_read_costs_no_session_and_is_told() {
    let editor = Editor::with_workspace("file:///home/dev/work/demo-app");
    let database = editor.write("workspaceStorage/w/state.vscdb", "this was a database once, and is none any more");
    let (found, error) = editor.list_with_error();
    assert_eq!(titles(&found), [(AGENT_ID, Some("Greeting with a test"))]);
    assert!(matches!(error, AgentError::Database { .. }), "{error}");
    assert_eq!(std::fs::read_dir(database.parent().unwrap()).unwrap().count(), 3, "nothing is left beside it");
    std::fs::remove_file(&database).unwrap();
    let owner = editor.write_index("workspaceStorage/w", &json!({ AGENT_ID: listed("By the list") }));
    owner
        .execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; INSERT INTO ItemTable VALUES ('a', 'b')")
        .unwrap();
    let (found, error) = editor.list_with_error();
    assert_eq!(titles(&found), [(AGENT_ID, Some("Greeting with a test"))]);
    assert_eq!(error.database_trouble(), Some(DatabaseTrouble::InUse), "{error}");
    drop(owner);
}

#[test]
fn a_list_of_another_shape_is_no_list() {
    let editor = Editor::with_workspace("file:///home/dev/work/demo-app");
    editor.write_index("workspaceStorage/w", &json!({ AGENT_ID: 7, "x": { "title": 9 } }));
    assert_eq!(titles(&editor.list()), [(AGENT_ID, Some("Greeting with a test"))]);
}

#[test]
fn a_folder_on_another_machine_is_told_and_no_path_here() {
    let address = "vscode-remote://ssh-remote%2Bbox/home/dev/work/demo-app";
    let editor = Editor::with_workspace(address);
    let found = editor.list();
    assert_eq!(found[0].project, None);
    let transcript = read_session(&CopilotVscode, &found[0].source.path);
    assert_eq!(transcript.header.project, None);
    assert_eq!(transcript.header.start_settings.entrypoint.as_deref(), Some(address));
}

#[test]
fn of_several_folders_the_first_is_the_project() {
    let editor = Editor::with_workspace("");
    let file = editor.write("work/all.code-workspace", r#"{"folders":[{"path":"demo-app"},{"path":"../other"}]}"#);
    let address = format!("file://{}", file.display());
    editor.write("workspaceStorage/w/workspace.json", &json!({ "workspace": address }).to_string());
    assert_eq!(editor.list()[0].project, Some(editor.root().join("work/demo-app")));
    std::fs::remove_file(file).unwrap();
    assert_eq!(editor.list()[0].project, Some(editor.root().join("work")));
}

#[test]
fn a_folder_that_the_session_names_counts_before_the_workspace() {
    let editor = Editor::with_workspace("file:///home/dev/work/demo-app");
    let own = r#"{"kind":1,"k":["workingDirectory"],"v":"file:///home/dev/tree"}"#;
    let path = editor.write(&session_path(AGENT_ID, "jsonl"), &format!("{AGENT_LOG}{own}\n"));
    assert_eq!(editor.list()[0].project.as_deref(), Some(Path::new("/home/dev/tree")));
    assert_eq!(read_session(&CopilotVscode, &path).header.project.as_deref(), Some(Path::new("/home/dev/tree")));
}

fn env(home: &Path) -> Env {
    Env {
        home: home.to_owned(),
        vars: std::collections::BTreeMap::default(),
        os: Os::Linux,
        now: carryover_core::time::Timestamp::from_millis(0),
        zone: jiff::tz::TimeZone::UTC,
        stores: std::collections::BTreeMap::default(),
        projects: Vec::new(),
    }
}

#[test]
fn an_editor_in_which_nobody_talked_is_no_store() {
    let home = tempfile::tempdir().unwrap();
    let make = |path: &str| std::fs::create_dir_all(home.path().join(path)).unwrap();
    make(".config/Code/User/workspaceStorage/a");
    make(".config/Code/User/globalStorage");
    assert_eq!(CopilotVscode.stores(&env(home.path())), []);
    make(".config/Code - Insiders/User/workspaceStorage/a/chatSessions");
    make(".vscode-server/data/User/workspaceStorage/a/GitHub.copilot-chat");
    let mut configured = env(home.path());
    make("portable/user-data/User/globalStorage/emptyWindowChatSessions");
    configured.stores.insert("copilot-vscode".to_owned(), vec![home.path().join("portable/user-data")]);
    let roots: Vec<PathBuf> = CopilotVscode.stores(&configured).into_iter().map(|store| store.root).collect();
    let expected = [".config/Code - Insiders/User", ".vscode-server/data/User", "portable/user-data/User"];
    assert_eq!(roots, expected.map(|path| home.path().join(path)));
}

#[test]
fn relatives_of_the_editor_have_folders_of_their_own() {
    let home = tempfile::tempdir().unwrap();
    let folders = [
        ".config/VSCodium/User",
        ".config/Code - OSS/User",
        ".var/app/com.visualstudio.code/config/Code/User",
        ".var/app/com.visualstudio.code-oss/config/Code - OSS/User",
        ".var/app/com.vscodium.codium/config/VSCodium/User",
        ".vscodium-server/data/User",
    ];
    for folder in folders {
        std::fs::create_dir_all(home.path().join(folder).join("globalStorage/emptyWindowChatSessions")).unwrap();
    }
    let roots: Vec<PathBuf> = CopilotVscode.stores(&env(home.path())).into_iter().map(|store| store.root).collect();
    assert_eq!(roots, folders.map(|folder| home.path().join(folder)));
}

#[test]
fn a_list_does_not_hide_that_its_sessions_are_not_understood() {
    for (known, renamed) in [("\"requests\"", "\"turns\""), ("\"message\"", "\"prompt\"")] {
        let editor = Editor::with_workspace("file:///home/dev/work/demo-app");
        editor.write(&session_path(AGENT_ID, "jsonl"), &AGENT_LOG.replace(known, renamed));
        editor.write_index("workspaceStorage/w", &json!({ AGENT_ID: listed("By the list") }));
        let found = editor.list();
        assert_eq!(titles(&found), [(AGENT_ID, Some("By the list"))]);
        assert!(found[0].drifted, "{known}");
    }
    let editor = Editor::with_workspace("file:///home/dev/work/demo-app");
    editor.write_index("workspaceStorage/w", &json!({ AGENT_ID: listed("By the list") }));
    assert!(!editor.list()[0].drifted);
}

#[cfg(unix)]
#[test]
fn a_pipe_in_the_place_of_the_list_is_not_waited_for() {
    let editor = Editor::with_workspace("file:///home/dev/work/demo-app");
    let pipe = editor.root().join("workspaceStorage/w/state.vscdb");
    assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
    let (found, error) = editor.list_with_error();
    assert_eq!(titles(&found), [(AGENT_ID, Some("Greeting with a test"))]);
    assert!(error.to_string().ends_with("state.vscdb is a pipe, not a file"), "{error}");
}

#[test]
fn a_loose_file_is_known_by_what_is_in_it() {
    let known = |text: &str| CopilotVscode.recognises(Path::new("s"), text.as_bytes());
    assert!([AGENT_LOG, DOCUMENT, TRANSCRIPT, include_str!("../fixtures/v1.json")].into_iter().all(known));
    assert!(!known("{\"kind\":0}") && !known("{\"requests\":[]}") && !known(""));
    assert!(!CopilotCli.recognises(Path::new("s"), TRANSCRIPT.as_bytes()), "it is the editor's");
}
