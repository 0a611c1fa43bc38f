use serde_json::{Value, json};

use super::*;
use crate::transcript::{
    Action, Blob, BlobLocation, Body, Call, CallId, Change, Entry, EntryKey, Failure, Header, Hunk, Note, Outcome,
    Part, QueueChange, Reasoning,
};

const SECRET: &str = concat!("ghp_", "x8Kq2Vn5Rt7Lw3Zp9Hs4Jd6Fb1Gc0MyTeUaB");
const SCHEMA: &str = include_str!("../../../../../docs/schemas/uasf.schema.json");

fn entry_item(offset: u64, part: u16, origin: Origin, body: Body) -> UasfItem {
    let key = EntryKey { file: 0, offset, part, length: 9 };
    let entry =
        Entry { key, at: crate::time::Timestamp::parse("2026-11-15T10:00:00Z"), origin, side: false, node: None, body };
    let meaning = match &entry.body {
        Body::Call(call) => Some(make_meaning(&call.tool)),
        _ => None,
    };
    UasfItem::Entry { entry, past: false, meaning }
}

fn make_meaning(tool: &str) -> CallMeaning {
    let hunk = |old: &str| Hunk { context: None, old: old.to_owned(), new: SECRET.to_owned(), everywhere: false };
    let edit = |old| {
        Action::Edit(vec![Change::Update {
            path: "a.rs".to_owned(),
            moved_to: None,
            hunks: vec![hunk(old), hunk("z")],
        }])
    };
    let (action, fuller) = match tool {
        "Bash" => (Action::Run { command: "ls".to_owned(), workdir: None }, None),
        "Edit" => (edit("x"), Some(edit("y"))),
        _ => (Action::Other, None),
    };
    CallMeaning {
        action,
        fuller_action: fuller,
        answers: vec![Answer { question: "q".to_owned(), answer: SECRET.to_owned() }],
    }
}

fn text_parts(text: &str) -> Vec<Part> {
    vec![Part::Text(text.to_owned())]
}

fn call_body(id: &str, tool: &str, input: &Value) -> Body {
    let (id, tool, input) = (CallId(id.into()), tool.to_owned(), Json::from_value(input));
    Body::Call(Box::new(Call { id, tool, input, form: CallForm::Function }))
}

fn outcome_body(id: &str, status: Status, parts: Vec<Part>) -> Body {
    let exit_code = (status == Status::Failed).then_some(2);
    Body::Outcome(Box::new(Outcome { call: CallId(id.into()), status, exit_code, parts }))
}

/// Two calls side by side, an image, somebody else's words, a thought, a failure.
fn make_session() -> Vec<UasfItem> {
    let image = Blob { media_type: "image/png".to_owned(), name: None, location: BlobLocation::Inline("aGk=".into()) };
    let failure = Failure { kind: FailureKind::RateLimit, message: "limit".to_owned(), resets_at: None };
    vec![
        entry_item(1, 0, Origin::User, Body::Prompt(vec![Part::Text("look".to_owned()), Part::Blob(image.clone())])),
        entry_item(1, 1, Origin::Hook, Body::Prompt(text_parts("a hook's words"))),
        entry_item(2, 0, Origin::Agent, Body::Reasoning(Box::new(Reasoning { text: "hm".to_owned(), sealed: true }))),
        entry_item(3, 0, Origin::Agent, Body::Reply(text_parts("I look."))),
        entry_item(3, 1, Origin::Agent, call_body("a", "Bash", &json!({ "command": "ls", "password": SECRET }))),
        entry_item(3, 2, Origin::Agent, call_body("b", "Edit", &json!({ "new": [SECRET] }))),
        entry_item(
            4,
            0,
            Origin::Agent,
            outcome_body("b", Status::Done, vec![Part::Text("done".to_owned()), Part::Blob(image)]),
        ),
        entry_item(5, 0, Origin::Agent, outcome_body("a", Status::Failed, text_parts(SECRET))),
        entry_item(6, 0, Origin::Agent, call_body("a", "mcp__x", &json!("free"))),
        entry_item(7, 0, Origin::Agent, outcome_body("a", Status::Interrupted, Vec::new())),
        entry_item(8, 0, Origin::Harness, Body::Failure(Box::new(failure))),
    ]
}

fn write_document(told: Vec<UasfItem>) -> Value {
    let value = serde_json::to_value(write_uasf(&Header::default(), told)).unwrap();
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let validator = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    value
}

fn read_document(document: &Value) -> Vec<Entry> {
    let mut reading = UasfReader::new(true);
    for (at, event) in (0..).zip(document["events"].as_array().unwrap()) {
        reading.read_event(at * 100, 50, serde_json::from_str(&event.to_string()).unwrap());
    }
    reading.finish()
}

fn round_trip_bodies(told: Vec<UasfItem>) -> Vec<(Origin, Body)> {
    let entry = |told| match told {
        UasfItem::Entry { entry, .. } => Some((entry.origin, entry.body)),
        _ => None,
    };
    told.into_iter().filter_map(entry).collect()
}

#[test]
fn a_session_is_read_as_it_was_told() {
    let read = read_document(&write_document(make_session()));
    let keys: std::collections::BTreeSet<EntryKey> = read.iter().map(|entry| entry.key).collect();
    assert_eq!(keys.len(), read.len(), "places are unique");
    // Words and calls of one message stay one; what came back is recorded for itself.
    let records: Vec<(u16, u64)> = read.iter().map(|entry| entry.key.record()).collect();
    assert_eq!(records[0], records[1]);
    assert!(records[3] == records[4] && records[4] == records[5] && records[5] != records[6], "{records:?}");
    let read: Vec<(Origin, Body)> = read.into_iter().map(|entry| (entry.origin, entry.body)).collect();
    assert_eq!(read, round_trip_bodies(make_session()));
}

#[test]
fn what_a_compaction_took_away_is_kept_and_not_live() {
    let mut told = make_session();
    for past in &mut told[..4] {
        if let UasfItem::Entry { past, .. } = past {
            *past = true;
        }
    }
    let transcript =
        crate::transcript::Transcript { entries: read_document(&write_document(told)), ..Default::default() };
    let live = crate::live::context_order(&transcript);
    assert_eq!(live.len(), 6);
    assert_eq!(crate::live::full_history(&transcript).len(), 12);
}

#[test]
fn prompts_that_were_typed_ahead_stay_typed_ahead() {
    let queued = |queued| UasfItem::Queued { at: None, text: "later".to_owned(), queued };
    let read = read_document(&write_document(vec![queued(Queued::Waiting), queued(Queued::Taken)]));
    let change = |body: &Body| matches!(body, Body::Note(Note::Queue(QueueChange::Removed(_))));
    assert_eq!(read.iter().map(|entry| change(&entry.body)).collect::<Vec<_>>(), [false, false, true]);
}

#[test]
fn no_secret_is_left_wherever_it_stands() {
    let told = write_uasf(&Header { title: Some(SECRET.to_owned()), ..Header::default() }, make_session());
    assert!(serde_json::to_string(&told).unwrap().contains(SECRET));
    let masked = serde_json::to_string(&told.redacted()).unwrap();
    assert!(masked.contains("[redacted: github-pat]") && !masked.contains(&SECRET[4..20]), "{masked}");
}

/// The first version, as others write it: nothing but the kinds and their fields.
#[test]
fn the_first_version_is_read() {
    let document = json!({ "events": [
        { "type": "user_message", "content": "hi" },
        { "type": "shell_command", "command": "ls", "output": "a", "exit_code": 1 },
        { "type": "file_edit", "path": "a", "old": "x", "new": "y" },
        { "type": "file_edit", "path": "a", "old": "", "new": "" },
        { "type": "code_search", "tool": "Grep", "query": "x", "results": null },
        { "type": "from_the_future" },
    ] });
    let kinds: Vec<&str> = read_document(&document).iter().map(|entry| entry.body.kind()).collect();
    assert_eq!(kinds, ["prompt", "call", "outcome", "call", "call", "call", "opaque"]);
    let meant = |index: usize| match &read_document(&document)[index].body {
        Body::Call(call) => action_from_call(call),
        _ => None,
    };
    assert_eq!(meant(1), Some(Action::Run { command: "ls".to_owned(), workdir: None }));
    assert!(matches!(meant(3), Some(Action::Edit(changes)) if matches!(changes[..], [Change::Update { .. }])));
    assert!(matches!(meant(4), Some(Action::Edit(changes)) if matches!(changes[..], [Change::Delete { .. }])));
}

#[test]
fn what_a_prompt_tells_to_be_secret_is_masked_in_the_title() {
    let prompt = "$ cat ~/.pgpass\ndb.acme.io:5432:shop:app:pgpass7Lm2q";
    let event =
        UasfEvent { kind: "user_message".to_owned(), content: Some(Some(prompt.to_owned())), ..UasfEvent::default() };
    let session = UasfSession { title: Some(prompt.replace('\n', " ")), ..UasfSession::default() };
    let told = Uasf { schema: "", session, events: vec![event] }.redacted();
    let title = told.session.title.unwrap();
    assert!(title.contains("[redacted: ") && !title.contains("pgpass7Lm2q"), "{title}");
}

#[test]
fn nothing_outside_of_the_file_is_named() {
    let part = json!({ "media_type": "image/png", "data": "../../etc/passwd\n" });
    let read = read_document(&json!({ "events": [{ "type": "user_message", "parts": [part] }] }));
    let Body::Prompt(parts) = &read[0].body else { panic!("no prompt") };
    assert!(matches!(&parts[..], [Part::Blob(Blob { location: BlobLocation::LeftOut, .. })]));
}
