use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::running::{PATIENCE, Running};
use crate::support::{CLAUDE, TestEnv, append_record, check_schema, meet_limit};

/// A home with two sessions, and the client of the second one installed.
fn env() -> TestEnv {
    let env = TestEnv::with_sessions();
    env.write("bin/codex", "#!/bin/sh\nexit 1\n");
    fs_err::set_permissions(env.home().join("bin/codex"), PermissionsExt::from_mode(0o755)).unwrap();
    let path = env.home().join("bin").display().to_string();
    env.var("PATH", &path)
}

/// The session's agent runs a command.
fn run_tests(env: &TestEnv) {
    let call = json!({ "type": "tool_use", "id": "t1", "name": "Bash", "input": { "command": "cargo test" } });
    let usage = json!({ "input_tokens": 5, "cache_read_input_tokens": 120_000, "output_tokens": 500 });
    let message = json!({ "id": "m", "role": "assistant", "content": [call], "usage": usage });
    let record = json!({ "type": "assistant", "parentUuid": null, "isSidechain": false, "message": message,
        "sessionId": "d3a03cdd-c689-41e6-9587-86a6223f5251", "uuid": "00000000-0000-4000-8000-000000000002",
        "timestamp": "2026-11-15T09:59:59.000Z" });
    append_record(env, &record);
}

fn state(env: &TestEnv) -> Value {
    let path = env.project().join(".carryover/watcher-state.json");
    let state: Value = serde_json::from_str(&fs_err::read_to_string(path).unwrap()).unwrap();
    check_schema("watcher-state", &state);
    state
}

#[test]
fn a_limit_is_told_with_the_command_that_goes_on() {
    let env = env();
    let running = Running::start(&env, &["watch"]);
    running.until("watching claude-code, codex; Ctrl-C ends it");
    assert_eq!(state(&env)["activeSessions"], json!({}));
    meet_limit(&env);
    let said = running.until("carryover handoff");
    let home = env.home().display().to_string();
    insta::assert_snapshot!(said.join("\n").replace(&home, "[HOME]"), @"
    claude-code   d3a03cdd  just now    ~/calc  Please fix the bug in calc.py and add a test. The icon in the README looks…
    limit: Claude Code d3a03cdd in ~/calc: You've hit your limit
      it ends      2026-11-15 12:00 UTC
      go on        carryover codex d3a03cdd-c689-41e6-9587-86a6223f5251
      or hand over carryover handoff d3a03cdd-c689-41e6-9587-86a6223f5251
    ");
    let (status, rest) = running.signal("-TERM");
    assert_eq!((status.code(), rest), (Some(0), Vec::new()));
    let state = state(&env);
    assert_eq!(state["timestamp"], "2026-11-15T10:00:00.000Z");
    assert_eq!(state["agents"], json!(["claude-code", "codex"]));
    let active: Vec<&String> = state["activeSessions"].as_object().unwrap().keys().collect();
    assert!(matches!(active[..], [path] if path.contains(CLAUDE)), "{active:?}");
    let folder = env.project().join(".carryover");
    assert_eq!(fs_err::read_to_string(folder.join(".gitignore")).unwrap(), "*\n");
    let mode = |path| fs_err::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(folder.join("watcher-state.json")), mode(folder)), (0o600, 0o700));
}

#[test]
fn events_are_lines_of_json_until_ctrl_c() {
    let env = env();
    let running = Running::start(&env, &["watch", "--json", "--agents", "claude,codex", "--interval", "1"]);
    let mut said = running.until("\"event\":\"watching\"");
    run_tests(&env);
    said.extend(running.until("\"event\":\"active\""));
    meet_limit(&env);
    said.extend(running.until("\"event\":\"limit\""));
    let (status, rest) = running.signal("-INT");
    assert_eq!((status.code(), rest), (Some(0), Vec::new()));
    let events: Vec<Value> = said.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    for event in &events {
        check_schema("watch", event);
    }
    let kinds: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["watching", "active", "active", "limit"]);
    let runs =
        json!({ "kind": "calling", "action": "run", "text": "cargo test", "is_error": false, "resets_at": null });
    assert_eq!(events[1]["doing"], runs);
    assert_eq!((&events[1]["tokens"]["input"], &events[1]["tokens"]["output"]), (&json!(120_005), &json!(500)));
    let ends = json!("2026-11-15T12:00:00.000Z");
    assert_eq!((&events[2]["doing"]["kind"], &events[2]["doing"]["resets_at"]), (&json!("at_limit"), &ends));
    assert_eq!(events[3]["resets_at"], ends);
    assert_eq!(events[3]["command"], json!(["carryover", "resume", events[3]["session_id"], "--target", "codex"]));
}

#[test]
fn agents_and_interval_can_be_configured() {
    let env = env();
    env.run(&["config", "set", "watch.agents", "codex"]).success();
    env.run(&["config", "set", "watch.interval", "5"]).success();
    let running = Running::start(&env, &["watch"]);
    running.until("watching codex; Ctrl-C ends it");
    let (status, _) = running.signal("-TERM");
    assert_eq!(status.code(), Some(0));
    assert_eq!(state(&env)["agents"], json!(["codex"]));
}

#[test]
fn without_an_agent_there_is_nothing_to_watch() {
    insta::assert_snapshot!(TestEnv::new().run(&["watch"]), @"
    exit code 1
    --- stderr
    error: no agent with sessions was found
    hint: run `carryover info` to see where carryover looks for sessions
    ");
    insta::assert_snapshot!(TestEnv::new().run(&["watch", "--interval", "0"]), @"
    exit code 64
    --- stderr
    error: invalid value '0' for '--interval <S>': 0 is not in 1..=86400

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(TestEnv::new().run(&["config", "set", "watch.interval", "0"]), @"
    exit code 64
    --- stderr
    error: `watch.interval` must be a number of seconds from 1 to 86400
    ");
}

#[test]
fn a_notification_of_the_desktop_is_plain_text() {
    let env = env().var("DISPLAY", ":0");
    env.run(&["config", "set", "watch.notify", "desktop"]).success();
    let heard = env.home().join("heard");
    assert!(Command::new("mkfifo").arg(&heard).status().unwrap().success());
    let script = format!("#!/bin/sh\nprintf '%s\\n' \"$@\" > '{}'\n", heard.display());
    env.write("bin/notify-send", &script);
    fs_err::set_permissions(env.home().join("bin/notify-send"), PermissionsExt::from_mode(0o755)).unwrap();
    let title = json!({ "type": "ai-title", "sessionId": "d3a03cdd-c689-41e6-9587-86a6223f5251",
        "aiTitle": "<b>Fix</b> & \u{1b}[31mtest" });
    append_record(&env, &title);
    let running = Running::start(&env, &["watch"]);
    running.until("watching claude-code, codex");
    let (sender, receiver) = channel();
    std::thread::spawn(move || sender.send(fs_err::read_to_string(heard).unwrap()));
    meet_limit(&env);
    let said = receiver.recv_timeout(PATIENCE).unwrap();
    insta::assert_snapshot!(said, @"
    --app-name=carryover
    --
    Claude Code is at a limit
    until 12:00, ~/calc, ‹b›Fix‹/b› + test
    ");
    let lines = running.until("carryover handoff").join("\n");
    assert!(!lines.contains('\u{7}'), "no bell goes into a pipe: {lines:?}");
    running.signal("-TERM");
}

/// The program in a terminal of its own.
#[cfg(target_os = "linux")]
fn start_on_terminal(env: &TestEnv) -> carryover_testkit::client::Terminal {
    let vars = [
        ("HOME", env.home().display().to_string()),
        ("PATH", format!("{}:/usr/bin:/bin", env.home().join("bin").display())),
        ("TERM", "xterm-256color".to_owned()),
        ("TZ", "UTC".to_owned()),
        ("SHELL", "/bin/sh".to_owned()),
        ("CARRYOVER_NOW", "2026-11-15T10:00:00Z".to_owned()),
    ];
    let program = env!("CARGO_BIN_EXE_carryover");
    let line = format!("'{program}' watch; echo left $?; stty -a | grep -o ' -*icanon'");
    let launch = carryover_testkit::client::Launch::new("/bin/sh", env.project()).args(["-c", &line]);
    carryover_testkit::client::Terminal::start(&launch.env(vars.map(|(name, value)| (name.to_owned(), value)))).unwrap()
}

/// Waits until a whole frame shows something. Only what is different from the frame before is written, so it is asked for
/// anew (Ctrl-L) until it does.
#[cfg(target_os = "linux")]
fn wait_for_frame(terminal: &mut carryover_testkit::client::Terminal, awaited: &str) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        terminal.press("\u{c}").unwrap();
        if terminal.is_shown_within(awaited, Duration::from_secs(1)) {
            return;
        }
        assert!(Instant::now() < deadline, "{awaited} was not shown, but: {}", terminal.text_since_keys());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn on_a_terminal_it_is_a_screen_that_is_left_as_it_was() {
    let env = env();
    let mut terminal = start_on_terminal(&env);
    wait_for_frame(&mut terminal, "no session was active in the last 15 min");
    run_tests(&env);
    wait_for_frame(&mut terminal, "runs cargo test");
    meet_limit(&env);
    wait_for_frame(&mut terminal, "at a limit until 12:00: You've hit your limit");
    wait_for_frame(&mut terminal, "go on: carryover codex d3a03cdd-c689-41e6-9587-86a6223f5251");
    terminal.press("q").unwrap();
    terminal.wait_for("left 0").unwrap();
    terminal.wait_for("icanon").unwrap();
    assert!(!terminal.text_since_keys().contains("-icanon"), "{}", terminal.text_since_keys());
    terminal.finish().unwrap();
    let active = state(&env)["activeSessions"].as_object().unwrap().len();
    assert_eq!(active, 1, "what is in use is kept at the end");
}
