//! Remotes: sessions that one machine pushes and another one pulls.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::s3_server::S3Server;
use crate::support::{CLAUDE, CODEX, Said, TestEnv, append_record};
use crate::test_capsule::{SECRET, env_with_git, git, make_repository, tree};

const WORDS: &str = "correct horse battery staple";

/// A folder that several machines reach.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap()
    }

    fn url(&self) -> String {
        format!("file://{}", self.path().display())
    }

    /// The names of the objects that are there.
    fn keys(&self) -> BTreeSet<String> {
        fn walk(root: &Path, folder: &Path, found: &mut BTreeSet<String>) {
            for entry in fs_err::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    walk(root, &path, found);
                } else {
                    found.insert(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned());
                }
            }
        }
        let mut found = BTreeSet::new();
        walk(&self.path(), &self.path(), &mut found);
        found.retain(|key| !key.contains(".carryover-"));
        found
    }

    fn keys_below(&self, prefix: &str) -> Vec<String> {
        self.keys().into_iter().filter(|key| key.starts_with(prefix)).collect()
    }
}

/// A machine with sessions, and one without.
fn sender() -> TestEnv {
    env_with_git().var("CARRYOVER_PASSPHRASE", WORDS)
}

fn receiver() -> TestEnv {
    TestEnv::new().var("PATH", "/usr/bin:/bin").var("CARRYOVER_PASSPHRASE", WORDS)
}

fn add(env: &TestEnv, place: &Place) -> Value {
    env.json("remote-add", &["remote", "add", "origin", &place.url()])
}

fn push(env: &TestEnv, more: &[&str]) -> Value {
    env.json("push", &[&["push"], more].concat())
}

/// Bytes that do not pack.
fn noise(n_bytes: usize) -> Vec<u8> {
    let mut state = 7_u64;
    let next = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state.to_le_bytes()[7]
    };
    (0..n_bytes).map(next).collect()
}

fn titles(shown: &Value) -> Vec<&str> {
    shown["capsules"].as_array().unwrap().iter().filter_map(|capsule| capsule["title"].as_str()).collect()
}

/// Fails with a code, says why and what to do.
fn check_refused(said: &Said, code: i32, reason: &str) {
    assert_eq!(said.code, Some(code), "{said}");
    assert!(said.stderr.contains(reason) && said.stderr.contains("hint:"), "{said}");
}

#[test]
fn pushed_session_goes_on_natively_on_another_machine() {
    let (here, there, place) = (sender(), receiver(), Place::new());
    make_repository(&here);
    assert_eq!(add(&here, &place)["outcome"], "begun");
    let pushed = push(&here, &[CLAUDE]);
    let session = &pushed["sessions"][0];
    assert_eq!((&session["is_new"], &session["sent_pieces"]), (&json!(true), &session["pieces"]));
    let id = session["capsule_id"].as_str().unwrap();

    assert_eq!(add(&there, &place)["outcome"], "joined");
    let shown = there.json("remote-show", &["remote", "show"]);
    assert_eq!((&shown["total"], &shown["capsules"][0]["project"]), (&json!(1), &json!("calc")));
    let words = shown["capsules"][0]["prompts"][0].as_str().unwrap().split_whitespace().next().unwrap();
    assert_eq!(there.json("remote-show", &["remote", "show", "origin", words])["total"], 1);
    assert_eq!(there.json("remote-show", &["remote", "show", "origin", "no-such-word"])["total"], 0);

    let pulled = there.json("pull", &["pull"]);
    assert_eq!((&pulled["total"], &pulled["capsules"][0]["import"]), (&json!(1), &json!(["import", id])));
    // Nothing goes anywhere by itself.
    assert!(!there.home().join(".codex").exists() && fs_err::read_dir(there.project()).unwrap().next().is_none());
    let exported = here.json("capsule-export", &["capsule", "export", CLAUDE]);
    let path = |told: &Value| PathBuf::from(told.as_str().unwrap());
    assert_eq!(
        fs_err::read(path(&pulled["capsules"][0]["path"])).unwrap(),
        fs_err::read(path(&exported["path"])).unwrap()
    );

    let folder = there.home().join("work");
    let args = ["import", id, "--project", folder.to_str().unwrap(), "--target", "codex"];
    let told = there.json("import", &args);
    assert_eq!(tree(&folder), tree(&here.project()));
    there.run(&["show", told["resume"]["session_id"].as_str().unwrap()]).success();
    assert_eq!(there.json("pull", &["pull"])["total"], 0);
}

#[test]
fn what_is_there_is_not_sent_again_and_names_nothing() {
    let (here, place) = (sender(), Place::new());
    make_repository(&here);
    fs_err::write(here.project().join("noise.bin"), noise(400 << 10)).unwrap();
    add(&here, &place);
    let first = push(&here, &[CLAUDE]);
    let keys = place.keys();
    assert!(!push(&here, &[CLAUDE])["sessions"][0]["is_new"].as_bool().unwrap());
    assert_eq!(place.keys(), keys);

    append_record(&here, &user_record("and one more"));
    let grown = push(&here, &[CLAUDE]);
    let session = &grown["sessions"][0];
    assert_ne!(session["capsule_id"], first["sessions"][0]["capsule_id"]);
    // The workspace is as it was, and stays.
    assert_eq!((&session["is_new"], &session["sent_pieces"]), (&json!(true), &json!(1)));
    assert!(session["pieces"].as_u64() >= Some(2));
    assert_eq!(place.keys().len(), keys.len() + 2);
    for key in place.keys() {
        let bytes = fs_err::read(place.path().join(&key)).unwrap();
        assert!(bytes.starts_with(b"age-encryption.org/v1\n"), "{key}");
        for word in ["calc", "claude", "d3a03cdd", "manifest"] {
            assert!(!key.contains(word) && !bytes.windows(word.len()).any(|part| part == word.as_bytes()), "{key}");
        }
    }
}

/// A record that the client of the first session writes.
fn user_record(text: &str) -> Value {
    json!({ "type": "user", "parentUuid": "b7144843-8586-4407-a37b-b369bf0d8e95", "uuid": "00000000-0000-4000-8000-0000000000aa", "isSidechain": false,
        "userType": "external", "sessionId": "d3a03cdd-c689-41e6-9587-86a6223f5251", "version": "2.1.0",
        "timestamp": "2026-11-15T09:59:00.000Z", "message": { "role": "user", "content": text } })
}

#[test]
fn wrong_words_and_damage_are_told_and_leave_nothing() {
    let (here, place) = (sender(), Place::new());
    add(&here, &place);
    push(&here, &[CLAUDE]);
    let stranger = TestEnv::new().var("CARRYOVER_PASSPHRASE", "another");
    let said = stranger.run(&["remote", "add", "origin", &place.url()]);
    check_refused(&said, 3, "the passphrase does not fit");
    assert!(!stranger.home().join(".carryover/config.toml").exists());
    assert!(!stranger.home().join(".carryover/remotes").exists());

    let there = receiver();
    add(&there, &place);
    let shelf = there.home().join(".carryover/capsules");
    let pull = || there.run(&["pull", CLAUDE]);
    for key in place.keys_below("objects/") {
        let path = place.path().join(&key);
        let whole = fs_err::read(&path).unwrap();
        fs_err::write(&path, &whole[..whole.len() - 60]).unwrap();
        check_refused(&pull(), 3, "cannot be opened");
        let mut changed = whole.clone();
        let last = changed.len() - 30;
        changed[last] ^= 1;
        fs_err::write(&path, &changed).unwrap();
        check_refused(&pull(), 3, "cannot be opened");
        fs_err::remove_file(&path).unwrap();
        check_refused(&pull(), 3, "is missing");
        fs_err::write(&path, &whole).unwrap();
    }
    assert!(!shelf.exists() || fs_err::read_dir(&shelf).unwrap().next().is_none());
    for key in place.keys_below("index/") {
        fs_err::write(place.path().join(key), b"junk").unwrap();
    }
    let other = receiver();
    add(&other, &place);
    let said = other.run(&["remote", "show"]);
    assert!(said.code == Some(0) && said.stderr.contains("it is passed over"), "{said}");
    pull().success();
}

#[test]
fn piece_that_was_taken_away_is_sent_again_and_others_do_not_wait_for_it() {
    let (here, there, place) = (sender(), receiver(), Place::new());
    for env in [&here, &there] {
        add(env, &place);
    }
    push(&here, &[CLAUDE]);
    let first = place.keys_below("objects/");
    push(&here, &[CODEX, "--files", "none"]);
    let missing = first.iter().find(|key| place.path().join(key).metadata().unwrap().len() > 0).unwrap();
    fs_err::remove_file(place.path().join(missing)).unwrap();
    let said = there.run_in(&there.home().join("calc"), &["pull", "--yes", "--json"]);
    assert_eq!(said.code, Some(3), "{said}");
    assert!(said.stderr.contains("1 of 2 sessions could not be pulled"), "{said}");
    let told: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((&told["total"], told["warnings"].as_array().unwrap().len()), (&Value::from(1), 1), "{told}");
    // What cannot be fetched is no reason not to send.
    let synced = there.run_in(&there.home().join("calc"), &["sync", "--json"]);
    assert!(synced.code == Some(3) && synced.stdout.contains("carryover.sync/1"), "{synced}");
    let mended = push(&here, &[CLAUDE]);
    assert_eq!(
        (&mended["sessions"][0]["is_new"], &mended["sessions"][0]["sent_pieces"]),
        (&Value::from(false), &Value::from(1)),
        "{mended}"
    );
    there.run(&["pull", CLAUDE]).success();
    assert_eq!(push(&here, &[CLAUDE])["sessions"][0]["sent_pieces"], 0);
}

#[test]
fn sync_sends_what_has_grown_with_the_newest_and_fetches_what_others_sent() {
    let (here, there, place) = (sender(), receiver(), Place::new());
    for env in [&here, &there] {
        add(env, &place);
    }
    let sync = |env: &TestEnv| env.json("sync", &["sync"]);
    let count = |told: &Value, field: &str| told[field].as_array().unwrap().len();
    let first = sync(&here);
    assert_eq!((count(&first, "pushed"), count(&first, "pulled")), (1, 0));
    let newest = first["pushed"][0]["session_id"].as_str().unwrap().to_owned();
    assert_eq!(count(&sync(&here), "pushed"), 0);

    let fetched = sync(&there);
    assert_eq!((count(&fetched, "pushed"), count(&fetched, "pulled")), (0, 1));
    let id = fetched["pulled"][0]["capsule_id"].as_str().unwrap();
    let _ = there.json("import", &["import", id, "--no-files", "--target", "claude-code", "--fork"]);
    // It is here as it came, and nobody's but its sender's.
    let again = sync(&there);
    assert_eq!((count(&again, "pushed"), count(&again, "pulled")), (0, 0), "{again}");

    let keys = place.keys().len();
    append_record(&here, &user_record("and one more"));
    let grown = sync(&here);
    assert_eq!(count(&grown, "pushed"), 1);
    if newest.starts_with(CLAUDE) {
        assert_eq!(grown["pushed"][0]["session_id"], newest.as_str());
    }
    assert_eq!(place.keys().len(), keys + 2);
    assert_eq!(count(&sync(&there), "pulled"), 1);

    let all = push(&here, &["--all"]);
    assert_eq!(all["total"], 1, "{all}");
    assert_eq!(push(&here, &["--all"])["total"], 0);
    assert_eq!(there.json("remote-show", &["remote", "show"])["total"], 2);
    assert!(there.json("remote-show", &["remote", "show", "--all"])["total"].as_u64().unwrap() >= 3);
}

#[test]
fn session_of_another_project_is_pushed_only_by_name() {
    let (here, place) = (sender(), Place::new());
    add(&here, &place);
    let elsewhere = here.home().join("elsewhere");
    fs_err::create_dir(&elsewhere).unwrap();
    for args in [&["push", "--all", "--json"][..], &["sync", "--json"]] {
        let said = here.run_in(&elsewhere, args).success();
        assert!(said.stdout.contains("[]"), "{said}");
    }
    assert_eq!(place.keys().len(), 1);
    here.run_in(&elsewhere, &["push", CODEX, "--yes"]).success();
    assert_eq!(place.keys_below("index/").len(), 1);
}

#[test]
fn secrets_are_masked_in_what_is_pushed_and_in_what_lists_it() {
    let (here, place) = (sender(), Place::new());
    add(&here, &place);
    append_record(&here, &user_record(&format!("use the token {SECRET} for it")));
    let pushed = push(&here, &[CLAUDE, "--files", "none"]);
    assert!(pushed["sessions"][0]["masked"].as_object().unwrap().values().any(|count| count.as_u64() >= Some(1)));
    let shown = here.json("remote-show", &["remote", "show"]).to_string();
    assert!(shown.contains("use the token") && !shown.contains(SECRET), "{shown}");
    let said = here.run(&["push", CLAUDE, "--files", "none", "--no-redact"]).success();
    assert!(said.stderr.contains("secrets are in it as they are"), "{said}");
}

#[test]
fn names_are_checked_and_what_was_meant_is_told() {
    let (here, place) = (sender(), Place::new());
    check_refused(&here.run(&["push"]), 2, "there is no remote yet");
    let url = place.url();
    check_refused(&here.run(&["remote", "add", "../x", &url]), 64, "is no name for a remote");
    let said = here.run(&["remote", "add", "origin", "https://me:hidden@host/x"]);
    check_refused(&said, 64, "is no address to be kept");
    assert!(!said.stderr.contains("hidden"), "{said}");
    check_refused(&here.run(&["remote", "add", "origin", "/no/such/folder"]), 3, "no such folder");
    assert!(!here.home().join(".carryover/config.toml").exists());
    add(&here, &place);
    add(&here, &place);
    check_refused(&here.run(&["remote", "add", "origin", "/tmp"]), 64, "origin is there already");
    check_refused(&here.run(&["push", "--remote", "orgin"]), 2, "did you mean `origin`?");
    check_refused(&here.run(&["remote", "remove", "xyz"]), 2, "no remote is called xyz");
    here.json("remote-add", &["remote", "add", "usb", place.path().to_str().unwrap()]);
    assert_eq!(here.json("remotes", &["remote", "list"])["total"], 2);
    push(&here, &[CLAUDE]);
    let keys = place.keys();
    here.json("remote-remove", &["remote", "remove", "origin"]);
    assert_eq!(place.keys(), keys);
    assert!(!here.home().join(".carryover/remotes/origin").exists());
    assert_eq!(titles(&here.json("remote-show", &["remote", "show", "usb"])).len(), 1);
    here.json("remote-add", &["remote", "add", "team", &url]);
    check_refused(&here.run(&["push"]), 64, "there are several remotes: team, usb");
}

#[test]
fn words_that_fit_several_are_told_apart() {
    let (here, there, place) = (sender(), receiver(), Place::new());
    for env in [&here, &there] {
        add(env, &place);
    }
    assert_eq!(push(&here, &["--all"])["total"], 2);
    let said = there.run(&["pull", "calc"]);
    check_refused(&said, 2, "`calc` fits 2 sessions");
    check_refused(&there.run(&["pull", "no-such-word"]), 2, "nothing in origin matches");
    assert_eq!(there.json("pull", &["pull", "calc", "--yes"])["total"], 1);
    assert_eq!(there.json("pull", &["pull"])["total"], 1);
    let listed = there.json("import-list", &["import"]);
    assert_eq!(listed["items"].as_array().unwrap().len(), 2);
}

fn start(env: &TestEnv, args: &[&str]) -> Child {
    env.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn machines_at_once_have_one_key_and_all_that_they_push_is_listed() {
    let (one, two, place) = (sender(), sender(), Place::new());
    let url = place.url();
    let adding = [&one, &two].map(|env| start(env, &["remote", "add", "origin", &url]));
    for child in adding {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let pushing = [(&one, CLAUDE), (&one, CODEX), (&two, CLAUDE), (&two, CODEX)];
    let pushing = pushing.map(|(env, session)| start(env, &["push", session, "--yes"]));
    for child in pushing {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    // The folders of the two differ, so these are four capsules of two sessions.
    let shown = one.json("remote-show", &["remote", "show", "--all"]);
    assert_eq!((&shown["total"], &shown["warnings"]), (&json!(4), &json!([])));
}

#[test]
fn push_that_was_killed_goes_on() {
    let (here, there, place) = (sender(), receiver(), Place::new());
    for env in [&here, &there] {
        add(env, &place);
    }
    fs_err::write(here.project().join("large.bin"), noise(24 << 20)).unwrap();
    let mut child = start(&here, &["push", CLAUDE, "--yes"]);
    while place.keys_below("objects/").len() < 3 && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let n_there = place.keys_below("objects/").len();
    assert_eq!(there.json("remote-show", &["remote", "show"])["total"], 0);
    let pushed = push(&here, &[CLAUDE]);
    let session = &pushed["sessions"][0];
    let (pieces, sent) = (session["pieces"].as_u64().unwrap(), session["sent_pieces"].as_u64().unwrap());
    assert_eq!(pieces - sent, n_there as u64);
    assert_eq!(there.json("pull", &["pull"])["total"], 1);
}

#[test]
fn place_that_is_gone_or_another_is_not_written_to() {
    let (here, place) = (sender(), Place::new());
    add(&here, &place);
    fs_err::remove_file(place.path().join("identity.age")).unwrap();
    check_refused(&here.run(&["push", CLAUDE]), 3, "holds no remote any more");
    let other = sender();
    add(&other, &place);
    check_refused(&here.run(&["push", CLAUDE]), 3, "has another key");
    assert_eq!(place.keys().len(), 1);
    fs_err::remove_dir_all(here.home().join(".carryover/remotes")).unwrap();
    check_refused(&here.run(&["push", CLAUDE]), 3, "has no key on this machine");
    let listed = here.json("remotes", &["remote", "list"]);
    assert_eq!(listed["remotes"][0]["has_key"], false);
}

/// Pushes on one machine and goes on with it on another, through any kind of place.
fn check_walk(url: &str, vars: &[(&str, String)]) {
    let with_vars = |env: TestEnv| vars.iter().fold(env, |env, (name, value)| env.var(name, value));
    let (here, there) = (with_vars(sender()), with_vars(receiver()));
    make_repository(&here);
    assert_eq!(here.json("remote-add", &["remote", "add", "origin", url])["outcome"], "begun");
    let pushed = push(&here, &[CLAUDE]);
    let id = pushed["sessions"][0]["capsule_id"].as_str().unwrap();
    assert_eq!(push(&here, &[CLAUDE])["sessions"][0]["is_new"], false);
    append_record(&here, &user_record("and one more"));
    assert_eq!(push(&here, &[CLAUDE])["sessions"][0]["sent_pieces"], 1);
    assert_eq!(there.json("remote-add", &["remote", "add", "origin", url])["outcome"], "joined");
    assert_eq!(there.json("remote-show", &["remote", "show", "--all"])["total"], 2);
    assert_eq!(there.json("pull", &["pull", id])["capsules"][0]["is_new"], true);
    let folder = there.home().join("work");
    there.json("import", &["import", id, "--project", folder.to_str().unwrap(), "--target", "codex"]);
    assert_eq!(tree(&folder), tree(&here.project()));
}

#[test]
fn bucket_of_a_service_is_a_remote() {
    let server = S3Server::start();
    check_walk("s3://team/sessions", &server.vars());
}

#[test]
fn repository_of_git_is_a_remote() {
    let place = Place::new();
    git(&place.path(), &["init", "-q", "--bare"]);
    check_walk(&format!("git+{}", place.path().display()), &[]);
}
