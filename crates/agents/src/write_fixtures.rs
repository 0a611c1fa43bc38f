//! A session of another agent with one of everything, and a target to write it to: what the tests of writers share.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use carryover_core::json::Json;
use carryover_core::live::{self, LiveItem};
use carryover_core::time::Timestamp;
use carryover_core::transcript::{
    Action, Blob, BlobLocation, Body, Call, CallForm, CallId, Change, Entry, EntryKey, Hunk, Origin, Outcome, Part,
    Permission, PlanStep, Reasoning, Status, StepChange, StepState,
};
use serde_json::Value;

use crate::fixtures::read_session;
use crate::{
    AGENTS, Agent, AgentError, CarriedEntry, Env, Os, OwnSession, Source, Store, TargetView, Version, WriteOp,
    WritePlan, WriteRequest,
};

pub(crate) const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEklEQVR4nGP4z8CAFWEXHbQSACj/P8Fu7N9hAAAAAElFTkSuQmCC";

/// An entry, that many seconds after the session began.
pub(crate) fn carried_entry(n: u64, origin: Origin, body: Body, action: Action) -> CarriedEntry {
    let key = EntryKey { file: 0, offset: n, part: 0, length: 1 };
    let at = Some(start_time().plus_millis(i64::try_from(n).unwrap() * 1000));
    let entry = Entry { key, at, origin, side: false, node: None, body };
    CarriedEntry { entry, agent: "other", action, native: None, clipped: false }
}

fn start_time() -> Timestamp {
    Timestamp::parse("2026-11-15T00:56:22.031Z").unwrap()
}

pub(crate) fn text_parts(text: &str) -> Vec<Part> {
    vec![Part::Text(text.into())]
}

pub(crate) fn image_part() -> Part {
    blob("image/png", PIXEL)
}

pub(crate) fn blob(media_type: &str, data: &str) -> Part {
    let place = BlobLocation::Inline(data.into());
    Part::Blob(Blob { media_type: media_type.into(), name: None, location: place })
}

pub(crate) fn call_body(id: &str, tool: &str, input: &str, form: CallForm) -> Body {
    let input = Json::parse(input).unwrap();
    Body::Call(Box::new(Call { id: CallId(id.into()), tool: tool.into(), input, form }))
}

pub(crate) fn outcome_body(id: &str, status: Status, exit_code: Option<i32>, parts: Vec<Part>) -> Body {
    Body::Outcome(Box::new(Outcome { call: CallId(id.into()), status, exit_code, parts }))
}

/// A call of a function, to ask a dialect about.
pub(crate) fn function_call(tool: &str, input: &Value) -> Call {
    let input = Json::from_value(input);
    Call { id: CallId("c".into()), tool: tool.into(), input, form: CallForm::Function }
}

/// The hunks of an edit that changes one file in its place.
pub(crate) fn hunks_of(action: &Action) -> &[Hunk] {
    let Action::Edit(changes) = action else { panic!("no edit") };
    let [Change::Update { hunks, .. }] = &changes[..] else { panic!("no update") };
    hunks
}

/// One of everything.
pub(crate) fn full_session() -> Vec<CarriedEntry> {
    let run = Action::Run { command: "ls".into(), workdir: None };
    let plan = Action::Plan(vec![PlanStep { text: "Fix".into(), state: StepState::InProgress }]);
    let other = || Action::Other;
    vec![
        said(1, Body::Summary(text_parts("what happened before"))),
        carried_entry(2, Origin::User, Body::Prompt(vec![Part::Text("look at this".into()), image_part()]), other()),
        said(3, Body::Reasoning(Box::new(Reasoning { text: "hm".into(), sealed: true }))),
        said(4, Body::Reply(text_parts("I look."))),
        carried_entry(
            5,
            Origin::Agent,
            call_body("c1", "shell_of_other", r#"{"cmd":"ls"}"#, CallForm::Function),
            run.clone(),
        ),
        carried_entry(6, Origin::Agent, call_body("c2", "shell_of_other", r#"{"cmd":"ls"}"#, CallForm::Function), run),
        said(7, outcome_body("c1", Status::Done, Some(0), text_parts("calc.py"))),
        said(8, outcome_body("c2", Status::Failed, Some(3), text_parts("no such file"))),
        carried_entry(
            9,
            Origin::Agent,
            call_body("c3", "patch", r#""*** Begin""#, CallForm::Freeform),
            edit("calc.py"),
        ),
        said(10, outcome_body("c3", Status::Done, None, text_parts("Success"))),
        carried_entry(11, Origin::Agent, call_body("c4", "plan", r#"{"explanation":"why"}"#, CallForm::Function), plan),
        said(12, outcome_body("c4", Status::Done, None, text_parts("Plan updated"))),
        carried_entry(13, Origin::Agent, call_body("c|5", "mcp__git__log", r#"{"n":1}"#, CallForm::Function), other()),
        said(14, outcome_body("c|5", Status::Done, None, vec![image_part()])),
        said(15, Body::Reply(text_parts("Done, 日本."))),
    ]
}

pub(crate) fn sample_env() -> Env {
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

/// A session that goes on in a project.
pub(crate) fn sample_request<'a>(project: &'a Path, entries: &'a [CarriedEntry]) -> WriteRequest<'a> {
    WriteRequest {
        entries,
        brief: None,
        title: Some("Fix add"),
        project,
        old_project: Some(Path::new("/old/place")),
        branch: Some("main"),
        source_agent: "other",
        source_model: Some("gpt-x"),
        started_at: start_time(),
        permission: Permission::Ask,
        tokens: 1234,
        seed: 7,
        sub_agent: None,
    }
}

/// The plan of an agent's writer, with its store in this folder of the home.
pub(crate) fn plan_in_home(
    agent: &dyn Agent,
    env: &Env,
    root: &str,
    version: Option<Version>,
    entries: &[CarriedEntry],
) -> Result<WritePlan, AgentError> {
    let store = Store { root: env.home.join(root) };
    let target = TargetView { env, store: &store, program: None, version };
    agent.writer().unwrap().plan(&sample_request(Path::new("/home/u/my_repo"), entries), &target)
}

/// The bytes of the file that holds the session.
pub(crate) fn session_bytes(plan: &WritePlan) -> &[u8] {
    let WriteOp::Create { bytes, .. } = &plan.ops[0] else { panic!("the file comes first") };
    bytes
}

/// The file that holds the session, with the image's bytes by their name.
pub(crate) fn shown(plan: &WritePlan) -> String {
    String::from_utf8_lossy(session_bytes(plan)).replace(PIXEL, "PIXEL")
}

/// The records of the file.
pub(crate) fn records(plan: &WritePlan) -> Vec<Value> {
    let text = std::str::from_utf8(session_bytes(plan)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Holds a plan to where it says that entries are: each but these at the beginning of a line.
pub(crate) fn assert_entries_found(plan: &WritePlan, entries: &[CarriedEntry], unwritten: &[usize]) {
    let found: Vec<usize> = plan.origins.iter().map(|written| written.entry).collect();
    let expected = (0..entries.len()).filter(|index| !unwritten.contains(index));
    assert_eq!(found, expected.collect::<Vec<_>>());
    for written in &plan.origins {
        let start = usize::try_from(written.offset).unwrap();
        assert!(start == 0 || session_bytes(plan)[start - 1] == b'\n');
    }
}

/// Lines of a fixture of an agent's own, which are to be written back; what they say is not looked at.
pub(crate) fn own_entries(agent: &'static str, lines: &[&str]) -> Vec<CarriedEntry> {
    let own = |(n, line): (u64, &&str)| CarriedEntry {
        native: Some((*line).to_owned()),
        agent,
        ..carried_entry(n, Origin::Agent, Body::Reply(text_parts(&n.to_string())), Action::Other)
    };
    (1..).zip(lines).map(own).collect()
}

/// A session whose project has moved from `/old`, up to its first outcomes.
pub(crate) fn moved_session() -> Vec<CarriedEntry> {
    let run = Action::Run { command: "ls".into(), workdir: Some("/old".into()) };
    let read = Action::Read { path: "/old/x".into(), offset: Some(2), limit: None };
    let prompt = Body::Prompt(vec![Part::Text("look".into()), blob("image/png", MOVED_IMAGE)]);
    vec![
        said(1, Body::Summary(text_parts("what happened before"))),
        carried_entry(2, Origin::User, prompt, Action::Other),
        carried_entry(3, Origin::Hook, Body::Prompt(text_parts("be brief")), Action::Other),
        said(4, Body::Reasoning(Box::new(Reasoning { text: "hm".into(), sealed: true }))),
        said(5, Body::Reply(text_parts("I look."))),
        asked(6, "c1", run),
        asked(7, "c2", read),
        said(8, outcome_body("c1", Status::Failed, Some(3), text_parts("no such file"))),
        said(9, outcome_body("c2", Status::Failed, None, text_parts("denied"))),
    ]
}

/// The data of images in such a session.
pub(crate) const MOVED_IMAGE: &str = "aW1hZ2U=";

/// An entry of the agent's.
pub(crate) fn said(n: u64, body: Body) -> CarriedEntry {
    carried_entry(n, Origin::Agent, body, Action::Other)
}

/// A call in a session whose project has moved.
pub(crate) fn asked(n: u64, id: &str, action: Action) -> CarriedEntry {
    carried_entry(n, Origin::Agent, call_body(id, "their.tool", r#"{"p":"/old/x"}"#, CallForm::Function), action)
}

/// A change of two lines in one file.
pub(crate) fn edit(path: &str) -> Action {
    let hunk = Hunk { context: None, old: "a\nb\n".into(), new: "a\nc\n".into(), everywhere: false };
    Action::Edit(vec![Change::Update { path: path.into(), moved_to: None, hunks: vec![hunk] }])
}

/// Such a session, about to go on in `/new`.
pub(crate) fn moved_request<'a>(entries: &'a [CarriedEntry], brief: Option<&'a str>) -> WriteRequest<'a> {
    WriteRequest {
        brief,
        title: Some("A title"),
        old_project: Some(Path::new("/old")),
        branch: None,
        ..sample_request(Path::new("/new"), entries)
    }
}

/// The plan to move a session as a whole, from `/old` and the home of somebody else to `/new`, and the entries that it holds.
pub(crate) fn plan_own(agent: &dyn Agent, path: &Path) -> (Option<WritePlan>, Vec<CarriedEntry>) {
    let transcript = read_session(agent, path);
    let live = live::resolve_context(&transcript).into_iter().filter_map(|item| match item {
        LiveItem::Entry(index) => Some(transcript.entries[index].clone()),
        LiveItem::Answer { .. } => None,
    });
    let carry =
        |entry| CarriedEntry { entry, agent: agent.facts().id, action: Action::Other, native: None, clipped: false };
    let entries: Vec<CarriedEntry> = live.map(carry).collect();
    let (env, store) = (sample_env(), Store { root: "/home/u/store".into() });
    let program = PathBuf::from("/bin/client");
    let target = TargetView { env: &env, store: &store, program: Some(&program), version: None };
    let source = Source::file(path);
    let root = path.parent().unwrap();
    let old_home = Some(Path::new("/home/other"));
    let own = OwnSession { source: &source, root, header: &transcript.header, old_home };
    let plan = agent.writer().unwrap().plan_own(&own, &moved_request(&entries, None), &target).unwrap();
    (plan, entries)
}

/// Writes a log.
pub(crate) fn write_lines(path: &Path, lines: &[Value]) {
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    write_file(path, (lines.join("\n") + "\n").as_bytes());
}

#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
pub(crate) fn write_file(path: &Path, bytes: &[u8]) {
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, bytes).unwrap();
}

/// Moves a session that lies in a store under this name; what was written holds the same entries where the plan says.
pub(crate) fn move_lines(agent: &dyn Agent, name: &str, lines: &[Value]) -> WritePlan {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    write_lines(&path, lines);
    let (plan, entries) = plan_own(agent, &path);
    let plan = plan.unwrap();
    let again = folder.path().join(plan.file.strip_prefix("/").unwrap());
    write_file(&again, session_bytes(&plan));
    let (_, moved) = plan_own(agent, &again);
    assert_eq!(plan.origins.len(), entries.len());
    for written in &plan.origins {
        let (before, after) = (&entries[written.entry].entry, &moved[written.entry].entry);
        assert_eq!((written.offset, before.body.kind()), (after.key.offset, after.body.kind()));
    }
    plan
}

/// No target can make or change one step of a plan, and its tool's name and input say all of it.
#[test]
fn a_call_that_changes_one_step_is_carried_as_any_other_call() {
    let session = |action: Action| {
        let input = r#"{"taskId":"1","status":"completed"}"#;
        [
            carried_entry(1, Origin::User, Body::Prompt(text_parts("go on")), Action::Other),
            carried_entry(2, Origin::Agent, call_body("c1", "step_of_other", input, CallForm::Function), action),
            carried_entry(
                3,
                Origin::Agent,
                outcome_body("c1", Status::Done, None, text_parts("Updated")),
                Action::Other,
            ),
        ]
    };
    let step = StepChange::Update { id: "1".into(), text: None, state: Some(StepState::Done) };
    let env = sample_env();
    let (one, other) = (session(Action::Step(step)), session(Action::Other));
    let program = PathBuf::from("/bin/client");
    for agent in AGENTS.iter().filter(|agent| agent.writer().is_some()) {
        let store = Store { root: "/home/u/store".into() };
        let version = Version::find_in(agent.facts().versions_seen.1);
        let target = TargetView { env: &env, store: &store, program: Some(&program), version };
        let write = |entries: &[CarriedEntry]| {
            let plan = agent.writer().unwrap().plan(&sample_request(Path::new("/home/u/my_repo"), entries), &target);
            plan.unwrap_or_else(|error| panic!("{}: {error}", agent.facts().id))
        };
        assert_eq!(write(&one), write(&other), "{}", agent.facts().id);
    }
}
