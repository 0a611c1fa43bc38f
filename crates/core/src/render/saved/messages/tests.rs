use super::*;
use crate::json::Json;
use crate::render::uasf::{UasfCall, UasfOutcome, UasfPart, UasfSession};
use crate::transcript::{CallForm, Status};

fn event(kind: &str, order: u64) -> UasfEvent {
    UasfEvent { kind: kind.to_owned(), order: Some(order), record: Some(order), ..UasfEvent::default() }
}

fn said(kind: &str, order: u64, text: &str) -> UasfEvent {
    UasfEvent {
        content: Some(Some(text.to_owned())),
        at: Some(format!("2026-11-15T10:00:0{order}Z")),
        ..event(kind, order)
    }
}

fn call(kind: &str, order: u64, input: &str) -> UasfEvent {
    let call = UasfCall {
        id: format!("c{order}"),
        tool: "Tool".to_owned(),
        form: CallForm::Function,
        input: Json::parse(input).unwrap(),
    };
    let outcome = UasfOutcome {
        order: Some(order + 1),
        at: None,
        status: Status::Done,
        exit_code: None,
        parts: Vec::new(),
        action: None,
        answers: Vec::new(),
    };
    UasfEvent { call: Some(call), outcome: Some(outcome), ..event(kind, order) }
}

fn session() -> Vec<UasfEvent> {
    vec![
        said(kind::USER_MESSAGE, 0, "read it"),
        UasfEvent {
            path: Some("a.py".to_owned()),
            content: Some(Some("x = 1".to_owned())),
            ..call(kind::FILE_READ, 1, r#"{"path":"a.py"}"#)
        },
        UasfEvent {
            path: Some("b.py".to_owned()),
            content: Some(Some("y = 2".to_owned())),
            ..call(kind::FILE_WRITE, 3, r#"{"path":"b.py"}"#)
        },
        UasfEvent {
            command: Some("cargo test".to_owned()),
            output: Some(Some("ok".to_owned())),
            exit_code: Some(Some(0)),
            ..call(kind::SHELL_COMMAND, 5, r#"{"command":"cargo test"}"#)
        },
        UasfEvent { message: Some("limit".to_owned()), ..event(kind::ERROR, 7) },
        said(kind::ASSISTANT_TEXT, 8, "done"),
    ]
}

fn save(events: Vec<UasfEvent>) -> SavedMessages {
    save_messages(Uasf { schema: "", session: UasfSession::default(), events })
}

#[test]
fn every_line_is_read_back_as_the_event_that_it_was() {
    let saved = save(session());
    let lines: Vec<String> = saved.messages.iter().map(|message| message.to_line().unwrap()).collect();
    assert!(lines[0].starts_with(r#"{"role":"user","content":"read it","timestamp":"2026-11-15T10:00:00Z""#));
    assert!(lines.iter().all(|line| line.matches("\"content\":").count() == 1), "{lines:#?}");
    let read: Vec<UasfEvent> = lines.iter().map(|line| SavedMessage::parse(line).unwrap().into_event()).collect();
    assert_eq!(read, session());
}

#[test]
fn a_compaction_leaves_the_lines_as_they_were() {
    let before = save(session());
    let mut events = session();
    for event in &mut events[..3] {
        event.past = true;
    }
    let after = save(events);
    assert_eq!(before.messages, after.messages);
    assert_eq!((before.compacted.as_slice(), after.compacted.as_slice()), (&[][..], &[(0, 3)][..]));
}

#[test]
fn images_thoughts_and_long_outputs_do_not_fill_the_repository() {
    let image =
        UasfPart { media_type: Some("image/png".to_owned()), data: Some("AAAA".to_owned()), ..UasfPart::default() };
    let saved = save(vec![
        UasfEvent { parts: vec![image], ..said(kind::USER_MESSAGE, 0, "see") },
        said(kind::THINKING, 1, "hm"),
        UasfEvent {
            command: Some("cat big".to_owned()),
            output: Some(Some("line\n".repeat(10_000))),
            ..call(kind::SHELL_COMMAND, 2, "{}")
        },
    ]);
    assert_eq!(saved.left_out, LeftOut { images: 1, clipped: 1 });
    assert_eq!(saved.messages.len(), 2);
    assert!(saved.messages.iter().all(|message| message.to_line().unwrap().len() < 20_000));
}

#[test]
fn lines_of_others_need_role_and_content_only() {
    let roles = ["user", "assistant", "tool", "system"];
    let kinds = roles.map(|role| {
        let message = SavedMessage::parse(&format!(r#"{{"role":"{role}","content":"x"}}"#)).unwrap();
        message.into_event().kind
    });
    assert_eq!(kinds, [kind::USER_MESSAGE, kind::ASSISTANT_TEXT, kind::CODE_SEARCH, kind::USER_MESSAGE]);
    for line in ["", "{}", "[]", r#"{"role":"boss","content":"x"}"#, r#"{"role":"user","content":3}"#] {
        assert!(SavedMessage::parse(line).is_none(), "{line}");
    }
}
