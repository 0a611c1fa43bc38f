//! Plans, byte for byte, and what our own reader makes of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use carryover_core::json::Json;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{
    Action, Blob, Body, Call, CallForm, CallId, Change, Entry, EntryKey, Hunk, Origin, Outcome, Part, Place, PlanStep,
    Reasoning, Status, StepState,
};

use super::CopilotCli;
use crate::{Agent, Carried, Env, Op, Os, Store, TargetView, Version, WritePlan, WriteRequest};

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

fn plan(entries: &[Carried], version: Version) -> WritePlan {
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
    let store = Store { root: PathBuf::from("/home/u/.copilot") };
    let target = TargetView { env: &env, store: &store, program: None, version: Some(version) };
    CopilotCli.writer().unwrap().plan(&request, &target).unwrap()
}

fn bytes(plan: &WritePlan) -> &[u8] {
    let Op::Create { bytes, .. } = &plan.ops[0] else { panic!("the file comes first") };
    bytes
}

#[test]
fn a_foreign_session_in_this_clients_shape() {
    let entries = session();
    let plan = plan(&entries, Version(1, 0, 102));
    let file = plan.file.to_string_lossy().into_owned();
    assert!(file.starts_with("/home/u/.copilot/session-state/") && file.ends_with("/events.jsonl"), "{file}");
    insta::assert_snapshot!("events", String::from_utf8_lossy(bytes(&plan)).replace(PIXEL, "PIXEL"));
    let Op::Create { bytes: table, .. } = &plan.ops[1] else { panic!("then the table") };
    insta::assert_snapshot!("workspace", String::from_utf8_lossy(table));
    insta::assert_debug_snapshot!("losses", plan.losses);
}

#[test]
fn every_entry_is_found_again_where_the_plan_says() {
    let entries = session();
    let plan = plan(&entries, Version(1, 0, 102));
    let found: Vec<usize> = plan.origins.iter().map(|written| written.entry).collect();
    assert_eq!(found, (0..entries.len()).collect::<Vec<_>>());
    for written in &plan.origins {
        let start = usize::try_from(written.offset).unwrap();
        assert!(start == 0 || bytes(&plan)[start - 1] == b'\n');
    }
}

fn kinds(plan: &WritePlan) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes(plan)).into_owned();
    let events = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    events.map(|event| event["type"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_compaction_never_takes_away_what_stands_before_it() {
    let prompt = |n, parts| carried(n, Origin::User, Body::Prompt(parts), Action::Other);
    let said = |n, body| carried(n, Origin::Agent, body, Action::Other);
    let summary = || said(3, Body::Summary(text("so far")));
    let check = |entries: &[Carried], expected: &[&str]| {
        assert_eq!(kinds(&plan(entries, Version(1, 0, 102)))[1..], *expected);
    };
    check(&[prompt(1, text("a")), summary()], &["user.message", "session.compaction_complete"]);
    check(&[prompt(1, vec![image()]), summary()], &["user.message", "user.message"]);
    check(&[said(1, Body::Reply(text("a"))), summary()], &["assistant.message", "user.message"]);
}

#[test]
fn an_outcome_that_comes_late_stays_with_its_message() {
    let said = |n, body| carried(n, Origin::Agent, body, Action::Other);
    let ask = |n, id| said(n, call(id, "x", "{}", CallForm::Function));
    let done = |n, id| said(n, outcome(id, Status::Done, None, text(id)));
    let entries = [
        ask(1, "a"),
        ask(2, "b"),
        done(3, "a"),
        ask(4, "c"),
        said(5, Body::Reply(text("hm"))),
        done(6, "b"),
        done(7, "c"),
    ];
    let plan = plan(&entries, Version(1, 0, 102));
    let (message, start, complete) = ("assistant.message", "tool.execution_start", "tool.execution_complete");
    assert_eq!(kinds(&plan)[1..], [message, start, start, complete, complete, message, start, complete]);
}

#[test]
fn its_own_records_come_back_as_they_were() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/copilot_cli/fixtures/1.0.102-tools.jsonl");
    let source = crate::Source { path, key: None };
    let mut builder = carryover_core::transcript::TranscriptBuilder::new("copilot-cli");
    CopilotCli.read(&source, &crate::Bookmark::Start, &mut builder).unwrap();
    let transcript = builder.finish();
    let mut entries = Vec::new();
    let mut originals: Vec<serde_json::Value> = Vec::new();
    for index in carryover_core::live::order(&transcript) {
        let mut entry = transcript.entries[index].clone();
        let native = CopilotCli.record(&transcript.header, entry.key).unwrap();
        if let Body::Prompt(parts) = &mut entry.body {
            parts.retain(|part| matches!(part, Part::Text(_)));
            parts.push(image());
        }
        let value: serde_json::Value = serde_json::from_str(&native).unwrap();
        if originals.last() != Some(&value) {
            originals.push(value);
        }
        entries.push(Carried {
            entry,
            agent: "copilot-cli",
            action: Action::Other,
            native: Some(native),
            clipped: false,
        });
    }
    let plan = plan(&entries, Version(1, 0, 102));
    assert_eq!(plan.origins.len(), entries.len());
    let written = String::from_utf8(bytes(&plan).to_vec()).unwrap();
    let again = written.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let (assets, again): (Vec<_>, Vec<_>) = again
        .filter(|event| event["type"] != "session.start" && event["type"] != "tool.execution_start")
        .partition(|event| event["type"] == "session.binary_asset");
    assert_eq!(assets.iter().filter(|asset| asset["data"]["data"] == PIXEL).count(), 1);
    assert_eq!(again.len(), originals.len());
    for (original, again) in originals.iter().zip(&again) {
        for field in ["id", "timestamp", "type", "data"] {
            assert_eq!(original[field], again[field], "{field}");
        }
    }
}
