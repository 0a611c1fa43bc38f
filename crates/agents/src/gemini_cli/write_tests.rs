//! Plans, byte for byte, and what our own reader makes of them.

use carryover_core::transcript::{Action, Body, CallForm, Origin, Reasoning, Status};

use super::GeminiCli;
use crate::write_fixtures::{
    self, call_body, carried_entry, full_session, outcome_body, records, sample_env, session_bytes, shown, text_parts,
};
use crate::{CarriedEntry, WriteOp, WritePlan};

fn plan(entries: &[CarriedEntry]) -> WritePlan {
    write_fixtures::plan_in_home(&GeminiCli, &sample_env(), ".gemini", None, entries).unwrap()
}
#[test]
fn a_foreign_session_in_this_clients_shape() {
    let entries = full_session();
    let plan = plan(&entries);
    let file = plan.file.to_string_lossy().into_owned();
    assert!(file.starts_with("/home/u/.gemini/tmp/my-repo/chats/session-2026-11-15T02-00-"), "{file}");
    assert!(!file.contains(plan.session.short()), "the client deletes files that end in its id");
    let WriteOp::CreateShared { path, bytes: marker, .. } = &plan.ops[1] else { panic!("no marker") };
    assert!(path.ends_with("tmp/my-repo/.project_root"));
    assert_eq!(marker, b"/home/u/my_repo");
    insta::assert_snapshot!(shown(&plan));
    insta::assert_debug_snapshot!(plan.losses);
}

#[test]
fn every_entry_is_found_again_where_the_plan_says() {
    let entries = full_session();
    let plan = plan(&entries);
    let found: Vec<usize> = plan.origins.iter().map(|written| written.entry).collect();
    assert_eq!(found, (0..entries.len()).collect::<Vec<_>>());
    for written in &plan.origins {
        let start = usize::try_from(written.offset).unwrap();
        assert!(session_bytes(&plan)[start..].starts_with(b"{\"id\""), "a message begins there");
    }
}

#[test]
fn texts_that_the_client_would_forget_are_guarded() {
    let prompt = |n, words: &str| carried_entry(n, Origin::User, Body::Prompt(text_parts(words)), Action::Other);
    let hook = carried_entry(3, Origin::Hook, Body::Prompt(text_parts("be brief")), Action::Other);
    let plan = plan(&[prompt(1, "/srv is full"), prompt(2, "why?"), hook]);
    let lines = records(&plan);
    assert_eq!(lines[1]["content"][0]["text"], "\u{200b}/srv is full");
    assert_eq!(lines[2]["content"][0]["text"], "why?");
    assert_eq!(lines[2]["content"][1]["text"], "<hook_context>be brief</hook_context>");
    assert_eq!(lines.len(), 4);
}

#[test]
fn its_own_records_come_back_without_the_second_outcome() {
    let call = r#"{"id":"read_file__1","name":"read_file","args":{"file_path":"/old/place/a"},"result":[{"functionResponse":{"id":"read_file__1","name":"read_file","response":{"odd":1}}}],"status":"success","description":"a"}"#;
    let raw = format!(
        r#"{{"id":"g","timestamp":"2026-11-15T00:56:24.000Z","type":"gemini","content":"I look.","thoughts":[{{"subject":"S","description":"d"}}],"tokens":{{"input":7}},"model":"gemini-2.5-pro","toolCalls":[{call}]}}"#
    );
    let own = |body| CarriedEntry {
        native: Some(raw.clone()),
        agent: "gemini-cli",
        ..carried_entry(2, Origin::Agent, body, Action::Other)
    };
    let entries = [
        own(Body::Reasoning(Box::new(Reasoning { text: "S\nd".into(), sealed: false }))),
        own(Body::Reply(text_parts("I look."))),
        own(self::call_body("read_file__1", "read_file", r#"{"file_path":"/old/place/a"}"#, CallForm::Function)),
        own(outcome_body("read_file__1", Status::Done, None, text_parts(r#"{"odd":1}"#))),
    ];
    let plan = plan(&entries);
    let written = String::from_utf8_lossy(session_bytes(&plan)).into_owned();
    insta::assert_snapshot!(written.lines().skip(1).collect::<Vec<_>>().join("\n"));
}
