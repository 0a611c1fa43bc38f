//! What the agent explained.

use super::telling::telling;
use super::texts;

#[test]
fn what_is_explained_is_kept_beside_the_decisions() {
    let brief = telling()
        .user("Write the importer.")
        .agent("We went with a queue because it is there.")
        .agent("The parser is slow: it copies every line twice.")
        .user("ok")
        .agent("The file has forty lines. Let me check the tests, since they are slow. Is that fine, given the time?")
        .agent("Ready.")
        .brief();
    assert_eq!(texts(&brief.remarks), ["The parser is slow: it copies every line twice."]);
    assert_eq!(brief.decisions.len(), 1);
}

#[test]
fn of_many_remarks_the_newest_are_told_in_their_order() {
    let mut told = telling().user("Write the importer.");
    for number in 0..100 {
        told = told.agent(&format!("Case {number} is slow; it copies every line twice."));
    }
    let brief = told.brief();
    assert_eq!(brief.remarks.len(), 40);
    assert!(brief.remarks[0].text.starts_with("Case 60"));
    assert!(brief.remarks[39].text.starts_with("Case 99"));
}

#[test]
fn what_the_agent_said_last_is_kept() {
    let brief = telling()
        .user("Write the importer.")
        .agent("The lexer has two modes here.")
        .agent("The importer is written. The page size of the listing stands at forty rows. Next I'll add the tests.")
        .brief();
    assert_eq!(
        texts(&brief.remarks),
        ["The importer is written.", "The page size of the listing stands at forty rows."]
    );
}
