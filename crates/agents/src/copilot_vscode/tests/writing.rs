//! What would be written for the editor, and that it reads back as it was meant.

use std::path::{Path, PathBuf};

use carryover_core::transcript::{Action, Body, CallForm, Change, Hunk, Origin, Status};
use serde_json::{Value, json};

use super::super::dialect::translate_action;
use super::CopilotVscode;
use crate::fixtures::{self, ImageCounts};
use crate::formats::translation::ProjectDirs;
use crate::write_fixtures::{
    PIXEL, call_body, carried_entry, full_session, moved_request, moved_session, outcome_body, own_entries, said,
    sample_env, sample_request, text_parts,
};
use crate::{
    Agent, AgentError, CarriedEntry, LifeSign, RowContent, Store, TargetView, WriteOp, WritePlan, WriteRequest,
};

/// An editor's folder that has had a project open.
struct Editor {
    folder: tempfile::TempDir,
}

impl Editor {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn user(&self) -> PathBuf {
        self.folder.path().join("Code/User")
    }

    fn workspace(&self, name: &str) -> PathBuf {
        self.user().join("workspaceStorage").join(name)
    }

    fn open_project(&self, name: &str, address: &str) {
        std::fs::create_dir_all(self.workspace(name)).unwrap();
        let note = json!({ "folder": address }).to_string();
        std::fs::write(self.workspace(name).join("workspace.json"), note).unwrap();
        let database = rusqlite::Connection::open(self.workspace(name).join("state.vscdb")).unwrap();
        let table = "CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)";
        database.execute_batch(table).unwrap();
    }

    fn plan(&self, request: &WriteRequest<'_>) -> Result<WritePlan, AgentError> {
        let store = Store { root: self.user() };
        let env = sample_env();
        let target = TargetView { env: &env, store: &store, program: None, version: None };
        CopilotVscode.editor_writer().unwrap().plan(request, &target)
    }

    /// The session's file in its place, read by this agent.
    fn read_back(plan: &WritePlan) -> String {
        let WriteOp::Create { path, bytes, .. } = &plan.ops[0] else { panic!("the file comes first") };
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
        let transcript = fixtures::read_session(&CopilotVscode, path);
        assert!(transcript.rejected.is_empty());
        fixtures::live_context(&CopilotVscode, &transcript, ImageCounts::Everywhere)
    }
}

fn document(plan: &WritePlan) -> Value {
    let WriteOp::Create { bytes, .. } = &plan.ops[0] else { panic!("the file comes first") };
    let line: Value = serde_json::from_slice(bytes).unwrap();
    assert_eq!(line["kind"], 0);
    line["v"].clone()
}

fn plan_full(entries: &[CarriedEntry]) -> (Editor, WritePlan) {
    let editor = Editor::new();
    editor.open_project("abc", "file:///home/u/my_repo");
    let plan = editor.plan(&sample_request(Path::new("/home/u/my_repo"), entries)).unwrap();
    (editor, plan)
}

#[test]
fn the_document_has_all_that_the_editor_needs_to_show_it() {
    let (_editor, plan) = plan_full(&full_session());
    let shown = serde_json::to_string_pretty(&document(&plan)).unwrap().replace(PIXEL, "PIXEL");
    insta::assert_snapshot!(shown);
}

#[test]
fn the_session_is_put_on_the_list_of_its_workspace() {
    let (editor, plan) = plan_full(&full_session());
    let [WriteOp::Create { path, .. }, WriteOp::AddRow(row)] = &plan.ops[..] else { panic!("a file and an entry") };
    assert_eq!(*path, editor.workspace("abc").join("chatSessions").join(format!("{}.jsonl", plan.session)));
    assert_eq!(row.rows.database, editor.workspace("abc").join("state.vscdb"));
    let member = row.rows.member.as_ref().unwrap();
    assert_eq!(
        (row.rows.table, row.rows.column, row.rows.value.as_str(), member.column, member.path, &member.name),
        ("ItemTable", "key", "chat.ChatSessionStore.index", "value", &["entries"][..], &plan.session.0)
    );
    let RowContent::Json(entry) = &row.content else { panic!("no entry") };
    insta::assert_snapshot!(entry, @r#"{"sessionId":"00000000-0000-4000-8000-000000000008","title":"Fix add","lastMessageDate":1794708000000,"timing":{"created":1794704182031,"lastRequestStarted":1794708000000,"lastRequestEnded":1794708000000},"initialLocation":"panel","hasPendingEdits":false,"isEmpty":false,"isExternal":false,"lastResponseState":1}"#);
    assert_eq!(
        (plan.resume.argv.join(" "), plan.resume.cwd.display().to_string()),
        ("code .".into(), "/home/u/my_repo".into())
    );
}

#[test]
fn it_reads_back_as_it_was_meant() {
    let (_editor, plan) = plan_full(&full_session());
    insta::assert_snapshot!(Editor::read_back(&plan));
    let losses: Vec<String> =
        plan.losses.iter().map(|loss| format!("{} {}: {}", loss.count, loss.what, loss.reason)).collect();
    insta::assert_snapshot!(losses.join("\n"), @r"
    1 reasoning: shown, but not sent to the model: the editor sends no reasoning of another client
    1 image: kept, but the extension shows its model what a tool gave back in that turn only
    ");
    let entries = full_session();
    let found: Vec<usize> = plan.origins.iter().map(|written| written.entry).collect();
    // The reasoning is shown only.
    assert_eq!(found, (0..entries.len()).filter(|index| *index != 2).collect::<Vec<_>>());
    assert!(plan.origins.iter().all(|written| (1..=2).contains(&written.offset)));
}

#[test]
fn a_brief_stands_for_what_did_not_fit_and_paths_move() {
    let editor = Editor::new();
    editor.open_project("abc", "file:///new");
    let entries = moved_session();
    let plan = editor.plan(&moved_request(&entries, Some("THE BRIEF"))).unwrap();
    insta::assert_snapshot!(Editor::read_back(&plan));
}

#[test]
fn prompts_in_a_row_and_words_that_nobody_asked_for_stay_apart() {
    let prompt = |n, origin, text| carried_entry(n, origin, Body::Prompt(text_parts(text)), Action::Other);
    let entries = vec![
        said(1, Body::Reply(text_parts("unasked"))),
        prompt(2, Origin::User, "one"),
        prompt(3, Origin::User, "two\nlines \u{1f600}"),
        prompt(4, Origin::Hook, "mind the tests"),
        said(5, Body::Reply(text_parts("first"))),
        said(6, Body::Reply(text_parts("second"))),
        prompt(7, Origin::User, "three"),
    ];
    let (_editor, plan) = plan_full(&entries);
    insta::assert_snapshot!(Editor::read_back(&plan));
    let part = &document(&plan)["requests"][2]["message"]["parts"][0];
    // The editor counts in units of two bytes.
    assert_eq!(part["range"], json!({ "start": 0, "endExclusive": 12 }));
    assert_eq!(part["editorRange"]["endLineNumber"], 2);
    assert_eq!(part["editorRange"]["endColumn"], 9);
}

#[test]
fn how_a_call_ended_is_read_back() {
    let run = || Action::Run { command: "x".into(), workdir: None };
    let call = |n, id: &str, action| {
        carried_entry(n, Origin::Agent, call_body(id, "their_tool", "{}", CallForm::Function), action)
    };
    let entries = vec![
        carried_entry(1, Origin::User, Body::Prompt(text_parts("go")), Action::Other),
        call(2, "c1", run()),
        said(3, outcome_body("c1", Status::Failed, Some(3), text_parts("no"))),
        call(4, "c2", run()),
        said(5, outcome_body("c2", Status::Failed, None, text_parts("not even started"))),
        call(6, "c3", Action::Other),
        said(7, outcome_body("c3", Status::Failed, None, text_parts("bad"))),
        call(8, "c4", Action::Other),
        said(9, outcome_body("c4", Status::Interrupted, None, Vec::new())),
        call(10, "c5", run()),
        said(11, outcome_body("c5", Status::Done, Some(0), text_parts("fine"))),
    ];
    let (_editor, plan) = plan_full(&entries);
    let WriteOp::Create { path, bytes, .. } = &plan.ops[0] else { panic!() };
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
    let transcript = fixtures::read_session(&CopilotVscode, path);
    let outcomes = transcript.entries.iter().filter_map(|entry| match &entry.body {
        Body::Outcome(outcome) => Some((outcome.status, outcome.exit_code)),
        _ => None,
    });
    assert_eq!(
        outcomes.collect::<Vec<_>>(),
        [
            (Status::Failed, Some(3)),
            (Status::Failed, None),
            (Status::Failed, None),
            (Status::Interrupted, None),
            (Status::Done, Some(0)),
        ]
    );
}

#[test]
fn a_request_of_the_editors_own_goes_back_as_it_was() {
    let own = json!({ "requestId": "request_x", "message": { "text": "hi", "parts": [] }, "unknown": [1],
        "result": { "metadata": { "toolCallRounds": [{ "id": "r", "response": "", "toolCalls": [
            { "id": "c__vscode-1", "name": "read_file", "arguments": "{\"filePath\":\"/old/place/a\"}" }] }] } } })
    .to_string();
    let mut entries = own_entries("copilot-vscode", &[&own, &own]);
    // Two entries of one record.
    entries[1].entry.key = entries[0].entry.key;
    let (_editor, plan) = plan_full(&entries);
    let requests = document(&plan)["requests"].clone();
    let moved = own.replace("/old/place/a", "/home/u/my_repo/a");
    assert_eq!(requests, json!([serde_json::from_str::<Value>(&moved).unwrap()]));
    assert_eq!(
        plan.origins.iter().map(|written| (written.entry, written.offset)).collect::<Vec<_>>(),
        [(0, 1), (1, 1)]
    );
    entries[1].clipped = true;
    let (_editor, plan) = plan_full(&entries);
    assert!(document(&plan)["requests"][0].get("unknown").is_none(), "something of it was cut");
}

#[test]
fn a_project_that_the_editor_never_had_open_is_not_made_up() {
    let editor = Editor::new();
    editor.open_project("other", "file:///home/u/other");
    editor.open_project("remote", "vscode-remote://ssh-remote%2Bbox/home/u/my_repo");
    let entries = full_session();
    let told = editor.plan(&sample_request(Path::new("/home/u/my_repo"), &entries)).unwrap_err();
    assert_eq!(
        told.to_string(),
        "Copilot in VS Code cannot hold this session: the editor has not had /home/u/my_repo open yet: open it there once, \
         and close it"
    );
    // A workspace whose database is elsewhere, as in a browser, has no list that could be added to.
    editor.open_project("here", "file:///home/u/my_repo");
    std::fs::remove_file(editor.workspace("here").join("state.vscdb")).unwrap();
    assert!(editor.plan(&sample_request(Path::new("/home/u/my_repo"), &entries)).is_err());
}

#[test]
fn the_editor_is_known_by_its_own_name_and_note() {
    let signs = |path: &str| CopilotVscode.editor_writer().unwrap().life_signs(Path::new(path));
    let codium = signs("/h/.config/VSCodium/User/workspaceStorage/a/state.vscdb");
    assert_eq!(
        codium,
        [
            LifeSign::Program(&["codium", "vscodium"]),
            LifeSign::ProgramFolder("VSCodium.app"),
            LifeSign::PidFile("/h/.config/VSCodium/code.lock".into()),
        ]
    );
    // One by another name may be any of them.
    assert_eq!(signs("/portable/data/User/workspaceStorage/a/state.vscdb").len(), 9);
    assert_eq!(signs("/elsewhere/state.vscdb").len(), 8);
}

#[test]
fn calls_are_spelt_in_the_editors_tools_and_mean_the_same() {
    let hunk = |old: &str| Hunk { context: None, old: old.into(), new: "y".into(), everywhere: false };
    let update = |hunks| Action::Edit(vec![Change::Update { path: "/p/a".into(), moved_to: None, hunks }]);
    let dirs = ProjectDirs { current: "/p", former: None };
    for action in [
        Action::Run { command: "ls".into(), workdir: None },
        Action::Read { path: "/p/a".into(), offset: Some(3), limit: Some(4) },
        Action::View { path: "/p/a.png".into() },
        Action::Write { path: "/p/a".into(), content: "x".into() },
        update(vec![hunk("x")]),
        update(vec![hunk("x"), hunk("z")]),
        Action::Glob { pattern: "**/*.py".into(), path: None },
    ] {
        let own = translate_action(&action, dirs).unwrap();
        let call = crate::write_fixtures::function_call(own.tool, &own.input);
        assert_eq!(crate::Dialect::action(&CopilotVscode, &call, None), action);
    }
    let everywhere = update(vec![Hunk { everywhere: true, ..hunk("x") }]);
    assert!(translate_action(&everywhere, dirs).is_none());
    let whole = Action::Read { path: "/p/a".into(), offset: None, limit: None };
    assert_eq!(
        translate_action(&whole, dirs).unwrap().input,
        json!({ "filePath": "/p/a", "startLine": 1, "endLine": 2000 })
    );
}
