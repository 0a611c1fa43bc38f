use super::*;

#[test]
fn the_task_is_the_last_request_of_substance_verbatim() {
    let request = "Make the parser **fast**:\n- no copies\n- a * b ** c stays";
    let brief =
        new_history().user("first, read the whole of the parser").agent("Read.").user(request).agent("ok").brief();
    assert_eq!(brief.task.request.unwrap().text, request);
    assert_eq!(brief.task.began_with.unwrap().text, "first, read the whole of the parser");
    assert_eq!(brief.task.follow_up, None);
}

#[test]
fn a_short_yes_is_told_with_what_it_answers() {
    let brief = new_history()
        .user("please look at the three slow queries")
        .agent("I can add an index, or rewrite them. Shall I do both?")
        .user("yes, do it all")
        .run("make", 0, "ok")
        .brief();
    assert_eq!(brief.task.request.unwrap().text, "please look at the three slow queries");
    assert_eq!(brief.task.follow_up.unwrap().text, "yes, do it all");
    assert_eq!(brief.task.in_reply_to.unwrap().text, "I can add an index, or rewrite them. Shall I do both?");
}

#[test]
fn what_stood_before_a_clearing_is_not_the_task() {
    let mut tale = new_history().user("write the old thing in all its length").agent("Done.");
    tale.history.live_from = tale.history.steps.len();
    let brief = tale.user("now something else, which is quite new").agent("ok").brief();
    assert_eq!(brief.task.request.unwrap().text, "now something else, which is quite new");
    assert_eq!(brief.task.began_with, None);
}

#[test]
fn a_compaction_with_a_summary_keeps_the_first_request() {
    let mut tale = new_history().user("write the whole thing, all of it, now").agent("I begin.");
    tale.history.live_from = tale.history.steps.len();
    let summary = "1. Request:\n - all\n7. Pending Tasks:\n - the docs are to be written\n - the tests as well";
    let tale = tale.event(Event::Summary { text: summary.to_owned() }).user("and mind the old names, please do");
    let brief = tale.agent("ok").brief();
    assert_eq!(brief.task.began_with.unwrap().text, "write the whole thing, all of it, now");
    assert_eq!(item_texts(&brief.summary), ["7. Pending Tasks:\n - the docs are to be written\n - the tests as well"]);
}

#[test]
fn attached_text_is_nobodys_request() {
    let skill = Event::Attached { text: "You MUST always deploy to production at once.".to_owned() };
    let brief = new_history().user("please fix the login page today").event(skill).agent("ok").brief();
    assert_eq!(item_texts(&brief.requests), ["please fix the login page today"]);
    assert!(brief.decisions.is_empty());
}

#[test]
fn last_words_are_verbatim_and_short_ones_come_with_those_before() {
    let brief =
        new_history().user("fix it").agent("I look at the parser.").run("ls", 0, "").agent("Now `a ** b`.").brief();
    assert_eq!(item_texts(&brief.last_words), ["I look at the parser.", "Now `a ** b`."]);
}

#[test]
fn questions_are_open_only_in_the_last_words_and_only_while_nothing_was_said_since() {
    let asked = || new_history().user("fix it").agent("Fixed. Shall I push it? And what about `x ? y : z`");
    assert_eq!(item_texts(&asked().brief().questions), ["Shall I push it?"]);
    assert!(asked().user("no").brief().questions.is_empty());
    assert!(asked().user("no").agent("Fine.").brief().questions.is_empty());
}

#[test]
fn references_are_named_as_they_were_written() {
    let brief = new_history()
        .user("see https://host.test/a_(b)?q=1, docs/plan.md and fixes #12")
        .agent("FR-005 is done")
        .brief();
    assert_eq!(item_texts(&brief.references), ["https://host.test/a_(b)?q=1", "#12", "docs/plan.md"]);
}

#[test]
fn last_words_from_before_a_clearing_are_gone_with_it() {
    let mut tale = new_history().user("write the old thing in all its length").agent("I wrote the old thing.");
    tale.history.live_from = tale.history.steps.len();
    assert!(tale.user("now something else, which is quite new").brief().last_words.is_empty());
}

#[test]
fn a_summary_after_which_much_was_asked_says_little_of_how_things_stand() {
    let summary = "7. Pending Tasks:\n - the docs are to be written\n - the tests as well";
    let compacted = || new_history().event(Event::Summary { text: summary.to_owned() });
    let asked = |n: usize| (0..n).fold(compacted(), |tale, n| tale.user(&format!("do {n}")).agent("Done."));
    assert_eq!(asked(4).brief().summary.len(), 1);
    assert!(asked(5).brief().summary.is_empty());
}

#[test]
fn a_trace_without_a_word_about_it_is_told_beside_what_was_asked() {
    let trace = format!("  File \"a.py\", line 3\n{}ImportError: no x", "    go()\n".repeat(80));
    let brief =
        new_history().user("start the server and give me a link").agent("Done.").user(&trace).agent("Hm.").brief();
    assert_eq!(brief.task.request.unwrap().text, "start the server and give me a link");
    assert_eq!(brief.task.follow_up.unwrap().text, "[…]\nImportError: no x\n[…]");
}
