//! One conversation in several stores: it is told once, by the richest, and what only another has is added.

use super::homes::{
    CHAT_ID, CLIENT, COMPOSER_ID, copied_home, execute, global_database, list, make_store, read_source,
};
use crate::cursor::Cursor;
use crate::fixtures::{self, ImageCounts};

const ID: &str = "0b1f4d0a-0000-4000-8000-000000000001";
const FIRST: &str = "user: Please rename the greeting in the program to hello";
const SECOND: &str = "user: Please fix the test that still calls the old greeting";
const THIRD: &str = "user: Please write what was done into the log of changes";

/// What is said in the one session of a home, and why records of it are not told.
fn read(home: &std::path::Path) -> (String, Vec<&'static str>) {
    let found = list(home);
    assert_eq!(found.len(), 1, "{found:?}");
    let transcript = read_source(&found[0].source);
    let reasons = transcript.rejected.iter().map(|rejected| rejected.reason).collect();
    (fixtures::live_context(&Cursor, &transcript, ImageCounts::Everywhere), reasons)
}

#[test]
fn the_store_with_more_of_a_conversation_tells_it() {
    let home = copied_home(&["ide-3.12", "cli"]);
    let chats = home.path().join(CLIENT).join("chats/d99f037927a1f89c0a3ef335b87589ff");
    std::fs::rename(chats.join(CHAT_ID), chats.join(COMPOSER_ID)).unwrap();
    std::fs::remove_dir_all(home.path().join(CLIENT).join("projects")).unwrap();
    let document = format!("key = 'composerData:{COMPOSER_ID}'");
    execute(
        &global_database(home.path()),
        &format!(
            "UPDATE cursorDiskKV SET value = json_set(CAST(value AS TEXT), '$.fullConversationHeadersOnly',
                 json_array(json_extract(CAST(value AS TEXT), '$.fullConversationHeadersOnly[0]'))) WHERE {document};
             DELETE FROM cursorDiskKV WHERE key LIKE 'bubbleId:%' AND key NOT LIKE '%' || (SELECT
                 json_extract(CAST(value AS TEXT), '$.fullConversationHeadersOnly[0].bubbleId') FROM cursorDiskKV
                 WHERE {document})"
        ),
    );
    let found = list(home.path());
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].source.path.ends_with("store.db"), "{found:?}");
    let (words, reasons) = read(home.path());
    assert!(words.contains("There are 2 entries."), "{words}");
    assert_eq!(reasons.len(), 1, "the editor has a prompt of which nothing tells where it belongs: {reasons:?}");
}

#[test]
fn of_two_folders_of_one_chat_the_richer_and_then_the_later_is_told() {
    let home = tempfile::tempdir().unwrap();
    make_store(home.path(), "00", ID, 1_700_000_000_000, &[FIRST, "assistant: Done."]);
    let later = make_store(home.path(), "ff", ID, 1_790_000_000_000, &[FIRST, "assistant: Done, and checked."]);
    assert_eq!(list(home.path()).iter().map(|found| &found.source.path).collect::<Vec<_>>(), [&later]);
    let richer = make_store(home.path(), "77", ID, 1_710_000_000_000, &[FIRST, "assistant: Done.", SECOND]);
    assert_eq!(list(home.path()).iter().map(|found| &found.source.path).collect::<Vec<_>>(), [&richer]);
}

#[test]
fn turns_that_only_another_store_has_are_added() {
    let home = tempfile::tempdir().unwrap();
    make_store(
        home.path(),
        "00",
        ID,
        1,
        &[FIRST, "assistant: Renamed.", "assistant: Looked.", SECOND, "assistant: Fixed."],
    );
    make_store(home.path(), "ff", ID, 2, &[SECOND, "assistant: Fixed.", THIRD, "assistant: Written."]);
    let (words, reasons) = read(home.path());
    insta::assert_snapshot!(words, @"
    user prompt: Please rename the greeting in the program to hello
    agent reply: Renamed.
    agent reply: Looked.
    user prompt: Please fix the test that still calls the old greeting
    agent reply: Fixed.
    user prompt: Please write what was done into the log of changes
    agent reply: Written.
    ");
    assert_eq!(reasons, [""; 0]);
}

#[test]
fn records_of_both_stores_are_found_again() {
    let home = tempfile::tempdir().unwrap();
    make_store(
        home.path(),
        "00",
        ID,
        1,
        &[FIRST, "assistant: Done.", "assistant: Looked.", SECOND, "assistant: Done."],
    );
    make_store(home.path(), "ff", ID, 2, &[SECOND, "assistant: Done.", THIRD, "assistant: Done."]);
    let transcript = read_source(&list(home.path())[0].source);
    for entry in &transcript.entries {
        let again = crate::Reader::reload_entries(&Cursor, &transcript.header, entry.key).unwrap();
        assert!(again.contains(entry), "{entry:?}");
    }
}
