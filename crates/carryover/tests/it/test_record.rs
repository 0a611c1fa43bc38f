use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use carryover_testkit::model::{ModelServer, RequestKind, Turn};
use serde_json::json;

use crate::support::{Said, TestEnv, append_record, check_schema};

/// A client that asks its model once, tells what it was started with, and ends in its own way.
const CLIENT: &str = r#"#!/bin/bash
[ "$1" = --version ] && { echo '2.1.325 (Claude Code)'; exit; }
url=${ANTHROPIC_BASE_URL#http://}
place=${url%%/*}
body='{"model":"m-1","max_tokens":9,"system":"be brief","messages":[{"role":"user","content":"hi"}],
"tools":[{"name":"Bash","input_schema":{"type":"object"}}],
"metadata":{"user_id":"user_1_session_d3a03cdd-c689-41e6-9587-86a6223f5251"}}'
exec 3<>"/dev/tcp/${place%:*}/${place#*:}"
printf 'POST /%s/v1/messages?key=very-secret HTTP/1.1\r\nHost: %s\r\nX-Api-Key: very-secret\r\nContent-Length: %s\r\nConnection: close\r\n\r\n%s' \
    "${url#*/}" "$place" "${#body}" "$body" >&3
grep -q '^HTTP/1.1 200' <&3 && echo "answered"
read -r line && echo "typed: $line"
echo "args: $*" >&2
exit 7
"#;

/// A home with a client, and a model for it.
fn start_model(env: TestEnv, script: &str) -> (TestEnv, ModelServer) {
    let server = ModelServer::start().unwrap();
    server.script_replies(RequestKind::Main, [Turn::from_text("hello")]);
    let env = env.with_client("claude").var("ANTHROPIC_BASE_URL", &format!("http://127.0.0.1:{}", server.port()));
    env.write("bin/claude", script);
    (env, server)
}

/// Runs the client through the recorder, with a line for it to read.
fn record(env: &TestEnv, args: &[&str]) -> Said {
    let mut command = env.command(&[&["record"], args].concat());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"a line\n").unwrap();
    env.said(child.wait_with_output().unwrap())
}

#[test]
fn a_client_runs_as_ever_and_what_was_said_is_kept_without_keys() {
    let (env, server) = start_model(TestEnv::with_sessions(), CLIENT);
    append_record(&env, &json!({"type": "mode", "timestamp": "2026-11-15T10:00:01.000Z"}));
    let said = record(&env, &["--", "claude", "-p", "hi", "--api-key", "very-secret"]);
    insta::assert_snapshot!(said, @"
    exit code 7
    --- stdout
    answered
    typed: a line
    --- stderr
    args: -p hi --api-key very-secret
    recorded 1 exchange of session d3a03cdd-c689-41e6-9587-86a6223f5251
    hint: carryover record show 20261115100000-000f4240 tells what the model was told
    ");
    let paths: Vec<String> = server.log().into_iter().map(|request| request.path).collect();
    assert_eq!(paths, ["/v1/messages?key=very-secret"]);
    let shown = env.json("recorded-boundary", &["record", "show"]);
    assert_eq!(shown["boundary"]["system_prompt"], json!(["be brief"]));
    assert_eq!(shown["boundary"]["model"], "m-1");
    assert_eq!(shown["boundary"]["sampling"], json!({"max_tokens": 9}));
    assert_eq!(shown["boundary"]["tools"][0]["name"], "Bash");
    assert_eq!(shown["recording"]["exit_code"], 7);
    assert_eq!(shown["recording"]["argv"], json!(["claude", "-p", "hi", "--api-key", "[stripped]"]));
    let listed = env.json("recordings", &["record", "list"]);
    assert_eq!((&listed["total"], &listed["recordings"][0]), (&json!(1), &shown["recording"]));
    let session = "d3a03cdd-c689-41e6-9587-86a6223f5251";
    assert_eq!(listed["recordings"][0]["sessions"], json!([{"id": session, "by": "session_id"}]));
    let shown = env.run(&["record", "show", "d3a03cdd"]).to_string().replace(&server.port().to_string(), "PORT");
    insta::assert_snapshot!(shown, @"
    exit code 0
    --- stdout
    20261115100000-000f4240  claude-code  1 exchange
    command    claude -p hi --api-key [stripped]
    project    [HOME]/calc
    session    d3a03cdd-c689-41e6-9587-86a6223f5251 (its id is in the requests)
    service    http://127.0.0.1:PORT
    model      m-1
    prompt     8 characters before a conversation of 1 message
    tools      1 Bash
    sampling   max_tokens 9
    ");
    insta::assert_snapshot!(env.run(&["record", "list"]), @"
    exit code 0
    --- stdout
    20261115100000-000f4240  claude-code  just now  1 exchange  #.# KB  [HOME]/calc
    ");
    check_files(&env);
    let found = Command::new("grep").args(["-r", "very-secret"]).arg(env.home().join(".carryover")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "");
}

/// The files are as their schemas say.
fn check_files(env: &TestEnv) {
    let folder = fs_err::read_dir(env.home().join(".carryover/recordings")).unwrap().next().unwrap().unwrap().path();
    let read = |name: &str| fs_err::read_to_string(folder.join(name)).unwrap();
    check_schema("recording", &serde_json::from_str(&read("recording.json")).unwrap());
    for line in read("exchanges.jsonl").lines() {
        check_schema("recorded-exchange", &serde_json::from_str(line).unwrap());
    }
}

#[test]
fn a_capsule_of_the_session_knows_its_conditions_from_the_recording() {
    let (env, server) = start_model(TestEnv::with_sessions(), CLIENT);
    append_record(&env, &json!({"type": "mode", "timestamp": "2026-11-15T10:00:01.000Z"}));
    assert_eq!(record(&env, &["claude"]).code, Some(7));
    env.run(&["capsule", "export", "d3a03cdd", "-o", "fix.tar.zst"]).success();
    let inspected = env.json("capsule-inspect", &["capsule", "inspect", "fix.tar.zst"]);
    let boundary = &inspected["boundary"];
    let recorded = |value: serde_json::Value| json!({"known": "recorded", "value": value});
    assert_eq!(boundary["routing"], recorded(json!(format!("http://127.0.0.1:{}", server.port()))));
    assert_eq!(boundary["sampling"], recorded(json!({"max_tokens": 9})));
    assert_eq!(boundary["model"], recorded(json!("m-1")));
    assert_eq!(boundary["system_prompt"]["value"]["bytes"], 8);
    assert_eq!(boundary["tools"]["value"][0]["name"], "Bash");
    assert!(boundary["tools"]["value"][0]["schema_sha256"].is_string(), "{boundary}");
}

/// What the same session's capsule tells, with the names of its members.
fn export_raw(env: &TestEnv, name: &str, more: &[&str]) -> (serde_json::Value, Vec<String>, std::path::PathBuf) {
    let folder = env.home().join(name);
    let args = [&["capsule", "export", "d3a03cdd", "--raw", "-o", folder.to_str().unwrap()], more].concat();
    let told = env.json("capsule-export", &args);
    let inspected = env.json("capsule-inspect", &["capsule", "inspect", folder.to_str().unwrap()]);
    let members = inspected["manifest"]["members"].as_array().unwrap();
    let names = members.iter().map(|member| member["name"].as_str().unwrap().to_owned()).collect();
    (json!({"told": told, "inspected": inspected}), names, folder)
}

#[test]
fn a_recording_tells_nothing_of_a_session_that_went_on_without_it() {
    let (env, _server) = start_model(TestEnv::with_sessions(), CLIENT);
    append_record(&env, &json!({"type": "mode", "timestamp": "2026-11-15T10:00:01.000Z"}));
    assert_eq!(record(&env, &["claude"]).code, Some(7));
    let (all, names, _) = export_raw(&env, "before", &[]);
    assert_eq!(all["inspected"]["manifest"]["model"], "m-1");
    assert!(names.contains(&"source/recording/request.json".to_owned()), "{names:?}");
    append_record(
        &env,
        &json!({"type": "assistant", "uuid": "later-1", "parentUuid": null, "isSidechain": false,
            "timestamp": "2026-11-15T11:00:00.000Z", "message": {"id": "msg_later", "role": "assistant",
            "model": "claude-later-9", "content": [{"type": "text", "text": "on my own"}]}}),
    );
    let (all, names, _) = export_raw(&env, "after", &[]);
    let (manifest, boundary) = (&all["inspected"]["manifest"], &all["inspected"]["boundary"]);
    assert_eq!(manifest["model"], "claude-later-9");
    assert_eq!(boundary["model"], json!({"known": "recorded", "value": "claude-later-9"}));
    for field in ["routing", "sampling", "system_prompt", "tools"] {
        assert_eq!(boundary[field], json!({"known": "unknown"}), "{field}");
    }
    assert!(!names.contains(&"source/recording/request.json".to_owned()), "{names:?}");
    assert!(all["told"]["warnings"].to_string().contains("went on after it was recorded"), "{all}");
}

#[test]
fn a_capsule_is_deterministic_where_nothing_is_missing_and_else_names_what_is() {
    const SECRET: &str = concat!("ghp_", "x8Kq2Vn5Rt7Lw3Zp9Hs4Jd6Fb1Gc0MyTeUaB");
    let (env, _server) = start_model(TestEnv::with_sessions(), CLIENT);
    env.write("calc/calc.py", "print(1)\n");
    append_record(&env, &json!({"type": "mode", "timestamp": "2026-11-15T10:00:01.000Z"}));
    assert_eq!(record(&env, &["claude"]).code, Some(7));
    let list_kinds = || {
        let listed = env.json("import-list", &["import"]);
        let items = listed["items"].as_array().unwrap();
        items.iter().map(|item| item["kind"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(list_kinds(), ["recorded session", "best-effort"]);
    let lacks = |name: &str, args: &[&str]| {
        let folder = env.project().join(name);
        env.run(&[&["capsule", "export", "d3a03cdd", "-o", folder.to_str().unwrap()], args].concat()).success();
        let inspected = env.json("capsule-inspect", &["capsule", "inspect", folder.to_str().unwrap()]);
        let listed = env.json("import-list", &["import"]);
        // The listing says the same of it.
        assert_eq!(
            (&listed["items"][0]["kind"], &listed["items"][0]["lacks"]),
            (&inspected["kind"], &inspected["lacks"])
        );
        let said = env.run(&["capsule", "inspect", folder.to_str().unwrap()]).success().stdout;
        assert!(said.contains(&format!("  kind          {}\n", inspected["kind"].as_str().unwrap())), "{said}");
        fs_err::remove_dir_all(folder).unwrap();
        assert_eq!(inspected["kind"] == "deterministic capsule", inspected["lacks"] == json!([]), "{inspected:#}");
        inspected["lacks"].clone()
    };
    assert_eq!(lacks("whole", &["--raw"]), json!([]));
    assert_eq!(lacks("no-records", &[]), json!(["the agent's own records did not come along"]));
    assert_eq!(lacks("no-files", &["--raw", "--files", "none"]), json!(["no files came along"]));
    env.write("calc/key.py", &format!("TOKEN = '{SECRET}'\n"));
    assert_eq!(lacks("left-out", &["--raw"]), json!(["left out of the files: 1"]));
    fs_err::remove_file(env.project().join("key.py")).unwrap();
    // A mark that stood in the session before was not put there; a secret is one.
    let said = |text: &str, second: u8, after: &str| {
        json!({"type": "user", "uuid": format!("u-{second}"), "parentUuid": after, "isSidechain": false,
            "timestamp": format!("2026-11-15T10:00:0{second}.000Z"), "message": {"role": "user", "content": text}})
    };
    append_record(&env, &said("what is [redacted: github-pat] for?", 2, "b7144843-8586-4407-a37b-b369bf0d8e95"));
    assert_eq!(lacks("marked", &["--raw"]), json!([]));
    append_record(&env, &said(SECRET, 3, "u-2"));
    // Once in the transcript, once in the record.
    assert_eq!(lacks("masked", &["--raw"]), json!(["secrets that are masked: 2"]));
    assert_eq!(lacks("open", &["--raw", "--no-redact"]), json!([]));
    append_record(
        &env,
        &json!({"type": "assistant", "uuid": "later-1", "parentUuid": null, "isSidechain": false,
            "timestamp": "2026-11-15T11:00:00.000Z", "message": {"id": "msg_later", "role": "assistant",
            "model": "claude-later-9", "content": [{"type": "text", "text": "on my own"}]}}),
    );
    assert_eq!(list_kinds(), ["best-effort", "best-effort"]);
    let unrecorded = "not recorded: system prompt, tools with their schemas, sampling settings";
    assert_eq!(lacks("went-on", &["--raw", "--no-redact"]), json!([unrecorded]));
}

#[test]
fn a_recording_whose_end_has_gaps_tells_nothing() {
    let (env, _server) = start_model(TestEnv::with_sessions(), CLIENT);
    append_record(&env, &json!({"type": "mode", "timestamp": "2026-11-15T10:00:01.000Z"}));
    assert_eq!(record(&env, &["claude"]).code, Some(7));
    let folder = fs_err::read_dir(env.home().join(".carryover/recordings")).unwrap().next().unwrap().unwrap().path();
    let exchanges = folder.join("exchanges.jsonl");
    let text = fs_err::read_to_string(&exchanges).unwrap();
    let mut later: serde_json::Value = serde_json::from_str(text.trim()).unwrap();
    later["number"] = json!(2);
    later["has_gaps"] = json!(true);
    fs_err::write(&exchanges, format!("{text}{later}\n")).unwrap();
    let (all, names, _) = export_raw(&env, "gaps", &[]);
    assert_eq!(all["inspected"]["boundary"]["system_prompt"], json!({"known": "unknown"}));
    assert!(!names.contains(&"source/recording/request.json".to_owned()), "{names:?}");
    assert!(all["told"]["warnings"].to_string().contains("the end of its recording has gaps"), "{all}");
}

#[test]
fn the_last_request_of_a_recording_comes_along_with_the_records_and_opens_as_nothing() {
    const SECRET: &str = concat!("ghp_", "x8Kq2Vn5Rt7Lw3Zp9Hs4Jd6Fb1Gc0MyTeUaB");
    let client = CLIENT.replace("be brief", &format!("use {SECRET}"));
    let (env, _server) = start_model(TestEnv::with_sessions(), &client);
    append_record(&env, &json!({"type": "mode", "timestamp": "2026-11-15T10:00:01.000Z"}));
    assert_eq!(record(&env, &["claude"]).code, Some(7));
    let read = |folder: &std::path::Path| fs_err::read_to_string(folder.join("source/recording/request.json")).unwrap();
    let (_, _, masked) = export_raw(&env, "masked", &[]);
    let request: serde_json::Value = serde_json::from_str(&read(&masked)).unwrap();
    assert_eq!((&request["tools"][0]["name"], &request["max_tokens"]), (&json!("Bash"), &json!(9)));
    assert!(!read(&masked).contains(SECRET), "{request}");
    let (_, _, open) = export_raw(&env, "open", &["--no-redact"]);
    assert!(read(&open).contains(SECRET));
    let plain = env.home().join("plain");
    env.run(&["capsule", "export", "d3a03cdd", "-o", plain.to_str().unwrap()]).success();
    assert!(!plain.join("source").exists());
    let receiver = TestEnv::new().with_client("claude");
    let told = receiver.run(&["import", masked.to_str().unwrap(), "--project", "work"]).success();
    assert!(told.stdout.contains("claude --resume"), "{told}");
}

#[test]
fn forgetting_the_session_takes_the_recording_along() {
    let (env, _server) = start_model(TestEnv::with_sessions(), CLIENT);
    append_record(&env, &json!({"type": "mode", "timestamp": "2026-11-15T10:00:01.000Z"}));
    assert_eq!(record(&env, &["claude"]).code, Some(7));
    assert_eq!(env.run(&["search", "hi"]).code, Some(0));
    let forgotten = env.run(&["forget", "d3a03cdd", "--yes"]);
    assert_eq!(forgotten.code, Some(0), "{forgotten}");
    assert_eq!(env.json("recordings", &["record", "list"])["total"], 0);
}

#[test]
fn a_client_that_sends_nothing_by_the_proxy_is_told_of() {
    let (env, _server) = start_model(TestEnv::new(), "#!/bin/sh\necho \"$*\"\n");
    let env = env.var("ANTHROPIC_BASE_URL", "http://127.0.0.1:9");
    insta::assert_snapshot!(record(&env, &["claude", "--json", "-q"]), @"
    exit code 0
    --- stdout
    --json -q
    --- stderr
    warning: nothing was recorded: Claude Code sent no request to http://127.0.0.1:9
    ");
    assert_eq!(env.json("recordings", &["record", "list"])["total"], 0);
    assert_eq!(fs_err::read_dir(env.home().join(".carryover/recordings")).unwrap().count(), 0);
}

#[test]
fn a_service_that_cannot_be_reached_is_told_at_the_end() {
    let env = TestEnv::with_sessions().with_client("claude").var("ANTHROPIC_BASE_URL", "http://127.0.0.1:9");
    env.write("bin/claude", CLIENT);
    let said = record(&env, &["claude"]);
    let reason = "warning: no answer to 1 exchange: 127.0.0.1:9 could not be reached: ";
    assert!(said.stderr.contains(reason), "{said}");
    check_files(&env);
}

#[test]
fn what_cannot_be_recorded_is_not_started() {
    let env = TestEnv::new().with_client("gemini");
    insta::assert_snapshot!(env.run(&["record", "gemini"]), @"
    exit code 64
    --- stderr
    error: Gemini CLI cannot be recorded here
      its settings do not say how you sign in: start it once without `record`
    ");
    insta::assert_snapshot!(env.run(&["record", "vim"]), @"
    exit code 64
    --- stderr
    error: `vim` is no agent that carryover knows
    hint: its name comes first, then its own arguments: `carryover record claude --continue`
    ");
    insta::assert_snapshot!(env.run(&["record", "claude"]), @"
    exit code 1
    --- stderr
    error: Claude Code is not installed
    hint: `carryover record PATH` runs one that is not on the PATH
    ");
    let env = env.with_client("claude").var("ANTHROPIC_BASE_URL", "https://me:secret@gateway.example");
    insta::assert_snapshot!(env.run(&["record", "claude"]), @"
    exit code 64
    --- stderr
    error: the address of `messages` cannot be recorded: it has a password in it
    ");
}

#[test]
fn a_signal_reaches_the_client_and_the_client_decides() {
    let script = "#!/bin/bash\ntrap 'echo told; exit 3' TERM\necho ready\nread -rt 20\nexit 9\n";
    let (env, _server) = start_model(TestEnv::new(), script);
    let mut child = env.command(&["record", "claude"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "ready");
    let killed = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    assert_eq!(lines.next().unwrap().unwrap(), "told");
    assert_eq!(child.wait().unwrap().code(), Some(3));
}

#[test]
fn a_client_that_a_signal_ends_is_told_as_a_shell_tells_it() {
    let (env, _server) = start_model(TestEnv::new(), "#!/bin/sh\nkill -KILL $$\n");
    assert_eq!(record(&env, &["claude"]).code, Some(137));
}
