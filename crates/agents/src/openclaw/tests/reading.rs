//! Reading.

use carryover_core::transcript::{Body, EntryKey, TranscriptBuilder};

use super::*;
use crate::FoundSession;

#[test]
fn live_contexts_are_as_the_client_would_send_them() {
    for name in FIXTURES {
        insta::assert_snapshot!(*name, render_live(&read(&source(&fixture(name)))));
    }
}

#[test]
fn a_database_a_file_and_an_export_say_the_same() {
    for name in FIXTURES {
        let records = records(name);
        let exported = read(&source(&fixture(name)));
        let made = Made::of(&[&records]);
        let kept = read(&source(&made.path()));
        assert_eq!(render_live(&kept), render_live(&exported), "{name}");
        assert_eq!(kept.entries.len(), exported.entries.len());
        let file = made.folder.path().join("session.jsonl");
        let lines: Vec<String> = records.iter().map(Value::to_string).collect();
        std::fs::write(&file, lines.join("\n") + "\n").unwrap();
        assert_eq!(render_live(&read(&source(&file))), render_live(&exported), "{name}");
    }
}

#[test]
fn headers_tell_what_the_session_is() {
    let header = read(&source(&fixture("branches"))).header;
    assert_eq!(header.title.as_deref(), Some("Branches by hand"));
    assert_eq!(header.project.as_deref(), Some(Path::new("/home/u/project")));
    assert_eq!(header.model.as_deref(), Some("gpt-5.5"));
    let header = read(&source(&fixture("whole"))).header;
    assert_eq!(header.title.as_deref(), Some("Please look into Fact001Word next."));
}

#[test]
fn a_limit_is_a_failure() {
    let transcript = read(&source(&fixture("limit")));
    let failures: Vec<String> =
        transcript.entries.iter().filter(|entry| matches!(entry.body, Body::Failure(_))).map(line_of).collect();
    assert!(matches!(&failures[..], [one] if one.contains("RateLimit")), "{failures:?}");
}

#[test]
fn reading_in_two_steps_is_reading_at_once() {
    for name in FIXTURES {
        let records = records(name);
        let all = Made::of(&[&records]);
        let whole = read(&source(&all.path()));
        for cut in (1..records.len()).step_by(1 + records.len() / 12) {
            let made = Made::of(&[&records[..cut]]);
            let key = records[0]["id"].as_str().map(str::to_owned);
            let source = Source { path: made.path(), key };
            let mut builder = TranscriptBuilder::new("openclaw");
            let bookmark = OpenClaw.read_session(&source, &Bookmark::Start, &mut builder).unwrap();
            made.add(&records, cut);
            let bookmark = OpenClaw.read_session(&source, &bookmark, &mut builder).unwrap();
            let Bookmark::Rows { count, .. } = bookmark else { panic!("no rows") };
            assert_eq!(count, records.len() as u64);
            let stepped = builder.finish();
            assert_eq!(render_live(&stepped), render_live(&whole), "{name} cut at {cut}");
            assert_eq!(stepped.header.title, whole.header.title);
            assert_eq!(stepped.entries.len(), whole.entries.len());
        }
    }
}

#[test]
fn a_past_that_was_rewritten_is_read_again() {
    let records = records("crashed");
    let made = Made::of(&[&records]);
    let mut builder = TranscriptBuilder::new("openclaw");
    let bookmark = OpenClaw.read_session(&source(&made.path()), &Bookmark::Start, &mut builder).unwrap();
    let sql = "UPDATE transcript_events SET event_json = replace(event_json, 'Fact001Word', 'Something else')";
    made.open().execute(sql, []).unwrap();
    OpenClaw.read_session(&source(&made.path()), &bookmark, &mut builder).unwrap();
    let read = render_live(&builder.finish());
    assert!(read.contains("Something else") && !read.contains("Fact001Word"));
}

#[test]
fn a_cut_file_loses_no_earlier_record() {
    let lines: Vec<String> = records("branches").iter().map(Value::to_string).collect();
    let text = lines.join("\n") + "\n";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("session.jsonl");
    for cut in (lines[0].len()..text.len()).filter(|cut| text.is_char_boundary(*cut)) {
        std::fs::write(&file, &text[..cut]).unwrap();
        let whole = text[..cut].matches('\n').count();
        let transcript = read(&source(&file));
        assert!(transcript.rejected.is_empty(), "{cut}");
        let read = transcript.entries.iter().map(|entry| entry.key.offset);
        assert!(read.collect::<std::collections::BTreeSet<u64>>().len() >= whole, "{cut}");
    }
}

#[test]
fn a_damaged_event_costs_one_event() {
    let records = records("whole");
    let made = Made::of(&[&records]);
    let before = read(&source(&made.path()));
    let sql = "UPDATE transcript_events SET event_zstd = x'00112233' WHERE event_zstd IS NOT NULL";
    let damaged = made.open().execute(sql, []).unwrap();
    let after = read(&source(&made.path()));
    assert!(damaged > 0 && after.rejected.len() == damaged);
    assert_eq!(after.entries.iter().filter(|entry| entry.key.part == 0).count(), {
        before.entries.iter().filter(|entry| entry.key.part == 0).count()
    });
}

#[test]
fn records_are_found_again_by_their_keys() {
    let records = records("whole");
    let made = Made::of(&[&records]);
    let transcript = read(&source(&made.path()));
    for entry in &transcript.entries {
        let again = OpenClaw.reload_entries(&transcript.header, entry.key).unwrap();
        assert!(again.contains(entry));
    }
    let raw = OpenClaw.read_record(&transcript.header, transcript.entries[5].key).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&raw).unwrap(), records[5]);
    let nowhere = EntryKey { file: 0, offset: 1, part: 0, length: 1 };
    assert!(OpenClaw.read_record(&transcript.header, nowhere).is_err());
}

/// Records before the last compaction are passed over where nobody wants them: the same is told, but for the words.
#[test]
fn a_past_that_is_not_wanted_keeps_its_places() {
    for name in FIXTURES {
        let made = Made::of(&[&records(name)]);
        for path in [made.path(), fixture(name)] {
            let short = read(&source(&path));
            let everything = TranscriptBuilder::new("openclaw").keeping_everything();
            let mut whole = read_from(&source(&path), everything, &Bookmark::Start).0;
            let barrier = whole.entries.iter().rposition(|entry| matches!(entry.body, Body::Compacted(_)));
            whole.entries[..barrier.unwrap_or(0)].iter_mut().for_each(Entry::reduce);
            assert_eq!(short.entries, whole.entries, "{name}");
            assert_eq!(short.header.title, whole.header.title, "{name}");
            assert_eq!(short.header.model, whole.header.model, "{name}");
        }
    }
}

#[test]
fn long_sessions_are_read_in_lanes_and_stay_in_order() {
    let mut records = records("limit");
    let (parent, long) = (records.last().unwrap()["id"].clone(), "word ".repeat(30_000));
    // Packed they are short, so they are made to differ.
    for n in 0..40 {
        let parent = if n == 0 { parent.clone() } else { format!("n{}", n - 1).into() };
        let noise: String = (0..40_000_u64).map(|at| char::from(b'!' + ((at * at * (n + 7)) % 89) as u8)).collect();
        let content = format!("{n} {noise} {long}");
        records.push(serde_json::json!({
            "type": "message", "id": format!("n{n}"), "parentId": parent,
            "message": { "role": "user", "content": content },
        }));
    }
    let made = Made::of(&[&records]);
    let transcript = read(&source(&made.path()));
    let numbers = transcript.entries.iter().rev().take(40).rev().map(|entry| match entry.body.parts() {
        [Part::Text(text)] => text.split(' ').next().and_then(|number| number.parse().ok()),
        _ => None,
    });
    assert_eq!(numbers.collect::<Option<Vec<u64>>>(), Some((0..40).collect()));
}

fn found(root: &Path) -> Vec<FoundSession> {
    fixtures::list_sessions(&OpenClaw, root)
}

#[test]
fn sessions_are_listed_from_both_stores_and_sub_agents_are_not() {
    let (whole, crashed, limit) = (records("whole"), records("crashed"), records("limit"));
    let made = Made::of(&[&whole, &crashed]);
    let connection = made.open();
    let parent = whole[0]["id"].as_str().unwrap();
    let sql = "UPDATE session_nodes SET spawned_by = 'agent:main:explicit:' || ?1 WHERE current_session_id = ?2";
    let child = crashed[0]["id"].as_str().unwrap();
    connection.execute(sql, [parent, child]).unwrap();
    let sessions = made.folder.path().join("agents/main/sessions");
    std::fs::create_dir_all(&sessions).unwrap();
    for records in [&whole, &limit] {
        let id = records[0]["id"].as_str().unwrap();
        let lines: Vec<String> = records.iter().map(Value::to_string).collect();
        std::fs::write(sessions.join(format!("{id}.jsonl")), lines.join("\n") + "\n").unwrap();
    }
    let id = limit[0]["id"].as_str().unwrap();
    let index = serde_json::json!({ "k": { "sessionId": id, "displayName": "An older one", "updatedAt": 9 } });
    std::fs::write(sessions.join("sessions.json"), index.to_string()).unwrap();
    let listed: Vec<(String, Option<String>, bool)> =
        found(made.folder.path()).into_iter().map(|found| (found.id.0, found.title, found.drifted)).collect();
    let first = "Please look into Fact001Word next.".to_owned();
    assert_eq!(
        listed,
        [(parent.to_owned(), Some(first), false), (id.to_owned(), Some("An older one".to_owned()), false)]
    );
    let header = read(&Source { path: made.path(), key: Some(parent.to_owned()) }).header;
    assert_eq!(header.children, [made.path().join(child)]);
    let header = read(&source(&header.children[0])).header;
    assert_eq!(header.parent.map(|parent| parent.0).as_deref(), Some(parent));
}

#[test]
fn files_of_the_agent_are_recognised() {
    let bytes = std::fs::read(fixture("whole")).unwrap();
    assert!(OpenClaw.recognises(Path::new("session-branch.json"), &bytes[..512]));
    let header = br#"{"type":"session","version":3,"id":"x","cwd":"/p"}"#;
    assert!(OpenClaw.recognises(Path::new("/h/.openclaw/agents/main/sessions/x.jsonl"), header));
    assert!(!OpenClaw.recognises(Path::new("/h/.pi/agent/sessions/--p--/x.jsonl"), header));
    // A loose file is known by what the client notes in it; no other agent claims it then.
    let lines: Vec<String> = records("whole").iter().map(Value::to_string).collect();
    let loose = lines.join("\n");
    for (path, bytes) in [("/tmp/x.jsonl", loose.as_bytes()), ("/h/.openclaw/agents/main/sessions/x.jsonl", header)] {
        let claim = |agent: &&&dyn Agent| agent.recognises(Path::new(path), bytes);
        let claimed: Vec<&str> = crate::AGENTS.iter().filter(claim).map(|agent| agent.facts().id).collect();
        assert_eq!(claimed, ["openclaw"], "{path}");
    }
}
