use crate::support::TestEnv;

#[test]
fn what_is_known_is_told() {
    let env = TestEnv::with_sessions();
    insta::assert_snapshot!(env.run(&["info", "claude"]), @"
    exit code 0
    --- stdout
    Claude Code
      names          claude-code, claude, cc
      programs       claude
      stores         ~/.claude
      versions read  1.0.128 to 2.1.325
      instructions   CLAUDE.md
      token windows  claude-* ###k, others ###k (as of 2026-11-15)
      native resume  yes
    ");
    let info = env.json("info", &["info"]);
    assert_eq!(info["agents"].as_array().unwrap().len(), carryover_agents::AGENTS.len());
}
