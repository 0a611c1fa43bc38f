//! Which rows and entries a plan adds, and where it refuses.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::{Value, json};

use super::stand::{Editor, HEAD_TABLE, INDEX, PROJECT, TABLES, documents, newest, places};
use crate::cursor::Cursor;
use crate::write_fixtures::{full_session, sample_request};
use crate::{Agent, LifeSign, Store, WritePlan, WriteRequest};

#[test]
fn every_generation_gets_what_it_lists_by() {
    insta::assert_snapshot!(places(&newest().plan_entries(&full_session())).join("\n"), @r#"
    cursorDiskKV.key composerData:ID: a row
    cursorDiskKV.key bubbleId:ID:: 10 rows
    composerHeaders.composerId ID: a row
    ItemTable.key composer.composerHeaders: ["allComposers"] ID by Objects("composerId")
    ItemTable.key glass.localAgentProjects.v1: [] c42de92d-8de0-3974-b574-972ceec2210c by Objects("id")
    ItemTable.key glass.localAgentProjectMembership.v1: [] ID by Object
    "#);
    // Without a list in JSON, as in an editor that was new when it had the table.
    let plan = Editor::new(&[TABLES, HEAD_TABLE].concat()).plan_entries(&full_session());
    assert!(!places(&plan).iter().any(|place| place.contains("allComposers")));
    let plan = Editor::new(&[TABLES, INDEX].concat()).plan_entries(&full_session());
    insta::assert_snapshot!(places(&plan).join("\n"), @r#"
    cursorDiskKV.key composerData:ID: a row
    cursorDiskKV.key bubbleId:ID:: 10 rows
    ItemTable.key composer.composerHeaders: ["allComposers"] ID by Objects("composerId")
    "#);
}

#[test]
fn what_is_of_no_known_generation_is_left_alone() {
    insta::assert_snapshot!(Editor::new(TABLES).refusal(), @"Cursor cannot hold this session: it keeps no list of conversations as versions from 3.0 on do: update it, or begin a conversation there, and close it");
    insta::assert_snapshot!(Editor::new("CREATE TABLE ItemTable (key, value);").refusal(), @"Cursor cannot hold this session: its database has no table `cursorDiskKV` of the kind that is known");
    let fewer = "CREATE TABLE composerHeaders (composerId TEXT PRIMARY KEY, value TEXT);";
    insta::assert_snapshot!(Editor::new(&[TABLES, INDEX, fewer].concat()).refusal(), @"Cursor cannot hold this session: its table `composerHeaders` has no column `workspaceId` any more");
    let editor = newest();
    std::fs::remove_file(editor.file()).unwrap();
    assert!(editor.refusal().ends_with("globalStorage/state.vscdb is not there"), "{}", editor.refusal());
}

#[test]
fn a_project_that_was_never_open_there_is_told() {
    let editor = newest();
    let entries = full_session();
    let request = sample_request(Path::new("/home/u/other"), &entries);
    insta::assert_snapshot!(editor.plan(&request).unwrap_err(), @"Cursor cannot hold this session: the editor has not had /home/u/other open yet: open it there once, and close it");
    let knows =
        |root: PathBuf, project| Cursor.editor_writer().unwrap().knows_project(&Store { root }, Path::new(project));
    assert!(knows(editor.user(), PROJECT) && !knows(editor.user(), "/home/u/other"));
    // The command line client's store is no editor's.
    assert!(!knows(editor.home.path().join(".cursor"), PROJECT));
}

#[test]
fn the_project_of_the_sidebar_is_used_where_there_is_one_and_made_where_there_is_none() {
    let editor = newest();
    let is_made = |plan: &WritePlan| places(plan).iter().any(|place| place.contains("localAgentProjects"));
    let member_of = |plan: &WritePlan| documents(plan, "glass.localAgentProjectMembership").pop().unwrap();
    let first = editor.plan_entries(&full_session());
    assert!(is_made(&first));
    let ours = member_of(&first);
    editor.write(&first);
    let project = &editor.item("glass.localAgentProjects.v1").unwrap()[0];
    assert_eq!((&project["id"], &project["name"]), (&ours, &json!("my_repo")));
    assert_eq!(project["workspace"]["id"], "w1");
    let entries = full_session();
    let second = editor.plan(&WriteRequest { seed: 99, ..sample_request(Path::new(PROJECT), &entries) }).unwrap();
    assert!(is_made(&second) && member_of(&second) == ours, "it goes with the last of its sessions");
    let set = |projects: Value| {
        let sql = "INSERT INTO ItemTable VALUES ('glass.localAgentProjects.v1', ?1)";
        editor.database().execute(sql, [projects.to_string()]).unwrap();
        editor.plan_entries(&full_session())
    };
    let theirs = set(json!([{ "id": "x" }, { "id": "theirs", "workspace": { "id": "w1" } }]));
    assert!(!is_made(&theirs) && member_of(&theirs) == "theirs");
    let by_folder = set(json!([{ "id": "theirs", "workspace": { "id": "old", "uri": { "fsPath": PROJECT } } }]));
    assert_eq!(member_of(&by_folder), "theirs");
    assert!(is_made(&set(json!([{ "id": "theirs", "isArchived": true, "workspace": { "id": "w1" } }]))));
}

#[test]
fn records_have_every_field_that_the_editors_own_have() {
    let database = format!(
        "{}/src/cursor/fixtures/ide-3.12/.config/Cursor/User/globalStorage/state.vscdb",
        env!("CARGO_MANIFEST_DIR")
    );
    let plan = newest().plan_entries(&full_session());
    // What a conversation has of its own, or what only this one has.
    let rest = [
        "checkpointId",
        "codeBlocks",
        "contextWindowStatusAtCreation",
        "errorDetails",
        "serverBubbleId",
        "supportedTools",
        "timingInfo",
        "usageUuid",
        "codebaseSearchSettings",
        "contextTokenLimit",
        "contextTokensUsed",
        "gitGraphFileSuggestions",
        "latestChatGenerationUUID",
        "modelInfo",
        "context",
        "thinking",
        "thinkingDurationMs",
        "capabilityType",
        "toolFormerData",
    ];
    let theirs = Connection::open_with_flags(database, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    for beginning in ["bubbleId:", "composerData:"] {
        let ours = documents(&plan, beginning).remove(0);
        let mut query = theirs
            .prepare("SELECT value FROM cursorDiskKV WHERE key >= ?1 AND key < ?1 || '~' AND value NOT NULL")
            .unwrap();
        let texts = query.query_map([beginning], |row| row.get::<_, String>(0)).unwrap();
        for record in texts.map(|text| serde_json::from_str::<Value>(&text.unwrap()).unwrap()) {
            let missing = record.as_object().unwrap().keys().filter(|name| ours.get(name.as_str()).is_none());
            let missing: Vec<&String> = missing.filter(|name| !rest.contains(&name.as_str())).collect();
            assert!(missing.is_empty(), "{beginning} {missing:?}");
        }
    }
    let head = documents(&plan, "composer.composerHeaders").remove(0);
    let head_of_theirs: String =
        theirs.query_row("SELECT value FROM composerHeaders LIMIT 1", [], |row| row.get(0)).unwrap();
    let head_of_theirs: Value = serde_json::from_str(&head_of_theirs).unwrap();
    assert!(head_of_theirs.as_object().unwrap().keys().all(|name| head.get(name.as_str()).is_some()));
}

#[test]
fn the_document_names_its_bubbles_in_their_order() {
    let plan = newest().plan_entries(&full_session());
    let document = documents(&plan, "composerData:").remove(0);
    let headers = document["fullConversationHeadersOnly"].as_array().unwrap();
    let bubbles = documents(&plan, "bubbleId:");
    let ids = |records: &[Value]| records.iter().map(|record| record["bubbleId"].clone()).collect::<Vec<_>>();
    assert_eq!(ids(headers), ids(&bubbles));
    let shown: Vec<String> =
        headers.iter().map(|header| format!("{} {}", header["type"], header["grouping"])).collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    1 {"isRenderable":true,"toolDisplayComputed":true,"hasText":true,"textPreview":"<conversation_summary>\nwhat happened before\n</conversation_summary>","isShortPlainText":true}
    1 {"isRenderable":true,"toolDisplayComputed":true,"hasText":true,"textPreview":"look at this","isShortPlainText":true}
    2 {"isRenderable":true,"toolDisplayComputed":true,"capabilityType":30,"hasThinking":true,"thinkingDurationMs":0}
    2 {"isRenderable":true,"toolDisplayComputed":true,"hasText":true,"textPreview":"I look.","isKeptFinalAiVisibleOutsideWorkedForGroup":true}
    2 {"isRenderable":true,"toolDisplayComputed":true,"capabilityType":15,"isToolGroupable":true,"toolFormerTool":15,"toolFormerStatus":"completed","toolCallId":"c1"}
    2 {"isRenderable":true,"toolDisplayComputed":true,"capabilityType":15,"isToolGroupable":true,"toolFormerTool":15,"toolFormerStatus":"completed","toolCallId":"c2"}
    2 {"isRenderable":true,"toolDisplayComputed":true,"capabilityType":15,"isToolGroupable":true,"toolFormerStatus":"completed","toolCallId":"c3"}
    2 {"isRenderable":true,"toolDisplayComputed":true,"capabilityType":15,"isToolGroupable":true,"toolFormerStatus":"completed","toolCallId":"c4"}
    2 {"isRenderable":true,"toolDisplayComputed":true,"capabilityType":15,"isToolGroupable":true,"toolFormerStatus":"completed","toolCallId":"c_5"}
    2 {"isRenderable":true,"toolDisplayComputed":true,"hasText":true,"textPreview":"Done, 日本.","isKeptFinalAiVisibleOutsideWorkedForGroup":true}
    "#);
    let tools: Vec<String> =
        bubbles.iter().filter_map(|bubble| Some(bubble.get("toolFormerData")?.to_string())).collect();
    insta::assert_snapshot!(tools.join("\n"), @r#"
    {"toolCallId":"c1","name":"run_terminal_command_v2","rawArgs":"{\"command\":\"ls\"}","params":"{\"command\":\"ls\",\"cwd\":\"\"}","status":"completed","result":"{\"output\":\"calc.py\",\"rejected\":false,\"exitCodeV2\":0}","tool":15,"additionalData":{"status":"completed"}}
    {"toolCallId":"c2","name":"run_terminal_command_v2","rawArgs":"{\"command\":\"ls\"}","params":"{\"command\":\"ls\",\"cwd\":\"\"}","status":"completed","result":"{\"output\":\"no such file\",\"rejected\":false,\"exitCodeV2\":3}","tool":15,"additionalData":{"status":"completed"}}
    {"toolCallId":"c3","name":"StrReplace","rawArgs":"{\"path\":\"/home/u/my_repo/calc.py\",\"old_string\":\"a\\nb\",\"new_string\":\"a\\nc\"}","params":"{\"path\":\"/home/u/my_repo/calc.py\",\"old_string\":\"a\\nb\",\"new_string\":\"a\\nc\"}","status":"completed","result":"Success","additionalData":{"status":"completed"}}
    {"toolCallId":"c4","name":"TodoWrite","rawArgs":"{\"merge\":false,\"todos\":[{\"id\":\"1\",\"content\":\"Fix\",\"status\":\"in_progress\"}]}","params":"{\"merge\":false,\"todos\":[{\"id\":\"1\",\"content\":\"Fix\",\"status\":\"in_progress\"}]}","status":"completed","result":"Plan updated","additionalData":{"status":"completed"}}
    {"toolCallId":"c_5","name":"mcp__git__log","rawArgs":"{\"n\":1}","params":"{\"n\":1}","status":"completed","result":"[a file: image/png, not carried over]","additionalData":{"status":"completed"}}
    "#);
    let times: Vec<&str> = bubbles.iter().map(|bubble| bubble["createdAt"].as_str().unwrap()).collect();
    assert!(times.is_sorted(), "{times:?}");
}

#[test]
fn the_same_request_gives_the_same_plan() {
    let editor = newest();
    assert_eq!(editor.plan_entries(&full_session()), editor.plan_entries(&full_session()));
}

#[test]
fn the_editor_runs_by_its_program_and_its_note_and_not_by_the_command_line_clients() {
    let signs = |path: &str| Cursor.editor_writer().unwrap().life_signs(Path::new(path));
    let told = signs("/home/u/.config/Cursor/User/globalStorage/state.vscdb");
    assert!(told.contains(&LifeSign::PidFile("/home/u/.config/Cursor/code.lock".into())));
    assert!(told.contains(&LifeSign::ProgramFolder("Cursor.app")));
    let names = told.iter().find_map(|sign| if let LifeSign::Program(names) = sign { Some(*names) } else { None });
    assert_eq!(names, Some(&["cursor"][..]), "`cursor-agent` is another program");
    assert_eq!(signs("/elsewhere/state.vscdb").len(), 2);
}
