use crate::support::TestEnv;

#[test]
fn a_sound_home_is_said_to_be_sound() {
    let env = TestEnv::with_sessions();
    insta::assert_snapshot!(env.run(&["doctor"]), @"
    exit code 0
    --- stdout
    fine     claude-code  1 session in [HOME]/.claude
    fine     codex        1 session in [HOME]/.codex
    ");
    env.json("doctor", &["doctor"]);
}

#[test]
fn records_that_cannot_be_read_are_counted() {
    let env = TestEnv::with_sessions();
    let text = include_str!("../../demo/claude-code.jsonl").replace("d3a03cdd", "aaaaaaaa");
    let broken = text.replacen("{\"parentUuid\"", "{\"parentUuid", 1);
    env.write(".claude/projects/-home-you-calc/aaaaaaaa-c689-41e6-9587-86a6223f5251.jsonl", &broken);
    insta::assert_snapshot!(env.run(&["doctor"]), @"
    exit code 0
    --- stdout
    fine     claude-code  2 sessions in [HOME]/.claude
    warning  claude-code  session aaaaaaaa: 1 record could not be read: at byte 0 of [HOME]/.claude/projects/-home-you-calc/aaaaaaaa-c689-41e6-9587-86a6223f5251.jsonl (not a JSON object)
    fine     codex        1 session in [HOME]/.codex
    ");
}

#[test]
fn a_broken_configuration_is_told_and_does_not_stop_it() {
    let env = TestEnv::with_sessions();
    env.write(".carryover/config.toml", "[resume]\ntoken = 4\n");
    insta::assert_snapshot!(env.run(&["doctor"]), @"
    exit code 3
    --- stdout
    error    carryover    [HOME]/.carryover/config.toml:2: unknown key `resume.token`
                          did you mean `resume.tokens`?
    warning  carryover    [HOME]/.carryover can be read by others
                          chmod -R go= '[HOME]/.carryover'
    fine     claude-code  1 session in [HOME]/.claude
    fine     codex        1 session in [HOME]/.codex
    --- stderr
    error: something is wrong; it is told above
    ");
}

#[test]
fn no_agent_is_an_exit_code() {
    insta::assert_snapshot!(TestEnv::new().run(&["doctor"]), @"
    exit code 1
    --- stderr
    error: no agent was found
    hint: run `carryover info` to see where carryover looks for sessions
    hint: `carryover demo` shows how it works, without any agent
    ");
}
