//! Plans, byte for byte, and what our own reader makes of them.

use carryover_core::transcript::{Action, Body, CallForm, Origin, Reasoning, Status};

use super::GeminiCli;
use crate::foreign::{self, bytes, call, carried, env, outcome, records, session, shown, text};
use crate::{Carried, Op, WritePlan};

fn plan(entries: &[Carried]) -> WritePlan {
    foreign::plan(&GeminiCli, &env(), ".gemini", None, entries).unwrap()
}
#[test]
fn a_foreign_session_in_this_clients_shape() {
    let entries = session();
    let plan = plan(&entries);
    let file = plan.file.to_string_lossy().into_owned();
    assert!(file.starts_with("/home/u/.gemini/tmp/my-repo/chats/session-2026-11-15T02-00-"), "{file}");
    assert!(!file.contains(plan.session.short()), "the client deletes files that end in its id");
    let Op::Share { path, bytes: marker, .. } = &plan.ops[1] else { panic!("no marker") };
    assert!(path.ends_with("tmp/my-repo/.project_root"));
    assert_eq!(marker, b"/home/u/my_repo");
    insta::assert_snapshot!(shown(&plan));
    insta::assert_debug_snapshot!(plan.losses);
}

#[test]
fn every_entry_is_found_again_where_the_plan_says() {
    let entries = session();
    let plan = plan(&entries);
    let found: Vec<usize> = plan.origins.iter().map(|written| written.entry).collect();
    assert_eq!(found, (0..entries.len()).collect::<Vec<_>>());
    for written in &plan.origins {
        let start = usize::try_from(written.offset).unwrap();
        assert!(bytes(&plan)[start..].starts_with(b"{\"id\""), "a message begins there");
    }
}

#[test]
fn texts_that_the_client_would_forget_are_guarded() {
    let prompt = |n, words: &str| carried(n, Origin::User, Body::Prompt(text(words)), Action::Other);
    let hook = carried(3, Origin::Hook, Body::Prompt(text("be brief")), Action::Other);
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
    let own = |body| Carried {
        native: Some(raw.clone()),
        agent: "gemini-cli",
        ..carried(2, Origin::Agent, body, Action::Other)
    };
    let entries = [
        own(Body::Reasoning(Box::new(Reasoning { text: "S\nd".into(), sealed: false }))),
        own(Body::Reply(text("I look."))),
        own(self::call("read_file__1", "read_file", r#"{"file_path":"/old/place/a"}"#, CallForm::Function)),
        own(outcome("read_file__1", Status::Done, None, text(r#"{"odd":1}"#))),
    ];
    let plan = plan(&entries);
    let written = String::from_utf8_lossy(bytes(&plan)).into_owned();
    insta::assert_snapshot!(written.lines().skip(1).collect::<Vec<_>>().join("\n"));
}
