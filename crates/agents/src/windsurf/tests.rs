//! Transcripts as the documentation shows them.

use carryover_core::transcript::{Action, Body, Transcript, TranscriptBuilder};

use super::Windsurf;
use crate::fixtures::{self, ImageCounts, list_sessions};
use crate::{Agent, Bookmark, Dialect, Reader, Source, Store};

const NAME: &str = "documented.jsonl";
const FIXTURE: &str = include_str!("fixtures/documented.jsonl");

fn read() -> Transcript {
    fixtures::read_session(&Windsurf, &fixtures::fixture_path(&Windsurf, NAME))
}

#[test]
fn steps_are_read_as_who_did_them() {
    insta::assert_snapshot!(fixtures::live_context(&Windsurf, &read(), ImageCounts::Everywhere), @r#"
    user prompt: Rename greet to hello
    agent reply: I'll edit src/app.py.
    agent call: code_action {"new_content":"def hello():\n print('hi')\n","path":"/home/dev/work/demo-app/src/app…
    agent outcome: Done, 0 images:
    agent call: run_command {"command":"python3 src/app.py"}
    agent outcome: Done, 0 images:
    agent reply: greet is hello now.
    "#);
}

#[test]
fn a_step_of_a_kind_that_we_do_not_know_is_kept_and_not_taken_for_words() {
    let transcript = read();
    let unknown = transcript.entries.iter().filter(|entry| entry.body.is_unknown()).count();
    assert_eq!((unknown, transcript.rejected.len()), (1, 0));
}

#[test]
fn calls_mean_what_is_documented() {
    let transcript = read();
    let calls = transcript.entries.iter().filter_map(|entry| match &entry.body {
        Body::Call(call) => Some(Windsurf.action(call, None)),
        _ => None,
    });
    let path = "/home/dev/work/demo-app/src/app.py".to_owned();
    let content = "def hello():\n    print('hi')\n".to_owned();
    let run = Action::Run { command: "python3 src/app.py".to_owned(), workdir: None };
    assert_eq!(calls.collect::<Vec<_>>(), [Action::Write { path, content }, run]);
}

#[test]
fn reading_in_two_steps_is_reading_at_once() {
    fixtures::check_reading_in_steps(&Windsurf, NAME, fixtures::cut_every(1), || TranscriptBuilder::new("windsurf"));
    fixtures::check_truncation(&Windsurf, NAME);
}

#[test]
fn a_transcript_that_is_written_anew_with_a_changed_step_is_read_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    let source = Source::file(&path);
    let before =
        FIXTURE.replace(r#""status":"done","type":"code_action""#, r#""status":"running","type":"code_action""#);
    std::fs::write(&path, before).unwrap();
    let mut builder = TranscriptBuilder::new("windsurf");
    let bookmark = Windsurf.read_session(&source, &Bookmark::Start, &mut builder).unwrap();
    std::fs::write(&path, FIXTURE).unwrap();
    Windsurf.read_session(&source, &bookmark, &mut builder).unwrap();
    let outcomes = builder.finish().entries.iter().filter(|entry| matches!(entry.body, Body::Outcome(_))).count();
    assert_eq!(outcomes, 2);
}

#[test]
fn the_project_is_the_repository_of_the_file_that_was_changed() {
    let home = tempfile::tempdir().unwrap();
    let project = home.path().join("demo-app");
    std::fs::create_dir_all(project.join(".git")).unwrap();
    let folder = home.path().join(".windsurf/transcripts");
    std::fs::create_dir_all(&folder).unwrap();
    let text = FIXTURE.replace("/home/dev/work/demo-app", &project.display().to_string());
    std::fs::write(folder.join("8f3c1a52.jsonl"), text).unwrap();
    let found = list_sessions(&Windsurf, &home.path().join(".windsurf"));
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].id.0.as_str(), found[0].title.as_deref()), ("8f3c1a52", Some("Rename greet to hello")));
    assert_eq!(found[0].project.as_deref(), Some(project.as_path()));
}

#[test]
fn whoever_goes_to_another_repository_and_back_is_in_the_last_one() {
    let home = tempfile::tempdir().unwrap();
    let step = |name: &str| {
        let project = home.path().join(name);
        std::fs::create_dir_all(project.join(".git")).unwrap();
        let path = project.join("src/a.py").display().to_string().replace('\\', "\\\\");
        format!(r#"{{"type":"view_file","status":"done","view_file":{{"path":"{path}"}}}}"#)
    };
    let path = home.path().join("a.jsonl");
    let project_of = |steps: &[&str]| {
        let lines: String = steps.iter().map(|name| step(name) + "\n").collect();
        std::fs::write(&path, FIXTURE.to_owned() + &lines).unwrap();
        fixtures::read_session(&Windsurf, &path).header.project
    };
    assert_eq!(project_of(&["one", "one", "two"]), Some(home.path().join("two")));
    assert_eq!(project_of(&["one", "two", "two", "one"]), Some(home.path().join("one")));
}

#[test]
fn encrypted_conversations_are_counted() {
    let home = tempfile::tempdir().unwrap();
    let store = Store { root: home.path().to_path_buf() };
    assert_eq!(Windsurf.unreadable_sessions(&store), None);
    std::fs::create_dir_all(home.path().join("cascade/implicit")).unwrap();
    std::fs::write(home.path().join("cascade/a.pb"), [7; 40]).unwrap();
    assert_eq!(Windsurf.unreadable_sessions(&store).unwrap().count, 1);
    assert!(list_sessions(&Windsurf, home.path()).is_empty());
}
