use super::fake::{ALPHA, BETA};
use super::world::{SAMPLE_RECORDS, World};
use crate::carry::resume::Options;
use crate::write::disk::RealDisk;

const PROMPT_LINE: &str = r#"{"t":"prompt","s":"and in beta?"}"#;
const CALL_LINE: &str = r#"{"t":"call","id":"b1","tool":"sh","input":{"command":"pwd"}}"#;
const OUTCOME_LINE: &str = r#"{"t":"out","id":"b1","s":"/"}"#;
const REPLY_LINE: &str = r#"{"t":"reply","s":"in beta"}"#;

/// A story that went from alpha to beta and was gone on with there.
fn carried_and_continued() -> (World, String, std::path::PathBuf) {
    let mut world = World::new();
    world.write_sample();
    let report = world.resume("aaaa1111", &BETA);
    World::append_lines(&report.files[0], &[PROMPT_LINE, CALL_LINE, OUTCOME_LINE, REPLY_LINE]);
    (world, report.session.0, report.files[0].clone())
}

fn translated_lines(lines: &[String]) -> Vec<&str> {
    let via = |line: &&String| line.contains("\"via\":");
    lines.iter().filter(via).map(String::as_str).collect()
}

#[test]
fn on_the_way_back_everything_is_an_original_again() {
    let (mut world, session, _) = carried_and_continued();
    let back = world.resume(&session, &ALPHA);
    let lines = World::read_lines(&back.files[0]);
    assert_eq!(
        lines[1..=SAMPLE_RECORDS.len()],
        *SAMPLE_RECORDS,
        "its own records, with the reasoning that the other could not hold"
    );
    let rest = &lines[1 + SAMPLE_RECORDS.len()..];
    assert_eq!(rest.len(), 4);
    assert_eq!(translated_lines(rest).len(), 4);
    assert!(rest.iter().all(|line| line.contains("\"via\":\"beta\"")), "{rest:?}");
    assert_eq!(back.translated, 4);
}

#[test]
fn again_and_again_nothing_is_translated_twice() {
    let (mut world, session, _) = carried_and_continued();
    let alpha = world.resume(&session, &ALPHA);
    World::append_lines(&alpha.files[0], &[r#"{"t":"prompt","s":"third"}"#]);
    let beta = world.resume(&alpha.session.0, &BETA);
    let lines = World::read_lines(&beta.files[0]);
    for own in [PROMPT_LINE, CALL_LINE, OUTCOME_LINE, REPLY_LINE] {
        assert!(lines.iter().any(|line| line == own), "{own} is not its own record in {lines:?}");
    }
    let via_alpha = lines.iter().filter(|line| line.contains("\"via\":\"alpha\"")).count();
    assert_eq!(via_alpha, 7 + 1);
    assert!(!lines.iter().any(|line| line.contains("\"via\":\"beta\"")));
    let again = world.resume(&beta.session.0, &ALPHA);
    let lines = World::read_lines(&again.files[0]);
    assert_eq!(lines[1..=SAMPLE_RECORDS.len()], *SAMPLE_RECORDS);
    assert_eq!(lines.last().unwrap(), r#"{"t":"prompt","s":"third"}"#);
}

#[test]
fn sources_that_changed_or_vanished_are_not_trusted() {
    let spoil: [fn(&World); 4] = [
        |world| fs_err::remove_file(world.path("home/.alpha/sessions/aaaa1111.alpha.jsonl")).unwrap(),
        |world| {
            let path = world.path("home/.alpha/sessions/aaaa1111.alpha.jsonl");
            let text = fs_err::read_to_string(&path).unwrap().replace("done", "DONE");
            crate::own::files::write_private(&path, text.as_bytes()).unwrap();
        },
        |world| {
            let path = world.path("home/.alpha/sessions/aaaa1111.alpha.jsonl");
            crate::own::files::write_private(&path, b"").unwrap();
        },
        |world| {
            for file in fs_err::read_dir(world.path("ours/resumes")).unwrap() {
                let path = file.unwrap().path();
                if path.to_string_lossy().ends_with(".lineage.json") {
                    crate::own::files::write_private(&path, b"{\"broken\":").unwrap();
                }
            }
        },
    ];
    for (number, spoil) in spoil.iter().enumerate() {
        let (mut world, session, _) = carried_and_continued();
        spoil(&world);
        let back = world.resume(&session, &ALPHA);
        let lines = World::read_lines(&back.files[0]);
        assert_eq!(lines.len(), 1 + 7 + 4, "{number}: all of it, as it stood in the other");
        assert_eq!(translated_lines(&lines).len(), 11, "{number}");
    }
}

#[test]
fn a_written_session_that_was_rewritten_is_carried_as_it_stands() {
    let (mut world, session, file) = carried_and_continued();
    let text = fs_err::read_to_string(&file).unwrap().replace("I will", "I shall");
    crate::own::files::write_private(&file, text.as_bytes()).unwrap();
    let back = world.resume(&session, &ALPHA);
    let lines = World::read_lines(&back.files[0]).join("\n");
    assert!(lines.contains("I shall") && !lines.contains("I will"));
}

#[test]
fn what_was_compacted_meanwhile_does_not_come_back() {
    let (mut world, session, file) = carried_and_continued();
    World::append_lines(&file, &[r#"{"t":"compact"}"#, r#"{"t":"summary","s":"short"}"#, REPLY_LINE]);
    let back = world.resume(&session, &ALPHA);
    let lines = World::read_lines(&back.files[0]);
    assert_eq!(lines.len(), 3, "{lines:?}");
    let (mut world, session, file) = carried_and_continued();
    World::append_lines(&file, &[r#"{"t":"squeeze"}"#, r#"{"t":"summary","s":"short"}"#]);
    let back = world.resume(&session, &ALPHA);
    let lines = World::read_lines(&back.files[0]);
    assert_eq!(lines[1], SAMPLE_RECORDS[0]);
    assert_eq!(lines.len(), 1 + 2 + 1, "two prompts and a summary: {lines:?}");
}

#[test]
fn an_outline_gives_way_to_what_it_stood_for() {
    let mut world = World::new();
    let more = [r#"{"t":"prompt","s":"and now"}"#, r#"{"t":"reply","s":"ok"}"#];
    let out = format!(r#"{{"t":"out","id":"c1","s":"{}"}}"#, "x".repeat(40_000));
    let all = [SAMPLE_RECORDS[0], SAMPLE_RECORDS[2], &out, SAMPLE_RECORDS[6], more[0], more[1]];
    world.write_session(&ALPHA, "aaaa1111", "", &all);
    let options = Options { tokens: Some(400), ..World::resume_options(&BETA) };
    let over = world.try_resume(&mut RealDisk, "aaaa1111", &options).unwrap();
    assert_eq!(World::read_lines(&over.files[0]).len(), 4);
    World::append_lines(&over.files[0], &[PROMPT_LINE]);
    let back = world.resume(&over.session.0, &ALPHA);
    let lines = World::read_lines(&back.files[0]);
    assert_eq!(lines[1..7], all);
    assert!(!lines.join("\n").contains("carryover's outline"));
}

#[test]
fn answers_find_their_call_again() {
    let mut world = World::new();
    world.write_session(&ALPHA, "aaaa1111", "", &[SAMPLE_RECORDS[0], SAMPLE_RECORDS[4]]);
    let over = world.resume("aaaa1111", &BETA);
    World::append_lines(&over.files[0], &[PROMPT_LINE]);
    let back = world.resume(&over.session.0, &ALPHA);
    let lines = World::read_lines(&back.files[0]);
    assert_eq!(lines[1..3], [SAMPLE_RECORDS[0], SAMPLE_RECORDS[4]]);
    assert!(lines[3].contains("[cut off]"), "{lines:?}");
}
