//! What is read of each form.

use carryover_core::transcript::{Action, Body, FailureKind, Transcript, TranscriptBuilder};
use rusqlite::Connection;

use super::homes::{
    CHAT_ID, CLIENT, COMPOSER_ID, EDITOR, copied_home, fixture_home, global_database, list, read_only, read_source,
    store_file,
};
use crate::cursor::Cursor;
use crate::fixtures::{self, ImageCounts, failure_kinds};
use crate::{Bookmark, Dialect, Reader, Source};

fn live(transcript: &Transcript) -> String {
    fixtures::live_context(&Cursor, transcript, ImageCounts::Everywhere)
}

fn actions(transcript: &Transcript) -> Vec<Action> {
    let calls = transcript.entries.iter().filter_map(|entry| match &entry.body {
        Body::Call(call) => Some((call, Cursor.read_record(&transcript.header, entry.key).unwrap())),
        _ => None,
    });
    calls.map(|(call, record)| Cursor.action(call, Some(&record))).collect()
}

#[test]
fn bubbles_are_read_in_the_order_of_the_conversation() {
    let transcript = read_only(&fixture_home("ide-3.12"));
    insta::assert_snapshot!(live(&transcript), @r#"
    user prompt: Rename `greet` to `hello` in src/app.py and run the tests
    agent reasoning: I should look at the file first.
    agent reply: I'll look at the file first.
    agent call: read_file_v2 {"path":"src/app.py"}
    agent outcome: Done, 0 images: def greet(): print('hi')
    agent call: edit_file_v2 {"path":"src/app.py","old_string":"def greet():","new_string":"def hello():"}
    agent outcome: Done, 0 images: {"beforeContentId":"composer.content.6db7d803e74f1ffa7d8f5adc0bf95b3e15bf4c837…
    agent call: run_terminal_command_v2 {"command":"pytest -q","is_background":false}
    agent outcome: Failed exit 1, 0 images: 1 failed, 3 passed exit 1
    agent reply: Renamed. One test still calls `greet`. ```python hello() ```
    user prompt: Fix that test too
    "#);
    assert_eq!(transcript.header.model.as_deref(), Some("claude-sonnet-4.6"));
    assert_eq!(transcript.header.title.as_deref(), Some("Rename greet to hello"));
    let used = transcript.total_usage().unwrap();
    assert_eq!((used.total.input, used.total.output), (15_234, 412));
}

#[test]
fn the_generations_before_read_the_same() {
    for name in ["ide-2.x", "ide-3.0"] {
        let transcript = read_only(&fixture_home(name));
        assert_eq!(live(&transcript), live(&read_only(&fixture_home("ide-3.12"))), "{name}");
        assert_eq!(transcript.header.project.as_deref(), Some("/home/dev/work/demo-app".as_ref()), "{name}");
    }
}

#[test]
fn the_oldest_forms_are_read() {
    let mut found = list(&fixture_home("ide-legacy"));
    found.sort_by_key(|found| found.title.clone());
    let texts: Vec<String> = found.iter().map(|found| live(&read_source(&found.source))).collect();
    insta::assert_snapshot!(texts.join("---\n"), @r#"
    user prompt: Explain app.py
    agent reply: It prints hi.
    ---
    user prompt: old style user
    agent reply: old style assistant
    agent call: read_file {"target_file":"a.py"}
    agent outcome: Done, 0 images: x
    "#);
    assert_eq!(
        actions(&read_source(&found[1].source)),
        [Action::Read { path: "a.py".to_owned(), offset: None, limit: None }]
    );
}

#[test]
fn the_messages_that_a_model_is_sent_are_read_with_the_times_that_are_shown() {
    let transcript = read_only(&fixture_home("cli"));
    insta::assert_snapshot!(live(&transcript), @r#"
    user prompt: List files and say how many
    agent reasoning: Need to run ls.
    agent reply: Listing files.
    agent call: Shell {"command":"ls","description":"List files"}
    agent outcome: Done exit 0, 0 images: README.md src
    agent reply: There are 2 entries.
    "#);
    let times: Vec<String> =
        transcript.entries.iter().filter_map(|entry| Some(format!("{} {}", entry.body.kind(), entry.at?))).collect();
    insta::assert_snapshot!(times.join("\n"), @"
    prompt 2026-11-14T23:46:40.000Z
    reasoning 2026-11-14T23:46:40.500Z
    reply 2026-11-14T23:46:40.500Z
    call 2026-11-14T23:46:40.900Z
    outcome 2026-11-14T23:46:40.950Z
    reply 2026-11-14T23:46:41.000Z
    ");
    assert_eq!(transcript.header.model.as_deref(), Some("composer-2"));
    assert_eq!(transcript.header.children.len(), 1, "the transcript of its sub-agent");
    let child = read_source(&Source::file(&transcript.header.children[0]));
    assert_eq!(failure_kinds(&child), [FailureKind::RateLimit]);
}

#[test]
fn the_sdks_store_says_the_same() {
    let (cli, sdk) = (read_only(&fixture_home("cli")), read_only(&fixture_home("sdk")));
    assert_eq!(live(&sdk), live(&cli));
    assert_eq!(sdk.header.session.0, format!("agent-{CHAT_ID}"));
    assert_eq!(sdk.header.project.as_deref(), Some("/home/dv/proj-cursor".as_ref()));
}

#[test]
fn runs_of_the_sdk_tell_model_usage_and_how_they_ended() {
    let home = copied_home(&["sdk"]);
    let index = store_file(home.path()).ancestors().nth(3).unwrap().join("index.db");
    let usage = r#"{"inputTokens":10,"outputTokens":5,"cacheReadTokens":100,"cacheWriteTokens":1,"totalTokens":116}"#;
    let id = format!("agent-{CHAT_ID}");
    let run = |turn: u8, status: &str, error: &str, usage: &str| {
        format!(
            "INSERT INTO runs (run_id, agent_id, turn_number, status, model, error_code, usage_json, created_at,
                 updated_at, finished_at) VALUES ('r{turn}', '{id}', {turn}, '{status}', 'gpt-5', {error}, {usage},
                 '2026-11-15T01:16:0{turn}.000Z', '2026-11-15T01:17:0{turn}.000Z', '2026-11-15T01:16:3{turn}.000Z');"
        )
    };
    let runs = [
        run(1, "FINISHED", "NULL", &format!("'{usage}'")),
        run(2, "CANCELLED", "NULL", "NULL"),
        run(3, "ERROR", "'You have hit your usage limit'", "'no json'"),
    ];
    super::homes::execute(&index, &runs.concat());
    let transcript = read_only(home.path());
    assert_eq!(transcript.header.model.as_deref(), Some("gpt-5"));
    assert_eq!(failure_kinds(&transcript), [FailureKind::Interrupted, FailureKind::RateLimit]);
    let used = transcript.total_usage().unwrap().total;
    assert_eq!((used.input, used.output, used.cache_read, used.cache_written), (111, 5, 100, 1));
    assert!(matches!(transcript.entries.last().unwrap().body, Body::Failure(_)), "the last run is what happened last");
    assert_eq!(transcript.rejected.len(), 0);
}

#[test]
fn a_transcript_is_read_without_the_marks_of_sealed_thoughts() {
    let path = fixture_home("cli")
        .join(CLIENT)
        .join(format!("projects/home-dev-work-demo-app/agent-transcripts/{CHAT_ID}/{CHAT_ID}.jsonl"));
    let transcript = read_source(&Source::file(&path));
    insta::assert_snapshot!(fixtures::live_lines(&transcript, ImageCounts::Everywhere), @r#"
    user prompt: List files and say how many
    agent reply: Listing files.
    agent call: Shell {"command":"ls","description":"List files"}
    answer: [The transcript of this session keeps no results.]
    agent reply: There are 2 entries.
    "#);
    assert_eq!(transcript.header.session.0, CHAT_ID);
    assert_eq!(transcript.header.project.as_deref(), Some("/home/dev/work/demo-app".as_ref()));
}

#[test]
fn a_limit_that_the_conversation_does_not_name_is_told_in_its_place() {
    for name in ["ide-3.12", "ide-2.x"] {
        let transcript = read_only(&fixture_home(name));
        assert_eq!(failure_kinds(&transcript), [FailureKind::RateLimit], "{name}");
        let Some(Body::Failure(failure)) =
            transcript.entries.iter().map(|entry| &entry.body).rfind(|body| matches!(body, Body::Failure(_)))
        else {
            panic!()
        };
        assert!(failure.message.starts_with("You've hit your usage limit."), "{name}");
    }
    // One that came before the last prompt is not what happened last.
    let home = copied_home(&["ide-3.12"]);
    let owner = Connection::open(global_database(home.path())).unwrap();
    let errored = "SELECT key FROM cursorDiskKV WHERE instr(CAST(value AS TEXT), 'ERROR_RATE_LIMITED')";
    let key: String = owner.query_row(errored, [], |row| row.get(0)).unwrap();
    let bubble = key.rsplit(':').next().unwrap();
    let composer: String = owner
        .query_row(
            "SELECT CAST(value AS TEXT) FROM cursorDiskKV WHERE key = 'composerData:' || ?1",
            [COMPOSER_ID],
            |row| row.get(0),
        )
        .unwrap();
    let mut composer: serde_json::Value = serde_json::from_str(&composer).unwrap();
    composer["fullConversationHeadersOnly"].as_array_mut().unwrap().retain(|header| header["bubbleId"] != bubble);
    owner
        .execute(
            "UPDATE cursorDiskKV SET value = ?2 WHERE key = 'composerData:' || ?1",
            (COMPOSER_ID, composer.to_string()),
        )
        .unwrap();
    owner
        .execute("UPDATE cursorDiskKV SET value = replace(CAST(value AS TEXT), '23:47:47.500', '23:46:47.500') WHERE key = ?1", [&key])
        .unwrap();
    owner.close().unwrap();
    let entries = read_only(home.path()).entries;
    let position = |wanted: fn(&Body) -> bool| entries.iter().rposition(|entry| wanted(&entry.body)).unwrap();
    assert!(position(|body| matches!(body, Body::Failure(_))) < position(|body| matches!(body, Body::Prompt(_))));
}

#[test]
fn a_bubble_that_was_taken_back_and_one_without_a_value_are_not_live() {
    let transcript = read_only(&fixture_home("ide-3.12"));
    let left = |name: &str| {
        transcript.entries.iter().filter(|entry| format!("{:?}", entry.body) == format!("Opaque({name})")).count()
    };
    assert_eq!((left("bubble/left"), left("record/empty")), (1, 1));
    assert!(!live(&transcript).contains("orphaned"));
}

#[test]
fn calls_mean_what_their_tools_do() {
    let transcript = read_only(&fixture_home("ide-3.12"));
    let kinds: Vec<&str> = actions(&transcript).iter().map(Action::kind).collect();
    assert_eq!(kinds, ["read", "edit", "run"]);
    let path = "src/app.py".to_owned();
    assert_eq!(actions(&transcript)[0], Action::Read { path, offset: None, limit: None });
}

#[test]
fn a_call_that_the_user_turned_down_is_a_refusal() {
    let home = copied_home(&["ide-3.12"]);
    let owner = Connection::open(global_database(home.path())).unwrap();
    let reject = "UPDATE cursorDiskKV SET value = replace(CAST(value AS TEXT), '\"userDecision\":\"accepted\"', '\"userDecision\":\"rejected\"')";
    owner.execute(reject, []).unwrap();
    owner.close().unwrap();
    let transcript = read_only(home.path());
    let refused = transcript
        .entries
        .iter()
        .filter(|entry| matches!(&entry.body, Body::Outcome(outcome) if Cursor.refusal(outcome).is_some()));
    assert_eq!(refused.count(), 2);
}

#[test]
fn a_compaction_leaves_its_summary_and_what_came_after() {
    let home = copied_home(&["cli"]);
    let path = list(home.path()).remove(0).source.path;
    super::homes::compact(&path);
    let transcript = read_source(&Source::file(&path));
    insta::assert_snapshot!(live(&transcript), @"
    agent summary: Files were listed.
    user prompt: And now?
    user prompt: And now?
    ");
    let history = transcript.entries.iter().filter(|entry| matches!(entry.body, Body::Prompt(_))).count();
    assert!(history > 1, "what was taken away is kept as history");
}

#[test]
fn reading_in_two_steps_is_reading_at_once() {
    for (name, root) in [("ide-3.12", EDITOR), ("ide-legacy", EDITOR), ("cli", CLIENT)] {
        assert!(fixture_home(name).join(root).is_dir());
        for found in list(&fixture_home(name)) {
            let folder = tempfile::tempdir().unwrap();
            let exported = Cursor.export_session(&found.source).unwrap().unwrap();
            let source = Source::file(&folder.path().join(exported.name));
            let last = exported.pieces.len() - 1;
            let write = |n: usize| {
                std::fs::write(&source.path, [&exported.pieces[..n], &exported.pieces[last..]].concat().concat())
                    .unwrap();
            };
            write(last);
            let (whole, end) =
                fixtures::read_from(&Cursor, &source, TranscriptBuilder::new("cursor"), &Bookmark::Start);
            for n in 1..=last {
                write(n);
                let mut builder = TranscriptBuilder::new("cursor");
                let bookmark = Cursor.read_session(&source, &Bookmark::Start, &mut builder).unwrap();
                write(last);
                let again = Cursor.read_session(&source, &bookmark, &mut builder).unwrap();
                let stepped = builder.finish();
                assert_eq!((again, &stepped.entries), (end, &whole.entries), "{name} after {n}");
                assert_eq!(stepped.header.title, whole.header.title);
            }
        }
    }
}

#[test]
fn an_export_says_what_the_store_said() {
    for name in ["ide-legacy", "ide-2.x", "ide-3.0", "ide-3.12", "cli", "sdk"] {
        for found in list(&fixture_home(name)) {
            let folder = tempfile::tempdir().unwrap();
            let exported = Cursor.export_session(&found.source).unwrap().unwrap();
            let path = folder.path().join(exported.name);
            std::fs::write(&path, exported.pieces.concat()).unwrap();
            let (before, after) = (read_source(&found.source), read_source(&Source::file(&path)));
            assert_eq!(live(&after), live(&before), "{name}");
            assert_eq!(after.header.project, before.header.project, "{name}");
            assert_eq!(failure_kinds(&after), failure_kinds(&before), "{name}");
        }
    }
}

#[test]
fn a_bubble_that_changed_is_read_anew() {
    let home = copied_home(&["ide-3.12"]);
    let source = list(home.path()).remove(0).source;
    let mut builder = TranscriptBuilder::new("cursor");
    let bookmark = Cursor.read_session(&source, &Bookmark::Start, &mut builder).unwrap();
    let owner = Connection::open(global_database(home.path())).unwrap();
    owner
        .execute("UPDATE cursorDiskKV SET value = replace(CAST(value AS TEXT), 'Renamed. One', 'Done. One')", [])
        .unwrap();
    owner.close().unwrap();
    Cursor.read_session(&source, &bookmark, &mut builder).unwrap();
    let stepped = builder.finish();
    let whole = fixtures::read_from(&Cursor, &source, TranscriptBuilder::new("cursor"), &Bookmark::Start).0;
    assert_eq!(stepped.entries, whole.entries);
    assert!(live(&stepped).contains("Done. One test"));
}
