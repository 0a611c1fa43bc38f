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
      token windows  claude-* ###k, claude-fable-5* 1.0M, claude-haiku-5-5* 1.0M, claude-opus-4-7* 1.0M, claude-opus-4-8* 1.0M, claude-opus-5* 1.0M, claude-sonnet-5* 1.0M, others ###k (as of 2026-11-15)
      native resume  yes
    ");
    let info = env.json("info", &["info"]);
    assert_eq!(info["agents"].as_array().unwrap().len(), carryover_agents::AGENTS.len());
}
