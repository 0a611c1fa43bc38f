//! Sessions, kept in their project.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{CLAUDE, CODEX, TestEnv, append_record, check_schema, write_session};

const SECRET: &str = concat!("ghp_", "x8Kq2Vn5Rt7Lw3Zp9Hs4Jd6Fb1Gc0MyTeUaB");

fn save(env: &TestEnv, args: &[&str]) -> Value {
    env.json("save", &[&["save"], args].concat())
}

fn folder(saved: &Value) -> PathBuf {
    PathBuf::from(saved["folder"].as_str().unwrap())
}

fn read(saved: &Value, file: &str) -> String {
    fs_err::read_to_string(folder(saved).join(file)).unwrap()
}

fn session_json(saved: &Value) -> Value {
    let session: Value = serde_json::from_str(&read(saved, ".session/session.json")).unwrap();
    check_schema("conversation", &session);
    session
}

/// The user says something more, and the agent answers.
fn go_on(env: &TestEnv, prompt: &str) {
    let mut parent = json!("b7144843-8586-4407-a37b-b369bf0d8e95");
    for (role, content) in [("user", json!(prompt)), ("assistant", json!([{ "type": "text", "text": "Sure." }]))] {
        let uuid = format!("00000000-0000-4000-8000-{:0>12}", role.len());
        append_record(
            env,
            &json!({ "type": role, "parentUuid": parent, "isSidechain": false, "userType": "external", "uuid": uuid,
                "sessionId": "d3a03cdd-c689-41e6-9587-86a6223f5251", "timestamp": "2026-11-15T09:30:00.000Z",
                "cwd": env.project(), "version": "2.1.0", "message": { "role": role, "content": content } }),
        );
        parent = json!(uuid);
    }
}

/// A command of the project's own, and a session that was begun with it.
fn begin_with_command(env: &TestEnv) {
    env.write(
        "calc/.claude/commands/workspace.brainstorm.md",
        "---\ndescription: Think\n---\n\nThink wild: $ARGUMENTS\n",
    );
    let typed = "<command-message>workspace.brainstorm</command-message>\n<command-name>/workspace.brainstorm</command-name>\n\
                 <command-args>API design</command-args>";
    let answer = json!([{ "type": "text", "text": "REST or GraphQL?" }]);
    write_session(env, "aaaaaaaa-0000-4000-8000-000000000001", &[("user", json!(typed)), ("assistant", answer)]);
}

#[test]
fn a_session_is_kept_in_its_project_as_people_and_agents_read_it() {
    let env = TestEnv::with_sessions();
    insta::assert_snapshot!(env.run(&["save", CLAUDE, "--type", "plan", "--topic", "Fix the calculator"]), @r"
    exit code 0
    --- stderr
    saved 001-plan-fix-the-calculator
      wrote     ~/calc/conversations/2026-11-15/001-plan-fix-the-calculator/plan.md
      wrote     ~/calc/conversations/2026-11-15/001-plan-fix-the-calculator/.session/session.json
      wrote     ~/calc/conversations/2026-11-15/001-plan-fix-the-calculator/.session/messages.jsonl
      messages  6
      left out  1 image
    hint: `carryover resume 001-plan-fix-the-calculator` goes on with it, `--target AGENT` elsewhere
    hint: `carryover undo 00000000` takes it back
    ");
    let saved = save(&env, &[CLAUDE]);
    assert_eq!(saved["conversation_id"], "001-plan-fix-the-calculator");
    assert!(folder(&saved).ends_with("calc/conversations/2026-11-15/001-plan-fix-the-calculator"));
    let session = session_json(&saved);
    assert_eq!(session["agent"], "claude-code");
    assert_eq!(
        session["context_summary"],
        "Please fix the bug in calc.py and add a test. The icon in the README looks wrong too."
    );
    let messages = read(&saved, ".session/messages.jsonl");
    let first: Value = serde_json::from_str(messages.lines().next().unwrap()).unwrap();
    assert_eq!((&first["role"], &first["timestamp"]), (&json!("user"), &json!("2026-11-15T09:00:07.000Z")));
    for line in messages.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert!(line["role"].is_string() && line["content"].is_string(), "{line}");
    }
    let document = read(&saved, "plan.md");
    assert!(document.starts_with("# Fix the calculator\n") && document.contains("> Good. Then the changelog, please."));
}

#[test]
fn saving_again_adds_lines_and_changes_little_else() {
    let env = TestEnv::with_sessions();
    let first = save(&env, &[CLAUDE]);
    let (messages, document) = (read(&first, ".session/messages.jsonl"), read(&first, "conversation.md"));
    assert_eq!((&first["is_new"], save(&env, &[CLAUDE])["added"].clone()), (&json!(true), json!(0)));
    go_on(&env, "one more thing");
    let again = save(&env, &[CLAUDE, "--status", "completed"]);
    assert_eq!((&again["is_new"], &again["added"], &again["folder"]), (&json!(false), &json!(2), &first["folder"]));
    let now = read(&again, ".session/messages.jsonl");
    assert!(now.starts_with(&messages) && now.lines().count() == messages.lines().count() + 2);
    assert!(now.contains("one more thing"));
    let changed = document.lines().filter(|line| !read(&again, "conversation.md").lines().any(|now| now == *line));
    assert!(changed.count() <= 4);
    assert_eq!(session_json(&again)["status"], "completed");
}

#[test]
fn words_that_somebody_wrote_into_the_document_stay() {
    let env = TestEnv::with_sessions();
    let saved = save(&env, &[CLAUDE]);
    let path = folder(&saved).join("conversation.md");
    fs_err::write(&path, "# Mine\n\nWe went with REST.").unwrap();
    go_on(&env, "one more thing");
    save(&env, &[CLAUDE]);
    let text = read(&saved, "conversation.md");
    assert!(text.starts_with("# Mine\n\nWe went with REST.\n") && text.contains("> one more thing"), "{text}");
    assert!(!text.contains("fix the bug"), "{text}");
    save(&env, &[CLAUDE]);
    assert_eq!(read(&saved, "conversation.md"), text);
}

#[test]
fn secrets_are_masked_and_told() {
    let env = TestEnv::with_sessions();
    go_on(&env, &format!("log in with {SECRET}"));
    let saved = save(&env, &[CLAUDE, "--topic", "log in"]);
    assert_eq!(saved["masked"], json!({ "github-pat": 1 }));
    for (path, bytes) in env.files().iter().filter(|(path, _)| path.starts_with(env.project())) {
        assert!(!String::from_utf8_lossy(bytes).contains(SECRET), "{}", path.display());
    }
    let plain = save(&env, &[CLAUDE, "--no-redact"]);
    assert!(read(&plain, ".session/messages.jsonl").contains(SECRET) && plain["masked"] == json!({}));
}

#[test]
fn a_save_is_taken_back_to_the_byte_and_a_dry_run_writes_nothing() {
    let env = TestEnv::with_sessions();
    let before = env.files();
    assert_eq!(save(&env, &[CLAUDE, "--dry-run"])["undo_id"], Value::Null);
    assert_eq!(env.files(), before);
    save(&env, &[CLAUDE]);
    go_on(&env, "more");
    let between = env.files();
    let saved = save(&env, &[CLAUDE]);
    assert_ne!(env.files(), between);
    env.run(&["undo", saved["undo_id"].as_str().unwrap()]).success();
    assert_eq!(env.files(), between);
    env.run(&["undo"]).success();
    assert!(!env.project().join("conversations").exists());
    // The folder that others use stays.
    let (first, second) = (save(&env, &[CLAUDE]), save(&env, &[CODEX]));
    assert_eq!(
        (folder(&first).exists(), second["conversation_id"].as_str().unwrap().starts_with("002-")),
        (true, true)
    );
    env.run(&["undo", first["undo_id"].as_str().unwrap()]).success();
    assert!(!folder(&first).exists() && folder(&second).join("conversation.md").exists());
}

#[test]
fn the_command_that_began_it_names_its_type_and_is_kept_with_its_hash() {
    let env = TestEnv::with_sessions();
    begin_with_command(&env);
    let saved = save(&env, &["aaaaaaaa"]);
    assert_eq!(saved["conversation_id"], "001-brainstorm-api-design");
    let config = session_json(&saved)["agent_config"].clone();
    assert_eq!((&config["command"], &config["arguments"]), (&json!("/workspace.brainstorm"), &json!("API design")));
    assert!(config["system_prompt_hash"].as_str().unwrap().starts_with("sha256:"));
}

#[test]
fn resuming_loads_the_current_command_then_the_block_then_the_history() {
    let env = TestEnv::with_sessions();
    begin_with_command(&env);
    save(&env, &["aaaaaaaa"]);
    let resumed = env.resume_json(&["resume", "001-brainstorm-api-design", "--target", "codex"]);
    let shown = env.json("session", &["show", resumed["session_id"].as_str().unwrap()]);
    let texts: Vec<String> = shown["entries"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|entry| entry["live"] == true)
        .map(|entry| entry["parts"].to_string())
        .collect();
    let (opening, rest) = texts.split_first().unwrap();
    let places =
        ["Think wild: API design", "[RESUMED CONVERSATION]", "brainstorm / API design", "[END RESUMED CONTEXT]"]
            .map(|words| opening.find(words).unwrap_or_else(|| panic!("{words} is not in {opening}")));
    assert!(places.is_sorted(), "{opening}");
    assert!(rest.iter().any(|text| text.contains("REST or GraphQL?")));
    // What it begins with is nobody's request.
    let brief = env.run(&["brief", resumed["session_id"].as_str().unwrap()]).success();
    assert!(!brief.stdout.contains("You are continuing"), "{brief}");
    assert_eq!(env.json("conversations", &["conversations"])["conversations"][0]["status"], "active");
    let document = env.project().join("conversations/2026-11-15/001-brainstorm-api-design/brainstorm.md");
    assert!(!fs_err::read_to_string(document).unwrap().contains("paused"));
    // A command that has changed is used as it is now, and told.
    env.write("calc/.claude/commands/workspace.brainstorm.md", "Think small: $ARGUMENTS\n");
    let again = env.resume_json(&["resume", "api design", "--target", "codex", "--fork", "--dry-run"]);
    assert!(again["warnings"].to_string().contains("/workspace.brainstorm has changed"), "{again}");
}

#[test]
fn a_command_that_had_no_file_is_told_where_it_goes_on_without_its_text() {
    let env = TestEnv::with_sessions();
    begin_with_command(&env);
    fs_err::remove_file(env.project().join(".claude/commands/workspace.brainstorm.md")).unwrap();
    let saved = save(&env, &["aaaaaaaa"]);
    assert_eq!(session_json(&saved)["agent_config"]["system_prompt_hash"], Value::Null);
    let resumed = env.resume_json(&["resume", "api design", "--target", "codex"]);
    let told = "the command /workspace.brainstorm has no file here: the conversation goes on without its text";
    assert!(resumed["warnings"].to_string().contains(told), "{resumed:#}");
}

/// A session of Codex CLI 0.166.0 that was begun with a skill, as it writes the name and what was typed behind it.
fn begin_with_skill(env: &TestEnv) -> String {
    env.write(
        ".codex/skills/workspace-plan/SKILL.md",
        "---\nname: workspace-plan\ndescription: Plan\n---\n\nMake a plan, step by step.\n\n    /usr/bin/carryover save --source codex --type plan\n",
    );
    let id = "01a1f4ef-3123-7803-8699-28a91401cb3f";
    let record = |kind: &str, payload: Value| {
        json!({ "timestamp": "2026-11-15T09:40:00.000Z", "type": kind, "payload": payload }).to_string()
    };
    let said = |role: &str, kind: &str, text: &str| {
        let content = json!([{ "type": kind, "text": text }]);
        record("response_item", json!({ "type": "message", "role": role, "content": content }))
    };
    let meta = json!({ "id": id, "timestamp": "2026-11-15T09:40:00.000Z", "cwd": env.project(),
        "originator": "codex_cli_rs", "cli_version": "0.166.0", "source": "cli", "model_provider": "openai" });
    let skill = "<skill>\n<name>workspace-plan</name>\n<path>SKILL.md</path>\nMake a plan, step by step.\n</skill>";
    let lines = [
        record("session_meta", meta),
        said("user", "input_text", "$workspace-plan the move"),
        said("user", "input_text", skill),
        said("assistant", "output_text", "Which database?"),
    ];
    let place = format!(".codex/sessions/2026/11/15/rollout-2026-11-15T09-40-00-{id}.jsonl");
    env.write(&place, &format!("{}\n", lines.join("\n")));
    id.to_owned()
}

#[test]
fn a_skill_that_began_it_is_its_command() {
    let env = TestEnv::with_sessions();
    let id = begin_with_skill(&env);
    let saved = save(&env, &[&id]);
    assert_eq!(saved["conversation_id"], "001-plan-the-move");
    let config = session_json(&saved)["agent_config"].clone();
    assert_eq!((&config["command"], &config["arguments"]), (&json!("/workspace-plan"), &json!("the move")));
    assert!(config["system_prompt_hash"].as_str().unwrap().starts_with("sha256:"));
    env.run(&["resume", "001-plan", "--target", "opencode", "--prompt"]).success();
    // What it says to save is the session that goes on.
    let prompt = fs_err::read_to_string(env.project().join(".carryover/RESUME.md")).unwrap();
    assert!(prompt.contains("--source opencode --type plan\n\nthe move\n\n[RESUMED CONVERSATION]"), "{prompt}");
    // Saved again from another agent, it keeps what it was begun with, and where it goes on next that is found.
    let resumed = env.resume_json(&["resume", "001-plan", "--target", "claude-code"]);
    let second = save(&env, &[resumed["session_id"].as_str().unwrap()]);
    assert_eq!(
        (&second["conversation_type"], &second["continues"]),
        (&json!("plan"), &json!("2026-11-15/001-plan-the-move"))
    );
    assert_eq!(session_json(&second)["agent_config"]["system_prompt_hash"], config["system_prompt_hash"]);
    let third = env.run(&["resume", second["conversation_id"].as_str().unwrap(), "--target", "codex", "--prompt"]);
    assert!(!third.stderr.contains("workspace-plan"), "{third}");
    let prompt = fs_err::read_to_string(env.project().join(".carryover/RESUME.md")).unwrap();
    assert!(prompt.contains("--source codex --type plan\n\nthe move\n"), "{prompt}");
    // On a machine that has it in another agent alone, that one is taken and said to be.
    fs_err::remove_dir_all(env.home().join(".codex/skills")).unwrap();
    env.write("calc/.claude/commands/workspace.plan.md", "Plan it in three steps: $ARGUMENTS\n");
    let other = env.run(&["resume", "001-plan", "--target", "opencode", "--prompt"]).success();
    assert!(other.stderr.contains("the command /workspace-plan is that of Claude Code here"), "{other}");
    let prompt = fs_err::read_to_string(env.project().join(".carryover/RESUME.md")).unwrap();
    assert!(prompt.contains("Plan it in three steps: the move"), "{prompt}");
}

#[test]
fn a_command_whose_text_was_sent_is_known_by_it() {
    let env = TestEnv::with_sessions();
    let text = "Help the user to understand this: $ARGUMENTS\n\nIn small steps.\n";
    env.write("calc/.claude/commands/workspace.learn.md", text);
    let command = "calc/.gemini/commands/workspace.learn.toml";
    env.write(command, &format!("prompt = \"\"\"{}\"\"\"\n", text.replace("$ARGUMENTS", "{{args}}")));
    let sent = "Help the user to understand this: the ledger\n\nIn small steps.";
    let answer = json!([{ "type": "text", "text": "What do you know of it?" }]);
    let id = "aaaaaaaa-0000-4000-8000-000000000002";
    write_session(&env, id, &[("user", json!(sent)), ("assistant", answer.clone())]);
    let sent = env.resume_json(&["resume", id, "--target", "gemini-cli"])["session_id"].as_str().unwrap().to_owned();
    let saved = save(&env, &[&sent]);
    assert_eq!(saved["conversation_id"], "001-learn-the-ledger");
    let config = session_json(&saved)["agent_config"].clone();
    assert_eq!((&config["command"], &config["arguments"]), (&json!("/workspace.learn"), &json!("the ledger")));
    // Its text has changed: it was begun with that command all the same.
    env.write(command, "prompt = 'Explain: {{args}}'\n");
    assert_eq!(session_json(&save(&env, &[&sent, "--topic", "ledgers"]))["agent_config"], config);
    // Where a client writes down what was typed for a command, the same words without that were typed as they are.
    assert_eq!(session_json(&save(&env, &[id]))["agent_config"]["command"], serde_json::Value::Null);
    // One that ends a conversation is not what a conversation is about.
    let typed = "<command-message>workspace.stop-conversation</command-message>\n\
                 <command-name>/workspace.stop-conversation</command-name>";
    let id = "aaaaaaaa-0000-4000-8000-000000000003";
    env.write("calc/.claude/commands/workspace.stop-conversation.md", "Stop.\n");
    write_session(&env, id, &[("user", json!(typed)), ("assistant", answer)]);
    assert_eq!(session_json(&save(&env, &[id]))["agent_config"]["command"], Value::Null);
}

#[test]
fn a_target_without_sessions_gets_the_command_and_the_block_before_its_brief() {
    for (target, flags) in [("windsurf", &[] as &[&str]), ("copilot-vscode", &[]), ("cursor", &["--context-only"])] {
        let env = TestEnv::with_sessions();
        begin_with_command(&env);
        save(&env, &["aaaaaaaa"]);
        let long = format!("Think small: $ARGUMENTS\n\n{}", "One more rule to keep in mind.\n".repeat(400));
        for (command, is_cut) in [("Think small: $ARGUMENTS\n", false), (long.as_str(), true)] {
            env.write("calc/.claude/commands/workspace.brainstorm.md", command);
            let said = env.run(&[&["resume", "api design", "--target", target], flags].concat()).success();
            assert!(said.stderr.contains("has changed since: its text as it is now is used"), "{said}");
            let brief = fs_err::read_to_string(env.project().join(".carryover/context.md")).unwrap();
            let places = [
                "Resumed from conversations/",
                "Think small: API design",
                "[RESUMED CONVERSATION]",
                "brainstorm / API design",
                "[END RESUMED CONTEXT]",
                "## Resumed Session Context",
                "REST or GraphQL?",
            ];
            let places = places.map(|words| brief.find(words).unwrap_or_else(|| panic!("{words}: {brief}")));
            assert!(places.is_sorted() && brief.chars().count() < 8_100, "{brief}");
            assert_eq!(brief.contains("(It is cut here: the whole of it stands in "), is_cut, "{brief}");
        }
    }
}

#[test]
fn an_agent_that_has_the_session_is_told_nothing_of_its_command() {
    let env = TestEnv::with_sessions();
    begin_with_command(&env);
    save(&env, &["aaaaaaaa"]);
    env.write("calc/.claude/commands/workspace.brainstorm.md", "Think small: $ARGUMENTS\n");
    let own = env.run(&["resume", "api design", "--target", "claude-code"]).success();
    assert!(own.stderr.contains("nothing was written") && !own.stderr.contains("has changed"), "{own}");
}

/// Two sessions of one agent, both used a few minutes ago.
fn begin_two() -> (TestEnv, [&'static str; 2]) {
    let env = TestEnv::with_sessions().var("CARRYOVER_NOW", "2026-11-15T09:45:00Z");
    let ids = ["aaaaaaaa-0000-4000-8000-000000000001", "bbbbbbbb-0000-4000-8000-000000000002"];
    for (id, words) in ids.iter().zip(["Mend the parser.", "Paint the roof."]) {
        let answer = json!([{ "type": "text", "text": "Sure." }]);
        let said = [
            ("user", json!(words)),
            ("assistant", answer.clone()),
            ("user", json!("And then?")),
            ("assistant", answer),
        ];
        write_session(&env, id, &said);
    }
    (env, ids)
}

#[test]
fn of_two_sessions_in_use_none_is_guessed() {
    let (env, ids) = begin_two();
    let before = env.files();
    let unsure = env.run(&["save", "--source", "claude-code", "--status", "paused"]);
    assert!(env.files() == before, "{unsure}");
    insta::assert_snapshot!(unsure, @r#"
    exit code 2
    --- stderr
    error: 2 sessions of this project were used within the last 15 minutes, and none is named
      aaaaaaaa  Claude Code  5 min ago
          began "Mend the parser."
          last  "And then?"
      bbbbbbbb  Claude Code  5 min ago
          began "Paint the roof."
          last  "And then?"
    hint: name the one that is meant by its id: `carryover save ID`
    "#);
    let named = env.json("save", &["save", ids[0], "--source", "claude-code"]);
    assert_eq!(named["session_id"], ids[0]);
    // One of another agent, which nobody has used for long, is not in the way.
    env.run(&["save", "--source", "codex"]).success();
    // Who says that nobody is to be asked gets the newest.
    env.run(&["save", "--source", "claude-code", "--yes"]).success();
}

#[test]
fn an_agent_that_tells_which_session_it_runs_us_in_is_believed() {
    for (agent, variable) in [("claude-code", "CLAUDE_CODE_SESSION_ID"), ("codex", "CODEX_THREAD_ID")] {
        let (env, ids) = begin_two();
        let id = if agent == "codex" { begin_with_skill(&env) } else { ids[0].to_owned() };
        let env = env.var(variable, &id);
        for args in [&["save", "--source", agent] as &[&str], &["save"]] {
            assert_eq!(env.json("save", args)["session_id"], *id, "{args:?}");
        }
        let said = env.run(&["handoff", "--source", agent, "--no-copy"]).success();
        assert!(said.stderr.contains("the session that this is run in"), "{said}");
    }
    // What it tells of and does not keep is not another session.
    let (env, _) = begin_two();
    let env = env.var("CLAUDE_CODE_SESSION_ID", "cccccccc-0000-4000-8000-000000000003");
    insta::assert_snapshot!(env.run(&["save", "--source", "claude-code"]), @r"
    exit code 2
    --- stderr
    error: the session that this is run in was not found: cccccccc-0000-4000-8000-000000000003 of Claude Code
    hint: name the one that is meant: `carryover list` shows their ids
    ");
    // Where one agent runs in the shell of another, neither is it for sure.
    let env = env.var("CODEX_THREAD_ID", "x");
    let nested = env.run(&["save"]);
    assert!(nested.code == Some(2) && nested.stderr.contains("none is named"), "{nested}");
}

#[test]
fn what_is_kept_goes_on_natively_without_the_session_and_elsewhere() {
    let env = TestEnv::with_sessions();
    let saved = save(&env, &[CLAUDE, "--topic", "calculator"]);
    let other = TestEnv::new();
    let place = other.project().join("conversations/2026-11-15/001-conversation-calculator");
    for file in ["conversation.md", ".session/session.json", ".session/messages.jsonl"] {
        let path = place.join(file);
        other.write(path.strip_prefix(other.home()).unwrap().to_str().unwrap(), &read(&saved, file));
    }
    for target in ["codex", "claude-code"] {
        let resumed = other.resume_json(&["resume", "calculator", "--target", target]);
        let lost = resumed["lost"].to_string();
        assert!(lost.contains("what was kept does not hold them") && !lost.contains("vendor"), "{lost}");
        let shown = other.run(&["show", resumed["session_id"].as_str().unwrap(), "--full"]).success();
        for words in ["You are continuing a previous conversation", "add(1, 2) is -1", "python3 -c", "AssertionError"] {
            assert!(shown.stdout.contains(words), "{target}: {words}\n{shown}");
        }
        // Calls name the folder that it goes on in.
        assert!(shown.stdout.contains("[HOME]/calc/icon.png"), "{shown}");
        let again = save(&other, &[resumed["session_id"].as_str().unwrap()]);
        assert_eq!(again["continues"], "2026-11-15/001-conversation-calculator");
        other.run(&["undo", again["undo_id"].as_str().unwrap()]).success();
    }
}

#[test]
fn a_conversation_that_goes_on_elsewhere_is_one_thread() {
    let env = TestEnv::with_sessions();
    let first = save(&env, &[CLAUDE, "--type", "debug", "--topic", "calculator"]);
    let resumed = env.resume_json(&["resume", "001-debug-calculator", "--target", "codex"]);
    let second = save(&env, &[resumed["session_id"].as_str().unwrap()]);
    assert_eq!(second["continues"], "2026-11-15/001-debug-calculator");
    assert_eq!((&second["conversation_type"], &second["thread"]), (&json!("debug"), &second["continues"]));
    assert_ne!(first["folder"], second["folder"]);
    let listed = env.json("conversations", &["conversations"]);
    assert_eq!((&listed["total"], &listed["conversations"][0]["saves"]), (&json!(1), &json!(2)));
    let shown = env.json("conversation-show", &["conversations", "show", "001-debug-calculator"]);
    let saves: Vec<&Value> = shown["saves"].as_array().unwrap().iter().map(|save| &save["agent"]).collect();
    assert_eq!(saves, ["claude-code", "codex"]);
}

#[test]
fn a_commit_holds_the_conversation_and_nothing_else() {
    let env = TestEnv::with_sessions().var("PATH", "/usr/local/bin:/usr/bin:/bin");
    let git = |args: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.args(["-c", "user.name=A", "-c", "user.email=a@b"]).args(args).current_dir(env.project());
        let output = command.env_clear().env("HOME", env.home()).env("PATH", "/usr/bin:/bin").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    git(&["init", "--quiet"]);
    git(&["config", "user.name", "A"]);
    git(&["config", "user.email", "a@b"]);
    env.write("calc/other.txt", "x");
    git(&["add", "other.txt"]);
    let saved = save(&env, &[CLAUDE, "--topic", "calc", "--commit"]);
    assert!(saved["commit"].is_string(), "{saved}");
    let names = git(&["show", "--name-only", "--format=%s", "HEAD"]);
    assert!(names.starts_with("conversation: save 001-conversation-calc\n"), "{names}");
    assert_eq!((names.matches("conversations/").count(), names.contains("other.txt")), (3, false), "{names}");
    assert_eq!(git(&["diff", "--cached", "--name-only"]), "other.txt\n");
    assert_eq!(save(&env, &[CLAUDE, "--commit"])["commit"], Value::Null);
    // Where `.session/` is ignored, the document is committed alone.
    env.write("calc/.gitignore", ".session/\n");
    let alone = save(&env, &[CODEX, "--topic", "alone", "--commit"]);
    assert_eq!(git(&["show", "--name-only", "--format=", "HEAD"]).lines().count(), 1, "{alone}");
    // A hook that refuses leaves nothing staged.
    env.write("calc/.git/hooks/pre-commit", "#!/bin/sh\necho no >&2\nexit 1\n");
    #[cfg(unix)]
    fs_err::set_permissions(
        env.project().join(".git/hooks/pre-commit"),
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )
    .unwrap();
    go_on(&env, "more");
    let refused = env.run(&["save", CLAUDE, "--commit"]);
    assert_eq!(refused.code, Some(3), "{refused}");
    assert!(refused.stderr.contains("`git commit` failed: no"), "{refused}");
    assert_eq!(git(&["diff", "--cached", "--name-only"]), "other.txt\n");
}

#[test]
fn a_link_in_the_way_is_not_written_through() {
    let env = TestEnv::with_sessions();
    #[cfg(unix)]
    std::os::unix::fs::symlink("/tmp", env.project().join("conversations")).unwrap();
    let said = env.run(&["save", CLAUDE]);
    assert!(cfg!(not(unix)) || said.stderr.contains("is a link, and is not written through"), "{said}");
}
