//! Sessions that go on from a file: canonical transcripts natively, the portable format with a prompt.

use std::path::Path;

use carryover_testkit::agents::LABS;
use serde_json::{Value, json};

use crate::support::{CLAUDE, CODEX, TestEnv, check_schema, file_targets};

const SECRET: &str = concat!("ghp_", "x8Kq2Vn5Rt7Lw3Zp9Hs4Jd6Fb1Gc0MyTeUaB");

fn file(env: &TestEnv, name: &str, text: &str) -> String {
    env.write(name, text);
    env.home().join(name).display().to_string()
}

/// What `show --format uasf` says, in a file.
fn captured(env: &TestEnv, session: &str) -> String {
    let output = env.command(&["show", session, "--format", "uasf", "--no-redact"]).output().unwrap();
    assert!(output.status.success(), "{session}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    check_schema("uasf", &serde_json::from_str(&text).unwrap());
    file(env, "process.json", &text)
}

fn json_of(env: &TestEnv, args: &[&str]) -> Value {
    let output = env.command(args).arg("--json").output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Carries a file over, tells what the target's own model would see, and takes it back.
fn carried(env: &TestEnv, file: &str, target: &str) -> Vec<Value> {
    let project = env.project().display().to_string();
    let resumed = json_of(env, &["resume", file, "--target", target, "--project", &project, "--no-redact"]);
    let session = json_of(env, &["show", resumed["session_id"].as_str().unwrap()]);
    env.run(&["undo", resumed["undo_id"].as_str().unwrap()]).success();
    let entries = session["entries"].as_array().unwrap();
    let said = |entry: &&Value| entry["kind"] != "reasoning" && entry["live"] == true;
    let fields = ["kind", "origin", "parts", "text", "tool", "input", "status", "exit_code"];
    entries.iter().filter(said).map(|entry| fields.iter().map(|field| entry[field].clone()).collect()).collect()
}

#[test]
fn canonical_transcript_goes_on_as_the_session_itself_does() {
    for (lab, loose) in LABS.iter().flat_map(|lab| lab.loose_files.iter().map(move |loose| (lab, loose))) {
        let env = TestEnv::new();
        let fixture = format!("{}/fixtures/{}", lab.id.replace('-', "_"), loose.fixture);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/src").join(&fixture);
        let session = file(&env, loose.name, &fs_err::read_to_string(path).unwrap());
        let uasf = captured(&env, &session);
        for target in ["codex", "claude-code"] {
            // Going back to its own agent, a session's records are written back as they were, which no file holds.
            if lab.id == target {
                assert!(!carried(&env, &uasf, target).is_empty(), "{fixture}");
                continue;
            }
            let (direct, through) = (carried(&env, &session, target), carried(&env, &uasf, target));
            assert!(!direct.is_empty());
            assert_eq!(direct, through, "{fixture} to {target}");
        }
    }
}

#[test]
fn canonical_transcript_keeps_the_calls_of_its_own_agent() {
    let env = TestEnv::with_sessions();
    for (session, target) in [(CLAUDE, "claude-code"), (CODEX, "codex")] {
        let calls = |entries: &[Value]| {
            entries
                .iter()
                .filter(|entry| entry[0] == "call")
                .map(|entry| json!([entry[4], entry[5]]))
                .collect::<Vec<_>>()
        };
        let shown = json_of(&env, &["show", session]);
        let own: Vec<Value> = shown["entries"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|entry| entry["kind"] == "call")
            .map(|entry| json!([entry["tool"], entry["input"]]))
            .collect();
        assert!(!own.is_empty());
        assert_eq!(calls(&carried(&env, &captured(&env, session), target)), own, "{target}");
    }
}

#[test]
fn canonical_transcript_is_carried_and_taken_back_without_its_agent() {
    let env = TestEnv::with_sessions();
    let text = fs_err::read_to_string(captured(&env, CODEX)).unwrap();
    let env = TestEnv::new();
    let project = env.project().display().to_string();
    let process = env.project().join("process.json");
    fs_err::write(&process, text).unwrap();
    let before = env.files();
    // As the seed writes it, without a flag; and with one.
    for args in [&["resume", "process.json"] as &[&str], &["resume", "--file", "process.json", "--native"]] {
        let said = env.run(&[args, &["--target", "claude-code", "--workspace", "."]].concat()).success();
        assert!(said.stdout.contains("claude --resume"), "{said}");
        assert!(said.stderr.contains("carried over Codex CLI → Claude Code"), "{said}");
        assert_ne!(env.files(), before);
        env.run(&["undo", "--yes"]).success();
        assert_eq!(env.files(), before, "{project}");
    }
    for args in [&["show", "process.json"] as &[&str], &["brief", "process.json"], &["handoff", "process.json"]] {
        env.run(args).success();
    }
}

/// What a harness of somebody else writes: the first version, with nothing but what its events must have.
#[test]
fn first_version_goes_on_natively() {
    let env = TestEnv::new();
    let document = json!({
        "session": { "id": "s", "agent": "anyharness", "model": "m", "cwd": "/gone", "git_branch": null,
                     "started_at": "2026-11-15T00:00:00Z", "version": "1.0" },
        "events": [
            { "type": "user_message", "content": "fix add" },
            { "type": "thinking", "content": "hm" },
            { "type": "file_read", "path": "a.py", "content": "def add" },
            { "type": "file_edit", "path": "a.py", "old": "-", "new": "+" },
            { "type": "shell_command", "command": "pytest", "output": "1 failed", "exit_code": 1 },
            { "type": "error", "message": "limit" },
            { "type": "file_snapshot", "path": "a.py", "content": "def add" },
            { "type": "assistant_text", "content": "It fails." },
        ],
    });
    let path = file(&env, "process.json", &document.to_string());
    for target in file_targets() {
        let resumed = json_of(&env, &["resume", &path, "--target", target]);
        assert_eq!(resumed["source"], "captured");
        let shown = env.run(&["show", resumed["session_id"].as_str().unwrap()]).success();
        for said in ["fix add", "pytest", "1 failed", "It fails."] {
            assert!(shown.stdout.contains(said), "{target}: {said}\n{shown}");
        }
        env.run(&["undo", resumed["undo_id"].as_str().unwrap()]).success();
    }
}

#[test]
fn secrets_of_a_canonical_transcript_are_masked_unless_they_are_wanted() {
    let env = TestEnv::with_sessions();
    let path = captured(&env, CLAUDE);
    let mut document: Value = serde_json::from_str(&fs_err::read_to_string(&path).unwrap()).unwrap();
    document["session"]["permission_mode"] = "bypassPermissions".into();
    document["events"][0]["content"] = format!("log in with {SECRET}").into();
    for event in document["events"].as_array_mut().unwrap() {
        if event["call"].is_object() {
            event["call"]["input"]["command"] = format!("curl -H {SECRET}").into();
        }
    }
    fs_err::write(&path, document.to_string()).unwrap();
    let written = |more: &[&str]| {
        let resumed = json_of(&env, &[&["resume", &path, "--target", "codex"], more].concat());
        let text = fs_err::read_to_string(resumed["files"][0].as_str().unwrap()).unwrap();
        env.run(&["undo", resumed["undo_id"].as_str().unwrap()]).success();
        text
    };
    let masked = written(&[]);
    assert!(masked.contains("[redacted: github-pat]") && !masked.contains(SECRET), "{masked}");
    assert!(!masked.contains("danger-full-access") && !masked.contains("\"never\""), "{masked}");
    assert!(written(&["--no-redact"]).contains(SECRET));
}

#[test]
fn broken_canonical_transcript_is_named_with_the_cause() {
    let env = TestEnv::with_sessions();
    let whole = fs_err::read_to_string(captured(&env, CODEX)).unwrap();
    let cases = [
        (whole[..whole.len() / 2].to_owned(), "it ends in the middle, at line "),
        (whole.replacen(':', ";", 1), "it is not JSON from line "),
        (
            whole.replacen("carryover.uasf/2", "carryover.uasf/3", 1),
            "it is of version 3, and this carryover reads up to 2",
        ),
        (r#"{"session":{},"events":{}}"#.to_owned(), "a field is missing or has another type, at line "),
        (format!(r#"{{"session":{{}},"events":[{}0]}}"#, "0,".repeat(1_000_000)), "more than a million events"),
    ];
    for (text, cause) in cases {
        let path = file(&env, "x.uasf.json", &text);
        for args in
            [&["resume", &path, "--target", "claude-code"] as &[&str], &["resume", "--file", &path], &["show", &path]]
        {
            let said = env.run(args);
            assert_eq!(said.code, Some(3), "{said}");
            assert!(said.stderr.contains("x.uasf.json") && said.stderr.contains(cause), "{cause}: {said}");
        }
    }
    // One event costs itself, and is told.
    let path = file(
        &env,
        "x.json",
        r#"{"session":{},"events":[{"type":"user_message","content":"hi"},{"type":"error","message":7}]}"#,
    );
    let said = env.run(&["resume", &path, "--target", "codex"]).success();
    assert!(said.stderr.contains("1 record could not be read: at byte "), "{said}");
}

#[test]
fn portable_session_says_why_it_makes_a_prompt() {
    let env = TestEnv::with_sessions();
    env.run(&["capture", CLAUDE]).success();
    let path = ".carryover/session.json";
    for args in [&["resume", path] as &[&str], &["resume", "--file", path]] {
        let said = env.run(&[args, &["--target", "codex"]].concat()).success();
        assert!(said.stderr.contains("holds no inputs of tool calls"), "{said}");
        let said = env.run(&[args, &["--target", "codex", "--native"]].concat());
        assert_eq!(said.code, Some(64), "{said}");
        assert!(said.stderr.contains("holds no inputs of tool calls"), "{said}");
    }
    let whole = fs_err::read_to_string(env.project().join(path)).unwrap();
    let broken = file(&env, "broken.json", &whole[..whole.len() / 2]);
    let said = env.run(&["resume", &broken, "--target", "codex"]);
    assert_eq!(said.code, Some(3), "{said}");
    assert!(said.stderr.contains("broken.json") && said.stderr.contains("it ends in the middle"), "{said}");
}

#[test]
fn files_that_the_client_kept_are_told_as_they_were() {
    let env = TestEnv::new();
    let id = "00000000-0000-4000-8000-000000000001";
    let snapshot = |path: &str, name: &str| json!({ "type": "file-history-snapshot", "messageId": "m", "snapshot": { "messageId": "m", "trackedFileBackups": { path: { "backupFileName": name, "version": 1 } } } });
    let prompt = json!({ "parentUuid": null, "type": "user", "message": { "role": "user", "content": "fix it" }, "uuid": "u", "timestamp": "2026-11-15T00:00:01.000Z", "sessionId": id });
    let lines = [snapshot("m.py", "aa@v1"), prompt, snapshot("m.py", "aa@v1"), snapshot("x", "../secret")];
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    env.write(&format!(".claude/projects/-p/{id}.jsonl"), &(lines.join("\n") + "\n"));
    env.write(&format!(".claude/file-history/{id}/aa@v1"), "def f(): pass\n");
    env.write(".claude/file-history/secret", "no");
    let path = captured(&env, id);
    let document: Value = serde_json::from_str(&fs_err::read_to_string(path).unwrap()).unwrap();
    let events = document["events"].as_array().unwrap();
    let kept: Vec<&Value> = events.iter().filter(|event| event["type"] == "file_snapshot").collect();
    assert_eq!(kept.len(), 1, "{document:#}");
    assert!(kept[0]["path"] == "m.py" && kept[0]["content"] == "def f(): pass\n");
}

/// Records as some descriptions of the formats have them, which no client writes.
#[test]
fn words_in_a_shape_that_no_client_writes_are_told() {
    let stores = [
        (
            ".claude/projects/-p/00000000-0000-4000-8000-000000000001.jsonl",
            r#"{"type":"human","message":{"role":"user","content":[{"type":"text","text":"Add error handling"}]},"timestamp":"2025-02-19T10:30:00Z"}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"I will."},{"type":"tool_use","id":"toolu_01","name":"Read","input":{"path":"a.ts"}},{"type":"tool_result","tool_use_id":"toolu_01","content":"x"}],"usage":{"input_tokens":1}},"timestamp":"2025-02-19T10:30:05Z"}
"#,
            "`human`",
        ),
        (
            ".codex/sessions/2025/02/19/rollout-2025-02-19T10-00-00-00000000-0000-4000-8000-000000000001.jsonl",
            r#"{"role":"user","content":"Fix the race condition","timestamp":"2025-02-19T10:00:00Z","cwd":"/p"}
{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_call","name":"read_file","input":{"path":"a.ts"}}],"usage":{"input_tokens":2}}
{"type":"tool_result","name":"read_file","output":"x"}
"#,
            "`record.tool_result`",
        ),
    ];
    for (path, text, kind) in stores {
        let env = TestEnv::new();
        env.write(path, text);
        let id = "00000000-0000-4000-8000-000000000001";
        for args in [
            &["show", id] as &[&str],
            &["resume", id, "--target", "gemini-cli"],
            &["brief", id],
            &["show", id, "--format", "uasf"],
        ] {
            let said = env.run(args);
            assert!(said.stderr.contains("could not be read: "), "{args:?}: {said}");
            assert!(said.stderr.contains("in a shape that no version of the client writes"), "{args:?}: {said}");
        }
        let said = env.run(&["doctor"]);
        assert!(said.stdout.contains(kind), "{said}");
        // Loose, it is nobody's session.
        let loose = file(&env, "loose.jsonl", text);
        let said = env.run(&["show", &loose]);
        assert!(said.code == Some(3) && said.stderr.contains("loose.jsonl is not a session"), "{said}");
    }
}
