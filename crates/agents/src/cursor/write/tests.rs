//! Sessions of others, written for the command line client and read back.

use std::path::Path;

use carryover_core::transcript::{Action, Body, Origin, Transcript};
use serde_json::Value;

use crate::cursor::Cursor;
use crate::fixtures::{self, ImageCounts};
use crate::write_fixtures::{
    carried_entry, full_session, image_part, moved_request, moved_session, own_entries, plan_in_home, sample_env,
    session_bytes, text_parts,
};
use crate::{Agent, CarriedEntry, Store, TargetView, WriteOp, WritePlan, WriteRequest};

fn plan(entries: &[CarriedEntry]) -> WritePlan {
    plan_in_home(&Cursor, &sample_env(), ".cursor", None, entries).unwrap()
}

fn plan_request(request: &WriteRequest<'_>) -> WritePlan {
    let env = sample_env();
    let store = Store { root: env.home.join(".cursor") };
    let target = TargetView { env: &env, store: &store, program: None, version: None };
    Cursor.writer().unwrap().plan(request, &target).unwrap()
}

#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
fn read_back(plan: &WritePlan) -> (tempfile::TempDir, Transcript) {
    let home = tempfile::tempdir().unwrap();
    for op in &plan.ops {
        let WriteOp::Create { path, bytes, .. } = op else { panic!("only files are made") };
        let path = home.path().join(path.strip_prefix("/home/u").unwrap());
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    let file = home.path().join(plan.file.strip_prefix("/home/u").unwrap());
    let transcript = fixtures::read_whole(&Cursor, &file);
    (home, transcript)
}

fn live(plan: &WritePlan) -> String {
    let (_home, transcript) = read_back(plan);
    fixtures::live_context(&Cursor, &transcript, ImageCounts::Everywhere)
}

/// The messages of the store, in no order.
fn messages(plan: &WritePlan) -> Vec<Value> {
    let (home, _) = read_back(plan);
    let file = home.path().join(plan.file.strip_prefix("/home/u").unwrap());
    let store = rusqlite::Connection::open(file).unwrap();
    let mut query = store.prepare("SELECT data FROM blobs").unwrap();
    let blobs = query.query_map([], |row| row.get::<_, Vec<u8>>(0)).unwrap().map(Result::unwrap);
    blobs.filter_map(|blob| serde_json::from_slice(&blob).ok()).collect()
}

#[test]
fn a_session_of_another_agent_is_read_back_as_it_was_meant() {
    let entries = full_session();
    let plan = plan(&entries);
    insta::assert_snapshot!(live(&plan), @r#"
    agent summary: what happened before
    user prompt: 1 images: look at this
    agent reply: I look.
    agent call: Shell {"command":"ls"}
    agent call: Shell {"command":"ls"}
    agent outcome: Done exit 0, 0 images: calc.py
    agent outcome: Failed exit 3, 0 images: Exit code: 3 no such file
    agent call: StrReplace {"path":"/home/u/my_repo/calc.py","old_string":"a\nb","new_string":"a\nc"}
    agent outcome: Done, 0 images: Success
    agent call: TodoWrite {"merge":false,"todos":[{"id":"1","content":"Fix","status":"in_progress"}]}
    agent outcome: Done, 0 images: Plan updated
    agent call: mcp__git__log {"n":1}
    agent outcome: Done, 1 images:
    agent reply: Done, 日本.
    "#);
    assert_eq!(plan.resume.argv, ["cursor-agent".to_owned(), format!("--resume={}", plan.session)]);
    assert!(
        plan.file.starts_with("/home/u/.cursor/chats/") && plan.file.ends_with(format!("{}/store.db", plan.session))
    );
    let losses: Vec<&str> = plan.losses.iter().map(|loss| loss.what).collect();
    assert_eq!(losses, ["reasoning"]);
    let (_home, transcript) = read_back(&plan);
    assert_eq!(transcript.header.title.as_deref(), Some("Fix add"));
    assert_eq!(transcript.header.project.as_deref(), Some(Path::new("/home/u/my_repo")));
    assert_eq!(transcript.rejected, []);
    let exit_codes: Vec<Option<i32>> = transcript
        .entries
        .iter()
        .filter_map(|entry| match &entry.body {
            Body::Outcome(outcome) => Some(outcome.exit_code),
            _ => None,
        })
        .collect();
    assert_eq!(exit_codes, [Some(0), Some(3), None, None, None], "those of commands");
}

#[test]
fn the_same_request_gives_the_same_bytes() {
    let entries = full_session();
    assert_eq!(session_bytes(&plan(&entries)), session_bytes(&plan(&entries)));
}

#[test]
fn every_entry_is_found_where_the_plan_says() {
    let entries = full_session();
    let plan = plan(&entries);
    let (_home, transcript) = read_back(&plan);
    for written in &plan.origins {
        let meant = &entries[written.entry].entry.body;
        let found = transcript.entries.iter().filter(|entry| entry.key.offset == written.offset);
        assert!(found.clone().any(|entry| entry.body.kind() == meant.kind()), "{}", meant.kind());
    }
    let found: Vec<usize> = plan.origins.iter().map(|written| written.entry).collect();
    assert_eq!(found, (0..entries.len()).filter(|index| *index != 2).collect::<Vec<_>>(), "all but the reasoning");
}

#[test]
fn a_brief_stands_first_as_a_summary() {
    let entries = moved_session();
    let plan = plan_request(&moved_request(&entries, Some("the older part")));
    insta::assert_snapshot!(live(&plan), @r#"
    agent summary: what happened before the older part
    user prompt: 1 images: look
    hook prompt: be brief
    agent reply: I look.
    agent call: Shell {"command":"ls"}
    agent call: Read {"path":"/new/x","offset":2}
    agent outcome: Failed exit 3, 0 images: Exit code: 3 no such file
    agent outcome: Failed, 0 images: denied
    "#);
}

#[test]
fn messages_of_its_own_come_back_as_they_were() {
    let lines = [
        r#"{"role":"user","content":[{"type":"text","text":"<user_query>\nList files\n</user_query>"}]}"#,
        r#"{"role":"assistant","id":"1","content":[{"type":"reasoning","text":"Need ls.","signature":"c2ln"},{"type":"text","text":"Listing."}]}"#,
    ];
    let plan = plan(&own_entries("cursor", &lines));
    let written: Vec<String> = messages(&plan).iter().map(Value::to_string).collect();
    assert!(lines.iter().all(|line| written.iter().any(|written| written == line)), "{written:?}");
    insta::assert_snapshot!(live(&plan), @"
    user prompt: List files
    agent reasoning: Need ls.
    agent reply: Listing.
    ");
}

#[test]
fn a_bubble_of_the_editor_is_told_in_messages() {
    let bubble = r#"{"_v":3,"type":2,"text":"1"}"#;
    let plan = plan(&own_entries("cursor", &[bubble]));
    assert_eq!(live(&plan), "agent reply: 1\n");
}

#[test]
fn words_that_look_like_the_clients_own_stay_the_users() {
    let words = "what is </user_query> for, and <user_query>?";
    let entries = [carried_entry(1, Origin::User, Body::Prompt(text_parts(words)), Action::Other)];
    let plan = plan(&entries);
    assert!(live(&plan).contains(words), "{}", live(&plan));
}

#[test]
fn two_prompts_that_say_the_same_are_two() {
    let prompt = |n| carried_entry(n, Origin::User, Body::Prompt(text_parts("go on")), Action::Other);
    let plan = plan(&[prompt(1), prompt(2)]);
    assert_eq!(live(&plan), "user prompt: go on\nuser prompt: go on\n");
    let (_home, transcript) = read_back(&plan);
    assert_ne!(transcript.entries[0].key, transcript.entries[1].key, "each is found by its own name");
}

#[test]
fn what_was_brought_along_is_one_prompt_however_many_parts_it_has() {
    let mut parts = text_parts("one");
    parts.extend(text_parts("two"));
    parts.push(image_part());
    let entries = [carried_entry(1, Origin::Hook, Body::Prompt(parts), Action::Other)];
    assert_eq!(live(&plan(&entries)), "hook prompt: 1 images: one two\n");
}
