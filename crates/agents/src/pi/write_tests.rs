//! Plans, byte for byte, and what our own reader makes of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use carryover_core::json::Json;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{
    Action, Blob, Body, Call, CallForm, CallId, Change, Entry, EntryKey, Hunk, Origin, Outcome, Part, Place, PlanStep,
    Reasoning, Status, StepState,
};

use super::Pi;
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

pub(super) fn env() -> Env {
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
    plan_in(&env(), entries)
}

fn plan_in(env: &Env, entries: &[Carried]) -> WritePlan {
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
    let store = Store { root: PathBuf::from("/home/u/.pi/agent") };
    let target = TargetView { env, store: &store, program: None, version: None };
    Pi.writer().unwrap().plan(&request, &target).unwrap()
}

fn bytes(plan: &WritePlan) -> &[u8] {
    let Op::Create { bytes, .. } = &plan.ops[0] else { panic!("the file comes first") };
    bytes
}

#[test]
fn a_foreign_session_in_this_clients_shape() {
    let entries = session();
    let plan = plan(&entries);
    let file = plan.file.to_string_lossy().replace('\\', "/");
    assert!(file.starts_with("/home/u/.pi/agent/sessions/--home-u-my_repo--/2026-11-15T00-56-22-031Z_"), "{file}");
    insta::assert_snapshot!(String::from_utf8_lossy(bytes(&plan)).replace(PIXEL, "PIXEL"));
    insta::assert_debug_snapshot!(plan.losses);
}

#[test]
fn a_folder_that_the_user_named_holds_the_sessions_of_all_projects() {
    let vars = BTreeMap::from([("PI_CODING_AGENT_SESSION_DIR".to_owned(), "~/all".to_owned())]);
    let plan = plan_in(&Env { vars, ..env() }, &session());
    assert_eq!(plan.file.parent(), Some(Path::new("/home/u/all")));
}

#[test]
fn every_entry_is_found_again_where_the_plan_says() {
    let entries = session();
    let plan = plan(&entries);
    let found: Vec<usize> = plan.origins.iter().map(|written| written.entry).collect();
    // The third is reasoning, which is not written.
    assert_eq!(found, (0..entries.len()).filter(|index| *index != 2).collect::<Vec<_>>());
    for written in &plan.origins {
        let start = usize::try_from(written.offset).unwrap();
        assert!(bytes(&plan)[start - 1] == b'\n');
    }
}

#[test]
fn its_own_records_come_back_as_they_were() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/pi/fixtures/0.87.1-compact.jsonl");
    let text = fs_err::read_to_string(path).unwrap();
    let lines: Vec<&str> = text.lines().skip_while(|line| !line.contains(r#""compaction""#)).collect();
    let mut entries = Vec::new();
    for (n, line) in (1..).zip(lines.iter().filter(|line| !line.contains("session_info"))) {
        let body = Body::Reply(vec![Part::Text(n.to_string())]);
        let native = Some((*line).to_owned());
        entries.push(Carried { native, agent: "pi", ..carried(n, Origin::Agent, body, Action::Other) });
    }
    let plan = plan(&entries);
    let written = String::from_utf8(bytes(&plan).to_vec()).unwrap();
    let again: Vec<serde_json::Value> =
        written.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect();
    for (line, again) in lines.iter().zip(&again).take(entries.len()) {
        let original: serde_json::Value = serde_json::from_str(line).unwrap();
        for field in ["id", "timestamp", "type", "summary"] {
            assert_eq!(original[field], again[field], "{field}");
        }
        assert_eq!(original["message"]["content"], again["message"]["content"]);
    }
    assert_eq!(again[0]["firstKeptEntryId"], again[0]["id"]);
    assert!(again[0].get("systemMessage").is_none());
}
