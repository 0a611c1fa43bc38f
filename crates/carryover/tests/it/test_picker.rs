//! `carryover` alone: in a terminal of its own, with programs that stand in for clients.

use carryover_testkit::client::{Launch, Terminal};

use crate::support::TestEnv;

#[test]
fn without_a_terminal_it_is_the_list() {
    let env = TestEnv::with_sessions();
    let (alone, list) = (env.run(&[]).success(), env.run(&["list"]).success());
    assert_eq!((alone.stdout, alone.stderr), (list.stdout, list.stderr));
    assert_eq!(env.run(&["--print"]).success().stdout, env.run(&["list"]).success().stdout);
    assert_eq!(env.json("list", &[])["total"], 2);
}

/// A home in which `claude` and `codex` are programs that tell how they were started, and what the terminal is like.
#[cfg(target_os = "linux")]
fn start_picker(env: &TestEnv, args: &[&str]) -> Terminal {
    let launch = Launch::new(env!("CARGO_BIN_EXE_carryover"), env.project());
    start_in_terminal(env, launch.args(args.iter().copied()))
}

#[cfg(target_os = "linux")]
pub(crate) fn start_in_terminal(env: &TestEnv, launch: Launch) -> Terminal {
    use std::os::unix::fs::PermissionsExt;
    for name in ["claude", "codex"] {
        let program = format!("bin/{name}");
        env.write(&program, &format!("#!/bin/sh\necho \"{name} got $* in $PWD\"\nstty -a | grep -o ' -*icanon'\n"));
        fs_err::set_permissions(env.home().join(program), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:/usr/bin:/bin", env.home().join("bin").display());
    let vars = [
        ("HOME", env.home().display().to_string()),
        ("PATH", path),
        ("TERM", "xterm-256color".to_owned()),
        ("TZ", "UTC".to_owned()),
        ("SHELL", "/bin/sh".to_owned()),
        ("CARRYOVER_NOW", "2026-11-15T10:00:00Z".to_owned()),
        ("CARRYOVER_SEED", "1000000".to_owned()),
    ];
    let vars = vars.map(|(name, value)| (name.to_owned(), value));
    Terminal::start(&launch.env(vars)).unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn it_ends_when_its_terminal_is_gone() {
    let env = TestEnv::with_sessions();
    let script = "echo $$ > \"$HOME/pid\"; exec \"$0\"";
    let launch = Launch::new("/bin/sh", env.project());
    let mut terminal = start_in_terminal(&env, launch.args(["-c", script, env!("CARGO_BIN_EXE_carryover")]));
    wait_for_frame(&mut terminal, "~/calc");
    let pid = fs_err::read_to_string(env.home().join("pid")).unwrap();
    let process = std::path::Path::new("/proc").join(pid.trim());
    assert!(process.exists());
    drop(terminal);
    let is_gone =
        || !process.exists() || fs_err::read_to_string(process.join("cmdline")).is_ok_and(|line| line.is_empty());
    for _ in 0..200 {
        if is_gone() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("it is still there");
}

/// Waits until a whole frame shows something. A frame is told as what is different from the one before, so it is asked for
/// anew (Ctrl-L) until it does.
#[cfg(target_os = "linux")]
fn wait_for_frame(terminal: &mut Terminal, awaited: &str) {
    for _ in 0..30 {
        terminal.press("\u{c}").unwrap();
        if terminal.is_shown_within(awaited, std::time::Duration::from_secs(1)) {
            return;
        }
    }
    panic!("{awaited} was not shown, but: {}", terminal.text_since_keys());
}

/// Chooses the bundled session of Claude Code, and then the first target.
#[cfg(target_os = "linux")]
fn choose_first_target(terminal: &mut Terminal) {
    wait_for_frame(terminal, "~/calc");
    terminal.press("claude add").unwrap();
    wait_for_frame(terminal, "1 of 2");
    terminal.press("\r").unwrap();
    wait_for_frame(terminal, "% loses 3 pieces");
    terminal.press("\r").unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn two_returns_carry_a_session_over_and_start_the_client() {
    let env = TestEnv::with_sessions();
    let mut terminal = start_picker(&env, &[]);
    choose_first_target(&mut terminal);
    // The report of the ordinary command, and then the client, in a terminal that is as it was.
    terminal.wait_for("carried over Claude Code → Codex").unwrap();
    terminal.wait_for("codex got resume").unwrap();
    terminal.wait_for("icanon").unwrap();
    assert!(!terminal.text_since_keys().contains("-icanon"), "{}", terminal.text_since_keys());
    terminal.finish().unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn printing_starts_no_client() {
    let env = TestEnv::with_sessions();
    let mut terminal = start_picker(&env, &["--print"]);
    choose_first_target(&mut terminal);
    terminal.wait_for("codex resume").unwrap();
    assert!(!terminal.text_since_keys().contains("codexgot"));
    terminal.finish().unwrap();
    assert!(env.run(&["list", "--source", "codex"]).success().stdout.lines().count() > 2);
}

#[cfg(target_os = "linux")]
#[test]
fn leaving_writes_nothing_and_shows_the_cursor_again() {
    let env = TestEnv::with_sessions();
    let before = env.files();
    for keys in ["\u{3}", "\u{1b}"] {
        let mut terminal = start_picker(&env, &[]);
        terminal.wait_for("type to filter").unwrap();
        terminal.press(keys).unwrap();
        terminal.finish().unwrap();
    }
    let now: Vec<_> = env.files().into_iter().filter(|(path, _)| !path.starts_with(env.home().join("bin"))).collect();
    assert_eq!(now, before);
}

#[cfg(target_os = "linux")]
#[test]
fn whoever_leaves_a_question_has_not_failed() {
    let env = TestEnv::with_sessions();
    env.set_daemon_port(0);
    let session = env!("CARGO_MANIFEST_DIR").to_owned() + "/demo/claude-code.jsonl";
    let twin = "d3a03cdd-0000-4000-8000-000000000000";
    let text = fs_err::read_to_string(session).unwrap().replace("d3a03cdd-c689-41e6-9587-86a6223f5251", twin);
    env.write(&format!(".claude/projects/-elsewhere/{twin}.jsonl"), &text);
    for (command, shown, answer) in
        [("install", "Which agents shall call carryover?", "q"), ("show d3a03cdd", "which one?", "\r")]
    {
        let script = format!("\"$0\" {command}; echo \"ended with $?\"; read wait");
        let launch = Launch::new("/bin/sh", env.project());
        let args = ["-c".to_owned(), script, env!("CARGO_BIN_EXE_carryover").to_owned()];
        let mut terminal = start_in_terminal(&env, launch.args(args));
        assert!(terminal.is_shown_within(shown, std::time::Duration::from_secs(10)), "{}", terminal.text_since_keys());
        terminal.press(answer).unwrap();
        terminal.wait_for("ended with 0").unwrap();
    }
}
