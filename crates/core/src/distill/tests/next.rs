use super::telling::{Telling, telling};
use super::texts;
use crate::distill::Voice;
use crate::transcript::StepState;

fn next(told: &Telling) -> String {
    told.brief().next.map(|next| next.text).unwrap_or_default()
}

#[test]
fn the_announced_step_is_found_in_many_words() {
    for (reply, wanted) in [
        ("The parser is done. Next I'll wire it into the CLI.", "wire it into the CLI"),
        ("Added the model.\n\n## Next steps\n1. Write the migration\n2. Deploy", "Write the migration"),
        (
            "Fixed the bug. The next step is to add a regression test. Let me know if you want changes.",
            "regression test",
        ),
        ("All green. What remains is the documentation for the flags.", "documentation for the flags"),
        ("**Next:** hook up the scheduler", "hook up the scheduler"),
        ("I've renamed it. I'm going to update the callers now.", "update the callers"),
        ("Tests pass. Up next: benchmarks for the hot path.", "benchmarks for the hot path"),
        ("Parser works. From here, the lexer tables need trimming.", "lexer tables need trimming"),
        ("Done with the schema. Then I'll backfill the old rows.", "backfill the old rows"),
        ("Done with the schema. Still to do: backfill the old rows.", "backfill the old rows"),
        ("I finished the model. Once that is merged, the API layer should get the same treatment.", "API layer"),
        ("Half of it works. The only thing left is the retry loop.", "retry loop"),
        ("I would pick up with the failing snapshot test.", "failing snapshot test"),
    ] {
        let told = telling().user("Build it").agent("Let me look around.").run("ls", 0, "x").agent(reply);
        assert!(next(&told).contains(wanted), "{reply}: {}", next(&told));
        assert_eq!(told.brief().next.unwrap().voice, Voice::Agent);
    }
}

#[test]
fn an_unanswered_prompt_comes_before_everything() {
    let told = telling().user("Build it").agent("Next I'll do B.").user("Do C first, please").limit("limit reached");
    assert_eq!(next(&told), "Do C first, please");
    assert!(told.brief().limit.is_some());
    assert_eq!(texts(&told.brief().blockers), ["limit reached"]);
    let nodded = telling().user("Build it").agent("Next I'll do B.").user("yes, go on").limit("limit reached");
    assert_eq!(next(&nodded), "Next I'll do B.");
}

#[test]
fn the_step_in_progress_is_next() {
    let plan = [("Parse", StepState::Done), ("Render", StepState::InProgress), ("Ship", StepState::Pending)];
    let brief = telling().user("Build it").plan(&plan).write("/p/a.rs", "fn a() {}").brief();
    assert_eq!(brief.next.unwrap().text, "Render");
    assert_eq!(
        (texts(&brief.done), texts(&brief.in_progress), texts(&brief.remaining)),
        (vec!["Parse"], vec!["Render"], vec!["Ship"])
    );
}

#[test]
fn a_running_call_is_next() {
    let told = telling().user("Build it").running("cd /p && cargo build --release 2>&1 | tail -5");
    assert_eq!(next(&told), "cargo build --release");
}

#[test]
fn a_finished_session_has_no_next_step() {
    let told = telling().user("Fix it").agent("Let me look.").run("ls", 0, "x").agent("Fixed the bug. All tests pass.");
    assert_eq!(next(&told), "");
    assert_eq!(texts(&told.brief().done), ["Fixed the bug."]);
}

#[test]
fn what_was_settled_last_is_not_next() {
    let settled = telling().user("Which store?").agent("We settled on Postgres because the team runs it already.");
    assert_eq!(next(&settled), "");
    assert_eq!(settled.brief().decisions.len(), 1);
    let planned = telling().user("Which store?").agent("Step 4: keep Postgres and drop the other store.");
    assert_eq!(next(&planned), "Step 4: keep Postgres and drop the other store.");
}

#[test]
fn a_turn_that_was_cut_short_goes_on_with_its_prompt() {
    let told = telling().user("Count the callers of parse").run("grep -rn parse src", 0, "12").limit("limit");
    assert_eq!(next(&told), "Count the callers of parse");
}

#[test]
fn the_words_around_a_summary_are_the_harnesss() {
    let summary = "This session is being continued from a previous conversation.\n\nSummary: the importer works.\n\n\
        If you need specific details from before compaction, read the transcript; you still need to look there.";
    let brief = telling().user("Build the importer").summary(summary).agent("I found the file.").brief();
    assert!(brief.next.is_none() && brief.remaining.is_empty());
}

#[test]
fn what_the_agent_has_done_since_is_not_next() {
    let told = |reply: &str| {
        telling()
            .user("Write the post.")
            .agent("Here is an outline.")
            .user("The next step is the part on sharding.")
            .agent(reply)
    };
    assert!(told("Will do.").brief().next.unwrap().text.contains("sharding"));
    let done = told(
        "Here's the section on sharding, with 310 words. I framed it around the quarantine of flaky tests, which is what \
         other teams can copy.",
    );
    assert_eq!(done.brief().next, None);
}
