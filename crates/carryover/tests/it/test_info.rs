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
      instructions   CLAUDE.md (also in all folders above; in folders below once it gets there)
                     .claude/CLAUDE.md (also in all folders above)
                     .claude/rules/**/*.md (where its `paths` fit; also in all folders above)
                     CLAUDE.local.md (private; also in all folders above)
                     AGENTS.md (by 2.1.325, not by 2.1.197 and older; not where there is CLAUDE.md, .claude/CLAUDE.md, CLAUDE.local.md; also in all folders above)
                     ~/.claude/CLAUDE.md
                     ~/.claude/rules/**/*.md (where its `paths` fit)
                     ~/.claude/projects/{project}/memory/MEMORY.md
      token windows  claude-* ###k, claude-fable-5* 1.0M, claude-haiku-5-5* 1.0M, claude-opus-4-7* 1.0M, claude-opus-4-8* 1.0M, claude-opus-5* 1.0M, claude-sonnet-5* 1.0M, others ###k (as of 2026-11-15)
      native resume  yes
      verified by    real client
    ");
    let info = env.json("info", &["info"]);
    assert_eq!(info["agents"].as_array().unwrap().len(), carryover_agents::AGENTS.len());
}

#[test]
fn the_settings_in_force_are_told_with_where_they_come_from() {
    let env = TestEnv::with_sessions().var("CODEX_HOME", "/srv/codex").var("PAGER", "more");
    env.write(".carryover/config.toml", "[resume]\ntarget = \"codex\"\n[stores]\npi = [\"/mnt/pi\"]\n");
    let said = env.run(&["info"]).success();
    let settings = said.stdout.split("\n\n").next().unwrap();
    insta::assert_snapshot!(settings, @"
    Settings
      home                           [HOME]/.carryover  default
      agents                         all  default
      stores.codex                   /srv/codex  CODEX_HOME in the environment
      stores.pi                      /mnt/pi  config.toml
      resume.target                  codex  config.toml
      resume.tokens                  the window of the target's model  default
      resume.launch                  false  default
      resume.into_editor             false  default
      handoff.tokens                 what suits the target  default
      handoff.protocol               ask  default
      handoff.pointers               true  default
      handoff.max_age                14  default
      conversations.recent_messages  20  default
      conversations.recipients       none: a passphrase is asked for  default
      conversations.suggest          true  default
      daemon.port                    47823  default
      watch.agents                   the agents that are looked at  default
      watch.interval                 30  default
      watch.notify                   bell  default
      ledger.enabled                 true  default
      ledger.retention               0  default
      pager                          more  PAGER in the environment
    ");
    let told = env.json("info", &["info", "codex"]);
    let of = |key: &str| told["settings"].as_array().unwrap().iter().find(|setting| setting["key"] == key).unwrap();
    assert_eq!((&of("resume.target")["source"], &of("pager")["variable"]), (&"config.toml".into(), &"PAGER".into()));
}
