use serde_json::{Value, json};

use super::clients::{call, claude_code, edited, failed, outcome, put_in, ran, reply, todos, user, with};
use super::{entries, handed, is_live_and_not_the_users};

const REQUEST: &str = "Please fix the login page of the shop today.";

#[test]
fn the_text_of_a_skill_is_neither_the_task_nor_a_decision() {
    let skill = "Base directory for this skill: /h/skills/deploy\n\nYou must always deploy to production at once.";
    let env = claude_code(&[user(REQUEST), put_in(skill), reply("The login page works again.")]);
    let handed = handed(&env);
    handed.asks(REQUEST);
    handed.hides("deploy to production");
    is_live_and_not_the_users(&env, "deploy to production");
}

#[test]
fn a_task_that_ended_in_the_background_is_not_the_user() {
    let notice = "<task-notification>\n<task-id>b1</task-id>\n<status>completed</status>\n<summary>You must always run \
                  the build twice</summary>\n</task-notification>\nRead the output file to retrieve the result: /t/b1";
    let records = [user(REQUEST), reply("I build it."), user(notice), reply("It is built.")];
    let env = claude_code(&records);
    let handed = handed(&env);
    handed.asks(REQUEST);
    for words in ["run the build twice", "Read the output file", "task-notification"] {
        handed.hides(words);
    }
    is_live_and_not_the_users(&env, "run the build twice");
}

#[test]
fn what_was_typed_behind_a_slash_command_is_the_task_and_its_template_is_not() {
    let command = "<command-message>mend is running…</command-message>\n<command-name>/mend</command-name>\n\
                   <command-args>issue 12, but leave the tests alone</command-args>";
    let template = "Mend issue 12, but leave the tests alone. You must always read the whole tracker first.";
    let env = claude_code(&[user(command), put_in(template), reply("It is mended.")]);
    let handed = handed(&env);
    handed.asks("/mend issue 12, but leave the tests alone");
    handed.hides("the whole tracker");
    is_live_and_not_the_users(&env, "the whole tracker");
}

fn queue(operation: &str, words: Option<&str>) -> Value {
    let record = json!({ "type": "queue-operation", "operation": operation });
    words.map_or_else(|| record.clone(), |words| with(record.clone(), "content", &json!(words)))
}

#[test]
fn a_prompt_that_waits_is_told_in_the_state() {
    let waits = queue("enqueue", Some("and then push it to the fork"));
    let [asked, listed] = ran("t1", "ls src", 0, "login.ts");
    let handed = handed(&claude_code(&[user(REQUEST), asked, listed, waits]));
    handed.tells_in("State", "The user had typed ahead, and the agent never saw it");
    handed.tells_in("State", "\"and then push it to the fork\"");
    handed.asks(REQUEST);
}

#[test]
fn a_prompt_that_was_taken_out_of_the_queue_waits_no_longer() {
    let words = "and then push it to the fork";
    let records = [
        user(REQUEST),
        reply("It is fixed."),
        queue("enqueue", Some(words)),
        queue("dequeue", None),
        user(words),
        reply("It is pushed."),
    ];
    // In the middle of a turn it comes as an attachment.
    let queued = json!({ "type": "queued_command", "prompt": words, "commandMode": "prompt" });
    let [asked, listed] = ran("t1", "ls src", 0, "login.ts");
    let in_between = [
        user(REQUEST),
        asked,
        queue("enqueue", Some(words)),
        listed,
        queue("remove", Some(words)),
        json!({ "type": "attachment", "attachment": queued }),
        reply("It is pushed."),
    ];
    for records in [&records[..], &in_between] {
        let handed = handed(&claude_code(records));
        handed.hides("typed ahead");
        handed.tells_in("State", "waits for the user");
        handed.asks(words);
    }
}

#[test]
fn an_interruption_is_the_state_and_not_the_users_words() {
    for notice in ["[Request interrupted by user]", "[Request interrupted by user for tool use]"] {
        let stopped = user(json!([{ "type": "text", "text": notice }]));
        let handed = handed(&claude_code(&[user(REQUEST), reply("I look at the form."), stopped]));
        handed.tells_in("State", "The user interrupted the agent");
        handed.asks(REQUEST);
        handed.hides("> [Request interrupted");
        handed.hides("\"[Request interrupted");
    }
}

#[test]
fn a_limit_at_the_end_is_told_with_its_end_and_not_as_the_agents_words() {
    let limit = with(reply("You've hit your limit · resets 12pm (UTC)"), "error", &json!("rate_limit"));
    let limit = with(limit, "isApiErrorMessage", &json!(true));
    let info = json!({ "status": "rejected", "resetsAt": 1_794_744_000, "rateLimitType": "five_hour" });
    let limit = with(limit, "apiErrorParams", &json!({ "rate_limit_info": info }));
    let handed = handed(&claude_code(&[user(REQUEST), reply("I look at the form."), limit]));
    handed.tells_in("State", "A limit stopped the agent, 11-15 08:02Z, until 11-15 12:00Z");
    assert!(handed.last_words().contains("> I look at the form."), "{}", handed.handoff);
    assert!(!handed.last_words().contains("hit your limit"), "{}", handed.handoff);
}

/// 1.0 and 2.0 give their errors no kind: only the words tell.
#[test]
fn a_limit_that_only_words_tell_is_one() {
    let stopped = |words: &str| {
        let limit = with(reply(words), "isApiErrorMessage", &json!(true));
        handed(&claude_code(&[user(REQUEST), reply("I look at the form."), with(limit, "version", &json!("1.0.128"))]))
    };
    let limit = "A limit stopped the agent, 11-15 08:02Z";
    stopped("API Error: 429 {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\"}}").tells_in("State", limit);
    let until = format!("{limit}, until 11-15 12:00Z");
    stopped("Claude AI usage limit reached|1794744000").tells_in("State", &until);
}

const QUESTION: &str = "Which database do we use?";

fn asks() -> Value {
    let options = json!([{ "label": "SQLite", "description": "a file" }, { "label": "Postgres", "description": "b" }]);
    let question = json!({ "question": QUESTION, "header": "Database", "options": options, "multiSelect": false });
    call("q1", "AskUserQuestion", &json!({ "questions": [question] }))
}

fn answers(chosen: &str) -> Value {
    let text = format!("User has answered your questions: \"{QUESTION}\"=\"{chosen}\".");
    with(outcome("q1", &text), "toolUseResult", &json!({ "questions": [], "answers": { QUESTION: chosen } }))
}

#[test]
fn a_question_with_its_answer_is_a_decision() {
    let handed = handed(&claude_code(&[user(REQUEST), asks(), answers("SQLite"), reply("I take that.")]));
    let told = format!("asked \"{QUESTION}\", the user answered, 11-15 08:02Z: \"SQLite\"");
    handed.tells_in("Decisions", &told);
    handed.hides_in("Open questions", QUESTION);
}

#[test]
fn a_question_without_an_answer_is_the_state() {
    let handed = handed(&claude_code(&[user(REQUEST), reply("One thing first."), asks()]));
    handed.tells_in("State", "The agent asked the user and got no answer");
    handed.tells_in("State", QUESTION);
    handed.has_no("Decisions");
    handed.has_no("Next action");
}

#[test]
fn an_option_that_the_user_did_not_choose_is_never_next() {
    let [plan, planned] = todos("t1", &[("write the schema", "in_progress"), ("load the data", "pending")]);
    let records = [user(REQUEST), asks(), answers("SQLite"), plan, planned, reply("I write the schema.")];
    let handed = handed(&claude_code(&records));
    handed.hides("Postgres");
    assert_eq!(
        super::section(&handed.handoff, "Next action"),
        "- the step of the plan in progress: \"write the schema\""
    );
}

const REFUSED: &str = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file \
                       edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\n";

/// A session in which the user turned a command down, and said what to do.
fn turned_down() -> super::Handed {
    let push = call("t1", "Bash", &json!({ "command": "git push --force" }));
    let refused = failed("t1", &format!("{REFUSED}open a pull request"));
    handed(&claude_code(&[user(REQUEST), push, refused, reply("Then I open a pull request.")]))
}

#[test]
fn a_command_that_the_user_turned_down_is_never_next() {
    let handed = turned_down();
    handed.tells_in("Decisions", "the user turned this down");
    handed.tells_in("Decisions", "`git push --force`, and said \"open a pull request\"");
    handed.has_no("Still failing");
    handed.has_no("Next action");
}

#[test]
fn a_command_that_the_user_turned_down_did_not_run() {
    turned_down().hides("ran `git push --force`");
}

#[test]
fn what_the_user_said_in_turning_a_command_down_is_no_tool_output() {
    turned_down().hides("tool output: `open a pull request`");
}

#[test]
fn a_question_that_was_turned_down_is_told_with_the_users_words() {
    let refused = failed("q1", &format!("{REFUSED}neither, take a plain file"));
    let handed = handed(&claude_code(&[user(REQUEST), asks(), refused, reply("A plain file, then.")]));
    handed.tells_in("Decisions", QUESTION);
    handed.tells_in("Decisions", "\"neither, take a plain file\"");
}

const PLAN: &str = "1. Rename the column\n2. Run the migration";

#[test]
fn a_plan_that_was_approved_is_a_decision() {
    let approved = outcome("p1", "User has approved your plan. You can now start coding.");
    let approved = with(approved, "toolUseResult", &json!({ "plan": PLAN, "isAgent": false }));
    let propose = call("p1", "ExitPlanMode", &json!({ "plan": PLAN }));
    let handed = handed(&claude_code(&[user(REQUEST), propose, approved, reply("I begin.")]));
    handed.tells_in("Decisions", "the user approved this plan");
    handed.tells_in("Decisions", "\"1. Rename the column ⏎ 2. Run the migration\"");
}

#[test]
fn a_plan_that_was_turned_down_is_told_with_the_users_words() {
    let refused = failed("p1", &format!("{REFUSED}no migration, write a view"));
    let propose = call("p1", "ExitPlanMode", &json!({ "plan": PLAN }));
    let handed = handed(&claude_code(&[user(REQUEST), propose, refused, reply("Then I write a view.")]));
    handed.tells_in("Decisions", "the user turned this down");
    handed.tells_in("Decisions", "and said \"no migration, write a view\"");
    handed.hides("approved this plan");
    handed.has_no("Next action");
}

#[test]
fn where_all_steps_are_done_that_is_said_and_nothing_is_next() {
    let [plan, planned] = todos("t1", &[("mend the form", "completed"), ("test it", "completed")]);
    let handed = handed(&claude_code(&[user(REQUEST), plan, planned, reply("Both are done. Next: lunch.")]));
    handed.tells_in("State", "All 2 steps of the agent's plan are marked done.");
    handed.has_no("Next action");
}

#[test]
fn all_calls_of_one_message_are_live_whatever_was_written_between() {
    let progress = || json!({ "type": "progress", "data": { "type": "hook_progress", "hookEvent": "PreToolUse" } });
    let asked = |id: &str| {
        let mut record = with(call(id, "Bash", &json!({ "command": format!("echo {id}") })), "uuid", &json!(id));
        record["message"]["id"] = json!("m1");
        record
    };
    let came = |id: &str| with(outcome(id, &format!("came {id}")), "parentUuid", &json!(id));
    let records = [
        user(REQUEST),
        asked("a"),
        progress(),
        asked("b"),
        progress(),
        asked("c"),
        progress(),
        came("b"),
        progress(),
        came("c"),
        progress(),
        came("a"),
        reply("All three came."),
    ];
    let entries = entries(&claude_code(&records));
    for kind in ["call", "outcome"] {
        let live = entries.iter().filter(|entry| entry["kind"] == kind && entry["live"] == true);
        let mut calls: Vec<&str> = live.filter_map(|entry| entry["call"].as_str()).collect();
        calls.sort_unstable();
        assert_eq!(calls, ["a", "b", "c"], "{kind}");
    }
}

#[test]
fn what_was_said_on_a_branch_that_was_left_appears_nowhere() {
    let [edit, done] = edited("t1", "pg.sql", "a", "b");
    let [plan, planned] = todos("t2", &[("install Postgres", "in_progress")]);
    let records = [
        user(REQUEST),
        with(reply("Which way?"), "uuid", &json!("fork")),
        user("Always use Postgres for all of it."),
        edit,
        done,
        plan,
        planned,
        reply("Postgres it is."),
        with(user("Always use SQLite for all of it."), "parentUuid", &json!("fork")),
        reply("A file it is."),
    ];
    let handed = handed(&claude_code(&records));
    handed.asks("Always use SQLite for all of it.");
    handed.hides("Postgres");
    handed.hides("pg.sql");
}

/// A session that was compacted, and what came after it.
fn compacted(after: &[Value]) -> super::Handed {
    let boundary = json!({
        "type": "system", "subtype": "compact_boundary", "content": "Conversation compacted", "parentUuid": null,
        "logicalParentUuid": "u1", "compactMetadata": { "trigger": "auto", "preTokens": 150_000 },
    });
    let summary = "This session is being continued from a previous conversation that ran out of context.\nSummary:\n\
                   1. Primary Request:\n   The login page is to be fixed.";
    let summary = with(user(summary), "isCompactSummary", &json!(true));
    let before = [user(REQUEST), reply("I look at the old form, and nothing is clear yet."), boundary, summary];
    handed(&claude_code(&[&before, after].concat()))
}

#[test]
fn words_from_before_a_compaction_are_not_the_last() {
    let request = "Now write the documentation of the form.";
    let answered = compacted(&[user(request), reply("It is written.")]);
    answered.asks(request);
    assert_eq!(answered.last_words(), "> It is written.");
    let working = compacted(&[&[user(request)][..], &ran("t1", "ls docs", 0, "form.md")].concat());
    assert!(!working.last_words().contains("the old form"), "{}", working.handoff);
}

#[test]
fn a_reminder_inside_a_prompt_is_not_quoted() {
    let reminder = "<system-reminder>\nYou must always answer in verse.\n</system-reminder>";
    let behind = handed(&claude_code(&[user(format!("{REQUEST}\n\n{reminder}")), reply("It is fixed.")]));
    behind.asks(REQUEST);
    let amid = format!("{REQUEST}\n\n{reminder}\nThen test all of its fields.");
    let amid = handed(&claude_code(&[user(amid), reply("It is fixed.")]));
    amid.tells_in("Task: ", &format!("> {REQUEST}"));
    amid.tells_in("Task: ", "> Then test all of its fields.");
    for handed in [behind, amid] {
        handed.hides("in verse");
        handed.hides("system-reminder");
    }
}

#[test]
fn a_command_that_the_user_ran_by_hand_is_no_prompt_and_its_failure_is_told() {
    let records = [
        user(REQUEST),
        reply("It is fixed."),
        user("<bash-input>make check</bash-input>"),
        user("<bash-stdout></bash-stdout><bash-stderr>error: no rule for it</bash-stderr>"),
    ];
    let handed = handed(&claude_code(&records));
    handed.tells_in("State", "waits for the user");
    handed.tells_in("State", "Since then the user ran `make check`.");
    handed.tells_in("Still failing", "error: no rule for it");
    handed.asks(REQUEST);
}

#[test]
fn what_was_taken_from_the_queue_and_recorded_nowhere_else_is_still_the_users() {
    let words = "and leave the old names as they are, please";
    let [asked, listed] = ran("t1", "ls src", 0, "login.ts");
    let taken = [queue("enqueue", Some(words)), queue("remove", None)];
    let records = [user(REQUEST), asked, taken[0].clone(), taken[1].clone(), listed, reply("It is done.")];
    let handed = handed(&claude_code(&records));
    handed.tells(words);
    handed.has_no("typed ahead");
}
