//! Where stores are looked for, on made-up machines.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use carryover_agents::{AGENTS, Env, Os};
use carryover_core::time::Timestamp;

fn env(os: Os, home: &str, vars: &[(&str, &str)]) -> Env {
    Env {
        home: PathBuf::from(home),
        vars: vars.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        os,
        now: Timestamp::EPOCH,
        zone: jiff::tz::TimeZone::UTC,
        stores: BTreeMap::from([("codex".to_owned(), vec![PathBuf::from("/more")])]),
        projects: vec![PathBuf::from("/work")],
    }
}

fn candidates(env: &Env) -> String {
    let mut out = String::new();
    for agent in AGENTS {
        let places = agent.facts().store_candidates(env);
        let places: Vec<String> = places.iter().map(|path| path.to_string_lossy().replace('\\', "/")).collect();
        writeln!(out, "{}: {}", agent.facts().id, places.join(", ")).unwrap();
    }
    out
}

#[test]
fn on_linux() {
    insta::assert_snapshot!(candidates(&env(Os::Linux, "/home/u", &[])), @"
    claude-code: /home/u/.claude
    codex: /home/u/.codex, /more
    gemini-cli: /home/u/.gemini
    opencode: /home/u/.local/share/opencode
    qwen-code: /home/u/.qwen
    pi: /home/u/.pi/agent
    copilot-cli: /home/u/.copilot
    aider: /work
    openclaw: /home/u/.openclaw
    ");
}

#[test]
fn on_macos() {
    insta::assert_snapshot!(candidates(&env(Os::MacOs, "/Users/u", &[])), @"
    claude-code: /Users/u/.claude
    codex: /Users/u/.codex, /more
    gemini-cli: /Users/u/.gemini
    opencode: /Users/u/.local/share/opencode
    qwen-code: /Users/u/.qwen
    pi: /Users/u/.pi/agent
    copilot-cli: /Users/u/.copilot
    aider: /work
    openclaw: /Users/u/.openclaw
    ");
}

#[test]
fn on_windows() {
    insta::assert_snapshot!(candidates(&env(Os::Windows, "C:/Users/u", &[])), @"
    claude-code: C:/Users/u/.claude
    codex: C:/Users/u/.codex, /more
    gemini-cli: C:/Users/u/.gemini
    opencode: C:/Users/u/.local/share/opencode
    qwen-code: C:/Users/u/.qwen
    pi: C:/Users/u/.pi/agent
    copilot-cli: C:/Users/u/.copilot
    aider: /work
    openclaw: C:/Users/u/.openclaw
    ");
}

#[test]
fn variables_move_a_store_as_a_whole() {
    let vars = [
        ("CLAUDE_CONFIG_DIR", "/x/claude"),
        ("CODEX_HOME", "~/codex"),
        ("COPILOT_HOME", "/x/copilot"),
        ("GEMINI_CLI_HOME", "/x/gemini"),
        ("OPENCLAW_STATE_DIR", "/x/openclaw"),
        ("PI_CODING_AGENT_DIR", "/x/pi"),
        ("QWEN_HOME", "/x/qwen"),
        ("XDG_DATA_HOME", "/x/data"),
    ];
    insta::assert_snapshot!(candidates(&env(Os::Linux, "/home/u", &vars)), @"
    claude-code: /x/claude
    codex: /home/u/codex, /more
    gemini-cli: /x/gemini/.gemini
    opencode: /x/data/opencode
    qwen-code: /x/qwen
    pi: /x/pi
    copilot-cli: /x/copilot
    aider: /work
    openclaw: /x/openclaw
    ");
}
