use super::telling::{Telling, telling};
use super::texts;
use crate::distill::Brief;
use crate::transcript::Action;

const TRACE: &str = "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    import foo\nModuleNotFoundError: No module named 'foo'\n";

fn failed(brief: &Brief) -> Vec<(String, Option<String>, usize)> {
    brief.failed.iter().map(|failed| (failed.what.text.clone(), failed.reason.clone(), failed.tries)).collect()
}

fn start() -> Telling {
    telling().user("Set the project up")
}

#[test]
fn what_was_replaced_by_another_way_has_failed() {
    let brief = start()
        .run("npm install passport", 1, "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE could not resolve\n")
        .run("npm install passport", 1, "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE could not resolve\n")
        .run("npm install lucia", 0, "added 3 packages")
        .agent("Using lucia.")
        .brief();
    let failed = failed(&brief);
    assert_eq!((failed[0].0.as_str(), failed[0].2), ("npm install passport", 2));
    assert!(failed[0].1.as_ref().unwrap().contains("ERESOLVE"), "{failed:?}");
    assert!(brief.blockers.is_empty());
}

#[test]
fn what_succeeded_later_is_history() {
    let brief = start()
        .run(
            "cd /p && pytest -q",
            1,
            "E   AssertionError: 1 != 2\nFAILED tests/test_a.py::test_one - AssertionError\n1 failed, 3 passed in 0.1s",
        )
        .edit("/p/a.py", "1", "2", 0)
        .run("pytest -q 2>&1 | tail -3", 0, "4 passed in 0.1s")
        .brief();
    assert!(brief.failed.is_empty() && brief.blockers.is_empty());
    assert_eq!(brief.errors[0].resolution.as_ref().unwrap().text, "after changing a.py: pytest -q succeeded");
    assert_eq!(brief.commands[0].tests.as_deref(), Some("4 passed, 0 failed"));
    assert_eq!((brief.commands[0].runs, brief.commands[0].failures), (2, 1));
}

#[test]
fn what_nothing_resolved_is_in_the_way() {
    let brief = start().run("python a.py", 1, TRACE).agent("That fails.").brief();
    assert_eq!(texts(&brief.blockers), ["python a.py: ModuleNotFoundError: No module named 'foo'"]);
    // A check stays red whatever else is done.
    let brief = start()
        .run("cargo test", 101, "error[E0308]: mismatched types\n --> src/a.rs:1:1\nerror: could not compile `a`")
        .write("/p/n.md", "x")
        .brief();
    assert_eq!(texts(&brief.blockers), ["cargo test: error[E0308]: mismatched types"]);
    assert!(brief.failed.is_empty());
}

#[test]
fn a_broader_run_that_passes_resolves() {
    let brief = start()
        .run("cargo test parser", 101, "test result: FAILED. 0 passed; 1 failed")
        .run("cargo test", 0, "test result: ok. 9 passed; 0 failed")
        .brief();
    assert!(brief.blockers.is_empty());
    let brief =
        start().run("pytest tests/a.py", 1, "1 failed in 1s").run("pytest tests/b.py", 0, "1 passed in 1s").brief();
    assert_eq!(brief.blockers.len(), 1);
}

#[test]
fn a_pipe_does_not_hide_a_failure() {
    let brief = start()
        .run("cargo test 2>&1 | tail -5", 0, "test a::b ... FAILED\ntest result: FAILED. 3 passed; 1 failed; 0 ignored")
        .brief();
    assert_eq!(texts(&brief.blockers), ["cargo test: 3 passed, 1 failed (a::b)"]);
}

#[test]
fn looks_and_answers_are_no_failures() {
    let brief = start()
        .run("grep -rn foo src", 1, "")
        .run("ls nope", 2, "ls: cannot access 'nope'")
        .run("diff a b", 1, "1c1")
        .brief();
    assert!(brief.failed.is_empty() && brief.blockers.is_empty());
}

#[test]
fn failed_approaches_are_told_in_words() {
    for text in [
        "I tried passport.js, but it conflicted with the existing middleware.",
        "My first attempt with a mutex deadlocked, so I dropped it.",
        "Widening the types was a dead end: it broke the runtime checks.",
        "We tried caching the query. It made things worse.",
        "I reverted the async rewrite because the tests became flaky.",
        "## What didn't work\n- Polling every second",
        "Attempted to pin the version; that didn't help.",
    ] {
        let brief = start().agent(text).brief();
        assert_eq!(brief.failed.len(), 1, "{text}: {:?}", failed(&brief));
    }
    for text in ["Let me try another way.", "The retry loop tried three times.", "I'll attempt the build now."] {
        assert!(start().agent(text).brief().failed.is_empty(), "{text}");
    }
}

#[test]
fn blockers_are_told_in_words() {
    for text in [
        "I'm blocked on the staging credentials.",
        "We can't proceed until the DNS change is live.",
        "**Blocker:** no access to the S3 bucket",
    ] {
        let brief = start().agent(text).brief();
        assert_eq!(brief.blockers.len(), 1, "{text}: {:?}", texts(&brief.blockers));
    }
    for text in
        ["The writer is never blocked by the disk.", "We aren't blocked on this.", "The queue won't be blocked by it."]
    {
        assert!(start().agent(text).brief().blockers.is_empty(), "{text}");
    }
    let solved = start()
        .agent("I'm blocked on the staging credentials.")
        .user("resolved: the staging credentials are in the vault");
    assert!(solved.brief().blockers.is_empty());
}

#[test]
fn an_output_that_ends_in_a_crash_is_a_failure_without_a_code() {
    let crashes = [
        "sh: 1: foo: command not found",
        "x\n  npm ERR! code 1",
        "fatal: not a git repository",
        "make: *** [all] Error 2",
        "panic: nil map\ngoroutine 1",
        "error: could not compile `a`",
        TRACE,
    ];
    let is_failed = |output: &str| {
        let run = Action::Run { command: "foo --now".to_owned(), workdir: None };
        start().call("Bash", run, None, output).brief().commands[0].failed
    };
    for output in crashes {
        assert!(is_failed(output), "{output}");
    }
    for output in ["all is well", "no panic: at all", "command not found, once", ""] {
        assert!(!is_failed(output), "{output}");
    }
}

#[test]
fn of_many_commands_the_newest_are_told() {
    let mut told = start();
    for number in 0..70 {
        told = told.run(&format!("make part-{number}"), 0, "ok");
    }
    let commands = told.run("make part-3", 0, "ok").brief().commands;
    let names: Vec<&str> = commands.iter().map(|run| run.command.as_str()).collect();
    assert_eq!((names.len(), names[0], names[58], names[59]), (60, "make part-11", "make part-69", "make part-3"));
    assert_eq!(commands[59].runs, 2);
}
