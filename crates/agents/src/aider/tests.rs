//! Chats that the real client wrote, read.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use carryover_core::live::{self, LiveItem};
use carryover_core::plain::one_line;
use carryover_core::transcript::{Body, FailureKind, Permission, SessionId, Transcript, TranscriptBuilder, text_of};

use super::Aider;
use crate::fixtures;
use crate::{Agent, AgentError, Bookmark, Dialect, FoundSession, Reader, Source};

fn fixture(name: &str) -> PathBuf {
    fixtures::fixture_path(&Aider, name)
}

fn read_chat(path: &Path, key: Option<&str>) -> Transcript {
    let mut builder = TranscriptBuilder::new("aider");
    let source = Source { path: path.to_path_buf(), key: key.map(str::to_owned) };
    Aider.read_session(&source, &Bookmark::Start, &mut builder).unwrap();
    builder.finish()
}

fn read_last_chat(path: &Path) -> Transcript {
    read_chat(path, None)
}

/// The live context, a line an entry, each read again.
fn live_context(transcript: &Transcript) -> String {
    let mut out = String::new();
    for alive in live::resolve_context(transcript) {
        let LiveItem::Entry(index) = alive else { continue };
        let entry = &transcript.entries[index];
        let again = Aider.reload_entries(&transcript.header, entry.key).unwrap();
        assert!(again.contains(entry), "{entry:?} is read again as {again:?}");
        let text = match &entry.body {
            Body::Reasoning(reasoning) => reasoning.text.clone(),
            body => text_of(body.parts()),
        };
        let line = one_line(&format!("{:?} {}: {}", entry.origin, entry.body.kind(), text.replace('\n', "⏎")), 320);
        writeln!(out, "{line}").unwrap();
    }
    out
}

fn body_kinds(transcript: &Transcript) -> Vec<&'static str> {
    transcript.entries.iter().map(|entry| entry.body.kind()).collect()
}

#[test]
fn the_client_restores_a_file_and_so_its_newest_chat_only() {
    let file = fixture("0.86.2-restored.md");
    let chats = super::chats::read_chats(&file).unwrap();
    let command = |key: Option<String>| {
        let source = Source { path: file.clone(), key };
        Aider.resume_command(&source, &SessionId("1".to_owned()), Path::new("/p"))
    };
    let newest = command(None).unwrap();
    assert_eq!(newest.argv[..4], ["aider", "--chat-history-file", "0.86.2-restored.md", "--restore-chat-history"]);
    assert_eq!(command(Some(chats.last().unwrap().key.clone())), Some(newest));
    assert_eq!(command(Some(chats[0].key.clone())), None);
}

#[test]
fn headings_and_quotations_of_the_model_are_its_own_words() {
    let transcript = read_last_chat(&fixture("0.86.2-edit.md"));
    insta::assert_snapshot!(live_context(&transcript));
    assert_eq!(transcript.header.title.as_deref(), Some("Fix add, please."));
    assert_eq!(transcript.header.model.as_deref(), Some("openai/fake"));
    assert_eq!(transcript.header.client_version.as_deref(), Some("0.86.2"));
    assert_eq!(transcript.header.permission, Permission::AcceptEdits);
    assert_eq!(transcript.header.started_at.unwrap().to_string(), "2026-11-15T04:17:13.000Z");
    let notes = body_kinds(&transcript).into_iter().filter(|kind| *kind == "note").count();
    assert_eq!(notes, 3, "usage, edit, commit");
}

#[test]
fn a_restored_chat_holds_the_chats_before_it() {
    let transcript = read_last_chat(&fixture("0.86.2-restored.md"));
    insta::assert_snapshot!(live_context(&transcript));
    let alone = read_chat(&fixture("0.86.2-restored.md"), Some("2026-11-15 04:17:51"));
    insta::assert_snapshot!(live_context(&alone));
}

#[test]
fn a_cleared_chat_begins_anew() {
    let transcript = read_last_chat(&fixture("0.86.2-cleared.md"));
    insta::assert_snapshot!(live_context(&transcript));
    assert_eq!(transcript.n_messages(), 8);
}

#[test]
fn a_rate_limit_is_a_failure_and_not_context() {
    let transcript = read_last_chat(&fixture("0.86.2-limit.md"));
    assert_eq!(fixtures::failure_kinds(&transcript), [FailureKind::RateLimit]);
    insta::assert_snapshot!(live_context(&transcript));
}

#[test]
fn a_chat_that_an_editor_has_trimmed_is_read_all_the_same() {
    let text = fs_err::read_to_string(fixture("hand-written.md")).unwrap();
    let trimmed: String = text.lines().flat_map(|line| [line.trim_end(), "\n"]).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".aider.chat.history.md");
    std::fs::write(&path, trimmed).unwrap();
    // An empty line of the user's cannot be told from a heading without words any more.
    assert!(live_context(&read_last_chat(&path)).contains("User prompt: HAND-AIDER-USER-2: and tests?"));
    insta::assert_snapshot!(live_context(&read_last_chat(&fixture("hand-written.md"))));
}

#[test]
fn what_the_client_added_to_a_chat_is_read_from_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".aider.chat.history.md");
    std::fs::copy(fixture("0.86.2-logged.md"), &path).unwrap();
    assert!(!live_context(&read_last_chat(&path)).contains("the tests say 42"));
    let log = folder.path().join(".aider.llm.history");
    std::fs::copy(fixture("0.86.2-logged.llm.history"), &log).unwrap();
    insta::assert_snapshot!(live_context(&read_last_chat(&path)));
    let ours = folder.path().join(".aider.chat.history.1234abcd.md");
    let carried = "> Carried over by carryover from aider, begun 2026-11-15T06:04:20.000Z  ";
    let written =
        format!("# aider chat started at 2026-11-15 06:04:20\n\n{carried}\n\n#### And now?  \n\nAll is done.\n");
    std::fs::write(&ours, written).unwrap();
    assert_eq!(read_last_chat(&ours).n_messages(), 2);
    assert!(!live_context(&read_last_chat(&ours)).contains("Hook"), "nobody has sent it yet");
    // Another chat went on in the same log.
    let more = "TO LLM 2026-11-15T09:00:00\n-------\nUSER Fix add, please.\n-------\nUSER Elsewhere\n\
                LLM RESPONSE 2026-11-15T09:00:01\nASSISTANT Something else.\n";
    let text = fs_err::read_to_string(&log).unwrap();
    std::fs::write(&log, format!("{text}{more}")).unwrap();
    assert!(!live_context(&read_last_chat(&path)).contains("Elsewhere"));
    for cut in (0..text.len()).step_by(101).filter(|cut| text.is_char_boundary(*cut)) {
        std::fs::write(&log, &text[..cut]).unwrap();
        assert!(read_last_chat(&path).n_messages() >= 7, "cut at {cut}");
    }
}

#[test]
fn what_the_client_committed_is_told_beside_the_context() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".aider.chat.history.md");
    std::fs::copy(fixture("0.86.2-logged.md"), &path).unwrap();
    let without = live_context(&read_last_chat(&path));
    let repository = fixture("0.86.2-logged-repository").display().to_string();
    std::fs::write(folder.path().join(".git"), format!("gitdir: {repository}\n")).unwrap();
    let transcript = read_last_chat(&path);
    assert_eq!(live_context(&transcript), without);
    let mut told = Vec::new();
    for entry in &transcript.entries {
        let Body::Call(call) = &entry.body else { continue };
        assert!(Aider.reload_entries(&transcript.header, entry.key).unwrap().contains(entry));
        told.push(Aider.action(call, None));
    }
    insta::assert_debug_snapshot!(told);
}

fn list_found(folder: &Path) -> Vec<FoundSession> {
    fixtures::list_sessions(&Aider, folder)
}

#[test]
fn chats_of_one_file_are_listed_apart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".aider.chat.history.md");
    let text = fs_err::read_to_string(fixture("0.86.2-restored.md")).unwrap();
    let twice = text.replace("04:17:51", "04:17:26");
    std::fs::write(&path, format!("{twice}\n# aider chat started at 2026-11-15 05:00:00\n\n> Aider v0.86.2  \n"))
        .unwrap();
    let listed = list_found(folder.path());
    let shown: Vec<(Option<&str>, Option<&str>)> =
        listed.iter().map(|found| (found.source.key.as_deref(), found.title.as_deref())).collect();
    assert_eq!(
        shown,
        [
            (Some("2026-11-15 04:17:13"), Some("Fix add, please.")),
            (Some("2026-11-15 04:17:26"), Some("what is the function called?")),
            (Some("2026-11-15 04:17:26 #2"), Some("one more thing")),
            (Some("2026-11-15 04:18:02"), Some("what did we do?")),
        ]
    );
    let prefixes: std::collections::BTreeSet<&str> = listed.iter().map(|found| found.id.short()).collect();
    assert_eq!(prefixes.len(), 4);
    for found in &listed {
        let transcript = read_chat(&path, found.source.key.as_deref());
        assert_eq!((&transcript.header.session, &transcript.header.title), (&found.id, &found.title));
    }
}

#[test]
fn a_file_that_we_wrote_is_one_session_however_often_it_is_restored() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".aider.chat.history.1234abcd.md");
    let ours = "\n# aider chat started at 2026-11-15 04:00:00\n\n> Carried over by carryover from codex, begun \
                2026-11-15T04:00:00.000Z  \n\n#### first  \n\nfirst reply\n\n";
    let chat = |time: &str, words: &str, said: &str| {
        format!("\n# aider chat started at {time}\n\n> Aider v0.86.2  \n{words}\n#### {said}  \n\nreply to {said}\n\n")
    };
    let restored = "> Restored previous conversation history.  \n";
    let second = chat("2026-11-15 05:00:00", restored, "second");
    let third = chat("2026-11-15 06:00:00", restored, "third");
    let other = chat("2026-11-15 07:00:00", "", "other");
    std::fs::write(&path, format!("{ours}{second}{third}{other}")).unwrap();
    let listed = list_found(folder.path());
    let titles: Vec<Option<&str>> = listed.iter().map(|found| found.title.as_deref()).collect();
    assert_eq!(titles, [Some("first"), Some("other")]);
    for key in ["2026-11-15 04:00:00", "2026-11-15 06:00:00"] {
        let transcript = read_chat(&path, Some(key));
        assert_eq!(transcript.header.session, listed[0].id);
        assert_eq!(transcript.n_messages(), 6);
        assert_eq!(transcript.header.client_version.as_deref(), Some("0.86.2"));
    }
    assert_eq!(read_chat(&path, Some("2026-11-15 07:00:00")).n_messages(), 2);
}

#[test]
fn a_chat_that_is_gone_is_an_error() {
    let source = Source { path: fixture("0.86.2-edit.md"), key: Some("2020-01-01 00:00:00".to_owned()) };
    let read = Aider.read_session(&source, &Bookmark::Start, &mut TranscriptBuilder::new("aider"));
    assert!(matches!(read, Err(AgentError::NotASession { .. })));
}

#[test]
fn local_time_is_told_by_the_prompts_beside() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(fixture("0.86.2-edit.md"), folder.path().join(".aider.chat.history.md")).unwrap();
    let prompts = folder.path().join(".aider.input.history");
    std::fs::write(&prompts, "\n# 2026-11-15 04:17:19.200000\n+Fix add, please.\n").unwrap();
    let file = std::fs::File::options().write(true).open(&prompts).unwrap();
    let at: jiff::Timestamp = "2026-11-14T22:47:19.256Z".parse().unwrap();
    file.set_modified(at.into()).unwrap();
    assert_eq!(list_found(folder.path())[0].started_at.unwrap().to_string(), "2026-11-14T22:47:13.000Z");
}

#[test]
fn reading_in_two_steps_is_reading_at_once() {
    let begin = || TranscriptBuilder::new("aider");
    for name in ["0.86.2-edit.md", "0.86.2-restored.md", "0.86.2-cleared.md", "0.86.2-limit.md", "hand-written.md"] {
        fixtures::check_reading_in_steps(&Aider, name, fixtures::cut_every(7), begin);
    }
}

#[test]
fn truncation_at_every_byte_loses_no_earlier_entry() {
    let bytes = fs_err::read(fixture("0.86.2-edit.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.md");
    let mut before = 0;
    for cut in 0..=bytes.len() {
        std::fs::write(&path, &bytes[..cut]).unwrap();
        let n_entries = read_last_chat(&path).entries.len();
        assert!(n_entries + 1 >= before, "{before} entries, and {n_entries} of {cut} bytes");
        before = before.max(n_entries);
    }
}

#[test]
fn stores_are_the_projects_that_hold_a_history() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    for made in ["repo/.git", "repo/src", "plain", "none"] {
        std::fs::create_dir_all(root.join(made)).unwrap();
    }
    for file in ["repo/.aider.chat.history.md", "plain/.aider.chat.history.1234abcd.md", "none/talk.md"] {
        std::fs::write(root.join(file), "\n# aider chat started at 2026-11-15 05:00:00\n\n#### hello  \n").unwrap();
    }
    let stores = |vars: &[(&str, &str)]| {
        let env = crate::Env {
            home: root.to_path_buf(),
            vars: vars.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            os: crate::Os::Linux,
            now: carryover_core::time::Timestamp::EPOCH,
            zone: jiff::tz::TimeZone::UTC,
            stores: std::collections::BTreeMap::new(),
            projects: ["repo/src", "plain", "none", "gone"].map(|name| root.join(name)).to_vec(),
        };
        let roots = Aider.stores(&env).into_iter().map(|store| store.root.strip_prefix(root).unwrap().to_path_buf());
        roots.collect::<Vec<_>>()
    };
    assert_eq!(stores(&[]), [PathBuf::from("repo"), PathBuf::from("plain")]);
    let named = stores(&[("AIDER_CHAT_HISTORY_FILE", "talk.md")]);
    assert_eq!(named, [PathBuf::from("repo"), PathBuf::from("plain"), PathBuf::from("none/talk.md")]);
    assert_eq!(list_found(&root.join("none/talk.md"))[0].project, Some(root.join("none")));
}
