//! What clients tell of a session beside its conversation: tokens, limits, how it was begun, and how long it is. Each is
//! looked at in sessions that a real client wrote.

use std::path::PathBuf;

use carryover_agents::{AGENTS, Bookmark, Source};
use carryover_core::transcript::{Body, CallId, Entry, Origin, SessionUsage, Transcript, TranscriptBuilder};
use carryover_testkit::agents::LABS;
use carryover_testkit::lab::ExpectedReading;

fn fixture(agent: &str, name: &str) -> PathBuf {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src"));
    folder.join(agent.replace('-', "_")).join("fixtures").join(name)
}

fn read(agent: &str, name: &str, is_whole: bool) -> Transcript {
    let agent = AGENTS.iter().find(|known| known.facts().id == agent).unwrap();
    let mut builder = TranscriptBuilder::new(agent.facts().id);
    if is_whole {
        builder = builder.keeping_everything();
    }
    let source = Source { path: fixture(agent.facts().id, name), key: None };
    agent.read_session(&source, &Bookmark::Start, &mut builder).unwrap();
    builder.finish()
}

/// Every session of which something is known.
fn readings() -> impl Iterator<Item = (&'static str, &'static ExpectedReading)> {
    LABS.iter().flat_map(|lab| lab.readings.iter().map(|reading| (lab.id, reading)))
}

#[test]
fn tokens_are_told_as_the_client_counted_them() {
    for (agent, reading) in readings() {
        let name = reading.fixture;
        let used = read(agent, name, false).total_usage();
        assert_eq!(used, read(agent, name, true).total_usage(), "{agent} {name}: what is passed over counts too");
        let told = used.map_or_else(|| "nothing".to_owned(), |used| describe_tokens(&used));
        assert_eq!(told, reading.tokens, "{agent} {name}");
    }
}

fn describe_tokens(SessionUsage { total, models, .. }: &SessionUsage) -> String {
    let models: Vec<&str> = models.iter().map(|(model, _)| model.as_str()).collect();
    let (input, cached, output, thought) = (total.input, total.cache_read, total.output, total.reasoning);
    format!("{input} in ({cached} from cache), {output} out ({thought} thought), {}", models.join(", "))
}

#[test]
fn how_a_session_was_begun_is_told_in_the_clients_words() {
    for (agent, reading) in readings() {
        let name = reading.fixture;
        let begun = read(agent, name, false).header.start_settings;
        assert_eq!(begun, read(agent, name, true).header.start_settings, "{agent} {name}");
        let told = if begun.is_empty() { String::new() } else { serde_json::to_string(&begun).unwrap() };
        assert_eq!(told, reading.start_settings, "{agent} {name}");
    }
}

#[test]
fn what_came_of_the_models_calls_is_not_the_harnesss() {
    for (agent, reading) in readings() {
        let entries = read(agent, reading.fixture, true).entries;
        let is_models = |id: &CallId| {
            entries
                .iter()
                .any(|entry| matches!(&entry.body, Body::Call(call) if call.id == *id && entry.origin == Origin::Agent))
        };
        for entry in &entries {
            let Body::Outcome(outcome) = &entry.body else { continue };
            let is_lost = entry.origin == Origin::Harness && is_models(&outcome.call);
            assert!(!is_lost, "{agent} {}: what is the harness's is never sent to a model", reading.fixture);
        }
    }
}

/// The messages, by another way of counting than the one that is tested: in these sessions, no reply is split.
fn prompts_and_replies(transcript: &Transcript) -> (usize, usize) {
    let count = |wanted: fn(&Entry) -> bool| transcript.entries.iter().filter(|entry| wanted(entry)).count();
    let is_prompt = |entry: &Entry| matches!(entry.body, Body::Prompt(_)) && entry.origin == Origin::User;
    (count(is_prompt), count(|entry| matches!(entry.body, Body::Reply(_))))
}

#[test]
fn messages_are_counted_as_a_person_does() {
    for (agent, reading) in readings() {
        let name = reading.fixture;
        let whole = read(agent, name, true);
        let count = whole.n_messages();
        assert_eq!(count, read(agent, name, false).n_messages(), "{agent} {name}");
        let (prompts, replies) = prompts_and_replies(&whole);
        assert!(count <= prompts + replies, "{agent} {name}");
        let told = format!("{count} messages in {prompts} prompts and {replies} pieces of replies");
        assert_eq!(told, reading.messages, "{agent} {name}");
    }
}

#[test]
fn lines_of_one_message_count_once() {
    let transcript = read("claude-code", "2.1.325-tools.jsonl", true);
    let n_lines = transcript.entries.iter().filter_map(Entry::usage).count();
    let mut replies: Vec<_> = transcript.entries.iter().filter_map(Entry::usage).map(|usage| usage.reply).collect();
    replies.dedup();
    assert!(replies.len() < n_lines, "a message of several blocks is several lines");
    let output = replies.len() as u64 * 42;
    assert_eq!(transcript.total_usage().unwrap().total.output, output, "42 tokens a reply, as the model server says");
}

#[test]
fn limits_are_told_in_percent_with_their_reset() {
    let limits = read("codex", "0.166.0-usage-limit.jsonl", false).total_usage().unwrap().limits;
    let told: Vec<String> = limits
        .iter()
        .map(|limit| format!("{}% {:?} {}", limit.used_percent, limit.window_minutes, limit.resets_at.unwrap()))
        .collect();
    insta::assert_snapshot!(told.join("\n"), @r"
    100% Some(300) 2026-11-15T02:09:51.000Z
    87.5% Some(10080) 2026-11-16T01:09:51.000Z
    ");
}
