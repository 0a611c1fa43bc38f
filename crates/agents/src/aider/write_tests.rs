//! Plans, byte for byte, and what our own reader makes of them.

use std::path::Path;

use carryover_core::live::{self, Alive};
use carryover_core::time::Timestamp;
use carryover_core::transcript::{
    Action, Blob, Body, CallForm, Change, Entry, EntryKey, Hunk, Origin, Part, Place, PlanStep, Reasoning, Status,
    StepState, Transcript, TranscriptBuilder, text_of,
};

use super::Aider;
use crate::foreign::{bytes, call, env, outcome, request, text};
use crate::{Agent, Bookmark, Carried, Env, Reader, Source, Store, TargetView, WritePlan, WriteRequest};

fn carried(n: u64, origin: Origin, body: Body, action: Action) -> Carried {
    let key = EntryKey { file: 0, offset: n, part: 0, length: 1 };
    let entry = Entry { key, at: None, origin, side: false, node: None, body };
    Carried { entry, agent: "other", action, native: None, clipped: false }
}

fn image() -> Part {
    let place = Place::Inline("aW1hZ2U=".into());
    Part::Blob(Blob { media_type: "image/png".into(), name: None, place })
}

/// A session of another agent with one of everything.
fn session() -> Vec<Carried> {
    let run = Action::Run { command: "ls\n# all".into(), workdir: Some("/old/place/src".into()) };
    let hunk = Hunk { context: None, old: "# a\nb\n".into(), new: "# a\nc\n".into(), everywhere: false };
    let path = "/old/place/calc.py".to_owned();
    let edit = Action::Edit(vec![Change::Update { path, moved_to: None, hunks: vec![hunk] }]);
    let write = Action::Write { path: "/home/u/my_repo/new.md".into(), content: "```\nfenced\n```".into() };
    let plan = Action::Plan(vec![PlanStep { text: "Fix".into(), state: StepState::InProgress }]);
    let said = |n, body| carried(n, Origin::Agent, body, Action::Other);
    let function = CallForm::Function;
    let hook = carried(3, Origin::Hook, Body::Prompt(text("be brief")), Action::Other);
    let prompt = vec![Part::Text("/tmp is full:\n\nlook at this".into()), image()];
    vec![
        said(1, Body::Summary(text("what happened before"))),
        carried(2, Origin::User, Body::Prompt(prompt), Action::Other),
        hook,
        said(4, Body::Reasoning(Box::new(Reasoning { text: "hm\n\nwell".into(), sealed: true }))),
        said(5, Body::Reply(text("\nI look.\n\n# Plan\n\n> quoted\n#### Four"))),
        carried(6, Origin::Agent, call("c1", "shell", r#"{"cmd":"ls"}"#, function), run.clone()),
        carried(7, Origin::Agent, call("c2", "shell", r#"{"cmd":"ls"}"#, function), run),
        said(8, outcome("c1", Status::Done, Some(0), text("calc.py"))),
        said(9, outcome("c2", Status::Failed, Some(3), text("no such file"))),
        carried(10, Origin::Agent, call("c3", "patch", r#""*** Begin""#, CallForm::Freeform), edit),
        said(11, outcome("c3", Status::Done, None, text(""))),
        carried(12, Origin::Agent, call("c4", "write", "{}", function), write),
        said(13, outcome("c4", Status::Interrupted, None, text("stopped"))),
        carried(14, Origin::Agent, call("c5", "plan", r#"{"explanation":"why"}"#, function), plan),
        said(15, outcome("c5", Status::Done, None, text("Plan updated"))),
        carried(16, Origin::Agent, call("c6", "mcp__git__log", r#"{"at":"/old/place/a"}"#, function), Action::Other),
        said(17, outcome("c6", Status::Done, None, vec![image()])),
        said(18, Body::Reply(text("Done, 日本."))),
        said(19, Body::Reply(text("Really."))),
    ]
}

fn plan_in(project: &Path, entries: &[Carried], brief: Option<&str>) -> WritePlan {
    let env = Env { zone: jiff::tz::TimeZone::fixed(jiff::tz::offset(2)), ..env() };
    let store = Store { root: project.to_path_buf() };
    let target = TargetView { env: &env, store: &store, program: None, version: None };
    Aider.writer().unwrap().plan(&WriteRequest { brief, ..request(project, entries) }, &target).unwrap()
}

#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
fn read_back(plan: &WritePlan) -> Transcript {
    std::fs::write(&plan.file, bytes(plan)).unwrap();
    let mut builder = TranscriptBuilder::new("aider");
    Aider.read(&Source { path: plan.file.clone(), key: None }, &Bookmark::Start, &mut builder).unwrap();
    builder.finish()
}

#[test]
fn a_foreign_session_in_this_clients_shape() {
    let plan = plan_in(Path::new("/home/u/my_repo"), &session(), None);
    insta::assert_snapshot!(String::from_utf8_lossy(bytes(&plan)));
    insta::assert_debug_snapshot!((&plan.losses, &plan.resume, plan.translated));
}

#[test]
fn every_entry_is_found_again_where_the_plan_says() {
    let folder = tempfile::tempdir().unwrap();
    let entries = session();
    let plan = plan_in(&fs_err::canonicalize(folder.path()).unwrap(), &entries, None);
    let transcript = read_back(&plan);
    assert_eq!(transcript.header.session, plan.session);
    assert_eq!(transcript.header.title.as_deref(), Some("Fix add"));
    assert_eq!(transcript.header.started_at, Timestamp::parse("2026-11-15T00:56:22.031Z"));
    assert_eq!(transcript.rejected, []);
    let written: Vec<usize> = plan.origins.iter().map(|written| written.entry).collect();
    assert_eq!(written, (0..entries.len()).collect::<Vec<_>>());
    let alive: Vec<&Entry> = live::resolve(&transcript)
        .into_iter()
        .filter_map(|alive| match alive {
            Alive::Entry(index) => Some(&transcript.entries[index]),
            Alive::Answer { .. } => None,
        })
        .collect();
    let offsets: Vec<u64> = alive.iter().map(|entry| entry.key.offset).collect();
    assert_eq!(offsets, plan.origins.iter().map(|written| written.offset).collect::<Vec<_>>());
    for (entry, carried) in alive.iter().zip(&entries) {
        let asked = match &carried.entry.body {
            Body::Call(_) | Body::Outcome(_) => "reply",
            body => body.kind(),
        };
        assert_eq!((entry.body.kind(), entry.origin), (asked, carried.entry.origin));
    }
    assert_eq!(text_of(alive[4].body.parts()), "I look.\n\n# Plan\n\n> quoted\n#### Four");
    assert_eq!(alive[3].body, Body::Reasoning(Box::new(Reasoning { text: "hm\n\nwell".into(), sealed: false })));
}

#[test]
fn an_outline_stands_first_as_the_clients_own_summary() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan_in(folder.path(), &session()[17..], Some("what was left out"));
    let transcript = read_back(&plan);
    let bodies: Vec<&'static str> = live::resolve(&transcript)
        .into_iter()
        .filter_map(|alive| match alive {
            Alive::Entry(index) => Some(transcript.entries[index].body.kind()),
            Alive::Answer { .. } => None,
        })
        .collect();
    assert_eq!(bodies, ["summary", "reply", "reply"]);
}
