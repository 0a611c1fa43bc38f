//! What clients tell of a session beside its conversation: tokens, limits, how it was begun, and how long it is. Each is
//! looked at in sessions that a real client wrote.

use std::path::PathBuf;

use carryover_agents::{AGENTS, Bookmark, Source};
use carryover_core::transcript::{
    Body, CallId, Conditions, Entry, Origin, SessionUsage, Transcript, TranscriptBuilder,
};
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

/// What a session goes on under, in a line.
fn describe_conditions(last: &Conditions) -> String {
    let mut told = Vec::new();
    let words = [("mode", &last.permission_mode), ("routing", &last.routing), ("commit", &last.commit)];
    told.extend(words.iter().filter_map(|(name, word)| Some(format!("{name} {}", word.as_deref()?))));
    let sampling = last.sampling.iter().flatten();
    told.extend(sampling.map(|(name, value)| format!("{name} {}", value.as_str())));
    told.extend(last.system_prompt.as_ref().map(|prompt| format!("prompt of {} bytes", prompt.bytes)));
    told.extend(last.tools.as_ref().map(|tools| format!("{} tools", tools.len())));
    told.extend(last.permission_rules.as_ref().map(|rules| format!("{} rules", rules.len())));
    told.join(", ")
}

#[test]
fn what_a_session_goes_on_under_is_told_without_the_vendors_words() {
    for (agent, reading) in readings() {
        let name = reading.fixture;
        let last = read(agent, name, false).header.conditions;
        assert_eq!(last, read(agent, name, true).header.conditions, "{agent} {name}: what is passed over counts too");
    }
}

fn conditions(agent: &str, name: &str) -> String {
    describe_conditions(&read(agent, name, false).header.conditions)
}

#[test]
fn prompts_are_told_by_their_length_where_the_log_has_them() {
    let rich = conditions("codex", "0.166.0-rich.jsonl");
    insta::assert_snapshot!(rich, @r#"mode default, routing fake, commit 713d6406e33da86822018254bc23f511f543c7c8, summary "none", prompt of 22 bytes, 0 rules"#);
    insta::assert_snapshot!(conditions("copilot-cli", "1.0.102-tools.jsonl"), @"prompt of 9 bytes");
    insta::assert_snapshot!(conditions("pi", "0.87.1-tools.jsonl"), @r#"routing fake, thinkingLevel "medium", prompt of 7 bytes, 0 tools"#);
}

#[test]
fn providers_are_told_in_the_clients_words() {
    insta::assert_snapshot!(conditions("opencode", "rich.json"), @"mode build, routing fake");
    insta::assert_snapshot!(conditions("openclaw", "whole.json"), @r#"routing fake, thinkingLevel "medium""#);
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
