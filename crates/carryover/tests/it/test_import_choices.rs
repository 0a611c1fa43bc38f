//! `carryover import` without arguments, in a terminal: what it lists, what it asks, and how it is left.

use std::time::Duration;

use carryover_testkit::client::{Launch, Terminal};

use crate::support::{CLAUDE, TestEnv, write_session};
use crate::test_picker::start_in_terminal;

const SECONDS_10: Duration = Duration::from_secs(10);

/// A capsule and two sessions, and a terminal in which the command tells how it ended.
fn start(env: &TestEnv, columns: u16, command: &str) -> Terminal {
    let script = format!("trap : INT; stty cols {columns}; \"$0\" {command}; echo \"ended with $?\"; read wait");
    let launch = Launch::new("/bin/sh", env.project());
    start_in_terminal(env, launch.args(["-c".to_owned(), script, env!("CARGO_BIN_EXE_carryover").to_owned()]))
}

fn env_with_capsule() -> TestEnv {
    let env = TestEnv::with_sessions();
    env.write("calc/calc.py", "print(1)\n");
    env.run(&["capsule", "export", CLAUDE]).success();
    env
}

fn wait_for(terminal: &mut Terminal, text: &str) {
    assert!(terminal.is_shown_within(text, SECONDS_10), "{text} in {}", terminal.text_since_keys());
}

fn answer(terminal: &mut Terminal, question: &str, keys: &str) {
    wait_for(terminal, question);
    terminal.press(keys).unwrap();
}

#[test]
fn capsules_and_sessions_are_listed_with_all_that_tells_them_apart() {
    for columns in [80, 60] {
        let env = env_with_capsule();
        let mut terminal = start(&env, columns, "import");
        wait_for(&mut terminal, "which one? (number, or q to leave)");
        for text in [
            "1  ",
            "best-effort capsule · claude-code 2.1.325",
            "56 min ago",
            "~/calc",
            "claude-opus-5-5",
            "2  d3a03cdd",
            "best-effort · claude-code 2.1.325",
            "3  01a1dcb4",
            "best-effort · codex 0.166.0",
            "gpt-5.5",
        ] {
            assert!(terminal.shows(text), "{text} in {}", terminal.text_since_keys());
        }
        drop(terminal);
        // Nothing is wider than the terminal, and no word is cut in two by it.
        let output = env.command(&["import"]).env("COLUMNS", columns.to_string()).output().unwrap();
        let shown = String::from_utf8(output.stdout).unwrap();
        let titles = shown.lines().filter(|line| !line.starts_with(' '));
        assert!(titles.clone().count() == 3 && titles.clone().all(|line| line.chars().count() <= usize::from(columns)));
    }
}

#[test]
fn session_is_shown_exported_gone_on_with_or_copied() {
    let cases: [(&str, &str, &[&str]); 5] = [
        ("2\r", "d\r", &["Please fix the bug in calc.py", "add(1, 2) is -1"]),
        ("3\r", "e\r", &["packed Codex CLI session 01a1dcb4"]),
        ("3\r", "c\r", &["nothing was written", "codex resume 01a1dcb4"]),
        ("2\r", "fork\r", &["created", "claude --resume"]),
        ("1\r", "d\r", &["system prompt", "everything that git does not ignore"]),
    ];
    for (item, action, shown) in cases {
        // What is exported is one more to choose from.
        let env = env_with_capsule();
        let mut terminal = start(&env, 150, "import");
        answer(&mut terminal, "which one?", item);
        // A capsule is packed already.
        let question =
            if item == "1\r" { "(d)etails, or (q) to leave" } else { "(d)etails, (e)xport, or (q) to leave" };
        answer(&mut terminal, question, action);
        for text in shown {
            wait_for(&mut terminal, text);
        }
        if (item, action) == ("2\r", "d\r") {
            // It is longer than the terminal, so it is in a pager.
            terminal.press("q").unwrap();
        }
        if action == "d\r" {
            // Who has looked at it is asked again.
            answer(&mut terminal, question, "q\r");
        }
        wait_for(&mut terminal, "ended with 0");
    }
}

#[test]
fn capsule_goes_on_in_the_agent_that_is_chosen_where_several_would_do() {
    // `codex` is installed in the terminal, and so is one more; the agent of the capsule is not.
    let env = env_with_capsule();
    env.write("bin/gemini", "#!/bin/sh\n");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs_err::set_permissions(env.home().join("bin/gemini"), executable).unwrap();
    let mut terminal = start(&env, 80, "--version; mv \"$HOME/bin/claude\" \"$HOME/bin/away\"; \"$0\" import");
    answer(&mut terminal, "which one?", "1\r");
    answer(&mut terminal, "(c)ontinue", "f\r");
    wait_for(&mut terminal, "Claude Code, which it comes from, is not installed; Codex");
    wait_for(&mut terminal, "1  Codex CLI            installed");
    wait_for(&mut terminal, "2  Gemini CLI           installed");
    answer(&mut terminal, "go on in which one? (number, or q to leave)", "1\r");
    wait_for(&mut terminal, "it was chosen");
    wait_for(&mut terminal, "codex resume");
    wait_for(&mut terminal, "ended with 0");
    drop(terminal);
    assert_eq!(env.json("list", &["list", "--source", "codex"])["total"], 2);
}

#[test]
fn every_question_can_be_left_and_nothing_is_written() {
    let env = env_with_capsule();
    // The programs that stand in for clients are put there with the first terminal.
    drop(start(&env, 80, "--version"));
    let before = env.files();
    let leave: [(&[&str], &str); 6] = [
        (&["q\r"], "ended with 0"),
        (&["\r"], "ended with 0"),
        (&["\u{4}"], "ended with 0"),
        (&["\u{3}"], "ended with 130"),
        (&["2\r", "q\r"], "ended with 0"),
        (&["2\r", "\u{3}"], "ended with 130"),
    ];
    for (keys, ending) in leave {
        let mut terminal = start(&env, 80, "import");
        for (question, key) in ["which one?", "(c)ontinue"].iter().zip(keys) {
            answer(&mut terminal, question, key);
        }
        wait_for(&mut terminal, ending);
    }
    let mut terminal = start(&env, 80, "import");
    answer(&mut terminal, "which one?", "9\r");
    wait_for(&mut terminal, "that is none of the numbers: 1 to 3");
    answer(&mut terminal, "which one?", "2\r");
    answer(&mut terminal, "(c)ontinue", "x\r");
    wait_for(&mut terminal, "that is none of the letters: c, f, d or e");
    answer(&mut terminal, "(c)ontinue", "q\r");
    wait_for(&mut terminal, "ended with 0");
    assert!(env.files() == before);
}

#[test]
fn home_without_anything_says_what_to_do() {
    let env = TestEnv::new();
    let mut terminal = start(&env, 60, "import");
    wait_for(&mut terminal, "error: no capsule and no session was found");
    wait_for(&mut terminal, "hint:");
    wait_for(&mut terminal, "ended with 1");
}

#[test]
fn passphrase_of_a_sealed_conversation_is_asked_for_twice_and_then_once() {
    let env = TestEnv::with_sessions();
    let mut terminal = start(&env, 80, "save d3a03cdd --encrypt --topic calc");
    answer(&mut terminal, "passphrase:", "one\r");
    answer(&mut terminal, "once more:", "another\r");
    wait_for(&mut terminal, "the two are not the same");
    wait_for(&mut terminal, "ended with 64");
    assert!(!env.project().join("conversations").exists());
    let mut terminal = start(&env, 80, "save d3a03cdd --encrypt --topic calc");
    answer(&mut terminal, "passphrase:", "some words\r");
    answer(&mut terminal, "once more:", "some words\r");
    wait_for(&mut terminal, "saved 001-conversation-calc");
    assert!(!terminal.text_since_keys().contains("somewords"));
    wait_for(&mut terminal, "ended with 0");
    let mut terminal = start(&env, 80, "conversations show calc --unseal");
    answer(&mut terminal, "passphrase:", "some words\r");
    wait_for(&mut terminal, "Please fix the bug in calc.py");
    fs_err::remove_dir_all(env.home().join(".claude")).unwrap();
    let mut terminal = start(&env, 80, "resume 001-conversation-calc --target codex --print");
    answer(&mut terminal, "passphrase:", "some words\r");
    wait_for(&mut terminal, "codex resume");
    wait_for(&mut terminal, "ended with 0");
}

#[test]
fn newest_that_fit_are_shown_first_and_the_rest_where_more_are_asked_for() {
    let env = env_with_capsule();
    for number in 10..18 {
        // Ids that begin alike are shown so far that they can be told apart.
        let id = format!("00000000-0000-4000-8000-0000000000{number}");
        write_session(&env, &id, &[("user", "a question".into())]);
    }
    let mut terminal = start(&env, 80, "--version; stty rows 16; \"$0\" import");
    wait_for(&mut terminal, "which one? (number, (m)ore: ");
    assert!(terminal.shows("best-effort is what an agent kept"), "{}", terminal.text_since_keys());
    assert!(terminal.shows("3  00000000-0000-4000-8000-00000000001"), "{}", terminal.text_since_keys());
    // The oldest comes last.
    assert!(!terminal.shows("01a1dcb4"), "{}", terminal.text_since_keys());
    for _ in 0..8 {
        terminal.press("m\r").unwrap();
        wait_for(&mut terminal, "which one?");
        if terminal.shows("01a1dcb4") {
            break;
        }
    }
    assert!(terminal.shows("01a1dcb4") && terminal.shows("which one? (number, or q to leave)"));
    terminal.press("q\r").unwrap();
    wait_for(&mut terminal, "ended with 0");
}
