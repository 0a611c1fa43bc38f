//! How people and agents talk: each of these is to be found, and none of the noise.

use super::telling::{Telling, telling};

fn begun() -> Telling {
    telling()
        .user("Rework the billing service so that invoices are sent in batches.")
        .agent("I'll look at the code first.")
        .run("ls", 0, "src")
}

/// The sentences that one extractor does not find.
fn missed(texts: &[&str], found: impl Fn(&str) -> usize) -> Vec<String> {
    texts.iter().filter(|text| found(text) == 0).map(|text| (*text).to_owned()).collect()
}

/// The sentences in which one extractor finds something that is not there.
fn imagined(texts: &[&str], found: impl Fn(&str) -> usize) -> Vec<String> {
    texts.iter().filter(|text| found(text) > 0).map(|text| (*text).to_owned()).collect()
}

const NOISE: &[&str] = &[
    "I see 14 matches for `TODO` in the vendored code, none of them ours.",
    "The README says you should never run this as root.",
    "The log shows `error: connection refused` twice.",
    "Looking at the handler now.",
    "The function returns early if the list is empty.",
    "This module has three public functions.",
    "Here is what the loader does: it reads the file, parses it and caches the result.",
    "The stack trace points at line 42.",
    "The comment in the code reads \"we decided to keep this because of IE6\".",
    "All 48 tests pass.",
    "I've added the batch sender and its tests.",
];

#[test]
fn decisions_of_the_agent() {
    let texts = [
        "After comparing both, I'm going with server-sent events over websockets because the traffic is one-way.",
        "I've decided against a separate worker process; a thread is enough.",
        "We'll store timestamps in UTC, since the reports are rendered per tenant anyway.",
        "Design decision: ids are opaque strings.",
        "To keep the change small, I kept the old table and added a column instead of a new table.",
        "I chose to fail closed rather than open when the cache is down.",
        "The choice is zstd level 3: it halves the size at no measurable cost.",
        "Settled on a 15 minute TTL, as shorter ones thrash the cache.",
        "I ended up using a queue per tenant so that one tenant cannot starve the others.",
        "Let's keep the feature flag in place until the rollout is complete.",
        "- **Decision**: retries are capped at five",
        "Rejected the ORM rewrite because it would touch every query.",
        "We agreed that errors are logged, not raised.",
        "I'm leaving the legacy parser untouched, since removing it would break imports.",
    ];
    let found = |text: &str| begun().agent(text).brief().decisions.len();
    assert_eq!(missed(&texts, found), Vec::<String>::new());
    assert_eq!(imagined(NOISE, found), Vec::<String>::new());
}

#[test]
fn decisions_of_the_user() {
    let texts = [
        "Use Redis for this.",
        "no, keep the old column names",
        "I want this behind a feature flag, always.",
        "Please avoid global state.",
        "Whatever you do, do not rename the public types.",
        "Okay: Postgres it is then.",
        "go with B, it's simpler",
        "We've decided to drop Python 3.8.",
        "Prefer composition here, not inheritance.",
        "The deadline is fixed, so skip the admin UI for now.",
        "Batches must never exceed 500 invoices.",
        "We won't support MySQL.",
        "Only the finance team should be able to trigger it.",
        "From now on every migration needs a rollback script.",
    ];
    let found = |text: &str| begun().agent("Noted so far.").user(text).agent("Understood.").brief().decisions.len();
    assert_eq!(missed(&texts, found), Vec::<String>::new());
    let noise = [
        "can you show me the diff?",
        "the page is still blank",
        "what's the status",
        "hm, weird",
        "it fails on my machine with exit code 2",
        "I'm on the train, will check later",
    ];
    assert_eq!(imagined(&noise, found), Vec::<String>::new());
}

#[test]
fn next_steps() {
    let texts = [
        ("Batching works. Next on my list: the retry queue.", "retry queue"),
        ("The model is migrated. I'll tackle the API handlers after this.", "API handlers"),
        ("Everything compiles again. Remaining work: port the two integration tests.", "integration tests"),
        ("I've got the parser going. Now I need to hook it into the importer.", "importer"),
        ("Good progress today. Tomorrow we should start with the flaky snapshot.", "flaky snapshot"),
        ("The sender is done.\n\n**Next steps**\n\n- [ ] add metrics\n- [ ] write docs", "add metrics"),
        ("The sender is done.\n\nWhat's left:\n- wire the cron job", "wire the cron job"),
        ("Both endpoints return 200. To continue, run the migration on staging.", "migration on staging"),
        ("That leaves the invoice template as the last open piece.", "invoice template"),
        ("The schema is in. My plan is to backfill in chunks of 1000.", "backfill"),
        ("The lint is clean. Let me now extend the e2e suite.", "e2e suite"),
        ("Finished the draft. It would make sense to tighten the introduction next.", "introduction"),
    ];
    for (text, wanted) in texts {
        let next = begun().agent(text).brief().next.map(|next| next.text).unwrap_or_default();
        assert!(next.contains(wanted), "{text}: {next}");
    }
}

#[test]
fn open_questions() {
    let texts = [
        "Do you want the batches per tenant or per region?",
        "One thing I couldn't determine: is the archive table still used by anyone?",
        "It's not clear which timezone the cut-off uses.",
        "Whether we should also notify the account owner is still undecided.",
        "I need you to confirm the retention period.",
        "Open: does finance need a CSV as well?",
        "Question: is 500 the right batch size?",
        "We haven't decided how to handle partial failures.",
    ];
    let found = |text: &str| begun().agent(&format!("The sender is done. {text}")).brief().questions.len();
    assert_eq!(missed(&texts, found), Vec::<String>::new());
    assert_eq!(imagined(NOISE, found), Vec::<String>::new());
    // Going on with something else is no answer.
    let later = |text: &str| {
        begun().agent(text).user("run the linter").agent("Clean.").user("thanks").agent("Sure.").brief().questions.len()
    };
    assert_eq!(missed(&texts, later), Vec::<String>::new());
}

#[test]
fn failed_approaches() {
    let texts = [
        "Tried passport.js, conflicted with the existing middleware.",
        "First I tried a database trigger, but it fired twice per row.",
        "The approach with advisory locks didn't work: the pooler drops them.",
        "Switching to the streaming parser was a dead end.",
        "I gave up on mocking the clock because the library caches it.",
        "We attempted to shard by customer; that made the hot spots worse and was rolled back.",
        "Using `SELECT FOR UPDATE` did not help, it deadlocked under load.",
        "I reverted the pool change, it broke the health check.",
    ];
    let found = |text: &str| begun().agent(text).brief().failed.len();
    assert_eq!(missed(&texts, found), Vec::<String>::new());
    assert_eq!(imagined(NOISE, found), Vec::<String>::new());
}

#[test]
fn blockers_in_words() {
    let found = |text: &str| begun().agent(text).brief().blockers.len();
    assert_eq!(imagined(NOISE, found), Vec::<String>::new());
}
