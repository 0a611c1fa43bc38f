//! What clients tell of a session beside its conversation: tokens, limits, how it was begun, and how long it is. Each is
//! looked at in sessions that a real client wrote.

use std::fmt::Write;
use std::path::PathBuf;

use carryover_agents::{AGENTS, Bookmark, Source};
use carryover_core::transcript::{Body, Entry, Transcript, TranscriptBuilder, Used};

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
    agent.read(&source, &Bookmark::Start, &mut builder).unwrap();
    builder.finish()
}

const SESSIONS: &[(&str, &str)] = &[
    ("claude-code", "2.1.325-tools.jsonl"),
    ("claude-code", "1.0.128-compact.jsonl"),
    ("codex", "0.166.0-rich.jsonl"),
    ("codex", "0.166.0-compaction.jsonl"),
    ("codex", "0.44.0-exec.jsonl"),
    ("gemini-cli", "0.61.0-tools-resumed.jsonl"),
    ("gemini-cli", "0.20.0-document.json"),
    ("qwen-code", "0.24.4-tools.jsonl"),
    ("qwen-code", "0.24.4-compact.jsonl"),
    ("opencode", "rich.json"),
    ("opencode", "compaction.json"),
    ("pi", "0.87.1-tools.jsonl"),
    ("pi", "0.27.9-compact.jsonl"),
    ("openclaw", "whole.json"),
    ("copilot-cli", "1.0.102-hooks.jsonl"),
    ("copilot-cli", "1.0.102-compact.jsonl"),
    ("aider", "0.86.2-restored.md"),
];

#[test]
fn tokens_are_told_as_the_client_counted_them() {
    let mut told = String::new();
    for (agent, name) in SESSIONS {
        let used = read(agent, name, false).used();
        assert_eq!(used, read(agent, name, true).used(), "{agent} {name}: what is passed over counts too");
        let Some(Used { total, models, .. }) = used else {
            writeln!(told, "{agent} {name}: nothing").unwrap();
            continue;
        };
        let models: Vec<&str> = models.iter().map(|(model, _)| model.as_str()).collect();
        writeln!(
            told,
            "{agent} {name}: {} in ({} from cache), {} out ({} thought), {}",
            total.input,
            total.cache_read,
            total.output,
            total.reasoning,
            models.join(", ")
        )
        .unwrap();
    }
    insta::assert_snapshot!(told, @r"
    claude-code 2.1.325-tools.jsonl: 199913 in (0 from cache), 630 out (0 thought), claude-opus-5-5
    claude-code 1.0.128-compact.jsonl: 77474 in (0 from cache), 210 out (0 thought), claude-sonnet-4-20250514
    codex 0.166.0-rich.jsonl: 50700 in (2000 from cache), 480 out (40 thought), gpt-5.5
    codex 0.166.0-compaction.jsonl: 16000 in (0 from cache), 230 out (0 thought), gpt-5.5
    codex 0.44.0-exec.jsonl: 2000 in (0 from cache), 100 out (0 thought), gpt-5-codex
    gemini-cli 0.61.0-tools-resumed.jsonl: 117137 in (0 from cache), 225 out (45 thought), gemini-2.5-pro
    gemini-cli 0.20.0-document.json: 26115 in (0 from cache), 75 out (15 thought), gemini-2.5-pro
    qwen-code 0.24.4-tools.jsonl: 141029 in (0 from cache), 140 out (12 thought), fake-model
    qwen-code 0.24.4-compact.jsonl: 140448 in (0 from cache), 140 out (7 thought), fake-model
    opencode rich.json: 32834 in (0 from cache), 80 out (0 thought), fake-model
    opencode compaction.json: 42100 in (0 from cache), 80 out (0 thought), fake-model
    pi 0.87.1-tools.jsonl: 8442 in (0 from cache), 100 out (0 thought), fake-model
    pi 0.27.9-compact.jsonl: nothing
    openclaw whole.json: 262014 in (0 from cache), 798 out (0 thought), fake-model
    copilot-cli 1.0.102-hooks.jsonl: 200 in (0 from cache), 20 out (0 thought), gpt-4.1
    copilot-cli 1.0.102-compact.jsonl: 600 in (0 from cache), 60 out (0 thought), gpt-4.1
    aider 0.86.2-restored.md: 7950 in (0 from cache), 136 out (0 thought), openai/fake
    ");
}

#[test]
fn how_a_session_was_begun_is_told_in_the_clients_words() {
    let mut told = String::new();
    for (agent, name) in SESSIONS {
        let begun = read(agent, name, false).header.begun;
        assert_eq!(begun, read(agent, name, true).header.begun, "{agent} {name}");
        if !begun.is_empty() {
            writeln!(told, "{agent} {name}: {}", serde_json::to_string(&begun).unwrap()).unwrap();
        }
    }
    insta::assert_snapshot!(told, @r#"
    claude-code 2.1.325-tools.jsonl: {"entrypoint":"sdk-cli","permission_mode":"bypassPermissions"}
    codex 0.166.0-rich.jsonl: {"entrypoint":"codex_exec","permission_mode":"default","approval_policy":"never","sandbox":"danger-full-access"}
    codex 0.166.0-compaction.jsonl: {"entrypoint":"codex-tui","permission_mode":"default","approval_policy":"never","sandbox":"danger-full-access"}
    codex 0.44.0-exec.jsonl: {"entrypoint":"codex_exec","approval_policy":"never","sandbox":"danger-full-access"}
    opencode rich.json: {"permission_mode":"build"}
    opencode compaction.json: {"permission_mode":"build"}
    copilot-cli 1.0.102-hooks.jsonl: {"permission_mode":"allow all: on"}
    "#);
}

/// The messages, by another way of counting than the one that is tested: in these sessions, no reply is split.
fn prompts_and_replies(transcript: &Transcript) -> (usize, usize) {
    let count = |wanted: fn(&Entry) -> bool| transcript.entries.iter().filter(|entry| wanted(entry)).count();
    let is_prompt = |entry: &Entry| {
        matches!(entry.body, Body::Prompt(_)) && entry.origin == carryover_core::transcript::Origin::User
    };
    (count(is_prompt), count(|entry| matches!(entry.body, Body::Reply(_))))
}

#[test]
fn messages_are_counted_as_a_person_does() {
    let mut told = String::new();
    for (agent, name) in SESSIONS {
        let whole = read(agent, name, true);
        let count = whole.n_messages();
        assert_eq!(count, read(agent, name, false).n_messages(), "{agent} {name}");
        let (prompts, replies) = prompts_and_replies(&whole);
        assert!(count <= prompts + replies, "{agent} {name}");
        writeln!(told, "{agent} {name}: {count} messages in {prompts} prompts and {replies} pieces of replies")
            .unwrap();
    }
    insta::assert_snapshot!(told, @r"
    claude-code 2.1.325-tools.jsonl: 9 messages in 3 prompts and 6 pieces of replies
    claude-code 1.0.128-compact.jsonl: 7 messages in 3 prompts and 4 pieces of replies
    codex 0.166.0-rich.jsonl: 6 messages in 2 prompts and 4 pieces of replies
    codex 0.166.0-compaction.jsonl: 5 messages in 3 prompts and 3 pieces of replies
    codex 0.44.0-exec.jsonl: 3 messages in 1 prompts and 2 pieces of replies
    gemini-cli 0.61.0-tools-resumed.jsonl: 7 messages in 2 prompts and 5 pieces of replies
    gemini-cli 0.20.0-document.json: 5 messages in 2 prompts and 3 pieces of replies
    qwen-code 0.24.4-tools.jsonl: 4 messages in 1 prompts and 3 pieces of replies
    qwen-code 0.24.4-compact.jsonl: 8 messages in 3 prompts and 6 pieces of replies
    opencode rich.json: 4 messages in 1 prompts and 3 pieces of replies
    opencode compaction.json: 19 messages in 9 prompts and 10 pieces of replies
    pi 0.87.1-tools.jsonl: 4 messages in 1 prompts and 3 pieces of replies
    pi 0.27.9-compact.jsonl: 10 messages in 4 prompts and 6 pieces of replies
    openclaw whole.json: 16 messages in 7 prompts and 9 pieces of replies
    copilot-cli 1.0.102-hooks.jsonl: 2 messages in 1 prompts and 1 pieces of replies
    copilot-cli 1.0.102-compact.jsonl: 11 messages in 5 prompts and 6 pieces of replies
    aider 0.86.2-restored.md: 8 messages in 4 prompts and 4 pieces of replies
    ");
}

#[test]
fn lines_of_one_message_count_once() {
    let transcript = read("claude-code", "2.1.325-tools.jsonl", true);
    let n_lines = transcript.entries.iter().filter_map(Entry::usage).count();
    let mut replies: Vec<_> = transcript.entries.iter().filter_map(Entry::usage).map(|usage| usage.reply).collect();
    replies.dedup();
    assert!(replies.len() < n_lines, "a message of several blocks is several lines");
    let output = replies.len() as u64 * 42;
    assert_eq!(transcript.used().unwrap().total.output, output, "42 tokens a reply, as the model server says");
}

#[test]
fn limits_are_told_in_percent_with_their_reset() {
    let limits = read("codex", "0.166.0-usage-limit.jsonl", false).used().unwrap().limits;
    let told: Vec<String> = limits
        .iter()
        .map(|limit| format!("{}% {:?} {}", limit.used_percent, limit.window_minutes, limit.resets_at.unwrap()))
        .collect();
    insta::assert_snapshot!(told.join("\n"), @r"
    100% Some(300) 2026-11-15T02:09:51.000Z
    87.5% Some(10080) 2026-11-16T01:09:51.000Z
    ");
}
