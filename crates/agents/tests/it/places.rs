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
    insta::assert_snapshot!(candidates(&env(Os::Linux, "/home/u", &[])), @r"
    claude-code: /home/u/.claude
    codex: /home/u/.codex, /more
    opencode: /home/u/.local/share/opencode
    ");
}

#[test]
fn on_macos() {
    insta::assert_snapshot!(candidates(&env(Os::MacOs, "/Users/u", &[])), @r"
    claude-code: /Users/u/.claude
    codex: /Users/u/.codex, /more
    opencode: /Users/u/.local/share/opencode
    ");
}

#[test]
fn on_windows() {
    insta::assert_snapshot!(candidates(&env(Os::Windows, "C:/Users/u", &[])), @r"
    claude-code: C:/Users/u/.claude
    codex: C:/Users/u/.codex, /more
    opencode: C:/Users/u/.local/share/opencode
    ");
}

#[test]
fn variables_move_a_store_as_a_whole() {
    let vars = [("CLAUDE_CONFIG_DIR", "/x/claude"), ("CODEX_HOME", "~/codex"), ("XDG_DATA_HOME", "/x/data")];
    insta::assert_snapshot!(candidates(&env(Os::Linux, "/home/u", &vars)), @r"
    claude-code: /x/claude
    codex: /home/u/codex, /more
    opencode: /x/data/opencode
    ");
}
