//! Finding what was said.

use carryover_core::time::Timestamp;
use serde_json::json;

use super::fake::{ALPHA, BETA, BOTH};
use super::ledger::{count_found, search, update};
use super::world::World;
use crate::ledger::Ledger;
use crate::ledger::search::{SearchRequest, SnippetPart};

/// A ledger with one session for each of these prompts.
fn ledger_with(prompts: &[&str]) -> World {
    let world = World::new();
    for (number, prompt) in prompts.iter().enumerate() {
        let record = json!({ "t": "prompt", "s": prompt }).to_string();
        world.write_session(&ALPHA, &format!("aaaa{number:04}"), "", &[&record]);
    }
    update(&world, BOTH);
    world
}

#[test]
fn words_are_found_however_they_are_written() {
    let world = ledger_with(&[
        "The résumé of max_retry_count in src/net/retryPolicy.rs",
        "修复登录问题 in 認証サービス",
        "로그인 오류를 고쳐 주세요",
    ]);
    for (words, expected) in [
        ("resume", 1),
        ("RÉSUMÉ", 1),
        ("retry", 1),
        ("max_retry_count", 1),
        ("maxRetryCount", 1),
        ("policy", 1),
        ("retryPol", 1),
        ("net/retryPolicy.rs", 1),
        ("src count", 1),
        ("count src", 1),
        ("登录", 1),
        ("登录问题", 1),
        ("录登", 0),
        ("修登", 0),
        ("修", 1),
        ("題", 0),
        ("题", 1),
        ("認証", 1),
        ("サービス", 1),
        ("로그인", 1),
        ("오류", 1),
        ("retr", 1),
        ("retr src", 0),
        ("giraffe", 0),
        ("", 0),
        ("\"' * OR NEAR( -- ;", 0),
        ("resume AND retry", 0),
    ] {
        assert_eq!(count_found(&world, words), expected, "{words}");
    }
}

#[test]
fn sessions_are_found_by_words_without_what_stands_around_them() {
    let world = ledger_with(&["the giraffe", "修复登录问题", "登录 录问"]);
    let ledger = Ledger::open_for_reading(&world.context).unwrap().unwrap();
    for (words, expected) in [
        ("giraf", &["aaaa0000"][..]),
        ("登录问", &["aaaa0001"]),
        ("登录", &["aaaa0001", "aaaa0002"]),
        ("x", &[]),
        ("", &[]),
    ] {
        let mut found: Vec<String> =
            ledger.sessions_with_words(words, 10).unwrap().into_iter().map(|(_, id)| id).collect();
        found.sort();
        assert_eq!(found, expected, "{words}");
    }
}

#[test]
fn three_neighbours_are_more_than_two_pairs() {
    let world = ledger_with(&["登录 and 录音", "登录音"]);
    assert_eq!(count_found(&world, "登录音"), 1);
}

#[test]
fn commands_and_paths_are_found_and_outputs_are_not() {
    let world = World::new();
    world.write_session(
        &ALPHA,
        "aaaa1111",
        "",
        &[
            r#"{"t":"prompt","s":"go"}"#,
            r#"{"t":"call","id":"c1","tool":"sh","input":{"command":"cargo flamegraph --bin otter"}}"#,
            r#"{"t":"out","id":"c1","s":"walrus output"}"#,
            r#"{"t":"reply","s":"the otter is quick"}"#,
        ],
    );
    update(&world, BOTH);
    assert_eq!((count_found(&world, "flamegraph"), count_found(&world, "walrus")), (1, 0));
    let found = search(&world, "otter");
    let kinds: Vec<&str> = found.sessions[0].entries.iter().map(|entry| entry.kind.as_str()).collect();
    assert_eq!((found.sessions[0].n_entries, found.n_sessions), (2, 1));
    assert!(kinds.contains(&"call") && kinds.contains(&"reply"), "{kinds:?}");
}

#[test]
fn a_snippet_shows_what_was_found_with_secrets_masked_on_one_line() {
    let long = "before ".repeat(200);
    let key = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let prompt = format!("{long}\n\nthe token is {key} for the\tzebra\u{202e} crossing. {}", "after ".repeat(200));
    let world = ledger_with(&[&prompt]);
    let found = search(&world, "zebra cross");
    let snippet = &found.sessions[0].entries[0].snippet;
    let text: String = snippet.iter().map(|part| part.text.as_str()).collect();
    assert!(text.contains("for the zebra crossing. after") && text.starts_with('…') && text.ends_with('…'), "{text}");
    assert!(text.len() < 300 && !text.contains(['\n', '\t', '\u{202e}']) && !text.contains("ghp_"), "{text}");
    let hits: Vec<&str> = snippet.iter().filter(|part| part.hit).map(|part| part.text.as_str()).collect();
    assert_eq!(hits, ["zebra", "crossing"]);
    let found = search(&world, &key);
    let whole: String = found.sessions[0].entries[0].snippet.iter().map(|part| part.text.as_str()).collect();
    assert!(!whole.contains("ghp_"), "who knows a secret may find it, and is not shown it: {whole}");
}

#[test]
fn results_can_be_narrowed() {
    let world = World::new();
    let record = r#"{"t":"prompt","s":"zebra"}"#;
    world.write_session(&ALPHA, "aaaa1111", "", &[record]);
    world.write_session(&BETA, "bbbb2222", "", &[record]);
    update(&world, BOTH);
    let ledger = Ledger::open_for_reading(&world.context).unwrap().unwrap();
    let count = |narrow: fn(&World, &mut SearchRequest)| {
        let mut request = SearchRequest { words: "zebra".to_owned(), limit: 10, ..SearchRequest::default() };
        narrow(&world, &mut request);
        let found = ledger.search(&request).unwrap();
        (found.sessions.len(), found.n_sessions)
    };
    assert_eq!(count(|_, _| {}), (2, 2));
    assert_eq!(count(|_, request| request.agent = Some("beta")), (1, 1));
    assert_eq!(count(|_, request| request.limit = 1), (1, 2));
    assert_eq!(count(|world, request| request.project = Some(world.path("project"))), (2, 2));
    assert_eq!(count(|world, request| request.project = Some(world.path("home"))), (0, 0));
    assert_eq!(count(|_, request| request.since = Some(Timestamp::from_millis(i64::MAX))), (0, 0));
}

#[test]
fn a_snippet_of_a_short_text_is_all_of_it() {
    let world = ledger_with(&["zebra"]);
    let found = search(&world, "ZEB");
    assert_eq!(found.sessions[0].entries[0].snippet, [SnippetPart { text: "zebra".to_owned(), hit: true }]);
}

#[test]
fn of_a_word_that_is_in_very_many_entries_the_ends_of_the_index_are_looked_at() {
    let world = World::new();
    // The newest is taken in first, and each has more than are looked at of one end.
    for number in 1..=3 {
        let prompt = |n: usize| json!({ "t": "prompt", "s": format!("common common{n} of{number}") }).to_string();
        let lines: Vec<String> = (0..1_100).map(prompt).collect();
        let head = format!(r#","at":{}"#, 1_000 * number);
        world.write_session(
            &ALPHA,
            &format!("aaaa000{number}"),
            &head,
            &lines.iter().map(String::as_str).collect::<Vec<_>>(),
        );
    }
    update(&world, BOTH);
    let found = search(&world, "common");
    let mut ids: Vec<&str> = found.sessions.iter().map(|found| found.session.id.0.as_str()).collect();
    ids.sort_unstable();
    assert_eq!((&ids[..], found.is_cut), (&["aaaa0001", "aaaa0003"][..], true), "taken in last, and newest at first");
    assert_eq!((count_found(&world, "common7 of2"), count_found(&world, "common7 of")), (1, 3));
}
