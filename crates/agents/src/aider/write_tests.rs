//! Plans, byte for byte, and what our own reader makes of them.

use std::path::Path;

use carryover_core::live::{self, LiveItem};
use carryover_core::time::Timestamp;
use carryover_core::transcript::{
    Action, Blob, BlobLocation, Body, CallForm, Change, Entry, EntryKey, Hunk, Origin, Part, PlanStep, Reasoning,
    Status, StepState, Transcript, TranscriptBuilder, text_of,
};

use super::Aider;
use crate::write_fixtures::{call_body, outcome_body, sample_env, sample_request, session_bytes, text_parts};
use crate::{Agent, Bookmark, CarriedEntry, Env, Reader, Source, Store, TargetView, WritePlan, WriteRequest};

fn carried_entry(n: u64, origin: Origin, body: Body, action: Action) -> CarriedEntry {
    let key = EntryKey { file: 0, offset: n, part: 0, length: 1 };
    let entry = Entry { key, at: None, origin, side: false, node: None, body };
    CarriedEntry { entry, agent: "other", action, native: None, clipped: false }
}

fn image_part() -> Part {
    let place = BlobLocation::Inline("aW1hZ2U=".into());
    Part::Blob(Blob { media_type: "image/png".into(), name: None, location: place })
}

/// A session of another agent with one of everything.
fn foreign_session() -> Vec<CarriedEntry> {
    let run = Action::Run { command: "ls\n# all".into(), workdir: Some("/old/place/src".into()) };
    let hunk = Hunk { context: None, old: "# a\nb\n".into(), new: "# a\nc\n".into(), everywhere: false };
    let path = "/old/place/calc.py".to_owned();
    let edit = Action::Edit(vec![Change::Update { path, moved_to: None, hunks: vec![hunk] }]);
    let write = Action::Write { path: "/home/u/my_repo/new.md".into(), content: "```\nfenced\n```".into() };
    let plan = Action::Plan(vec![PlanStep { text: "Fix".into(), state: StepState::InProgress }]);
    let said = |n, body| carried_entry(n, Origin::Agent, body, Action::Other);
    let function = CallForm::Function;
    let hook = carried_entry(3, Origin::Hook, Body::Prompt(text_parts("be brief")), Action::Other);
    let prompt = vec![Part::Text("/tmp is full:\n\nlook at this".into()), image_part()];
    vec![
        said(1, Body::Summary(text_parts("what happened before"))),
        carried_entry(2, Origin::User, Body::Prompt(prompt), Action::Other),
        hook,
        said(4, Body::Reasoning(Box::new(Reasoning { text: "hm\n\nwell".into(), sealed: true }))),
        said(5, Body::Reply(text_parts("\nI look.\n\n# Plan\n\n> quoted\n#### Four"))),
        carried_entry(6, Origin::Agent, call_body("c1", "shell", r#"{"cmd":"ls"}"#, function), run.clone()),
        carried_entry(7, Origin::Agent, call_body("c2", "shell", r#"{"cmd":"ls"}"#, function), run),
        said(8, outcome_body("c1", Status::Done, Some(0), text_parts("calc.py"))),
        said(9, outcome_body("c2", Status::Failed, Some(3), text_parts("no such file"))),
        carried_entry(10, Origin::Agent, call_body("c3", "patch", r#""*** Begin""#, CallForm::Freeform), edit),
        said(11, outcome_body("c3", Status::Done, None, text_parts(""))),
        carried_entry(12, Origin::Agent, call_body("c4", "write", "{}", function), write),
        said(13, outcome_body("c4", Status::Interrupted, None, text_parts("stopped"))),
        carried_entry(14, Origin::Agent, call_body("c5", "plan", r#"{"explanation":"why"}"#, function), plan),
        said(15, outcome_body("c5", Status::Done, None, text_parts("Plan updated"))),
        carried_entry(
            16,
            Origin::Agent,
            call_body("c6", "mcp__git__log", r#"{"at":"/old/place/a"}"#, function),
            Action::Other,
        ),
        said(17, outcome_body("c6", Status::Done, None, vec![image_part()])),
        said(18, Body::Reply(text_parts("Done, 日本."))),
        said(19, Body::Reply(text_parts("Really."))),
    ]
}

fn plan_in(project: &Path, entries: &[CarriedEntry], brief: Option<&str>) -> WritePlan {
    let env = Env { zone: jiff::tz::TimeZone::fixed(jiff::tz::offset(2)), ..sample_env() };
    let store = Store { root: project.to_path_buf() };
    let target = TargetView { env: &env, store: &store, program: None, version: None };
    Aider.writer().unwrap().plan(&WriteRequest { brief, ..sample_request(project, entries) }, &target).unwrap()
}

#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
fn read_back(plan: &WritePlan) -> Transcript {
    std::fs::write(&plan.file, session_bytes(plan)).unwrap();
    let mut builder = TranscriptBuilder::new("aider");
    Aider.read_session(&Source { path: plan.file.clone(), key: None }, &Bookmark::Start, &mut builder).unwrap();
    builder.finish()
}

#[test]
fn a_foreign_session_in_this_clients_shape() {
    let plan = plan_in(Path::new("/home/u/my_repo"), &foreign_session(), None);
    insta::assert_snapshot!(String::from_utf8_lossy(session_bytes(&plan)));
    insta::assert_debug_snapshot!((&plan.losses, &plan.resume, plan.translated));
}

#[test]
fn every_entry_is_found_again_where_the_plan_says() {
    let folder = tempfile::tempdir().unwrap();
    let entries = foreign_session();
    let plan = plan_in(&fs_err::canonicalize(folder.path()).unwrap(), &entries, None);
    let transcript = read_back(&plan);
    assert_eq!(transcript.header.session, plan.session);
    assert_eq!(transcript.header.title.as_deref(), Some("Fix add"));
    assert_eq!(transcript.header.started_at, Timestamp::parse("2026-11-15T00:56:22.031Z"));
    assert_eq!(transcript.rejected, []);
    let written: Vec<usize> = plan.origins.iter().map(|written| written.entry).collect();
    assert_eq!(written, (0..entries.len()).collect::<Vec<_>>());
    let alive: Vec<&Entry> = live::resolve_context(&transcript)
        .into_iter()
        .filter_map(|alive| match alive {
            LiveItem::Entry(index) => Some(&transcript.entries[index]),
            LiveItem::Answer { .. } => None,
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
    let plan = plan_in(folder.path(), &foreign_session()[17..], Some("what was left out"));
    let transcript = read_back(&plan);
    let bodies: Vec<&'static str> = live::resolve_context(&transcript)
        .into_iter()
        .filter_map(|alive| match alive {
            LiveItem::Entry(index) => Some(transcript.entries[index].body.kind()),
            LiveItem::Answer { .. } => None,
        })
        .collect();
    assert_eq!(bodies, ["summary", "reply", "reply"]);
}
