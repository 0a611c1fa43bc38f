//! Reading: all formats, in one step and in several, forks, compressed files, listings.

use carryover_core::transcript::{BlobLocation, SessionId};

use super::*;
use crate::{AgentError, Env, FoundSession, Liveness, Os};

#[test]
fn every_fixture_is_read_whole() {
    for name in FIXTURES {
        let transcript = read_whole(&fixture(name));
        assert!(transcript.rejected.is_empty(), "{name}: {:?}", transcript.rejected);
        let lines = std::fs::read_to_string(fixture(name)).unwrap().lines().count();
        let records = transcript.entries.chunk_by(|a, b| a.key.record() == b.key.record()).count();
        assert_eq!(records, lines, "{name}: every line is an entry");
        insta::assert_snapshot!(format!("entries-{name}"), render_entries(&transcript));
    }
}

#[test]
fn live_contexts_hold_what_the_client_would_send() {
    for name in FIXTURES {
        insta::assert_snapshot!(format!("live-{name}"), render_live(&read_session(&fixture(name))));
    }
}

#[test]
fn headers_tell_the_session() {
    let mut out = String::new();
    for name in FIXTURES {
        let header = read_session(&fixture(name)).header;
        let started = header.started_at.map(|at| at.to_string());
        let updated = header.updated_at.map(|at| at.to_string());
        writeln!(
            out,
            "{name}: {} {:?} {:?} {:?} {:?} {:?} {started:?} {updated:?} {:?} {:?}",
            header.session,
            header.title,
            header.project,
            header.branch,
            header.model,
            header.client_version,
            header.permission,
            header.parent
        )
        .unwrap();
    }
    insta::assert_snapshot!(out);
}

#[test]
fn two_steps_at_any_line_give_the_same() {
    let folder = tempfile::tempdir().unwrap();
    for name in FIXTURES {
        let bytes = std::fs::read(fixture(name)).unwrap();
        let path = folder.path().join(format!("{name}.jsonl"));
        std::fs::write(&path, &bytes).unwrap();
        let whole = read_whole(&path);
        for end in memchr::memchr_iter(b'\n', &bytes).map(|end| end + 1) {
            std::fs::write(&path, &bytes[..end]).unwrap();
            let mut builder = TranscriptBuilder::new("codex").keeping_everything();
            let bookmark = Codex.read_session(&source(&path), &Bookmark::Start, &mut builder).unwrap();
            std::fs::write(&path, &bytes).unwrap();
            let (steps, _) = read_from(&path, builder, &bookmark);
            assert_eq!(steps, whole, "{name} cut at {end}");
        }
    }
}

#[test]
fn a_cut_at_any_byte_loses_no_earlier_entry() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.jsonl");
    for name in ["0.20.0-exec", "0.36.0-exec", "handwritten-legacy"] {
        let bytes = std::fs::read(fixture(name)).unwrap();
        std::fs::write(&path, &bytes).unwrap();
        let whole = read_whole(&path);
        for end in 0..bytes.len() {
            std::fs::write(&path, &bytes[..end]).unwrap();
            let cut = read_whole(&path);
            let before =
                whole.entries.iter().filter(|entry| entry.key.offset + u64::from(entry.key.length) <= end as u64);
            assert!(cut.entries.iter().eq(before), "{name} cut at {end}");
            assert!(cut.rejected.is_empty());
        }
    }
}

#[test]
fn a_replaced_file_is_read_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    std::fs::copy(fixture("0.36.0-exec"), &path).unwrap();
    let mut builder = TranscriptBuilder::new("codex").keeping_everything();
    let bookmark = Codex.read_session(&source(&path), &Bookmark::Start, &mut builder).unwrap();
    std::fs::copy(fixture("0.44.0-exec"), &path).unwrap();
    let (transcript, _) = read_from(&path, builder, &bookmark);
    assert_eq!(transcript.entries, read_whole(&path).entries);
    assert_eq!(transcript.header.files, [path]);
}

#[test]
fn bad_lines_are_rejected_and_unknown_ones_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("odd.jsonl");
    let lines = [
        r#"{"timestamp":"2026-11-15T00:00:00.000Z","type":"session_meta","payload":{"id":"x","timestamp":"2026-11-15T00:00:00.000Z","cwd":"/r"}}"#,
        r#"{"timestamp":"2026-11-15T00:00:01.000Z","type":"response_item","payload":{"type":"mess"#,
        r#"{"timestamp":"2026-11-15T00:00:02.000Z","type":"event_msg","payload":{"type":"token_count","#,
        r#"{"timestamp":"2026-11-15T00:00:03.000Z","type":"reasoning","payload":{}}"#,
        r#"{"timestamp":"2026-11-15T00:00:04.000Z","type":"response_item","payload":{"type":"reply"}}"#,
        r#"{"timestamp":"2026-11-15T00:00:05.000Z","type":"response_item","payload":{"type":"message","role":7}}"#,
        r#"{"payload":{"type":"thread_rolled_back","num_turns":2},"timestamp":"2026-11-15T00:00:06.000Z","type":"event_msg"}"#,
        r#"{"timestamp":"2026-11-15T00:00:07.000Z","type":"compacted","payload":{"message":"SUMMARY"}}"#,
        r#"{"timestamp":"2026-11-15T00:00:08.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>x</environment_context>"},{"type":"input_text","text":"mine"}]}}"#,
        r#"{"timestamp":"2026-11-15T00:00:09.000Z","type":"response_item","payload":{"type":"function_call","name":"create","namespace":"mcp__hub__","arguments":"not json","call_id":"c"}}"#,
        "[1,2]",
        "",
        "null",
    ];
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    insta::assert_snapshot!(render_entries(&read_whole(&path)));
}

/// A store in which a session was forked by reference.
fn forked_store() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let day = folder.path().join("sessions/2026/11/15");
    std::fs::create_dir_all(&day).unwrap();
    let base = "rollout-2026-11-14T23-10-44-01a1dc53-d712-765d-8661-c553e5916aa8.jsonl";
    let fork = "rollout-2026-11-15T01-10-46-01a1dcc1-b9ef-7161-981d-4a2d611c622c.jsonl";
    std::fs::copy(fixture("0.166.0-fork-base"), day.join(base)).unwrap();
    std::fs::copy(fixture("0.166.0-fork"), day.join(fork)).unwrap();
    let path = day.join(fork);
    (folder, path)
}

#[test]
fn a_fork_begins_with_what_it_continues() {
    let (folder, path) = forked_store();
    let names = "{\"id\":\"01a1dcc1-b9ef-7161-981d-4a2d611c622c\",\"thread_name\":\"first\"}\n{\"id\":\"01a1dcc1-b9ef-7161-981d-4a2d611c622c\",\"thread_name\":\"API name\"}\n";
    std::fs::write(folder.path().join("session_index.jsonl"), names).unwrap();
    let transcript = read_session(&path);
    assert_eq!(transcript.header.files.len(), 2);
    assert_eq!(transcript.header.files[0], path);
    assert_eq!(transcript.header.session.0, "01a1dcc1-b9ef-7161-981d-4a2d611c622c");
    assert_eq!(transcript.header.title.as_deref(), Some("API name"));
    insta::assert_snapshot!(render_live(&transcript));
    // The parent went on after the fork: none of that is the fork's.
    let base = &transcript.header.files[1];
    let mut grown = std::fs::read_to_string(base).unwrap();
    grown.push_str(r#"{"timestamp":"2026-11-15T09:00:00.000Z","ordinal":40,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"later"}]}}"#);
    grown.push('\n');
    std::fs::write(base, grown).unwrap();
    assert_eq!(read_session(&path), transcript);
    std::fs::remove_file(base).unwrap();
    let mut builder = TranscriptBuilder::new("codex");
    let missing = Codex.read_session(&source(&path), &Bookmark::Start, &mut builder);
    assert!(matches!(missing, Err(AgentError::MissingBase { .. })));
}

#[test]
fn a_sub_agents_file_is_found_beside_its_parents() {
    let folder = tempfile::tempdir().unwrap();
    let day = folder.path().join("sessions/2026/11/15");
    std::fs::create_dir_all(&day).unwrap();
    let parent = day.join("rollout-2026-11-15T01-13-24-01a1dcc4-23e5-7c43-9eda-a6709220c050.jsonl");
    let child = day.join("rollout-2026-11-15T01-13-24-01a1dcc4-24b0-72c3-adb0-b21b751f286e.jsonl");
    std::fs::copy(fixture("0.166.0-parent"), &parent).unwrap();
    std::fs::copy(fixture("0.166.0-subagent"), &child).unwrap();
    assert_eq!(read_session(&parent).header.children, [child]);
}

#[test]
fn a_compressed_file_reads_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rollout-2026-11-15T00-56-21-01a1dcb4-8ab4-7e10-b6d2-c8b20e08cdf8.jsonl.zst");
    let plain = fixture("0.166.0-rich");
    let bytes = zstd::encode_all(&std::fs::read(&plain).unwrap()[..], 3).unwrap();
    std::fs::write(&path, bytes).unwrap();
    let places = |text: String| -> String { text.lines().filter(|line| !line.contains("image/png")).collect() };
    assert_eq!(places(render_entries(&read_session(&path))), places(render_entries(&read_session(&plain))));
    let blobs = blob_locations(&read_session(&path));
    assert!(blobs.iter().all(|place| matches!(place, BlobLocation::Inline(text) if text.starts_with("iVBOR"))));
    assert_eq!(blobs.len(), 2);
}

fn blob_locations(transcript: &Transcript) -> Vec<BlobLocation> {
    let parts = transcript.entries.iter().flat_map(|entry| entry.body.parts());
    parts
        .filter_map(|part| match part {
            Part::Blob(blob) => Some(blob.location.clone()),
            Part::Text(_) => None,
        })
        .collect()
}

#[test]
fn images_are_left_where_they_stand() {
    let path = fixture("0.166.0-rich");
    let bytes = std::fs::read(&path).unwrap();
    let found = blob_locations(&read_session(&path));
    assert_eq!(found.len(), 2);
    for place in found {
        let BlobLocation::Encoded { file: 0, offset, length } = place else { panic!("{place:?}") };
        let begin = usize::try_from(offset).unwrap();
        let text = &bytes[begin..begin + usize::try_from(length).unwrap()];
        assert!(text.starts_with(b"iVBOR") && text.ends_with(b"kSuQmCC"), "{:?}", std::str::from_utf8(text));
        assert_eq!(bytes[begin - 1], b',');
    }
}

#[test]
fn a_record_is_read_again_by_its_key() {
    for name in FIXTURES {
        let transcript = read_whole(&fixture(name));
        for entries in transcript.entries.chunk_by(|a, b| a.key.record() == b.key.record()) {
            let again = Codex.reload_entries(&transcript.header, entries[0].key).unwrap();
            assert_eq!(again, entries, "{name}");
            let text = Codex.read_record(&transcript.header, entries[0].key).unwrap();
            assert!(text.starts_with('{') && text.ends_with('}'), "{name}");
        }
    }
}

pub(super) fn list_sessions(root: &Path) -> Vec<FoundSession> {
    let mut all = fixtures::list_sessions(&Codex, root);
    all.sort_by(|a, b| a.id.cmp(&b.id));
    all
}

#[test]
fn a_listing_needs_only_heads_and_tails() {
    let folder = tempfile::tempdir().unwrap();
    let day = folder.path().join("sessions/2026/11/15");
    let archived = folder.path().join("archived_sessions");
    std::fs::create_dir_all(&day).unwrap();
    std::fs::create_dir_all(&archived).unwrap();
    for (index, name) in FIXTURES.iter().enumerate() {
        let file = format!("rollout-2026-11-15T00-00-{index:02}-{name}.jsonl");
        std::fs::copy(fixture(name), if index == 0 { archived.join(file) } else { day.join(file) }).unwrap();
    }
    std::fs::write(day.join("rollout-2026-11-15T00-00-99-new.jsonl"), "{\"kind\":\"v9\"}\n{\"kind\":\"v9\"}\n")
        .unwrap();
    std::fs::write(day.join("rollout-2026-11-15T00-00-98-empty.jsonl"), "").unwrap();
    std::fs::create_dir_all(folder.path().join("thread-writer-locks")).unwrap();
    std::fs::write(folder.path().join("thread-writer-locks/01a1dcc4-23e5-7c43-9eda-a6709220c050.lock"), "").unwrap();
    let mut out = String::new();
    for found in list_sessions(folder.path()) {
        let (started, updated) = (found.started_at.map(|at| at.to_string()), found.updated_at.map(|at| at.to_string()));
        let updated = if found.drifted || found.id.0.starts_with("3965") { None } else { updated };
        writeln!(
            out,
            "{} {:?} {:?} {:?} {started:?} {updated:?} {:?} {:?} drifted={}",
            found.id, found.title, found.project, found.branch, found.model, found.live, found.drifted
        )
        .unwrap();
    }
    insta::assert_snapshot!(out);
}

#[test]
fn a_long_first_line_is_listed_by_its_beginning() {
    let folder = tempfile::tempdir().unwrap();
    let day = folder.path().join("sessions");
    std::fs::create_dir_all(&day).unwrap();
    let long = "x".repeat(300 << 10);
    let text = format!(
        "{{\"timestamp\":\"2026-11-15T00:00:00.000Z\",\"ordinal\":0,\"type\":\"session_meta\",\"payload\":{{\"id\":\"long\",\"timestamp\":\"2026-11-15T00:00:00.000Z\",\"cwd\":\"/r\",\"base_instructions\":{{\"text\":\"{long}\"}}}}}}\n"
    );
    std::fs::write(day.join("rollout-2026-11-15T00-00-00-long.jsonl"), text).unwrap();
    let found = list_sessions(folder.path());
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].id.0.as_str(), found[0].live, found[0].drifted), ("long", Liveness::NotLive, false));
    assert_eq!(found[0].project.as_deref(), Some(Path::new("/r")));
}

#[test]
fn a_session_that_was_put_away_is_not_gone_on_with() {
    let command = |folder: &str| {
        let source = Source::file(format!("/c/{folder}/rollout-1.jsonl").as_ref());
        Codex.resume_command(&source, &SessionId("id1".to_owned()), "/p".as_ref())
    };
    assert_eq!(command("sessions/2026/11/15").unwrap().argv, ["codex", "resume", "id1"]);
    assert_eq!(command("archived_sessions"), None);
}

#[test]
fn loose_files_are_recognised() {
    for name in FIXTURES {
        let path = fixture(name);
        let head = std::fs::read(&path).unwrap();
        assert!(Codex.recognises(&path, &head), "{name}");
        assert!(Codex.recognises(&path, &head[..200]), "{name}");
    }
    let other = br#"{"parentUuid":null,"type":"user","uuid":"u","timestamp":"2026-11-15T00:00:00.000Z"}"#;
    assert!(!Codex.recognises(Path::new("x.jsonl"), other));
    assert!(!Codex.recognises(Path::new("x.jsonl"), b""));
}

#[test]
fn stores_are_looked_for_where_each_system_has_them() {
    let env = |os, vars: &[(&str, &str)]| Env {
        home: PathBuf::from("/home/dv"),
        vars: vars.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        os,
        now: carryover_core::time::Timestamp::EPOCH,
        zone: jiff::tz::TimeZone::UTC,
        stores: std::collections::BTreeMap::new(),
        projects: Vec::new(),
    };
    for os in [Os::Linux, Os::MacOs, Os::Windows] {
        assert_eq!(Codex.facts().store_candidates(&env(os, &[])), [PathBuf::from("/home/dv/.codex")]);
        let moved = env(os, &[("CODEX_HOME", "/x/codex")]);
        assert_eq!(Codex.facts().store_candidates(&moved), [PathBuf::from("/x/codex")]);
    }
}
