//! Sessions that were reverted: each revert begins a new file that continues part of the one before.

use super::reading::list_sessions;
use super::*;
use crate::AgentError;

const SESSION: &str = "01a1dd4e-28b8-7aa1-b342-b500b0f8e1b8";
const MIDDLE: &str = "01a1dd4e-2bae-7300-9e69-99d3a14b12d6";
const LAST: &str = "01a1dd4e-2d61-79c0-9876-b447afcf7a1d";

struct Reverted {
    folder: tempfile::TempDir,
    base: PathBuf,
    middle: PathBuf,
    last: PathBuf,
}

/// A session of which the third turn was taken back, and after two more the fifth.
fn reverted_store() -> Reverted {
    let folder = tempfile::tempdir().unwrap();
    let day = folder.path().join("sessions/2026/11/15");
    std::fs::create_dir_all(&day).unwrap();
    let copy = |name: &str, id: &str, time: &str| {
        let path = day.join(format!("rollout-2026-11-15T{time}-{id}.jsonl"));
        std::fs::copy(fixture(name), &path).unwrap();
        path
    };
    let base = copy("0.166.0-revert-base", SESSION, "03-44-09");
    let middle = copy("0.166.0-revert-middle", &format!("{SESSION}_{MIDDLE}"), "03-44-10");
    let last = copy("0.166.0-revert", &format!("{SESSION}_{LAST}"), "03-44-10");
    Reverted { folder, base, middle, last }
}

const STATE: [&str; 8] = [
    "user prompt \"first prompt\"",
    "agent reply \"reply one\"",
    "user prompt \"second prompt\"",
    "agent reply \"reply two\"",
    "user prompt \"fourth prompt\"",
    "agent reply \"reply four\"",
    "user prompt \"sixth prompt\"",
    "agent reply \"reply six\"",
];

fn live_lines(path: &Path) -> Vec<String> {
    render_live(&read_session(path)).lines().map(str::to_owned).collect()
}

#[test]
fn turns_that_were_taken_back_are_gone_and_no_others() {
    let store = reverted_store();
    assert_eq!(live_lines(&store.last), STATE);
    let header = read_session(&store.last).header;
    assert_eq!(header.files, [store.last, store.middle, store.base]);
    assert_eq!(header.session.0, SESSION);
    assert_eq!(header.title.as_deref(), Some("first prompt"));
    assert_eq!(header.started_at.unwrap().to_string(), "2026-11-15T03:44:09.414Z");
}

#[test]
fn an_older_file_is_read_as_it_was_left() {
    let store = reverted_store();
    let mut before = STATE[..6].to_vec();
    before.extend(["user prompt \"fifth prompt\"", "agent reply \"reply five\""]);
    assert_eq!(live_lines(&store.middle), before);
    let mut first = STATE[..4].to_vec();
    first.extend(["user prompt \"third prompt\"", "agent reply \"reply three\""]);
    assert_eq!(live_lines(&store.base), first);
}

#[test]
fn a_reverted_session_is_listed_once_by_its_newest_file() {
    let store = reverted_store();
    let found = list_sessions(store.folder.path());
    let [session] = &found[..] else { panic!("{} sessions", found.len()) };
    assert_eq!((session.id.0.as_str(), &session.source.path), (SESSION, &store.last));
    assert_eq!(session.title.as_deref(), Some("first prompt"));
    assert_eq!(session.started_at.unwrap().to_string(), "2026-11-15T03:44:09.414Z");
    assert_eq!(session.updated_at.unwrap().to_string(), "2026-11-15T03:44:10.969Z");
    // Without its base it is still there to be asked about.
    std::fs::remove_file(&store.base).unwrap();
    assert_eq!(list_sessions(store.folder.path())[0].title.as_deref(), Some("sixth prompt"));
}

/// A revert of everything continues nothing, and a revert into an older file leaves two files that none continues.
#[test]
fn of_files_that_none_continues_the_newest_is_in_use() {
    let store = reverted_store();
    let newest = store.base.with_file_name(format!("rollout-2026-11-15T02-50-00-{SESSION}_01a1dd4e-3a84-7cd3.jsonl"));
    // The clocks were put back meanwhile: its name is older, its id is not.
    std::fs::copy(fixture("0.166.0-revert-base"), &newest).unwrap();
    let found = list_sessions(store.folder.path());
    assert_eq!(found.iter().map(|found| &found.source.path).collect::<Vec<_>>(), [&newest]);
}

#[test]
fn two_steps_at_any_line_of_the_newest_file_give_the_same() {
    let store = reverted_store();
    let path = &store.last;
    let whole = read_whole(path);
    let bytes = std::fs::read(path).unwrap();
    for end in memchr::memchr_iter(b'\n', &bytes).map(|end| end + 1) {
        std::fs::write(path, &bytes[..end]).unwrap();
        let mut builder = TranscriptBuilder::new("codex").keeping_everything();
        let bookmark = Codex.read_session(&source(path), &Bookmark::Start, &mut builder).unwrap();
        std::fs::write(path, &bytes).unwrap();
        assert_eq!(read_from(path, builder, &bookmark).0, whole, "cut at {end}");
    }
}

#[test]
fn records_of_every_file_are_read_again_by_their_keys() {
    let store = reverted_store();
    let transcript = read_whole(&store.last);
    let files: Vec<u16> =
        transcript.entries.chunk_by(|a, b| a.key.file == b.key.file).map(|some| some[0].key.file).collect();
    assert_eq!(files, [2, 1, 0]);
    for entry in transcript.entries.iter().filter(|entry| matches!(entry.body, Body::Prompt(_))) {
        assert!(Codex.reload_entries(&transcript.header, entry.key).unwrap().contains(entry));
    }
}

#[test]
fn a_base_that_is_missing_is_named_and_a_circle_is_ended() {
    let store = reverted_store();
    std::fs::remove_file(&store.base).unwrap();
    let mut builder = TranscriptBuilder::new("codex");
    let missing = Codex.read_session(&source(&store.last), &Bookmark::Start, &mut builder);
    assert!(matches!(missing, Err(AgentError::MissingBase { missing, .. }) if missing == SESSION));
    let text = std::fs::read_to_string(&store.middle).unwrap();
    let base = format!("\"history_base\":{{\"thread_id\":\"{SESSION}\"");
    assert!(text.contains(&base));
    std::fs::write(&store.middle, text.replace(&base, &base.replace(SESSION, LAST))).unwrap();
    assert_eq!(live_lines(&store.last), STATE[4..]);
    assert_eq!(list_sessions(store.folder.path()).len(), 1);
}

/// A fork names the file that it left, which its session may have been reverted from since.
#[test]
fn a_fork_of_a_reverted_session_continues_the_file_that_it_names() {
    let store = reverted_store();
    let fork = store.base.with_file_name("rollout-2026-11-15T05-00-00-fork.jsonl");
    let text = std::fs::read_to_string(&store.middle).unwrap();
    std::fs::write(&fork, text.replacen(SESSION, "fork", 2)).unwrap();
    let mut expected = STATE[..6].to_vec();
    expected.extend(["user prompt \"fifth prompt\"", "agent reply \"reply five\""]);
    assert_eq!(live_lines(&fork), expected);
    let found = list_sessions(store.folder.path());
    let titles: Vec<_> = found.iter().map(|found| (found.id.0.as_str(), found.title.as_deref())).collect();
    assert_eq!(titles, [(SESSION, Some("first prompt")), ("fork", Some("fourth prompt"))]);
}
