//! Every agent is held to this.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carryover_agents::{Agent, Bookmark, Dialect, Discovery, FoundSession, Reader, Source, Store};
use carryover_core::live;
use carryover_core::transcript::{Action, Body, Transcript, TranscriptBuilder};

use super::Ink;

const FIXTURE: &str = include_str!("fixtures/1.0.0-tools.jsonl");

/// A store with one session.
fn write_store(text: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions/1.jsonl");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

fn read(path: &Path) -> Transcript {
    let mut builder = TranscriptBuilder::new("ink");
    Ink.read_session(&Source { path: path.to_path_buf(), key: None }, &Bookmark::Start, &mut builder).unwrap();
    builder.finish()
}

fn discover(root: &Path) -> Vec<FoundSession> {
    let mut sessions = Vec::new();
    let store = Store { root: root.to_path_buf() };
    let told = Ink.list_sessions(&store, &mut |found| {
        sessions.push(found);
        ControlFlow::Continue(())
    });
    told.unwrap();
    sessions
}

#[test]
fn sessions_are_found_and_read() {
    let (folder, path) = write_store(FIXTURE.as_bytes());
    let sessions = discover(folder.path());
    assert_eq!(sessions.len(), 1);
    assert_eq!(sessions[0].title.as_deref(), Some("List the files."));
    assert!(!sessions[0].drifted && Ink.recognises(&path, FIXTURE.as_bytes()));
    let transcript = read(&path);
    let kinds: Vec<&str> = transcript.entries.iter().map(|entry| entry.body.kind()).collect();
    assert_eq!(kinds, ["opaque", "prompt", "call", "outcome", "reply", "note"]);
    let live = live::context_order(&transcript);
    assert_eq!(live, [1, 2, 3, 4], "the model sees the call and what came of it");
    assert_eq!(transcript.header.client_version.as_deref(), Some("1.0.0"));
    assert_eq!(transcript.total_usage().unwrap().total.input, 1_200);
    let Body::Call(call) = &transcript.entries[2].body else { panic!("{kinds:?}") };
    assert_eq!(Ink.action(call, None), Action::Run { command: "ls".to_owned(), workdir: None });
    for entry in &transcript.entries {
        assert_eq!(Ink.reload_entries(&transcript.header, entry.key).unwrap(), std::slice::from_ref(entry));
        assert!(FIXTURE.contains(&Ink.read_record(&transcript.header, entry.key).unwrap()));
    }
}

#[test]
fn reading_in_two_steps_is_reading_at_once() {
    for cut in 0..FIXTURE.len() {
        let (_folder, path) = write_store(&FIXTURE.as_bytes()[..cut]);
        let source = Source { path: path.clone(), key: None };
        let mut builder = TranscriptBuilder::new("ink");
        let bookmark = Ink.read_session(&source, &Bookmark::Start, &mut builder).unwrap();
        std::fs::write(&path, FIXTURE).unwrap();
        Ink.read_session(&source, &bookmark, &mut builder).unwrap();
        assert_eq!(builder.finish(), read(&path), "cut at {cut}");
    }
}

#[test]
fn a_bad_record_costs_itself_and_a_new_format_is_told() {
    let (_folder, path) = write_store(format!("{FIXTURE}{{\"type\":\n{{\"type\":7}}\n").as_bytes());
    let transcript = read(&path);
    assert_eq!((transcript.entries.len(), transcript.rejected.len()), (8, 2));
    let (folder, _) = write_store(FIXTURE.replace("\"type\":\"", "\"type\":\"new-").as_bytes());
    assert!(discover(folder.path())[0].drifted);
    assert_eq!(Ink.facts().id, "ink");
}
