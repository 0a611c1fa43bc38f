use super::telling::telling;
use super::texts;

#[test]
fn questions_at_the_end_are_open() {
    let brief = telling()
        .user("Build it")
        .agent("The model is in place. Should deleted users keep their invoices? And which region hosts the backups?")
        .brief();
    assert_eq!(
        texts(&brief.questions),
        ["Should deleted users keep their invoices?", "And which region hosts the backups?"]
    );
}

#[test]
fn an_answered_question_is_closed_and_another_stays() {
    let brief = telling()
        .user("Build it")
        .agent("Should deleted users keep their invoices? Which region hosts the backups?")
        .user("Implement the deletion so that invoices of deleted users stay.")
        .agent("Done, invoices stay.")
        .brief();
    assert_eq!(texts(&brief.questions), ["Which region hosts the backups?"]);
}

#[test]
fn what_the_agent_asks_itself_is_no_question() {
    let brief = telling()
        .user("Fix it")
        .agent("Why does it fail? Let me look at the log.")
        .run("cat log", 0, "what is this? TODO: who knows?")
        .agent("Fixed.")
        .brief();
    assert!(brief.questions.is_empty(), "{:?}", texts(&brief.questions));
}

#[test]
fn open_points_are_found_in_many_words() {
    for text in [
        "It's unclear whether the cache has to survive restarts.",
        "Open question: do we need audit logs",
        "## Open questions\n- How long do we keep tokens?",
        "We still need to decide on the retention period.",
        "I'm not sure if staging has the same schema.",
        "TBD: who owns the rollout",
        "Please confirm the currency of the export.",
    ] {
        let brief = telling().user("Build it").agent(&format!("{text}\n\nI went on with the rest.")).brief();
        assert_eq!(brief.questions.len(), 1, "{text}: {:?}", texts(&brief.questions));
    }
}

#[test]
fn marks_of_this_session_are_open_while_they_stand() {
    let told = telling()
        .user("Build it")
        .write("/p/src/a.rs", "// TODO: handle the empty list\nfn a() {}\nlet s = \"TODO: no\";\n")
        .edit("/p/src/b.rs", "// FIXME: old one\nx", "// FIXME: old one\n// FIXME: new one\nx", 0)
        .edit("/p/src/a.rs", "// TODO: handle the empty list\n", "// TODO: handle the full list\n", 0)
        .run("grep -rn TODO src", 0, "src/z.rs: // TODO: not of this session");
    assert_eq!(texts(&told.brief().questions), ["src/b.rs: FIXME: new one", "src/a.rs: TODO: handle the full list"]);
    let gone = told.file("/p/src/a.rs", Some(super::telling::at(3)), Some("fn a() {}"));
    assert_eq!(texts(&gone.brief().questions), ["src/b.rs: FIXME: new one"]);
}

#[test]
fn a_users_question_that_nobody_answered_is_open() {
    let brief = telling().user("Build it").agent("Built.").user("Does it handle leap seconds?").limit("limit").brief();
    assert_eq!(texts(&brief.questions), ["Does it handle leap seconds?"]);
}
