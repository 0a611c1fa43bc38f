use super::telling::telling;

/// What a message leaves as decisions.
fn by_user(text: &str) -> Vec<(String, Option<String>)> {
    let told =
        telling().user("Build the thing, please, for everybody here.").agent("Working.").user(text).agent("Noted.");
    told.brief().decisions.into_iter().map(|decision| (decision.what.text, decision.reason)).collect()
}

fn by_agent(text: &str) -> Vec<(String, Option<String>)> {
    let told = telling().user("Build the thing").agent(text);
    told.brief().decisions.into_iter().map(|decision| (decision.what.text, decision.reason)).collect()
}

#[test]
fn what_is_denied_is_not_settled() {
    for text in [
        "There is no hard requirement to use Redis here.",
        "Nothing was agreed about the retention period.",
        "I'm told we chose Redis, but nobody knows why.",
    ] {
        assert!(by_agent(text).is_empty(), "{text}");
    }
    for text in ["We decided that the patch is not applied by default.", "This commits us to one file per tenant."] {
        assert_eq!(by_agent(text).len(), 1, "{text}");
    }
}

#[test]
fn users_settle_things_in_many_words() {
    for text in [
        "Let's use Postgres instead of SQLite because we need concurrent writers.",
        "We decided to keep the v1 API.",
        "Go with the second variant.",
        "I'd rather have a single binary.",
        "Don't add any new dependencies.",
        "Never push to main directly.",
        "The public API must stay backwards compatible.",
        "Please make sure everything works on Windows.",
        "No third-party crates in core.",
        "We'll stick with REST for now.",
        "Settled: tabs, not spaces.",
        "I prefer snake_case for the columns.",
        "We agreed on a 30 day retention.",
        "Use only the standard library.",
        "Decision: ship without the importer.",
    ] {
        assert_eq!(by_user(text).len(), 1, "{text}: {:?}", by_user(text));
    }
}

#[test]
fn agents_settle_things_in_many_words() {
    for text in [
        "I'll keep the old endpoint since two clients still call it.",
        "I decided to store amounts as integers to avoid rounding.",
        "I went with a BTreeMap rather than a HashMap so that the order is stable.",
        "We're going with option B because it needs no migration.",
        "**Decision:** use ULIDs for ids.",
        "## Decisions\n- Cache keys carry the tenant id",
        "Chose argon2 over bcrypt, since it resists GPUs.",
        "For the queue I opted for Redis streams.",
        "I'm sticking with the existing logger.",
        "I deliberately left the retry out because the caller retries.",
    ] {
        assert_eq!(by_agent(text).len(), 1, "{text}: {:?}", by_agent(text));
    }
}

#[test]
fn reasons_are_split_off() {
    let made = by_agent("I'll keep the old endpoint since two clients still call it.");
    assert_eq!(made, [("I'll keep the old endpoint".to_owned(), Some("two clients still call it".to_owned()))]);
    let made = by_user("Let's use Postgres instead of SQLite because we need concurrent writers.");
    assert_eq!(made[0].1.as_deref(), Some("we need concurrent writers"));
}

#[test]
fn what_is_not_settled_is_no_decision() {
    for text in [
        "Should we use Postgres or SQLite?",
        "We could use Postgres, or maybe keep SQLite.",
        "The parser uses a table of tokens.",
        "You must not call this function twice.",
        "HashMap iteration order is never guaranteed.",
        "Let me look at the tests.",
        "I used grep to find the callers.",
        "```\n// we decided to use X because of Y\n```",
        "> We decided to rewrite everything in Zig because it is fun.",
        "The docs say: don't use this in production.",
    ] {
        assert!(by_agent(text).is_empty(), "{text}: {:?}", by_agent(text));
    }
    for text in ["It doesn't work", "I don't know why", "what do you mean?", "ok", "don't worry about it"] {
        assert!(by_user(text).is_empty(), "{text}: {:?}", by_user(text));
    }
}

#[test]
fn a_pick_among_options_is_a_decision() {
    let told = telling()
        .user("Add a cache")
        .agent("Which one?\n\n1. In memory\n2. Redis\n3. On disk\n\nWhich of these do you prefer?")
        .user("2")
        .agent("Fine.");
    let brief = told.brief();
    assert!(brief.decisions[0].what.text.starts_with("Redis"), "{:?}", brief.decisions[0].what.text);
    assert_eq!(brief.decisions[0].what.cites.len(), 2);
}

#[test]
fn a_plain_answer_settles_the_question() {
    let told = telling().user("Add a cache").agent("Should the cache survive restarts?").user("no").agent("Fine.");
    assert_eq!(told.brief().decisions[0].what.text, "Should the cache survive restarts? — no");
    let told = telling().user("Add a cache").agent("Shall I continue?").user("yes").agent("Fine.");
    assert!(told.brief().decisions.is_empty());
}

#[test]
fn choices_are_told_by_how_they_are_built() {
    for text in [
        "We shall simply retain the v2 schema; two consumers parse it.",
        "I believe a B-tree is the sensible option here because reads dominate.",
        "Polling is what we use, the broker drops connections.",
        "Invoices will be stored as PDF because auditors ask for them.",
        "Always write through the outbox, never to the topic, since a crash would lose messages.",
        "Variant C, please: one queue for all, because it is cheap.",
        "On balance, a nightly job does it.",
        "Zstd over gzip, because it decompresses faster.",
        "The schema is frozen until the audit.",
    ] {
        assert_eq!(by_agent(text).len(), 1, "agent: {text}: {:?}", by_agent(text));
        assert_eq!(by_user(text).len(), 1, "user: {text}: {:?}", by_user(text));
    }
}

#[test]
fn working_notes_are_no_choices() {
    for text in [
        "Let's have a look at the loader, it is called twice.",
        "I'll go through the handlers first; there are nine.",
        "The loop iterates over the rows because the cursor is lazy.",
        "Option B: a queue per tenant, because it isolates them.",
        "That's why the test fails.",
        "This is not the right approach because it blocks.",
        "The bug remains because the cache is stale.",
    ] {
        assert!(by_agent(text).is_empty(), "{text}: {:?}", by_agent(text));
    }
}

#[test]
fn a_short_answer_is_told_with_its_question() {
    let told =
        telling().user("Add a cache").agent("How long do we keep entries?").user("Keep it as it is").agent("Fine.");
    let decisions = told.brief().decisions;
    assert_eq!(decisions.len(), 1);
    assert_eq!(decisions[0].what.text, "How long do we keep entries? — Keep it as it is");
}

#[test]
fn an_answer_that_names_one_of_two_settles_the_question() {
    let answered = |answer: &str| {
        let told = telling()
            .user("Write the export.")
            .agent("Excel has its own mind. Should I use a semicolon or a comma?")
            .user(answer);
        told.brief().decisions.into_iter().map(|decision| decision.what.text).collect::<Vec<_>>()
    };
    for answer in ["semicolon, that's that", "Semicolon", "the comma please"] {
        assert_eq!(answered(answer), [format!("Should I use a semicolon or a comma? — {answer}")]);
    }
    assert!(answered("what does the spec say?").is_empty());
    assert!(answered("why not a comma?").is_empty());
}
