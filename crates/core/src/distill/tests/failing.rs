use super::*;

fn failing_texts(tale: &HistoryBuilder) -> Vec<String> {
    tale.brief().failing.into_iter().map(|one| one.what.text).collect()
}

#[test]
fn a_check_fails_until_it_passes() {
    let failed = || {
        new_history().user("please make all of the tests pass").run("cargo test", 101, "error: no\ntest a ... FAILED")
    };
    assert_eq!(failing_texts(&failed()), ["cargo test"]);
    assert!(
        failing_texts(&failed().edit("a.rs", "a", "b").run("cd x && cargo test 2>&1 | tail -3", 0, "ok")).is_empty()
    );
    assert_eq!(failing_texts(&failed().run("ls", 0, "a")), ["cargo test"]);
}

#[test]
fn a_command_of_which_only_the_end_is_on_record_neither_passed_nor_failed() {
    let ended = |text| Some((Status::Ended, None, text));
    let failed = new_history().user("please make all of the tests pass").run("cargo test", 101, "test a ... FAILED");
    let tale = failed.call("run", run_action("cargo test"), ended(""));
    let brief = tale.brief();
    assert_eq!(brief.tests.unwrap().result, TestResult::Unknown);
    assert_eq!((brief.commands[0].failed, brief.commands[0].is_end_known), (false, false));
    assert_eq!(failing_texts(&tale), ["cargo test"], "it is not known to pass");
    // Its own counts tell.
    let told =
        new_history().user("go").call("run", run_action("cargo test"), ended("test result: ok. 3 passed; 0 failed;"));
    assert_eq!(told.brief().tests.unwrap().result, TestResult::Passed);
}

#[test]
fn the_lines_that_tell_the_error_are_quoted() {
    let output = "running\nValueError: no such column: plan\nmake: *** [all] Error 1";
    let brief = new_history().user("please make the whole thing work").run("make; echo $? | cat", 2, output).brief();
    let one = &brief.failing[0];
    assert_eq!((one.what.text.as_str(), one.exit_code), ("make; echo $? | cat", Some(2)));
    assert!(one.output.contains(&"ValueError: no such column: plan".to_owned()));
}

#[test]
fn failures_of_earlier_work_are_history() {
    let tale = new_history()
        .user("please make the first thing work")
        .run("make first", 2, "Error: x")
        .agent("It does not work.")
        .user("leave that, do the second thing now")
        .agent("Done.")
        .user("and now please the third thing, too")
        .agent("Done.");
    assert!(failing_texts(&tale).is_empty());
}

#[test]
fn a_command_that_is_no_check_is_in_the_way_only_at_the_end() {
    let failed = || new_history().user("please deploy it to the server").run("scp a host:", 1, "Permission denied");
    assert_eq!(failing_texts(&failed()), ["scp a host:"]);
    assert!(failing_texts(&failed().run("rsync a host:", 0, "")).is_empty());
}

#[test]
fn ways_to_one_end_that_all_failed_are_an_approach() {
    let tale = new_history()
        .user("install it")
        .run("pip install torch", 1, "ERROR: no matching distribution")
        .run("pip install torch==1.0", 1, "ERROR: no matching distribution")
        .run("conda create -n x", 0, "done");
    let brief = tale.brief();
    let told: Vec<_> = brief.failed.iter().map(|one| (one.kind, one.what.text.as_str(), one.tries)).collect();
    assert_eq!(told, [(ApproachKind::Failed, "pip install torch==1.0", 2)]);
    assert!(brief.failing.is_empty());
}

#[test]
fn an_edit_that_was_taken_back_is_an_approach() {
    let turned = new_history().user("go").edit("a.rs", "one", "two").edit("a.rs", "two", "one").brief();
    assert_eq!(turned.failed[0].kind, ApproachKind::TakenBack);
    let restored =
        new_history().user("go").edit("/home/me/shop/a.rs", "one", "two").run("git restore a.rs", 0, "").brief();
    assert_eq!(restored.failed[0].detail.as_deref(), Some("git restore a.rs"));
    assert!(new_history().user("go").edit("a.rs", "one", "two").edit("a.rs", "two", "three").brief().failed.is_empty());
}

#[test]
fn tests_passed_or_failed_and_files_may_have_changed_since() {
    let output = "test result: ok. 12 passed; 0 failed; 0 ignored";
    let brief = new_history().user("go").run("cargo test", 0, output).edit("a.rs", "a", "b").brief();
    let tests = brief.tests.unwrap();
    assert_eq!((tests.result, tests.edited_since), (TestResult::Passed, true));
    assert_eq!(tests.counts.as_deref(), Some("12 passed, 0 failed"));
    let sorted = new_history().user("go").run("cargo test", 0, output).run("sed -i s/a/b/ a.rs", 0, "").brief();
    assert!(sorted.tests.unwrap().edited_since, "by a command");
    assert_eq!(new_history().user("go").edit("a.rs", "a", "b").brief().tests, None);
}

#[test]
fn a_build_that_fails_behind_a_pipe_fails() {
    let output = "src/a.ts(1,2): error TS2305: Module has no exported member 'x'.";
    let tale =
        new_history().user("please publish the package to the registry").run("npm run build 2>&1 | tail -5", 0, output);
    assert_eq!(failing_texts(&tale), ["npm run build 2>&1 | tail -5"]);
    let built = tale.run("gradlew build -x test", 0, "BUILD SUCCESSFUL").brief();
    assert_eq!(built.tests, None, "what leaves out the tests ran none");
}

#[test]
fn a_failure_is_counted_from_the_last_success() {
    let ran =
        |code: i32| move |tale: HistoryBuilder| tale.run("make check", code, if code == 0 { "ok" } else { "error: x" });
    let tale = [ran(2), ran(0), ran(2)]
        .into_iter()
        .fold(new_history().user("please make the check pass"), |tale, run| run(tale));
    let brief = tale.brief();
    assert_eq!(brief.failing[0].runs, 1);
}

#[test]
fn the_same_command_with_more_words_tells_how_it_stands() {
    let failed =
        new_history().user("please build the whole of it").run("./gradlew build -x test", 1, "error: out of memory");
    let again = failed.run("./gradlew build -x test --no-daemon", 1, "error: cannot find symbol");
    assert_eq!(failing_texts(&again), ["./gradlew build -x test --no-daemon"]);
}

#[test]
fn what_the_user_turned_down_or_has_no_outcome_did_not_run() {
    let turned =
        new_history().user("go").call("Bash", run_action("rm -rf build"), Some((Status::Interrupted, None, "no")));
    assert!(turned.refused(None).brief().commands.is_empty());
    assert!(new_history().user("go").call("Bash", run_action("make"), None).brief().commands.is_empty());
}
