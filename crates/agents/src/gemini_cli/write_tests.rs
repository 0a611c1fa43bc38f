//! Plans, byte for byte, and what our own reader makes of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use carryover_core::json::Json;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{
    Action, Blob, Body, Call, CallForm, CallId, Change, Entry, EntryKey, Hunk, Origin, Outcome, Part, Place, PlanStep,
    Reasoning, Status, StepState,
};

use super::GeminiCli;
use crate::{Agent, Carried, Env, Op, Os, Store, TargetView, WritePlan, WriteRequest};

const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEklEQVR4nGP4z8CAFWEXHbQSACj/P8Fu7N9hAAAAAElFTkSuQmCC";

fn carried(n: u64, origin: Origin, body: Body, action: Action) -> Carried {
    let key = EntryKey { file: 0, offset: n, part: 0, length: 1 };
    let at = Timestamp::parse("2026-11-15T00:56:22.031Z").map(|at| at.plus_millis(i64::try_from(n).unwrap() * 1000));
    let entry = Entry { key, at, origin, side: false, node: None, body };
    Carried { entry, agent: "other", action, native: None, clipped: false }
}

fn text(text: &str) -> Vec<Part> {
    vec![Part::Text(text.into())]
}

fn image() -> Part {
    let place = Place::Inline(PIXEL.into());
    Part::Blob(Blob { media_type: "image/png".into(), name: None, place })
}

fn call(id: &str, tool: &str, input: &str, form: CallForm) -> Body {
    let input = Json::parse(input).unwrap();
    Body::Call(Box::new(Call { id: CallId(id.into()), tool: tool.into(), input, form }))
}

fn outcome(id: &str, status: Status, exit_code: Option<i32>, parts: Vec<Part>) -> Body {
    Body::Outcome(Box::new(Outcome { call: CallId(id.into()), status, exit_code, parts }))
}

/// A session of another agent with one of everything.
fn session() -> Vec<Carried> {
    let run = Action::Run { command: "ls".into(), workdir: None };
    let hunk = Hunk { context: None, old: "a\nb\n".into(), new: "a\nc\n".into(), everywhere: false };
    let edit = Action::Edit(vec![Change::Update { path: "calc.py".into(), moved_to: None, hunks: vec![hunk] }]);
    let plan = Action::Plan(vec![PlanStep { text: "Fix".into(), state: StepState::InProgress }]);
    let other = || Action::Other;
    let said = |n, body| carried(n, Origin::Agent, body, Action::Other);
    vec![
        said(1, Body::Summary(text("what happened before"))),
        carried(2, Origin::User, Body::Prompt(vec![Part::Text("look at this".into()), image()]), other()),
        said(3, Body::Reasoning(Box::new(Reasoning { text: "hm".into(), sealed: true }))),
        said(4, Body::Reply(text("I look."))),
        carried(5, Origin::Agent, call("c1", "shell_of_other", r#"{"cmd":"ls"}"#, CallForm::Function), run.clone()),
        carried(6, Origin::Agent, call("c2", "shell_of_other", r#"{"cmd":"ls"}"#, CallForm::Function), run),
        said(7, outcome("c1", Status::Done, Some(0), text("calc.py"))),
        said(8, outcome("c2", Status::Failed, Some(3), text("no such file"))),
        carried(9, Origin::Agent, call("c3", "patch", r#""*** Begin""#, CallForm::Freeform), edit),
        said(10, outcome("c3", Status::Done, None, text("Success"))),
        carried(11, Origin::Agent, call("c4", "plan", r#"{"explanation":"why"}"#, CallForm::Function), plan),
        said(12, outcome("c4", Status::Done, None, text("Plan updated"))),
        carried(13, Origin::Agent, call("c|5", "mcp__git__log", r#"{"n":1}"#, CallForm::Function), other()),
        said(14, outcome("c|5", Status::Done, None, vec![image()])),
        said(15, Body::Reply(text("Done, 日本."))),
    ]
}

fn env() -> Env {
    Env {
        home: "/home/u".into(),
        vars: BTreeMap::new(),
        os: Os::Linux,
        now: Timestamp::parse("2026-11-15T02:00:00.000Z").unwrap(),
        zone: jiff::tz::TimeZone::UTC,
        stores: BTreeMap::new(),
        projects: Vec::new(),
    }
}

fn plan(entries: &[Carried]) -> WritePlan {
    let request = WriteRequest {
        entries,
        brief: None,
        title: Some("Fix add"),
        project: Path::new("/home/u/my_repo"),
        old_project: Some(Path::new("/old/place")),
        branch: Some("main"),
        source_agent: "other",
        source_model: Some("gpt-x"),
        started_at: Timestamp::parse("2026-11-15T00:56:22.031Z").unwrap(),
        permission: carryover_core::transcript::Permission::Ask,
        tokens: 1234,
        seed: 7,
    };
    let env = env();
    let store = Store { root: PathBuf::from("/home/u/.gemini") };
    let target = TargetView { env: &env, store: &store, program: None, version: None };
    GeminiCli.writer().unwrap().plan(&request, &target).unwrap()
}

fn bytes(plan: &WritePlan) -> &[u8] {
    let Op::Create { bytes, .. } = &plan.ops[0] else { panic!("the file comes first") };
    bytes
}

#[test]
fn a_foreign_session_in_this_clients_shape() {
    let entries = session();
    let plan = plan(&entries);
    let file = plan.file.to_string_lossy().into_owned();
    assert!(file.starts_with("/home/u/.gemini/tmp/my-repo/chats/session-2026-11-15T02-00-"), "{file}");
    assert!(!file.contains(plan.session.short()), "the client deletes files that end in its id");
    let Op::Create { path, bytes: marker, .. } = &plan.ops[1] else { panic!("no marker") };
    assert!(path.ends_with("tmp/my-repo/.project_root"));
    assert_eq!(marker, b"/home/u/my_repo");
    insta::assert_snapshot!(String::from_utf8_lossy(bytes(&plan)).replace(PIXEL, "PIXEL"));
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
    let written = String::from_utf8_lossy(bytes(&plan));
    let lines: Vec<serde_json::Value> = written.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
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
