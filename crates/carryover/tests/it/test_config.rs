use crate::support::TestEnv;

#[test]
fn without_a_file_the_defaults_hold() {
    let env = TestEnv::new();
    insta::assert_snapshot!(env.run(&["config"]), @"
    exit code 0
    --- stdout
    agents                        (all)
    stores.<agent>                (the agent's own folders)
    resume.target                 (must be named)
    resume.tokens                 (the window of the target's model)
    resume.launch                 (false)
    resume.into_editor            (false)
    handoff.tokens                (what suits the target)
    handoff.protocol              (ask)
    handoff.pointers              (true)
    handoff.max_age               (14)
    conversations.recent_messages (20)
    conversations.recipients      (none: a passphrase is asked for)
    conversations.suggest         (true)
    daemon.port                   (47823)
    watch.agents                  (the agents that are looked at)
    watch.interval                (30)
    watch.notify                  (bell)
    ledger.enabled                (true)
    ledger.retention              (0)
    remotes.<name>.url            (no remotes)
    --- stderr
    [HOME]/.carryover/config.toml (not there yet)
    ");
    insta::assert_snapshot!(env.run(&["config", "path"]), @"
    exit code 0
    --- stdout
    [HOME]/.carryover/config.toml
    ");
    insta::assert_snapshot!(env.run(&["config", "get", "resume.target"]), @"exit code 0");
    env.json("config-show", &["config", "show"]);
}

#[test]
fn what_is_set_is_read_back() {
    let env = TestEnv::new();
    insta::assert_snapshot!(env.run(&["config", "set", "resume.target", "claude"]), @"
    exit code 0
    --- stderr
    resume.target = claude-code
    ");
    insta::assert_snapshot!(env.run(&["config", "get", "resume.target"]), @"
    exit code 0
    --- stdout
    claude-code
    ");
    env.run(&["config", "set", "stores.codex", "/mnt/old,~/older"]).success();
    insta::assert_snapshot!(env.run(&["config", "show"]), @"
    exit code 0
    --- stdout
    agents                        (all)
    stores.codex                  /mnt/old,[HOME]/older
    resume.target                 claude-code
    resume.tokens                 (the window of the target's model)
    resume.launch                 (false)
    resume.into_editor            (false)
    handoff.tokens                (what suits the target)
    handoff.protocol              (ask)
    handoff.pointers              (true)
    handoff.max_age               (14)
    conversations.recent_messages (20)
    conversations.recipients      (none: a passphrase is asked for)
    conversations.suggest         (true)
    daemon.port                   (47823)
    watch.agents                  (the agents that are looked at)
    watch.interval                (30)
    watch.notify                  (bell)
    ledger.enabled                (true)
    ledger.retention              (0)
    remotes.<name>.url            (no remotes)
    --- stderr
    [HOME]/.carryover/config.toml
    ");
    env.json("config-show", &["config"]);
    env.run(&["config", "set", "resume.target", ""]).success();
    insta::assert_snapshot!(env.run(&["config", "get", "resume.target"]), @"exit code 0");
}

#[test]
fn mistakes_are_named_and_the_nearest_key_suggested() {
    let env = TestEnv::new();
    insta::assert_snapshot!(env.run(&["config", "set", "resume.taget", "codex"]), @"
    exit code 64
    --- stderr
    error: unknown key `resume.taget`
    hint: did you mean `resume.target`?
    ");
    insta::assert_snapshot!(env.run(&["config", "set", "resume.target", "codx"]), @"
    exit code 64
    --- stderr
    error: `resume.target` names `codx`, which is no agent that carryover knows
    hint: did you mean `codex`?
    ");
    insta::assert_snapshot!(env.run(&["config", "set", "watch.notify", "siren"]), @"
    exit code 64
    --- stderr
    error: `watch.notify` must be off, bell or desktop
    ");
    insta::assert_snapshot!(env.run(&["config", "get", "colour"]), @"
    exit code 64
    --- stderr
    error: unknown key `colour`
    hint: the keys are agents, stores.<agent>, resume.target, resume.tokens, resume.launch, resume.into_editor, handoff.tokens, handoff.protocol, handoff.pointers, handoff.max_age, conversations.recent_messages, conversations.recipients, conversations.suggest, daemon.port, watch.agents, watch.interval, watch.notify, ledger.enabled, ledger.retention, remotes.<name>.url
    ");
}

#[test]
fn a_broken_file_stops_every_command_but_not_the_way_to_it() {
    let env = TestEnv::with_sessions();
    env.write(".carryover/config.toml", "[resume]\ntoken = 4\n");
    insta::assert_snapshot!(env.run(&["list"]), @"
    exit code 3
    --- stderr
    error: [HOME]/.carryover/config.toml:2: unknown key `resume.token`
    hint: did you mean `resume.tokens`?
    hint: `carryover config unset resume.token` takes it out
    ");
    env.run(&["config", "path"]).success();
    env.run(&["config", "unset", "resume.token"]).success();
    env.run(&["list"]).success();
}

#[test]
fn a_key_that_is_asked_for_is_not_blamed_on_the_file() {
    let env = TestEnv::new();
    for asked in [&["config", "set", "foo", "bar"][..], &["config", "unset", "foo"], &["config", "get", "foo"]] {
        let said = env.run(asked);
        assert_eq!(said.code, Some(64), "{said}");
        assert!(said.stderr.starts_with("error: unknown key `foo`\nhint: the keys are agents, "), "{said}");
    }
}

#[test]
fn every_action_has_a_document() {
    let env = TestEnv::new();
    assert_eq!(env.json("config-path", &["config", "path"])["exists"], false);
    assert_eq!(env.json("config-value", &["config", "set", "resume.target", "claude"])["value"], "claude-code");
    assert_eq!(env.json("config-value", &["config", "get", "resume.target"])["value"], "claude-code");
    assert_eq!(env.json("config-path", &["config", "path"])["exists"], true);
    assert_eq!(env.json("config-value", &["config", "unset", "resume.target"])["value"], serde_json::Value::Null);
}

#[test]
fn our_folder_can_be_moved() {
    let env = TestEnv::new().var("CARRYOVER_HOME", "~/elsewhere");
    insta::assert_snapshot!(env.run(&["config", "path"]), @"
    exit code 0
    --- stdout
    [HOME]/elsewhere/config.toml
    ");
}

#[test]
fn stores_of_an_agent_that_is_not_known_are_no_key() {
    let env = TestEnv::new();
    let said = env.run(&["config", "get", "stores.nope"]);
    assert_eq!(said.code, Some(64), "{said}");
    assert!(said.stderr.starts_with("error: unknown key `stores.nope`"), "{said}");
    env.run(&["config", "get", "stores.codex"]).success();
}

#[test]
fn a_key_is_taken_out_by_name() {
    let env = TestEnv::new();
    env.run(&["config", "set", "resume.target", "codex"]).success();
    env.run(&["config", "unset", "resume.target"]).success();
    let shown = env.run(&["config", "get", "resume.target"]);
    assert_eq!(shown.stdout, "", "{shown}");
    let wrong = env.run(&["config", "unset", "resume.taget"]);
    assert!(wrong.stderr.contains("resume.taget"), "{wrong}");
}
