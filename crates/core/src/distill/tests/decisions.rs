use super::*;

fn kinds_and_texts(brief: &Brief) -> Vec<(DecisionKind, &str)> {
    brief.decisions.iter().map(|one| (one.kind, one.what.text.as_str())).collect()
}

#[test]
fn answers_and_approvals_are_facts_of_structure() {
    let plan = Action::Propose { plan: "1. rename\n2. test".to_owned() };
    let brief = new_history()
        .user("go")
        .asks("Which database?", Some("SQLite"))
        .call("Plan", plan.clone(), Some((Status::Done, None, "approved")))
        .call("Plan", plan, Some((Status::Interrupted, None, "no")))
        .refused(Some("too much at once"))
        .brief();
    assert_eq!(
        kinds_and_texts(&brief),
        [
            (DecisionKind::Refused, "Plan 1. rename\n2. test"),
            (DecisionKind::Approved, "1. rename\n2. test"),
            (DecisionKind::Answered, "SQLite"),
        ]
    );
    assert_eq!(brief.decisions[0].question.as_deref(), Some("too much at once"));
    assert_eq!(brief.decisions[2].question.as_deref(), Some("Which database?"));
}

#[test]
fn a_call_that_was_turned_down_is_told_as_such() {
    let brief =
        new_history().user("go").call("Bash", run_action("rm -rf build; ls"), Some((Status::Interrupted, None, "no")));
    let brief = brief.refused(None).brief();
    assert_eq!(kinds_and_texts(&brief), [(DecisionKind::Refused, "rm -rf build; ls")]);
    assert!(brief.failing.is_empty());
}

#[test]
fn the_users_rules_are_quoted_whole_and_ranked() {
    let brief = new_history()
        .user("Use tabs. Never touch main; it is Ann's! Should we always test?")
        .agent("We must use spaces. Never mind.")
        .user("ok")
        .brief();
    assert_eq!(
        kinds_and_texts(&brief),
        [(DecisionKind::Said, "Never touch main; it is Ann's!"), (DecisionKind::Said, "Use tabs.")]
    );
}

#[test]
fn pasted_text_gives_no_rules() {
    let pasted = "why does it say this\n```\nyou must never do that\n```\n> always no\n    must not";
    assert!(new_history().user(pasted).brief().decisions.is_empty());
}

#[test]
fn what_a_program_said_is_nobodys_rule() {
    let log = "WARN[0000] DEPRECATION: use config_path instead\n".repeat(20);
    let brief = new_history().user(&format!("Never restart it.\n\n\n\n{log}\nwhat is this")).brief();
    assert_eq!(kinds_and_texts(&brief), [(DecisionKind::Said, "Never restart it.")]);
    for pasted in ["if (-not $Prompt) {", "TypeError: it must be a string"] {
        assert!(new_history().user(pasted).brief().decisions.is_empty(), "{pasted}");
    }
}
