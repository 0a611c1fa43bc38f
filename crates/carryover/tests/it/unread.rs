//! A record that cannot be read is told by every command that reads its session, whoever wrote it.

use carryover_agents::AGENTS;
use carryover_testkit::agents::LABS;
use carryover_testkit::lab::{Format, Lab};
use serde_json::Value;

use crate::stores::{all_stores, store};
use crate::support::{TestEnv, check_schema};

const TOLD: &str = "1 record could not be read: ";

/// Every command that reads a session, and the schema of what it tells.
fn commands(agent: &str) -> Vec<(&'static str, Vec<&'static str>)> {
    let target = if agent == "codex" { "claude-code" } else { "codex" };
    vec![
        ("session", vec!["show", "@last"]),
        ("brief", vec!["brief", "@last"]),
        ("handoff", vec!["handoff", "@last", "--no-copy"]),
        ("capture", vec!["capture", "@last"]),
        ("resume", vec!["resume", "@last", "--target", target, "--dry-run"]),
        ("handoff", vec!["resume", "@last", "--target", target, "--prompt", "--dry-run"]),
        ("context", vec!["resume", "@last", "--target", "cursor", "--context-only", "--dry-run"]),
    ]
}

fn json(env: &TestEnv, schema: &str, args: &[&str]) -> Value {
    let output = env.command(args).arg("--json").output().unwrap();
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    check_schema(schema, &value);
    value
}

#[test]
fn every_command_tells_what_it_could_not_read() {
    for store in all_stores() {
        let (agent, env) = (store.agent, store.damaged());
        for (schema, args) in commands(agent) {
            let case = format!("{}, {args:?}", store.name);
            let said = env.run(&args);
            assert!(said.code == Some(0) && said.stderr.contains(TOLD), "{case}: {said}");
            let told = json(&env, schema, &args);
            assert_eq!(told["unread"]["count"], 1, "{case}: {told:#}");
            let record = &told["unread"]["records"][0];
            assert!(std::path::Path::new(record["path"].as_str().unwrap()).is_file(), "{case}: {record}");
        }
        let said = env.run(&["show", "@last", "--format", "uasf"]).success();
        assert!(said.stderr.contains(TOLD), "{agent}: {said}");
        let said = env.run(&["doctor"]);
        assert!(said.stdout.contains(TOLD), "{agent}: {said}");
    }
}

/// A home with a conversation that goes on with some bytes; none where sessions are no logs.
fn going_on_with(agent: &str, bytes: &str) -> Option<TestEnv> {
    let store = store(agent);
    if !store.is_json_log() {
        return None;
    }
    let (_, env) = store.sound().into_iter().find(|(what, _)| what.contains("conversation")).unwrap();
    let path = env.home().join(store.path());
    let text = fs_err::read_to_string(&path).unwrap();
    fs_err::write(&path, format!("{text}{bytes}")).unwrap();
    Some(env)
}

#[test]
fn a_last_record_that_a_kill_cut_off_is_told() {
    for agent in AGENTS.iter().map(|agent| agent.facts().id) {
        let Some(env) = going_on_with(agent, r#"{"type":"user","message":{"content":"NEVER push to ma"#) else {
            continue;
        };
        for (_, args) in commands(agent) {
            let said = env.run(&args);
            assert!(said.code == Some(0) && said.stderr.contains(TOLD), "{agent}, {args:?}: {said}");
            assert!(said.stderr.contains("it is not whole"), "{agent}, {args:?}: {said}");
        }
        assert!(env.run(&["doctor"]).stdout.contains(TOLD), "{agent}");
    }
}

/// The reader of such a log counts its records, and does not tell where the last one ended.
#[test]
fn a_last_record_of_a_log_whose_records_are_counted_is_told_too() {
    let log = [
        r#"{"type":"session","version":3,"id":"00000000-0000-4000-8000-000000000001","timestamp":"2026-11-15T00:00:00.000Z","cwd":"/p"}"#,
        r#"{"type":"message","id":"aaaa0001","parentId":null,"timestamp":"2026-11-15T00:00:01.000Z","message":{"role":"user","content":"Fix it."}}"#,
    ];
    let path = ".openclaw/agents/main/sessions/00000000-0000-4000-8000-000000000001.jsonl";
    for (end, is_torn) in [("", false), ("\n", false), (r#"{"type":"message","mess"#, true)] {
        let env = TestEnv::new();
        let separator = if is_torn { "\n" } else { "" };
        env.write(path, &format!("{}{separator}{end}", log.join("\n")));
        let said = env.run(&["brief", "@last"]);
        assert_eq!((said.code, said.stderr.contains("it is not whole")), (Some(0), is_torn), "{end:?}: {said}");
    }
}

#[test]
fn a_prompt_whose_words_are_not_found_is_told() {
    let wordless = |lab: &&'static Lab| match &lab.sample.format {
        Format::Lines(lines) => lines.without_words.iter().map(|record| (lab.id, *record)).collect(),
        Format::Rows(_) | Format::Document(_) => Vec::new(),
    };
    for (agent, record) in LABS.iter().flat_map(wordless) {
        let env = going_on_with(agent, &format!("{record}\n")).unwrap();
        for args in
            [&["brief", "@last"] as &[&str], &["resume", "@last", "--target", "aider", "--dry-run"], &["doctor"]]
        {
            let said = env.run(args);
            let told = format!("{}{}", said.stdout, said.stderr);
            let is_told = told.contains("that carryover does not know") || told.contains(TOLD);
            assert!(is_told, "{record}, {args:?}: {said}");
        }
    }
}

#[test]
fn what_could_not_be_read_is_a_loss_of_its_own_kind() {
    for store in all_stores() {
        let (agent, env) = (store.agent, store.damaged());
        let target = if agent == "codex" { "claude-code" } else { "codex" };
        let said = env.run(&["resume", "@last", "--target", target]).success();
        assert!(said.stderr.contains("1 unreadable record: damaged"), "{agent}: {said}");
        assert!(!said.stderr.contains("lost        nothing"), "{agent}: {said}");
        let told = json(&env, "resume", &["resume", "@last", "--source", agent, "--target", target, "--dry-run"]);
        let is_told = |lost: &Value| lost["what"] == "unreadable records" && lost["count"] == 1;
        assert!(told["lost"].as_array().unwrap().iter().any(is_told), "{agent}: {told:#}");
    }
}

#[test]
fn where_it_stands_is_told() {
    let env = store("claude-code").damaged();
    insta::assert_snapshot!(env.run(&["brief", "00000000"]), @"
    exit code 0
    --- stdout
    State
      the agent had finished its turn and waits for the user  00:00
    Task
      Fix it.  user 00:00 entry 53
    The agent's last words
      Done.  agent 00:00 entry e5
    What the user said
      Fix it.  user 00:00 entry 53
    about 53 tokens
    --- stderr
    warning: 1 record could not be read: at byte 407 of [HOME]/.claude/projects/-home-you-calc/00000000-0000-4000-8000-000000000001.jsonl (not a JSON object)
    hint: `carryover show 00000000-0000-4000-8000-000000000001 --entry REF` shows an entry
    ");
    insta::assert_snapshot!(env.run(&["resume", "00000000", "--target", "codex", "--dry-run"]), @"
    exit code 0
    --- stdout
    codex resume 01a1dc80-f3e8-7000-8000-0000000f4241
    --- stderr
    would carry over Claude Code → Codex CLI
      carried     2 messages
      lost        1 unreadable record: damaged in the session's own store; a warning tells where
      tokens      ▏░░░░░░░░░ about 12 of ###k (under 0.1 %)
      would create ~/.codex/sessions/2026/11/15/rollout-2026-11-15T00-00-01-01a1dc80-f3e8-7000-8000-0000000f4241.jsonl (#.# KB)
    warning: 1 record could not be read: at byte 407 of [HOME]/.claude/projects/-home-you-calc/00000000-0000-4000-8000-000000000001.jsonl (not a JSON object)
    warning: Codex CLI is not installed: the session waits for it
    nothing was written; it would go on with
    ");
}

#[test]
fn a_session_of_which_nothing_can_be_read_is_no_empty_success() {
    let env = TestEnv::new();
    let path = ".claude/projects/-home-you-calc/00000000-0000-4000-8000-000000000001.jsonl";
    let known = r#"{"type":"mode","mode":"normal","sessionId":"00000000-0000-4000-8000-000000000001"}"#;
    let damaged = "{\"type\":\"user\n";
    env.write(path, &format!("{known}\n{damaged}{damaged}"));
    for args in [&["brief"][..], &["handoff", "--no-copy"], &["capture"], &["resume", "--target", "codex"]] {
        let said = env.run(&[args, &["@last"]].concat());
        assert!(
            said.code == Some(3) && said.stderr.contains("2 records could not be read: the first at byte"),
            "{args:?}: {said}"
        );
    }
}
