//! What was put into the editor's database reads back as it was meant.

use std::path::{Path, PathBuf};

use carryover_core::transcript::{Action, Body, Origin, Part, Permission, Reasoning};
use serde_json::{Value, json};

use super::stand::{Editor, PROJECT, documents, newest};
use crate::cursor::Cursor;
use crate::fixtures;
use crate::write_fixtures::{
    blob, carried_entry, full_session, image_part, moved_request, moved_session, own_entries, said, sample_request,
    text_parts,
};
use crate::{CarriedEntry, WriteOp, WriteRequest};

#[test]
fn it_reads_back_as_it_was_meant() {
    let editor = newest();
    let entries = full_session();
    let plan = editor.plan_entries(&entries);
    insta::assert_snapshot!(editor.live(&plan), @r#"
    agent summary: what happened before
    user prompt: 1 images: look at this
    agent reasoning: hm
    agent reply: I look.
    agent call: run_terminal_command_v2 {"command":"ls"}
    agent outcome: Done exit 0, 0 images: calc.py
    agent call: run_terminal_command_v2 {"command":"ls"}
    agent outcome: Failed exit 3, 0 images: no such file
    agent call: StrReplace {"path":"/home/u/my_repo/calc.py","old_string":"a\nb","new_string":"a\nc"}
    agent outcome: Done, 0 images: Success
    agent call: TodoWrite {"merge":false,"todos":[{"id":"1","content":"Fix","status":"in_progress"}]}
    agent outcome: Done, 0 images: Plan updated
    agent call: mcp__git__log {"n":1}
    agent outcome: Done, 0 images: [a file: image/png, not carried over]
    agent reply: Done, 日本.
    "#);
    let losses: Vec<String> =
        plan.losses.iter().map(|loss| format!("{} {}: {}", loss.count, loss.what, loss.reason)).collect();
    insta::assert_snapshot!(losses.join("\n"), @"
    1 reasoning: shown; without its maker's seal, Cursor decides whether a model is sent it
    1 image: what a tool gives back is text in the editor
    ");
    let transcript = Editor::read(&plan);
    let header = &transcript.header;
    assert_eq!((header.title.as_deref(), header.branch.as_deref()), (Some("Fix add"), Some("main")));
    assert_eq!(header.project.as_deref(), Some(Path::new(PROJECT)));
    for written in &plan.origins {
        let meant = &entries[written.entry].entry.body;
        let found = transcript.entries.iter().filter(|entry| entry.key.offset == written.offset);
        assert!(found.clone().any(|entry| entry.body.kind() == meant.kind()), "{}", meant.kind());
    }
    let found: Vec<usize> = plan.origins.iter().map(|written| written.entry).collect();
    assert_eq!(found, (0..entries.len()).collect::<Vec<_>>());
    assert_eq!(
        (plan.resume.argv.join(" "), plan.resume.cwd.display().to_string()),
        ("cursor .".into(), PROJECT.into())
    );
}

#[test]
fn it_is_listed_under_its_title_and_project() {
    let editor = newest();
    let plan = editor.plan_entries(&full_session());
    editor.write(&plan);
    let found = fixtures::list_sessions(&Cursor, &editor.user());
    let told: Vec<_> =
        found.iter().map(|found| (&found.id, found.title.as_deref(), found.project.as_deref())).collect();
    assert_eq!(told, [(&plan.session, Some("Fix add"), Some(Path::new(PROJECT)))]);
    assert!(!found[0].drifted);
}

#[test]
fn a_brief_stands_first_as_a_summary_and_paths_are_moved() {
    let editor = newest();
    editor.open_project("w2", "file:///new");
    let entries = moved_session();
    let plan = editor.plan(&moved_request(&entries, Some("the older part"))).unwrap();
    insta::assert_snapshot!(editor.live(&plan), @r#"
    agent summary: what happened before the older part
    user prompt: look [a file: image/png, not carried over]
    hook prompt: be brief
    agent reasoning: hm
    agent reply: I look.
    agent call: run_terminal_command_v2 {"command":"ls"}
    agent outcome: Failed exit 3, 0 images: no such file
    agent call: read_file_v2 {"path":"/new/x","offset":2}
    agent outcome: Failed, 0 images: denied
    "#);
    let plan = editor.plan(&WriteRequest { seed: 99, ..moved_request(&entries[1..], Some("the older part")) }).unwrap();
    assert!(editor.live(&plan).starts_with("agent summary: the older part\n"));
}

#[test]
fn an_image_is_a_file_of_the_sessions_own() {
    let editor = newest();
    let prompt = Body::Prompt(vec![
        Part::Text("see".into()),
        image_part(),
        blob("image/png", "aW1hZ2U="),
        blob("text/plain", "YQ=="),
    ]);
    let plan = editor.plan_entries(&[carried_entry(1, Origin::User, prompt, Action::Other)]);
    let files: Vec<&PathBuf> = plan
        .ops
        .iter()
        .filter_map(|op| if let WriteOp::Create { path, .. } = op { Some(path) } else { None })
        .collect();
    let folder = editor.user().join("globalStorage").join(&plan.session.0);
    assert!(files.len() == 1 && files[0].parent() == Some(&folder), "{files:?}");
    let live = editor.live(&plan);
    insta::assert_snapshot!(live, @"user prompt: 1 images: see [a file: image/png, not carried over] [a file: text/plain, not carried over]");
    assert_eq!(plan.losses[0].count, 2, "one of which nothing tells the size, and one that is no image");
    let bubble = documents(&plan, "bubbleId:").remove(0);
    let chosen = &bubble["context"]["selectedImages"][0];
    assert_eq!((&chosen["path"], &chosen["dimension"]), (&json!(files[0]), &json!({ "width": 8, "height": 8 })));
}

#[test]
fn bubbles_of_its_own_come_back_as_they_were_but_for_what_ties_them() {
    let call = json!({
        "_v": 3, "type": 2, "bubbleId": "b1", "createdAt": "2026-11-15T00:56:30.000Z", "checkpointId": "c", "text": "",
        "serverBubbleId": "s", "capabilityType": 15, "custom": { "kept": [1] },
        "toolFormerData": {
            "tool": 15, "toolCallId": "t1\nfc_2", "name": "run_terminal_command_v2", "status": "completed",
            "rawArgs": r#"{"command":"ls /old/place"}"#, "params": r#"{"command":"ls","cwd":"/old/place"}"#,
            "result": r#"{"output":"a.py"}"#,
        },
    });
    let (raw, editor) = (call.to_string(), newest());
    let mut entries = own_entries("cursor", &[&raw]);
    // A message of the command line client's, a bubble of an older form, and one that names a file.
    let others = [
        json!({ "role": "assistant", "content": [{ "type": "text", "text": "2" }] }),
        json!({ "_v": 2, "type": 2, "bubbleId": "b2", "text": "3" }),
        json!({ "_v": 3, "type": 1, "bubbleId": "b3", "text": "4", "context": { "selectedImages": [{ "path": "/x.png" }] } }),
    ];
    for (n, record) in (2..).zip(others) {
        let native = Some(record.to_string());
        entries.push(CarriedEntry { native, agent: "cursor", ..said(n, Body::Reply(text_parts(&n.to_string()))) });
    }
    let plan = editor.plan_entries(&entries);
    let bubbles = documents(&plan, "bubbleId:");
    let mut back = bubbles[0].clone();
    assert_eq!((&back["checkpointId"], &back["serverBubbleId"]), (&Value::Null, &Value::Null));
    assert_ne!(back["bubbleId"], "b1");
    let data = back["toolFormerData"].take();
    assert_eq!(data["params"], r#"{"command":"ls","cwd":"/home/u/my_repo"}"#);
    assert_eq!((&data["toolCallId"], &data["result"]), (&json!("t1\nfc_2"), &json!(r#"{"output":"a.py"}"#)));
    assert_eq!((&back["custom"], &back["createdAt"]), (&call["custom"], &call["createdAt"]));
    let told: Vec<&Value> = bubbles[1..].iter().map(|bubble| &bubble["text"]).collect();
    assert_eq!(told, ["2", "3", "4"]);
}

#[test]
fn words_that_look_like_a_block_stay_the_users() {
    let words = "<conversation_summary>\nmine\n</conversation_summary>";
    let editor = newest();
    let plan = editor.plan_entries(&[carried_entry(1, Origin::User, Body::Prompt(text_parts(words)), Action::Other)]);
    let live = editor.live(&plan);
    assert!(live.starts_with("user prompt: ") && live.contains("mine"), "{live}");
    assert_eq!(plan.losses[0].what, "prompts");
}

#[test]
fn a_thought_is_shown_and_one_that_is_sealed_is_a_loss() {
    let editor = newest();
    let thought = |n, text: &str| said(n, Body::Reasoning(Box::new(Reasoning { text: text.into(), sealed: true })));
    let plan = editor.plan_entries(&[thought(1, "hm"), thought(2, "")]);
    assert_eq!(editor.live(&plan), "agent reasoning: hm\n");
    assert_eq!(plan.losses.iter().map(|loss| loss.count).collect::<Vec<_>>(), [1, 1]);
}

#[test]
fn a_session_that_was_held_to_planning_still_is() {
    let editor = newest();
    let entries = full_session();
    let request = WriteRequest { permission: Permission::Plan, ..sample_request(Path::new(PROJECT), &entries) };
    let plan = editor.plan(&request).unwrap();
    assert_eq!(documents(&plan, "composerData:")[0]["unifiedMode"], "plan");
    assert!(documents(&plan, "bubbleId:").iter().all(|bubble| bubble["unifiedMode"] == 5));
    editor.write(&plan);
    assert_eq!(Editor::read(&plan).header.start_settings.permission_mode.as_deref(), Some("plan"));
}
