use serde_json::Value;

use super::clients::{answer, claude_code, codex, edited, prompt, ran, reply, shell, todos, user};
use super::{Handed, handed};
use crate::support::TestEnv;

const REQUEST: &str = "Please make the parser of the shop faster.";

/// A session of calls and words between the request and the last words.
fn session(between: &[Vec<Value>]) -> TestEnv {
    let end = vec![vec![reply("That is how it stands.")]];
    claude_code(&[&[vec![user(REQUEST)]][..], between, &end].concat().concat())
}

fn after(between: &[Vec<Value>]) -> Handed {
    handed(&session(between))
}

#[test]
fn a_question_that_was_answered_is_not_open() {
    let asked = reply("It is faster. Shall I write a benchmark as well?");
    let handed = handed(&claude_code(&[user(REQUEST), asked, user("yes, one for each page"), reply("There are two.")]));
    handed.has_no("Open questions");
}

#[test]
fn a_question_in_the_last_words_is_open() {
    let handed = handed(&claude_code(&[user(REQUEST), reply("It is faster. Shall I write a benchmark as well?")]));
    handed.tells_in("Open questions", "- \"Shall I write a benchmark as well?\"");
    handed.tells_in("State", "waits for the user");
}

const FAILS: &str =
    "test empty_input ... FAILED\nassertion `left == right` failed\ntest result: FAILED. 3 passed; 1 failed";
const PASSES: &str = "test result: ok. 4 passed; 0 failed; 0 ignored";

fn run_tests(id: &str, code: i32) -> Vec<Value> {
    ran(id, "cargo test parser", code, if code == 0 { PASSES } else { FAILS }).into()
}

fn edit(id: &str, path: &str) -> Vec<Value> {
    edited(id, path, "a", "b").into()
}

#[test]
fn a_test_that_passed_later_is_not_still_failing() {
    let handed = after(&[run_tests("t1", 101), edit("t2", "src/parser.rs"), run_tests("t3", 0)]);
    handed.has_no("Still failing\n");
    handed.hides("still failing: ");
    assert!(!handed.handoff.contains("empty_input"), "{}", handed.handoff);
}

#[test]
fn a_test_that_did_not_pass_is_still_failing_with_its_error() {
    let handed = after(&[run_tests("t1", 0), edit("t2", "src/parser.rs"), run_tests("t3", 101)]);
    handed.tells_in("Still failing", "`cargo test parser` failed with exit code 101");
    handed.tells_in("Still failing", "empty_input ... FAILED");
}

#[test]
fn tests_passed_beside_a_file_only_where_they_name_it_and_ran_after_its_change() {
    let passed = "tests that name it passed since";
    let handed = after(&[edit("t1", "src/parser.rs"), edit("t2", "src/lexer.rs"), run_tests("t3", 0)]);
    for text in handed.texts() {
        let line = |path: &str| text.lines().find(|line| line.starts_with(&format!("- `{path}` modified"))).unwrap();
        assert!(line("src/parser.rs").contains(passed), "{text}");
        assert!(!line("src/lexer.rs").contains(passed), "{text}");
    }
    after(&[edit("t1", "src/parser.rs"), run_tests("t2", 0), edit("t3", "src/parser.rs")]).hides(passed);
    after(&[edit("t1", "src/parser.rs"), run_tests("t2", 101)]).hides(passed);
}

#[test]
fn a_command_is_shown_as_it_ran() {
    let command = "cd src; cargo test parser | tail -3";
    let shown = format!("`{command}` failed with exit code 101");
    after(&[ran("t1", command, 101, FAILS).into()]).tells_in("Still failing", &shown);
    let told = shell("c1", &["bash", "-lc", command], 101, FAILS);
    let records = [&[prompt(REQUEST)][..], &told, &answer("It fails.")].concat();
    handed(&codex(&records)).tells_in("Still failing", &shown);
}

#[test]
fn an_entry_that_a_brief_names_is_shown_by_its_name() {
    let env = session(&[run_tests("t1", 0)]);
    let brief = env.json("brief", &["brief", "@last", "--quiet"]);
    let name = brief["task"]["request"]["entries"][0].as_str().unwrap();
    let said = env.run(&["show", "@last", "--entry", name]).success();
    assert!(said.stdout.contains(REQUEST), "{said}");
    assert!(!said.stdout.contains("That is how it stands."), "{said}");
    let shown = env.json("session", &["show", "@last", "--quiet", "--entry", name]);
    let entries = shown["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 1, "{shown}");
    assert!(said.stdout.starts_with("You  ") && !said.stdout.contains(" tokens"), "no numbers of the session: {said}");
    let whole = env.json("session", &["show", "@last", "--quiet"]);
    assert_eq!((&shown["messages"], &shown["tokens"]), (&whole["messages"], &whole["tokens"]), "of the session");
    assert_eq!((&entries[0]["entry"], &entries[0]["parts"][0]["text"]), (&name.into(), &REQUEST.into()));
}

#[test]
fn an_entry_that_nobody_named_is_not_found() {
    let env = session(&[]);
    for unknown in ["ffffff", "9-0", "0.7"] {
        let said = env.run(&["show", "@last", "--entry", unknown]);
        assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{said}");
        assert!(said.stderr.contains("\nhint: "), "{said}");
    }
}

#[test]
fn where_there_is_no_plan_nothing_is_next() {
    let said = "It is faster now. Next, one could cache the pages.";
    let handed = handed(&claude_code(&[user(REQUEST), reply(said)]));
    handed.has_no("Next action");
    handed.tells(&format!("> {said}"));
}

#[test]
fn a_secret_in_what_is_quoted_is_masked() {
    let secret = concat!("ghp_", "x8Kq2Vn5Rt7Lw3Zp9Hs4Jd6Fb1Gc0MyTeUaB");
    let request = format!("Always push with {secret} and make the parser faster.");
    let pushed = ran("t1", &format!("TOKEN={secret} make test"), 2, &format!("error: {secret} is refused"));
    let edit = edited("t2", "push.sh", "", &format!("TOKEN={secret}\n"));
    let plan = todos("t3", &[(&format!("push with {secret}"), "in_progress")]);
    let said = [reply(&format!("I push with {secret} now. Shall I keep {secret}?"))];
    let env = claude_code(&[&[user(request)][..], &pushed, &edit, &plan, &said].concat());
    let handed = handed(&env);
    handed.tells_in("Task: ", "> Always push with ");
    for heading in ["Plan", "Still failing", "Open questions"] {
        handed.tells_in(heading, "[redacted");
    }
    handed.hides(secret);
    let brief = env.json("brief", &["brief", "@last", "--quiet"]);
    assert!(!brief.to_string().contains(secret), "{brief}");
}
