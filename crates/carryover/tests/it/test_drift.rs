//! A store of a made-up future version is never an empty success; a sound one is never called drifted.

use serde_json::Value;

use crate::stores::{all_stores, store};
use crate::support::{TestEnv, check_schema};

fn json(env: &TestEnv, schema: &str, args: &[&str]) -> Value {
    let output = env.command(args).arg("--json").output().unwrap();
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    check_schema(schema, &value);
    value
}

fn is_warning(finding: &Value) -> bool {
    finding["severity"] == "warning" && finding["message"].as_str().unwrap().starts_with("the format has changed")
}

#[test]
fn a_future_format_is_said_loudly() {
    for store in all_stores() {
        let agent = carryover_agents::agent_by_name(store.agent).unwrap().facts();
        for (what, env) in store.futures() {
            let case = format!("{}, {what}", store.name);
            let before = env.files();
            let said = env.run(&["list"]);
            assert_eq!(said.code, Some(0), "{case}: {said}");
            let begin = format!("warning: {}: the format has changed: 1 session in [HOME]/", agent.name);
            assert!(said.stderr.starts_with(&begin), "{case}: {said}");
            assert!(said.stderr.ends_with("; run `carryover doctor`\n"), "{case}: {said}");
            let here = env.run(&["list", "--project", "."]);
            assert!(here.stderr.starts_with(&begin), "{case}: {here}");

            let listed = json(&env, "list", &["list"])["sessions"].clone();
            assert_eq!(listed[0]["agent"], agent.id, "{case}");
            assert_eq!(listed[0]["drifted"], true, "{case}");

            let said = env.run(&["doctor"]);
            let begin = format!("warning  {:<11}  the format has changed: 1 session in [HOME]/", agent.id);
            assert!(said.stdout.contains(&begin), "{case}: {said}");
            let findings = json(&env, "doctor", &["doctor"]);
            let told: Vec<&Value> = findings["findings"].as_array().unwrap().iter().filter(|f| is_warning(f)).collect();
            let [told] = told[..] else { panic!("{case}: {findings:#}") };
            assert_eq!(told["agent"], agent.id, "{case}");
            assert!(told["hint"].as_str().unwrap().contains("look for a newer carryover"), "{case}");
            assert_eq!(env.files(), before, "{case}: looking changes nothing");
        }
    }
}

#[test]
fn a_sound_store_is_not_said_to_have_drifted() {
    for store in all_stores() {
        let agent = &store.name;
        for (what, env) in store.sound() {
            let case = format!("{agent}, {what}");
            let said = env.run(&["list"]);
            assert!(!said.stderr.contains("warning"), "{case}: {said}");
            let listed = json(&env, "list", &["list"])["sessions"].clone();
            assert!(listed.as_array().unwrap().iter().all(|row| row["drifted"] == false), "{case}: {listed:#}");
            let is_listed = !listed.as_array().unwrap().is_empty();
            assert!(is_listed || !what.contains("conversation") && !what.contains("long"), "{case}: {said}");
            let findings = json(&env, "doctor", &["doctor"]);
            let findings = findings["findings"].as_array().unwrap();
            // New bookkeeping is told, and is no reason to worry.
            let is_new = |finding: &Value| finding["message"].as_str().unwrap().contains("does not know");
            // So is a record that the client may be writing at this moment.
            let is_torn = |finding: &Value| finding["message"].as_str().unwrap().contains("it is not whole");
            let is_fine = |finding: &Value| finding["severity"] == "fine" || is_torn(finding);
            assert!(findings.iter().all(|finding| is_fine(finding) || is_new(finding)), "{case}: {findings:#?}");
        }
    }
}

#[test]
fn unknown_kinds_beside_known_ones_are_told_by_doctor() {
    for store in all_stores() {
        let agent = &store.name;
        let Some(env) = store.partly_new() else { continue };
        let said = env.run(&["doctor"]).success();
        assert!(said.stdout.contains("that carryover does not know, and left out (1 × `"), "{agent}: {said}");
        assert!(!said.stdout.contains("the format has changed"), "{agent}: {said}");
    }
}

#[test]
fn nothing_is_made_of_a_future_format() {
    for store in all_stores() {
        let agent = &store.name;
        for (what, env) in store.futures() {
            let before = env.files();
            for args in [
                &["brief", "@last"][..],
                &["handoff", "@last", "--no-copy"],
                &["capture", "@last"],
                &["show", "@last", "--format", "uasf"],
                &["resume", "@last", "--target", "cursor", "--context-only"],
                &["resume", "@last", "--target", "codex", "--prompt"],
                &["resume", "@last", "--target", "codex", "--fork"],
                &["resume", "@last", "--target", "pi", "--fork"],
            ] {
                let said = env.run(args);
                assert!(said.code == Some(3) && said.stdout.is_empty(), "{agent}, {what}, {args:?}: {said}");
                assert!(said.stderr.contains("error: "), "{agent}, {what}, {args:?}: {said}");
            }
            assert_eq!(env.files(), before, "{agent}, {what}");
        }
    }
}

#[test]
fn what_was_seen_and_what_to_do_is_told() {
    let store = store("claude-code");
    let (_, env) = &store.futures()[0];
    insta::assert_snapshot!(env.run(&["list"]), @"
    exit code 0
    --- stdout
    AGENT        SESSION   WHEN     MESSAGES   SIZE  TITLE
    claude-code  00000000  9 h ago         –  414 B  (no title)  format not known
    --- stderr
    warning: Claude Code: the format has changed: 1 session in [HOME]/.claude holds nothing that carryover knows (seen: 1 × `human-turn`, 1 × `model-turn`); run `carryover doctor`
    ");
    insta::assert_snapshot!(env.run(&["doctor"]), @"
    exit code 0
    --- stdout
    fine     claude-code  1 session in [HOME]/.claude
    warning  claude-code  the format has changed: 1 session in [HOME]/.claude holds nothing that carryover knows (seen: 1 × `human-turn`, 1 × `model-turn`)
                          carryover was tried with Claude Code 1.0.128 to 2.1.325: look for a newer carryover; until then these sessions can be resumed in Claude Code only, and stay as they are
    ");
    insta::assert_snapshot!(env.run(&["show", "00000000"]), @"
    exit code 0
    --- stdout
    (no title)
    Claude Code session 00000000-0000-4000-8000-000000000001
    2026-11-15 00:00 to 00:00, 0 messages, about 0 tokens in context
    --- stderr
    warning: Claude Code: the format of this session has changed; run `carryover doctor`
    warning: 2 records are of kinds that carryover does not know, and left out (1 × `human-turn`, 1 × `model-turn`)
    ");
    insta::assert_snapshot!(env.run(&["resume", "00000000", "--target", "codex"]), @"
    exit code 3
    --- stderr
    error: the session holds nothing that a model would see
      2 records are of kinds that carryover does not know, and left out (1 × `human-turn`, 1 × `model-turn`)
    hint: if something was said in it, its format has changed: run `carryover doctor`
    ");
}
