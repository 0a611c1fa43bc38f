use serde_json::Value;

use super::fake::{ALPHA, BETA, LIAR};
#[cfg(unix)]
use super::world::write_program;
use super::world::{SAMPLE_RECORDS, World};
use crate::carry::resume::{Options, ResumeError};
use crate::write::disk::RealDisk;
use crate::write::undo::list_undoable;

fn read_records(path: &std::path::Path) -> Vec<Value> {
    World::read_lines(path).iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_session_is_translated_whole() {
    let mut world = World::new();
    world.write_sample();
    let before = fs_err::read(world.write_sample()).unwrap();
    let report = world.resume("aaaa1111", &BETA);
    assert_eq!((report.source, report.target), ("alpha", "beta"));
    assert_eq!((report.carried, report.translated, report.clipped), (8, 7, 0));
    assert_eq!(report.lost.iter().map(|loss| loss.what).collect::<Vec<_>>(), ["reasoning"]);
    assert_eq!(report.warnings, ["Beta is not installed: the session waits for it"]);
    let records = read_records(&report.files[0]);
    let kinds: Vec<&str> = records.iter().map(|record| record["t"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["head", "prompt", "reply", "call", "out", "call", "out", "reply"]);
    assert_eq!(records[1]["image"], "aW1hZ2U=");
    assert_eq!(records[5]["wrote"], "known", "the outcome's record was asked");
    assert_eq!(records[0]["title"], "Fix the parser");
    assert!(records[1..].iter().all(|record| record["via"] == "alpha"));
    assert_eq!(fs_err::read(world.path("home/.alpha/sessions/aaaa1111.alpha.jsonl")).unwrap(), before);
}

#[test]
fn the_same_agent_gets_its_own_records_back() {
    let mut world = World::new();
    world.write_sample();
    let report = world.resume("aaaa1111", &ALPHA);
    assert_eq!(World::read_lines(&report.files[0])[1..], *SAMPLE_RECORDS);
    assert_eq!(report.translated, 0);
}

#[test]
fn what_is_not_live_stays_behind() {
    let mut world = World::new();
    let prompt = r#"{"t":"prompt","s":"kept"}"#;
    let records = [
        prompt,
        r#"{"t":"reply","s":"ghost"}"#,
        r#"{"t":"squeeze"}"#,
        r#"{"t":"summary","s":"sum"}"#,
        SAMPLE_RECORDS[6],
    ];
    world.write_session(&ALPHA, "aaaa1111", "", &records);
    let report = world.resume("aaaa1111", &ALPHA);
    assert_eq!(World::read_lines(&report.files[0])[1..], [prompt, records[3], SAMPLE_RECORDS[6]]);
    world.write_session(&ALPHA, "aaaa2222", "", &[prompt, r#"{"t":"compact"}"#, records[3]]);
    let report = world.resume("aaaa2222", &ALPHA);
    assert_eq!(World::read_lines(&report.files[0])[1..], [records[3]]);
}

#[test]
fn a_call_without_an_outcome_is_answered_as_its_client_would() {
    let mut world = World::new();
    world.write_session(&ALPHA, "aaaa1111", "", &[SAMPLE_RECORDS[0], SAMPLE_RECORDS[4]]);
    let report = world.resume("aaaa1111", &BETA);
    let records = read_records(&report.files[0]);
    assert_eq!((&records[3]["s"], &records[3]["failed"]), (&"[cut off]".into(), &true.into()));
    assert_eq!(records[3]["id"], records[2]["id"]);
}

#[test]
fn an_image_that_cannot_be_had_is_named() {
    let mut world = World::new();
    world.write_session(&ALPHA, "aaaa1111", "", &[r#"{"t":"prompt","s":"see","image":"remote:1"}"#]);
    let report = world.resume("aaaa1111", &BETA);
    assert_eq!((report.lost[0].what, report.lost[0].count), ("images", 1));
    let text = World::read_lines(&report.files[0]).join("\n");
    assert!(text.contains("[image not carried over: a.png]") && !text.contains("remote:1"));
}

#[test]
fn an_empty_session_is_refused() {
    let mut world = World::new();
    world.write_session(&ALPHA, "aaaa1111", "", &[]);
    let result = world.try_resume(&mut RealDisk, "aaaa1111", &World::resume_options(&BETA));
    assert!(matches!(result, Err(ResumeError::Empty(_))));
}

#[test]
fn a_dry_run_changes_nothing() {
    let mut world = World::new();
    world.write_sample();
    let before = world.read_tree();
    let options = Options { dry_run: true, ..World::resume_options(&BETA) };
    let report = world.try_resume(&mut RealDisk, "aaaa1111", &options).unwrap();
    assert_eq!(world.read_tree(), before);
    assert_eq!(report.undo_id, None);
    assert!(report.steps[0].starts_with("create ") && report.steps[0].ends_with("bytes)"), "{:?}", report.steps);
    assert!(!world.path("ours/resumes").exists());
}

#[test]
fn the_project_is_the_one_given_else_its_own_else_this_one() {
    let mut world = World::new();
    world.write_sample();
    fs_err::create_dir(world.path("other")).unwrap();
    let options = Options { project: Some(world.path("other")), ..World::resume_options(&BETA) };
    let report = world.try_resume(&mut RealDisk, "aaaa1111", &options).unwrap();
    assert_eq!(report.command.cwd, world.path("other"));
    let options = Options { project: Some(world.path("missing")), ..World::resume_options(&BETA) };
    let result = world.try_resume(&mut RealDisk, "aaaa1111", &options);
    assert!(matches!(result, Err(ResumeError::NoProject(_))));
    let gone = format!(r#","project":"{}","live":true,"free":true"#, world.path("gone").display());
    world.write_session(&ALPHA, "aaaa2222", &gone, SAMPLE_RECORDS);
    let report = world.resume("aaaa2222", &BETA);
    assert_eq!(report.command.cwd, world.path("project"));
    assert!(report.warnings[0].ends_with("gone is gone: the session goes on in this folder"));
    assert!(report.warnings[1].starts_with("Alpha is still running"));
    assert!(report.lost.iter().any(|loss| loss.what == "permission mode"));
}

#[test]
fn what_is_too_large_is_clipped_outlined_or_refused() {
    let mut world = World::new();
    let out = format!(r#"{{"t":"out","id":"c1","s":"{}"}}"#, "x".repeat(40_000));
    let records = [
        SAMPLE_RECORDS[0],
        SAMPLE_RECORDS[2],
        &out,
        SAMPLE_RECORDS[6],
        r#"{"t":"prompt","s":"and now"}"#,
        r#"{"t":"reply","s":"ok"}"#,
    ];
    world.write_session(&ALPHA, "aaaa1111", "", &records);
    let resume = |world: &mut World, tokens| {
        let options = Options { tokens: Some(tokens), ..World::resume_options(&ALPHA) };
        world.try_resume(&mut RealDisk, "aaaa1111", &options)
    };
    let report = resume(&mut world, 5_000).unwrap();
    assert_eq!(report.clipped, 1);
    let lines = World::read_lines(&report.files[0]);
    assert!(lines[4 - 1].len() < 20_000, "the clipped record was not written back as it was");
    assert!(report.tokens <= 5_000);
    let report = resume(&mut world, 400).unwrap();
    let lines = World::read_lines(&report.files[0]);
    assert!(lines[1].contains("carryover's outline") && lines[1].contains("User: look"), "{}", lines[1]);
    assert_eq!(lines[2..], records[4..]);
    assert_eq!(report.lost[0].what, "older messages");
    assert!(matches!(resume(&mut world, 10), Err(ResumeError::CannotFit { window: 10, .. })));
    world.write_file("home/.beta/tiny", "");
    let report = world.try_resume(&mut RealDisk, "aaaa1111", &World::resume_options(&BETA));
    assert!(matches!(report, Err(ResumeError::CannotFit { window: 40, .. })), "the window of the target's model");
}

#[test]
fn the_same_session_again_supersedes_a_copy_that_nobody_used() {
    let mut world = World::new();
    world.write_sample();
    let first = world.resume("aaaa1111", &BETA);
    let second = world.resume("aaaa1111", &BETA);
    assert_eq!(second.superseded, Some(first.session.0));
    assert!(!first.files[0].exists() && second.files[0].exists());
    World::append_lines(&second.files[0], &[r#"{"t":"prompt","s":"used"}"#]);
    let third = world.resume("aaaa1111", &BETA);
    assert_eq!(third.superseded, None);
    assert!(second.files[0].exists() && third.files[0].exists());
}

#[test]
fn what_does_not_read_back_is_taken_back() {
    let mut world = World::new();
    world.write_sample();
    let before = world.read_tree();
    let result = world.try_resume(&mut RealDisk, "aaaa1111", &World::resume_options(&LIAR));
    assert!(matches!(result, Err(ResumeError::ReadBack("replies are missing"))));
    assert_eq!(world.read_tree(), before);
    assert!(list_undoable(&world.context).is_empty());
}

#[cfg(unix)]
#[test]
fn files_are_private_and_have_the_time_that_was_planned() {
    use std::os::unix::fs::PermissionsExt;
    let mut world = World::new();
    world.write_sample();
    let report = world.resume("aaaa1111", &BETA);
    let metadata = fs_err::metadata(&report.files[0]).unwrap();
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    let since = metadata.modified().unwrap().duration_since(std::time::UNIX_EPOCH).unwrap();
    assert_eq!(since.as_millis(), 1_000_000);
    for file in fs_err::read_dir(world.path("ours/resumes")).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|end| end == "json") {
            assert_eq!(fs_err::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }
}

#[cfg(unix)]
#[test]
fn a_registration_is_run_and_its_failure_is_a_warning() {
    let mut world = World::new();
    world.write_sample();
    let client = world.path("bin/fake-client");
    write_program(&client, "echo 1.2.3\necho \"$1\" >> \"$HOME/log\"");
    let report = world.resume("aaaa1111", &BETA);
    assert!(report.warnings.is_empty(), "{:?}", report.warnings);
    assert_eq!(World::read_lines(&world.path("home/log")), ["register"], "the version was asked in another home");
    write_program(&client, "exit 7");
    let report = world.resume("aaaa1111", &BETA);
    assert!(report.warnings[0].contains("so that it is listed"), "{:?}", report.warnings);
    assert!(report.files[0].exists());
}
