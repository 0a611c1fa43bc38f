use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::running::Running;
use crate::support::{TestEnv, append_record, check_schema};
use crate::test_resilience::wait_for_ledger;

/// A home with two sessions whose daemon has a port of its own, or none.
fn env(port: u16) -> TestEnv {
    let env = TestEnv::with_sessions();
    env.set_daemon_port(port);
    env
}

/// The daemon, watching.
pub(crate) fn start_daemon(env: &TestEnv) -> Running {
    let daemon = Running::start(env, &["daemon", "run"]);
    daemon.until("watching");
    daemon
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// The user says something in the first session, after all that was said before.
pub(crate) fn ask(env: &TestEnv, words: &str) {
    let session = "d3a03cdd-c689-41e6-9587-86a6223f5251";
    let message = json!({ "role": "user", "content": words });
    append_record(
        env,
        &json!({ "type": "user", "uuid": words, "parentUuid": "b7144843-8586-4407-a37b-b369bf0d8e95", "isSidechain": false,
            "message": message, "timestamp": "2026-11-15T09:59:00.000Z", "sessionId": session, "cwd": env.project(),
            "version": "2.1.325" }),
    );
    append_record(env, &json!({ "type": "last-prompt", "lastPrompt": words, "leafUuid": words, "sessionId": session }));
}

/// Waits until the handoff in the project has some words; each handoff is told in a line.
pub(crate) fn wait_for_handoff(env: &TestEnv, daemon: &Running, words: &str) {
    while !handoff(env).contains(words) {
        daemon.until("published the handoff of claude-code");
    }
}

pub(crate) fn handoff(env: &TestEnv) -> String {
    fs_err::read_to_string(env.project().join(".carryover/handoff.md")).unwrap_or_default()
}

/// What the port answers to a request: the status line and the body.
fn request(port: u16, head: &str, body: &[u8]) -> (String, String) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let length = body.len();
    stream.write_all(format!("{head}connection: close\r\ncontent-length: {length}\r\n\r\n").as_bytes()).unwrap();
    // Whoever refuses a body need not read it.
    stream.write_all(body).ok();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).ok();
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.lines().next().unwrap().to_owned(), body.to_owned())
}

#[test]
fn a_change_is_published_in_the_project_and_pointed_to() {
    let env = env(0);
    env.write("calc/.gitignore", "target\n");
    let daemon = start_daemon(&env);
    ask(&env, "Now divide by the fortieth prime");
    wait_for_handoff(&env, &daemon, "> Now divide by the fortieth prime");
    let agents = fs_err::read_to_string(env.project().join("AGENTS.md")).unwrap();
    assert!(agents.contains("`.carryover/handoff.md`") && !agents.contains("prime"), "{agents}");
    let own = fs_err::read_to_string(env.home().join(".carryover/handoff.md")).unwrap();
    assert_eq!(own, handoff(&env));
    wait_for_ledger(&env, "the fortieth prime", 1);
    assert!(daemon.signal("-TERM").0.success());
}

#[test]
fn a_second_daemon_says_so_and_ends() {
    let env = env(0);
    let daemon = start_daemon(&env);
    let second = env.run(&["daemon", "run"]);
    assert_eq!(second.code, Some(3));
    assert!(second.stderr.contains("a daemon is already at work on [HOME]/.carryover (process "), "{second}");
    // A service manager would start it again and again.
    let _ = env.run(&["daemon", "run", "--service"]).success();
    daemon.signal("-TERM");
}

#[test]
fn it_starts_in_the_background_answers_and_stops() {
    let env = env(0);
    assert_eq!(env.run(&["daemon", "start"]).success().stderr, "the daemon runs\n");
    assert_eq!(env.run(&["daemon", "start"]).success().stderr, "the daemon runs already\n");
    let restarted = env.run(&["daemon", "restart"]).success().stderr;
    assert_eq!(restarted, "the daemon has ended\nthe daemon runs\n");
    assert!(env.run(&["daemon", "logs", "-n", "1000"]).success().stdout.contains("started, process"));
    assert_eq!(env.run(&["daemon", "stop"]).success().stderr, "the daemon has ended\n");
    assert_eq!(env.run(&["daemon", "stop"]).success().stderr, "no daemon runs\n");
}

#[test]
fn one_that_cannot_start_is_told_at_once_and_says_why_in_its_log() {
    let env = env(0);
    fs_err::create_dir_all(env.home().join(".carryover/daemon.sock")).unwrap();
    insta::assert_snapshot!(env.run(&["daemon", "start"]), @"
    exit code 3
    --- stderr
    error: the daemon ended at once
    hint: `carryover daemon logs` tells what it said
    ");
    let log = env.run(&["daemon", "logs"]).success().stdout;
    assert!(log.contains("daemon.sock"), "{log}");
}

#[test]
fn a_socket_in_a_shared_folder_is_used_only_where_nobody_else_can_have_put_it() {
    let env = TestEnv::with_sessions();
    let (home, runtime) = (env.home().join("l".repeat(100)), env.home().join("run"));
    fs_err::create_dir_all(&runtime).unwrap();
    let env = env.var("CARRYOVER_HOME", home.to_str().unwrap()).var("XDG_RUNTIME_DIR", runtime.to_str().unwrap());
    let _ = env.run(&["config", "set", "daemon.port", "0"]).success();
    let _ = env.run(&["daemon", "start"]).success();
    let folder = fs_err::read_dir(&runtime).unwrap().next().unwrap().unwrap().path();
    let open_folder = |mode| fs_err::set_permissions(&folder, PermissionsExt::from_mode(mode)).unwrap();
    open_folder(0o755);
    let refused = env.run(&["daemon", "stop"]);
    assert!(refused.code == Some(3) && refused.stderr.contains("must be a folder that is yours"), "{refused}");
    open_folder(0o700);
    assert_eq!(env.run(&["daemon", "stop"]).success().stderr, "the daemon has ended\n");
    open_folder(0o755);
    let refused = env.run(&["daemon", "run"]);
    assert!(refused.code == Some(3) && refused.stderr.contains("must be a folder that is yours"), "{refused}");
}

#[test]
fn without_an_installation_its_pointers_and_handoffs_are_taken_back_all_the_same() {
    let env = env(0);
    let daemon = start_daemon(&env);
    ask(&env, "Now divide by the fortieth prime");
    wait_for_handoff(&env, &daemon, "> Now divide by the fortieth prime");
    daemon.signal("-TERM");
    // Pointers that cannot be taken out keep our folder, which knows of them.
    let pointers = env.project().join("AGENTS.md");
    let text = fs_err::read(&pointers).unwrap();
    fs_err::remove_file(&pointers).unwrap();
    fs_err::create_dir(&pointers).unwrap();
    let refused = env.run(&["uninstall", "--purge", "--yes"]);
    assert!(refused.code == Some(3) && refused.stderr.contains("the pointers in ~/calc stay"), "{refused}");
    assert!(env.home().join(".carryover").exists());
    fs_err::remove_dir(&pointers).unwrap();
    fs_err::write(&pointers, text).unwrap();
    let _ = env.run(&["uninstall", "--purge", "--yes"]).success();
    assert!(!pointers.exists() && handoff(&env).is_empty() && !env.home().join(".carryover").exists());
}

#[test]
fn the_port_answers_only_programs_of_this_machine_with_the_token() {
    let port = free_port();
    let env = env(port);
    let daemon = start_daemon(&env);
    let token = fs_err::read_to_string(env.home().join(".carryover/token")).unwrap();
    let bearer = format!("authorization: Bearer {token}\r\n");
    let get = |path: &str, headers: &str| request(port, &format!("GET {path} HTTP/1.1\r\n{headers}"), b"");
    let local = format!("host: 127.0.0.1:{port}\r\n");
    assert_eq!(get("/status", &local).0, "HTTP/1.1 401 Unauthorized");
    assert_eq!(get("/status", &format!("host: evil.example\r\n{bearer}")).0, "HTTP/1.1 403 Forbidden");
    assert_eq!(get("/status", &format!("{local}origin: http://localhost\r\n{bearer}")).0, "HTTP/1.1 403 Forbidden");
    let (status, body) = get("/status", &format!("{local}{bearer}"));
    assert_eq!(status, "HTTP/1.1 200 OK");
    let document: Value = serde_json::from_str(&body).unwrap();
    check_schema("daemon", &document);
    assert_eq!(document["port"], port);

    let send = |path: &str, body: &[u8]| request(port, &format!("POST {path} HTTP/1.1\r\n{local}{bearer}"), body);
    assert_eq!(send("/hook/claude-code/Stop", &vec![b' '; (1 << 20) + 1]).0, "HTTP/1.1 413 Payload Too Large");
    assert_eq!(send("/hook/nobody/Stop", b"{}").0, "HTTP/1.1 404 Not Found");
    assert_eq!(send("/hook/claude-code/Stop", b"[").0, "HTTP/1.1 400 Bad Request");
    assert_eq!(send("/stop", b"").0, "HTTP/1.1 404 Not Found");
    assert_eq!(send("/hook/claude-code/Stop", b"{}").0, "HTTP/1.1 204 No Content");
    let project = env.project().display().to_string();
    assert_eq!(get(&format!("/handoff?project={project}"), &format!("{local}{bearer}")).0, "HTTP/1.1 404 Not Found");
    ask(&env, "Publish me");
    wait_for_handoff(&env, &daemon, "> Publish me");
    let (_, text) = get(&format!("/handoff?project={project}"), &format!("{local}{bearer}"));
    assert!(text.contains("> Publish me"), "{text}");
    daemon.signal("-TERM");
}

#[test]
fn a_program_that_has_the_port_is_named_and_everything_else_works() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let env = env(taken.local_addr().unwrap().port());
    let daemon = Running::start(&env, &["daemon", "run"]);
    daemon.until("is taken by it");
    ask(&env, "Go on without it");
    wait_for_handoff(&env, &daemon, "Go on without it");
    daemon.signal("-TERM");
}

#[test]
fn killed_under_load_it_goes_on_where_it_was() {
    let env = env(0);
    let mut daemon = start_daemon(&env);
    for round in 0..3 {
        for number in 0..40 {
            ask(&env, &format!("Question {round} {number}"));
        }
        daemon.until("published");
        daemon.child.kill().unwrap();
        daemon.child.wait().unwrap();
        daemon = start_daemon(&env);
    }
    ask(&env, "The last question of all");
    wait_for_handoff(&env, &daemon, "The last question of all");
    wait_for_ledger(&env, "question", 121);
    assert!(daemon.signal("-TERM").0.success());
    let ledger = rusqlite::Connection::open(env.home().join(".carryover/ledger.sqlite")).unwrap();
    let counted = "SELECT count(*), count(DISTINCT text) FROM entry WHERE text LIKE '%question%' AND retracted = 0";
    let counts: (u64, u64) = ledger.query_row(counted, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    assert_eq!(counts, (121, 121), "each question once, and none missing");
}

#[test]
fn a_ledger_that_cannot_be_read_is_set_aside_and_made_anew() {
    let env = env(0);
    env.write(".carryover/ledger.sqlite", "this is no database, but somebody's letter");
    let daemon = start_daemon(&env);
    daemon.until("the ledger is up to date: 2 sessions");
    let log = env.run(&["daemon", "logs"]).success().stdout;
    assert!(log.contains("trouble with the ledger: could not be read: it was set aside"), "{log}");
    daemon.signal("-TERM");
}

#[test]
fn programs_go_on_with_capsules_by_path_by_id_and_by_upload() {
    let sender = crate::test_capsule::env_with_git();
    sender.write("calc/calc.py", "print(1)\n");
    let (capsule, _) = crate::test_capsule::export(&sender, "a.tar.zst", &[]);
    let port = free_port();
    let env = env(port);
    let daemon = start_daemon(&env);
    let token = fs_err::read_to_string(env.home().join(".carryover/token")).unwrap();
    let head = |path: &str, kind: &str| {
        let bearer = format!("authorization: Bearer {token}\r\ncontent-type: {kind}\r\n");
        format!("POST {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n{bearer}")
    };
    let ask = |body: &Value| request(port, &head("/sessions/import", "application/json"), body.to_string().as_bytes());
    let folder = |name: &str| env.home().join(name).display().to_string();
    let (status, answer) = ask(&json!({ "path": capsule, "project": folder("one"), "target": "codex" }));
    assert_eq!(status, "HTTP/1.1 200 OK", "{answer}");
    let told: Value = serde_json::from_str(&answer).unwrap();
    check_schema("import", &told);
    assert_eq!(fs_err::read_to_string(env.home().join("one/calc.py")).unwrap(), "print(1)\n");

    let shelf = env.home().join(".carryover/capsules");
    fs_err::create_dir_all(&shelf).unwrap();
    fs_err::copy(&capsule, shelf.join("a.tar.zst")).unwrap();
    let (status, answer) = ask(&json!({ "id": told["capsule"], "project": folder("two"), "tokens": 500 }));
    assert_eq!(status, "HTTP/1.1 200 OK", "{answer}");
    assert!(answer.contains("to fit 500 tokens"), "{answer}");
    let bytes = fs_err::read(&capsule).unwrap();
    let address = format!("/sessions/import?project={}&target=pi", folder("three"));
    let (status, answer) = request(port, &head(&address, "application/zstd"), &bytes);
    assert_eq!(status, "HTTP/1.1 200 OK", "{answer}");
    assert!(env.home().join("three/calc.py").exists());

    env.write("full/mine.txt", "mine");
    let refused = [
        (json!({ "path": capsule, "project": folder("full") }), "409 Conflict"),
        (json!({ "path": capsule, "project": "relative" }), "400 Bad Request"),
        (json!({ "project": folder("four") }), "400 Bad Request"),
        (json!({ "id": "ffffffff", "project": folder("four") }), "404 Not Found"),
        (json!({ "path": folder("nothing"), "project": folder("four") }), "404 Not Found"),
        (json!({ "path": env.home().join("full/mine.txt"), "project": folder("four") }), "422 Unprocessable Entity"),
        (json!({ "path": capsule, "project": folder("four"), "force": true }), "400 Bad Request"),
    ];
    for (body, expected) in refused {
        assert_eq!(ask(&body).0, format!("HTTP/1.1 {expected}"), "{body}");
    }
    let (status, _) =
        request(port, &head("/sessions/import?project=/x", "application/zstd"), &bytes[..bytes.len() - 30]);
    assert_eq!(status, "HTTP/1.1 422 Unprocessable Entity");
    let anybody = format!("POST /sessions/import HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n");
    assert_eq!(request(port, &anybody, b"{}").0, "HTTP/1.1 401 Unauthorized");
    assert!(!env.home().join("four").exists());
    daemon.signal("-TERM");
}
