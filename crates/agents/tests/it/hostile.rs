//! Input that no client would write. Nothing of it may cost more than its own record.

use carryover_agents::{AGENTS, Agent};
use carryover_core::live;
use proptest::prelude::*;

use crate::support::{read, store};

/// A prompt in each agent's own words, to stand after the damage.
fn prompt(agent: &dyn Agent) -> &'static [u8] {
    match agent.facts().id {
        "aider" => b"#### still here  ",
        "codex" => br#"{"timestamp":"2026-11-15T00:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"still here"}]}}"#,
        "copilot-cli" => br#"{"type":"user.message","data":{"content":"still here"},"id":"u","timestamp":"2026-11-15T00:00:01.000Z","parentId":null}"#,
        "gemini-cli" => br#"{"id":"u","timestamp":"2026-11-15T00:00:01.000Z","type":"user","content":[{"text":"still here"}]}"#,
        "openclaw" | "pi" => br#"{"type":"message","id":"aaaa0001","parentId":null,"timestamp":"2026-11-15T00:00:01.000Z","message":{"role":"user","content":"still here","timestamp":1}}"#,
        "qwen-code" => br#"{"uuid":"u","parentUuid":null,"sessionId":"s","timestamp":"2026-11-15T00:00:01.000Z","type":"user","message":{"role":"user","parts":[{"text":"still here"}]}}"#,
        "opencode" => br#"{"type":"text","text":"still here"}"#,
        _ => br#"{"parentUuid":null,"type":"user","message":{"role":"user","content":"still here"},"uuid":"u","timestamp":"2026-11-15T00:00:01.000Z","sessionId":"s"}"#,
    }
}

fn survives(agent: &dyn Agent, damage: &[u8]) {
    let made = store(agent, &[damage, prompt(agent)]);
    let transcript = read(agent, &made.path);
    let alive = live::resolve(&transcript);
    let id = agent.facts().id;
    assert!(!alive.is_empty(), "{id}: the prompt after the damage is lost");
    assert!(transcript.entries.len() >= 2, "{id}: a record was dropped");
}

#[test]
fn a_bad_record_costs_one_record() {
    let deep = format!("{{\"type\":\"user\",\"message\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let deep_object = format!("{}1{}", "{\"a\":".repeat(50_000), "}".repeat(50_000));
    let damages: [&[u8]; 8] = [
        b"not json",
        b"\0\0\0\0",
        b"{\"type\":\"user\",\"message\":{\"content\":\"\xff\xfe\"}}",
        b"[1,2,3]",
        b"null",
        b"{\"type\":",
        deep.as_bytes(),
        deep_object.as_bytes(),
    ];
    for agent in AGENTS {
        for damage in damages {
            survives(*agent, damage);
        }
    }
}

#[test]
fn a_line_of_a_hundred_megabytes_is_passed_over() {
    let long = vec![b'x'; 100 << 20];
    for agent in AGENTS {
        survives(*agent, &long);
    }
}

#[test]
fn cycles_and_duplicates_end() {
    let line = |uuid: &str, parent: &str, text: &str| {
        format!(
            r#"{{"parentUuid":"{parent}","type":"user","message":{{"role":"user","content":"{text}"}},"uuid":"{uuid}","timestamp":"1969-01-01T00:00:00.000Z"}}"#
        )
    };
    let agent = carryover_agents::by_name("claude-code").unwrap();
    let lines = [line("a", "b", "one"), line("b", "a", "two"), line("b", "b", "twice"), line("c", "nowhere", "three")];
    let lines: Vec<&[u8]> = lines.iter().map(String::as_bytes).collect();
    let made = store(agent, &lines);
    let transcript = read(agent, &made.path);
    // The unknown parent is bridged to the record before; the cycle above it is walked once.
    assert_eq!(live::resolve(&transcript).len(), 3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_bytes_make_a_reader_panic(damage in prop::collection::vec(any::<u8>(), 0..300)) {
        let damage: Vec<u8> = damage.into_iter().filter(|byte| *byte != b'\n').collect();
        for agent in AGENTS {
            survives(*agent, &damage);
        }
    }
}
