//! Each part of the daemon fails alone: what is left goes on, and tells of it where somebody looks.

use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use carryover_testkit::agents::LABS;
use serde_json::{Value, json};

use crate::running::{PATIENCE, Running};
use crate::support::{TestEnv, append_record};
use crate::test_daemon::{ask, handoff, start_daemon, wait_for_handoff};
use crate::test_hook::{call, given};

const SESSION: &str = "d3a03cdd-c689-41e6-9587-86a6223f5251";

/// A home with two sessions, and settings for its daemon besides the port that it does not have.
fn env(settings: &str) -> TestEnv {
    let env = TestEnv::with_sessions();
    env.set_daemon_port(0);
    env.write(".carryover/config.toml", &format!("[daemon]\nport = 0\n{settings}"));
    env
}

/// The folder of the project's sessions.
fn session_folder(env: &TestEnv) -> PathBuf {
    let mut folders = fs_err::read_dir(env.home().join(".claude/projects")).unwrap();
    folders.next().unwrap().unwrap().path()
}

/// Waits until the status has some words; it is asked for again and again, as a person would.
fn wait_for_status(env: &TestEnv, words: &str) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let said = env.run(&["status"]);
        if said.stdout.contains(words) || said.stderr.contains(words) {
            return;
        }
        assert!(Instant::now() < deadline, "no `{words}` in {said}");
    }
}

/// The daemon, started by a shell that first does something about its limits.
fn start_under(env: &TestEnv, limits: &str) -> Running {
    let program = env!("CARGO_BIN_EXE_carryover");
    let plain = env.command(&[]);
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &format!("{limits}; exec \"$0\" daemon run"), program]);
    command.current_dir(env.project()).env_clear();
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let daemon = Running::spawn(command);
    daemon.until("watching");
    daemon
}

pub(crate) fn count_in_ledger(env: &TestEnv, words: &str) -> u64 {
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let counted = "SELECT count(DISTINCT text) FROM entry WHERE text LIKE ?1 AND retracted = 0 AND kind = 'prompt'";
    let ledger = rusqlite::Connection::open_with_flags(env.home().join(".carryover/ledger.sqlite"), flags);
    // One that is only being made holds nothing yet.
    ledger.and_then(|ledger| ledger.query_row(counted, [format!("%{words}%")], |row| row.get(0))).unwrap_or(0)
}

/// Waits until the ledger has so many prompts with some words.
pub(crate) fn wait_for_ledger(env: &TestEnv, words: &str, count: u64) {
    let deadline = Instant::now() + PATIENCE;
    while count_in_ledger(env, words) < count {
        assert!(Instant::now() < deadline, "{words}: {} of {count}", count_in_ledger(env, words));
        std::thread::yield_now();
    }
}

#[test]
fn after_the_daemon_was_killed_the_last_handoff_is_still_given() {
    let env = env("");
    let mut daemon = start_daemon(&env);
    ask(&env, "Paint the fence");
    wait_for_handoff(&env, &daemon, "Paint the fence");
    daemon.child.kill().unwrap();
    daemon.child.wait().unwrap();
    ask(&env, "Nobody saw this");
    assert!(given(&env, &env.project(), "startup").contains("Paint the fence"));
    assert!(fs_err::read_to_string(env.project().join("AGENTS.md")).unwrap().contains(".carryover/handoff.md"));
}

#[test]
fn without_its_socket_and_port_the_daemon_still_sees_and_publishes() {
    let env = env("");
    let daemon = start_daemon(&env);
    fs_err::remove_file(env.home().join(".carryover/daemon.sock")).unwrap();
    ask(&env, "Nobody can call you");
    wait_for_handoff(&env, &daemon, "Nobody can call you");
    assert!(given(&env, &env.project(), "startup").contains("Nobody can call you"));
    daemon.signal("-TERM");
}

#[test]
fn what_no_watcher_told_is_read_when_a_hook_names_it() {
    let env = env("[watch]\ninterval = 3600\n");
    let file = session_folder(&env).join(format!("{SESSION}.jsonl"));
    let alias = env.home().join("alias.jsonl");
    fs_err::hard_link(&file, &alias).unwrap();
    let daemon = start_daemon(&env);
    daemon.until("the ledger is up to date");
    // The system tells of a change under the name by which it was made, and nobody watches this one.
    let record = json!({ "type": "user", "uuid": "blind", "parentUuid": "b7144843-8586-4407-a37b-b369bf0d8e95",
        "isSidechain": false, "message": { "role": "user", "content": "Written behind its back" },
        "timestamp": "2026-11-15T09:59:00.000Z", "sessionId": SESSION, "cwd": env.project(), "version": "2.1.325" });
    let last = json!({ "type": "last-prompt", "lastPrompt": "", "leafUuid": "blind", "sessionId": SESSION });
    let mut out = fs_err::OpenOptions::new().append(true).open(&alias).unwrap();
    out.write_all(format!("{record}\n{last}\n").as_bytes()).unwrap();
    assert!(!handoff(&env).contains("behind its back"));
    let payload = json!({ "session_id": SESSION, "transcript_path": file, "cwd": env.project() });
    call(&env, "claude-code", "Stop", &payload).success();
    wait_for_handoff(&env, &daemon, "Written behind its back");
    daemon.signal("-TERM");
}

#[test]
fn without_a_ledger_the_handoff_is_published_and_the_trouble_told() {
    let env = env("");
    fs_err::create_dir(env.home().join(".carryover/ledger.sqlite")).unwrap();
    let daemon = start_daemon(&env);
    ask(&env, "The book is gone");
    wait_for_handoff(&env, &daemon, "The book is gone");
    wait_for_status(&env, "warning: the ledger: ");
    daemon.signal("-TERM");
}

#[test]
fn with_the_ledger_switched_off_the_handoff_is_published_and_nothing_kept() {
    let env = env("[ledger]\nenabled = false\n");
    let daemon = start_daemon(&env);
    ask(&env, "Keep no book");
    wait_for_handoff(&env, &daemon, "Keep no book");
    wait_for_status(&env, "ledger    switched off");
    assert!(!env.home().join(".carryover/ledger.sqlite").exists());
    daemon.signal("-TERM");
}

#[test]
fn when_the_ledger_finds_no_room_the_handoff_is_published_and_nothing_is_lost() {
    let env = env("");
    // A file may grow to some kilobytes: enough for a handoff, and too little for a ledger.
    let daemon = start_under(&env, "trap '' XFSZ; ulimit -f 64");
    ask(&env, "There is no room");
    wait_for_handoff(&env, &daemon, "There is no room");
    wait_for_status(&env, "warning: the ledger: ");
    daemon.signal("-TERM");
    let daemon = start_daemon(&env);
    daemon.until("the ledger is up to date: 2 sessions");
    daemon.signal("-TERM");
    assert_eq!(count_in_ledger(&env, "There is no room"), 1);
}

#[test]
fn a_store_that_moved_away_is_told_and_the_others_are_unaffected() {
    let env = env("");
    let daemon = start_daemon(&env);
    daemon.until("the ledger is up to date: 2 sessions");
    daemon.signal("-TERM");
    fs_err::rename(env.home().join(".codex"), env.home().join("moved")).unwrap();
    let daemon = start_daemon(&env);
    ask(&env, "Where did it go");
    wait_for_handoff(&env, &daemon, "Where did it go");
    wait_for_status(&env, "codex: its sessions were in ");
    daemon.signal("-TERM");
}

#[test]
fn a_store_whose_format_changed_is_told_and_the_others_are_unaffected() {
    let env = env("");
    let lab = LABS.iter().find(|lab| lab.sample.root.starts_with(".codex")).unwrap();
    fs_err::remove_dir_all(env.home().join(lab.sample.root)).unwrap();
    lab.sample.write_future_version(&env.home().join(lab.sample.root)).unwrap();
    let daemon = start_daemon(&env);
    ask(&env, "They speak in tongues");
    wait_for_handoff(&env, &daemon, "They speak in tongues");
    wait_for_status(&env, &format!("{}: the format has changed", lab.id));
    daemon.signal("-TERM");
}

#[test]
fn where_nothing_can_be_written_a_hook_is_silent_and_the_daemon_says_why_it_does_not_start() {
    // Not even root can make a folder below a file.
    let env = TestEnv::with_sessions();
    env.write("locked", "");
    let folder = env.home().join("locked/carryover").display().to_string();
    let env = env.var("CARRYOVER_HOME", &folder);
    for (event, payload) in [("SessionStart", json!({ "source": "startup" })), ("SessionEnd", json!({}))] {
        let mut payload: Value = payload;
        payload["session_id"] = json!(SESSION);
        payload["cwd"] = json!(env.project());
        let said = call(&env, "claude-code", event, &payload);
        assert_eq!((said.code, said.stdout.as_str(), said.stderr.as_str()), (Some(0), "", ""), "{event}");
    }
    let said = env.run(&["daemon", "run"]);
    assert!(said.code == Some(3) && said.stderr.contains("[HOME]/locked"), "{said}");
    let said = env.run(&["daemon", "start"]);
    assert!(said.code == Some(3) && said.stderr.contains("[HOME]/locked"), "{said}");
}

#[test]
fn a_clock_that_is_put_back_loses_nothing() {
    let env = env("");
    let daemon = start_daemon(&env);
    ask(&env, "Before the clock went back");
    wait_for_handoff(&env, &daemon, "Before the clock went back");
    wait_for_ledger(&env, "Before the clock went back", 1);
    daemon.signal("-TERM");
    let env = env.var("CARRYOVER_NOW", "2026-11-14T10:00:00Z");
    let daemon = start_daemon(&env);
    let other = "11111111-c689-41e6-9587-86a6223f5251";
    let record = json!({ "type": "user", "uuid": "earlier", "parentUuid": null, "isSidechain": false,
        "message": { "role": "user", "content": "After the clock went back" }, "timestamp": "2026-11-14T09:59:00.000Z",
        "sessionId": other, "cwd": env.project(), "version": "2.1.325" });
    fs_err::write(session_folder(&env).join(format!("{other}.jsonl")), format!("{record}\n")).unwrap();
    wait_for_handoff(&env, &daemon, "After the clock went back");
    assert!(given(&env, &env.project(), "startup").contains("After the clock went back"));
    ask(&env, "And on in the first one");
    wait_for_handoff(&env, &daemon, "And on in the first one");
    wait_for_ledger(&env, "the clock went back", 2);
    daemon.signal("-TERM");
    assert_eq!(count_in_ledger(&env, "the clock went back"), 2);
}

#[test]
fn of_many_sessions_that_are_written_to_at_once_all_are_kept_and_the_newest_stands() {
    const COUNT: u32 = 200;
    let env = env("");
    let folder = session_folder(&env);
    let record = |number: u32, uuid: &str, words: &str, at: &str| {
        json!({ "type": "user", "uuid": uuid, "parentUuid": null, "isSidechain": false,
            "message": { "role": "user", "content": format!("{words} {number}.") }, "timestamp": at,
            "sessionId": format!("{number:08}-c689-41e6-9587-86a6223f5251"), "cwd": env.project(), "version": "2.1.325" })
    };
    let path = |number: u32| folder.join(format!("{number:08}-c689-41e6-9587-86a6223f5251.jsonl"));
    for number in 0..COUNT {
        fs_err::write(path(number), format!("{}\n", record(number, "a", "Begin", "2026-11-15T08:00:00.000Z"))).unwrap();
    }
    let daemon = start_daemon(&env);
    for number in 0..COUNT {
        // The newest is neither the first nor the last that is written.
        let minute = if number == 77 { 59 } else { number % 50 };
        let line = record(number, "b", "Number", &format!("2026-11-15T09:{minute:02}:00.000Z"));
        let mut file = fs_err::OpenOptions::new().append(true).open(path(number)).unwrap();
        file.write_all(format!("{line}\n").as_bytes()).unwrap();
    }
    wait_for_ledger(&env, "Number ", u64::from(COUNT));
    let is_idle = || {
        let status: Value = serde_json::from_str(&env.run(&["status", "--json"]).success().stdout).unwrap();
        status["daemon"]["handoffs_waiting"] == 0 && status["daemon"]["changes_waiting"].as_u64().unwrap() <= 1
    };
    let deadline = Instant::now() + PATIENCE;
    while !is_idle() {
        assert!(Instant::now() < deadline, "it does not come to rest");
    }
    daemon.signal("-TERM");
    assert!(handoff(&env).contains("Number 77."), "{}", handoff(&env));
}

#[test]
fn what_was_said_long_before_the_daemon_started_is_published_where_a_handoff_stands() {
    let env = env("");
    let daemon = start_daemon(&env);
    ask(&env, "The first word");
    wait_for_handoff(&env, &daemon, "The first word");
    daemon.signal("-TERM");
    let record = json!({ "type": "user", "uuid": "later", "parentUuid": "The first word", "isSidechain": false,
        "message": { "role": "user", "content": "Said to nobody" }, "timestamp": "2026-11-15T10:30:00.000Z",
        "sessionId": SESSION, "cwd": env.project(), "version": "2.1.325" });
    append_record(&env, &record);
    append_record(&env, &json!({ "type": "last-prompt", "lastPrompt": "", "leafUuid": "later", "sessionId": SESSION }));
    let env = env.var("CARRYOVER_NOW", "2026-11-15T12:00:00Z");
    let daemon = start_daemon(&env);
    wait_for_handoff(&env, &daemon, "Said to nobody");
    daemon.signal("-TERM");
}
