//! What is otherwise where a capsule is opened than where its session was.

use serde_json::json;

use crate::support::{TestEnv, append_record};
use crate::test_capsule::{env_with_git, export};

/// A session of 2.1.325 that changed its mode, and had a tool of a server.
fn sender() -> TestEnv {
    let env = env_with_git();
    append_record(&env, &json!({"type": "permission-mode", "permissionMode": "dontAsk"}));
    let tools = json!([{"name": "mcp__tickets__find", "input_schema": {"type": "object"}}]);
    let shape = json!({"system": [], "tools": tools});
    append_record(&env, &json!({"type": "api-request-shape", "shapeHash": "s1", "shape": shape}));
    append_record(&env, &json!({"type": "api-request", "querySource": "sdk", "shapeHash": "s1"}));
    env
}

/// A home with the client in a version.
fn receiver(version: &str) -> TestEnv {
    let env = TestEnv::new().with_client("claude");
    env.write("bin/claude", &format!("#!/bin/sh\necho '{version} (Claude Code)'\n"));
    env
}

fn drift(env: &TestEnv, capsule: &str) -> Vec<String> {
    let told = env.json("import", &["import", capsule, "--no-files"]);
    let warnings = told["resume"]["warnings"].as_array().cloned().unwrap_or_default();
    warnings.iter().map(|warning| warning.as_str().unwrap().to_owned()).collect()
}

#[test]
fn another_client_model_mode_or_server_is_told() {
    let sender = sender();
    let (capsule, _) = export(&sender, "a.tar.zst", &["--files", "none"]);
    let env = receiver("2.1.197");
    env.write(".claude/settings.json", r#"{"model":"sonnet"}"#);
    let told = drift(&env, capsule.to_str().unwrap());
    let expected = [
        "the session was held in Claude Code 2.1.325, and 2.1.197 is installed",
        "the session went on with claude-opus-5-5, and the settings here name sonnet",
        "Claude Code names no server for tools that it had: tickets",
        "the session was in the mode dontAsk; here it goes on in the one that the client begins with",
    ];
    for line in expected {
        assert!(told.contains(&line.to_owned()), "{line}: {told:#?}");
    }
}

#[test]
fn what_is_the_same_here_is_not_told() {
    let sender = sender();
    append_record(&sender, &json!({"type": "permission-mode", "permissionMode": "default"}));
    let (capsule, _) = export(&sender, "a.tar.zst", &["--files", "none"]);
    let env = receiver("2.1.325");
    env.write(".claude/settings.json", r#"{"model":"opus[1m]"}"#);
    env.write(".claude.json", r#"{"mcpServers":{"tickets":{}}}"#);
    let told = drift(&env, capsule.to_str().unwrap());
    let words = ["was held in", "went on with", "names no server", "in the mode"];
    assert!(!told.iter().any(|line| words.iter().any(|word| line.contains(word))), "{told:#?}");
}
