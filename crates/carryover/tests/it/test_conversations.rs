//! Conversations that are kept in a project, listed, shown, found and pruned.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{CLAUDE, CODEX, TestEnv, write_session};

fn save(env: &TestEnv, args: &[&str]) -> PathBuf {
    let saved = env.json("save", &[&["save"], args].concat());
    PathBuf::from(saved["folder"].as_str().unwrap())
}

fn saved_env() -> TestEnv {
    let env = TestEnv::with_sessions();
    save(&env, &[CLAUDE, "--type", "debug", "--topic", "Fix the calculator"]);
    save(&env, &[CODEX, "--type", "plan", "--topic", "Přidej limity"]);
    env
}

#[test]
fn conversations_are_listed_with_how_they_stand() {
    insta::assert_snapshot!(saved_env().run(&["conversations"]), @r#"
    exit code 0
    --- stdout
    Fix the calculator  debug  paused
      001-debug-fix-the-calculator  56 min ago · Claude Code
      "Please fix the bug in calc.py and add a test. The icon in the README looks wrong too."
    Přidej limity  plan  paused
      002-plan-přidej-limity  1 h ago · Codex CLI
      "mean() crashes on an empty list, see the picture. Let it return 0."
    "#);
    insta::assert_snapshot!(TestEnv::new().run(&["conversations"]), @r"
    exit code 0
    --- stderr
    no conversation is kept in this project
    hint: `carryover save` keeps the newest session here
    ");
}

#[test]
fn words_and_ids_find_a_conversation() {
    let env = saved_env();
    for words in [
        &["calculator"] as &[&str],
        &["debug", "calculator"],
        &["001-debug-fix-the-calculator"],
        &["001-d"],
        &["2026-11-15/001-debug-fix-the-calculator"],
        &["conversations/2026-11-15/001-debug-fix-the-calculator/"],
    ] {
        let shown = env.json("conversation-show", &[&["conversations", "show"], words].concat());
        assert_eq!(shown["conversation_id"], "001-debug-fix-the-calculator", "{words:?}");
    }
    assert!(env.run(&["conversations", "show", "limity"]).success().stdout.contains("002-plan-přidej-limity"));
    insta::assert_snapshot!(env.run(&["conversations", "show", "2026-11"]), @r"
    exit code 2
    --- stderr
    error: `2026-11` fits 2 conversations
      2026-11-15/001-debug-fix-the-calculator  Fix the calculator
      2026-11-15/002-plan-přidej-limity  Přidej limity
    hint: name one with its date, as it is listed
    ");
    insta::assert_snapshot!(env.run(&["conversations", "show", "nothing"]), @r"
    exit code 2
    --- stderr
    error: no conversation of this project matches `nothing`
    hint: `carryover conversations` lists them
    ");
}

#[test]
fn everything_works_with_the_document_alone() {
    let env = saved_env();
    for folder in ["001-debug-fix-the-calculator", "002-plan-přidej-limity"] {
        let session = env.project().join("conversations/2026-11-15").join(folder).join(".session");
        fs_err::remove_dir_all(session).unwrap();
    }
    let listed = env.json("conversations", &["conversations"]);
    let titles: Vec<&Value> = listed["conversations"].as_array().unwrap().iter().map(|one| &one["title"]).collect();
    assert_eq!(titles, ["Fix the calculator", "Přidej limity"]);
    // What the head of the document says.
    let first = &listed["conversations"][0];
    assert_eq!(
        (&first["last_active"], &first["message_count"]),
        (&json!("2026-11-15T09:03:34.814Z"), &json!(6)),
        "{first:#}"
    );
    env.run(&["conversations", "show", "calculator"]).success();
    let said = env.run(&["resume", "001-debug-fix-the-calculator", "--target", "codex"]).success();
    assert!(said.stderr.contains("only the document of 001-debug-fix-the-calculator is left"), "{said}");
    let prompt = fs_err::read_to_string(env.project().join(".carryover/RESUME.md")).unwrap();
    for words in [
        "Conversation: debug / Fix the calculator\nLast active: 56 minutes ago\nMessages: 6\n",
        "## Document",
        "> Good. Then the changelog, please.",
    ] {
        assert!(prompt.contains(words), "{prompt}");
    }
}

#[test]
fn a_session_file_that_is_damaged_or_missing_is_told_and_the_document_goes_on() {
    for is_cut in [true, false] {
        let env = TestEnv::with_sessions();
        let folder = save(&env, &[CLAUDE, "--type", "debug", "--topic", "Fix the calculator"]);
        let file = folder.join(".session/session.json");
        let whole = fs_err::read(&file).unwrap();
        fs_err::remove_file(&file).unwrap();
        if is_cut {
            fs_err::write(&file, &whole[..300]).unwrap();
        }
        let listed = env.run(&["conversations"]).success();
        assert!(listed.stdout.contains("001-debug-fix-the-calculator  56 min ago"), "{listed}");
        assert!(listed.stderr.contains(".session/session.json"), "{listed}");
        let said = env.run(&["resume", "fix", "the", "calculator", "--target", "codex"]).success();
        assert!(said.stderr.contains(".session/session.json") && said.stderr.contains("only the document"), "{said}");
        let prompt = fs_err::read_to_string(env.project().join(".carryover/RESUME.md")).unwrap();
        assert!(prompt.contains("Messages: 6\n") && prompt.contains("> Good. Then the changelog"), "{prompt}");
        // Of a document that is somebody's own, nothing is made up.
        fs_err::write(folder.join("debug.md"), "# Mine\n\nWords.\n").unwrap();
        let listed = env.json("conversations", &["conversations"]);
        let mine = &listed["conversations"][0];
        assert_eq!((&mine["last_active"], &mine["message_count"]), (&Value::Null, &Value::Null), "{mine:#}");
        env.run(&["resume", "mine", "--target", "codex"]).success();
        let prompt = fs_err::read_to_string(env.project().join(".carryover/RESUME.md")).unwrap();
        assert!(!prompt.contains("Last active:") && !prompt.contains("Messages:"), "{prompt}");
    }
}

#[test]
fn a_prompt_tells_the_last_messages_whole_and_the_others_in_a_line() {
    let env = saved_env();
    env.run(&["config", "set", "conversations.recent_messages", "2"]).success();
    env.run(&["resume", "calculator", "--target", "codex", "--prompt"]).success();
    let prompt = fs_err::read_to_string(env.project().join(".carryover/RESUME.md")).unwrap();
    assert!(prompt.starts_with("Resumed from conversations/2026-11-15/001-debug-fix-the-calculator.\n"), "{prompt}");
    let (older, last) = prompt.split_once("### The last messages").unwrap();
    assert!(older.contains("- User: \"Please fix the bug in calc.py"), "{older}");
    assert!(last.contains("> Good. Then the changelog, please.") && !last.contains("fix the bug"), "{last}");
    // A session that was begun with it goes on with the same conversation.
    let small = env.run(&["resume", "calculator", "--target", "codex", "--prompt", "--tokens", "10"]);
    assert_eq!(small.code, Some(4), "{small}");
}

#[test]
fn a_session_that_began_with_the_prompt_is_of_the_same_thread() {
    let env = saved_env();
    env.run(&["resume", "calculator", "--target", "claude-code", "--prompt"]).success();
    let prompt = fs_err::read_to_string(env.project().join(".carryover/RESUME.md")).unwrap();
    let answer = json!([{ "type": "text", "text": "The changelog is next." }]);
    write_session(&env, "bbbbbbbb-0000-4000-8000-000000000001", &[("user", json!(prompt)), ("assistant", answer)]);
    let saved = env.json("save", &["save", "bbbbbbbb"]);
    assert_eq!(saved["continues"], "2026-11-15/001-debug-fix-the-calculator");
}

#[test]
fn old_histories_go_and_documents_stay() {
    let env = saved_env();
    let before = env.files();
    let dry =
        env.json("conversations-prune", &["conversations", "prune", "--before", "2026-11-15T09:00:00Z", "--dry-run"]);
    assert_eq!((dry["pruned"].as_array().unwrap().len(), env.files() == before), (1, true), "{dry}");
    let unasked = env.run(&["conversations", "prune", "--before", "2026-11-16"]);
    assert_eq!((unasked.code, env.files() == before), (Some(64), true), "{unasked}");
    let pruned = env.json("conversations-prune", &["conversations", "prune", "--before", "2026-11-16", "--yes"]);
    assert_eq!(pruned["pruned"].as_array().unwrap().len(), 2);
    let names: Vec<String> = env
        .files()
        .iter()
        .filter(|(path, _)| path.starts_with(env.project().join("conversations")))
        .map(|(path, _)| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(names, ["session.json", "debug.md", "session.json", "plan.md"]);
    // The agent still has the session, so it goes on from that.
    env.run(&["resume", "calculator", "--target", "codex"]).success();
}

#[test]
fn what_others_wrote_is_read_or_told_and_never_followed() {
    let env = TestEnv::new();
    let place = "calc/conversations/2025-11-22";
    let seed = json!({ "version": "1.0", "conversation_id": "001-brainstorm-api-design", "conversation_type": "brainstorm",
        "status": "active", "created_at": "2025-11-22T10:30:00Z", "last_active": "2025-11-22T11:45:00Z", "message_count": 2,
        "agent_config": { "command": "/../../../etc/passwd", "system_prompt_hash": "sha256:abc123", "model": "m",
        "tools": ["mcp__cortext__search_workspace"] }, "context_summary": "leaning toward REST" });
    env.write(&format!("{place}/001-brainstorm-api-design/.session/session.json"), &seed.to_string());
    env.write(
        &format!("{place}/001-brainstorm-api-design/.session/messages.jsonl"),
        "{\"role\": \"user\", \"content\": \"Let's brainstorm API design\", \"timestamp\": \"2025-11-22T10:30:00Z\"}\nbroken\n\
         {\"role\": \"assistant\", \"content\": \"Great!\", \"timestamp\": \"2025-11-22T10:30:15Z\"}\n",
    );
    env.write(&format!("{place}/002-x/.session/session.json"), "{");
    env.write(&format!("{place}/003-y/.session/session.json"), r#"{"version":"9.0","conversation_type":"plan"}"#);
    env.write(&format!("{place}/004-z/.session/session.json"), r#"{"conversation_type":"../../x"}"#);
    let listed = env.run(&["conversations"]).success();
    assert!(listed.stdout.contains("001-brainstorm-api-design") && listed.stdout.contains("leaning toward REST"));
    for words in ["it ends in the middle", "it is of a later version", "its type is no word"] {
        assert!(listed.stderr.contains(words), "{listed}");
    }
    let said = env.run(&["resume", "api design", "--target", "claude-code"]).success();
    assert!(said.stderr.contains("names no server for tools that it had: cortext"), "{said}");
    assert!(said.stderr.contains("carried over"), "{said}");
}

#[test]
fn shells_know_what_is_kept() {
    let env = saved_env();
    for typed in [&["resume", "001-"] as &[&str], &["conversations", "show", "001-"]] {
        let mut command = env.command(&["--", "carryover"]);
        command.args(typed).env("COMPLETE", "bash").env("_CLAP_IFS", "\n");
        command.env("_CLAP_COMPLETE_INDEX", typed.len().to_string());
        let said = env.said(command.output().unwrap()).success();
        assert!(said.stdout.contains("001-debug-fix-the-calculator"), "{typed:?} {said}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_that_a_clone_brings_is_not_followed() {
    use std::os::unix::fs::symlink;
    let env = TestEnv::new();
    env.write("private.md", "# The keys of the house\n");
    env.write("calc/conversations/2025-11-22/001-plan-a/notes.txt", "x");
    env.write("calc/conversations/2025-11-22/002-plan-b/plan.md", "# B\n");
    let place = env.project().join("conversations/2025-11-22");
    symlink(env.home().join("private.md"), place.join("001-plan-a/plan.md")).unwrap();
    symlink(env.home(), place.join("002-plan-b/.session")).unwrap();
    env.write("messages.jsonl", "{\"role\":\"user\",\"content\":\"the keys\"}\n");
    let said = env.run(&["conversations"]).success();
    assert!(said.stdout.contains("002-plan-b") && !said.stdout.contains("keys"), "{said}");
    let resumed = env.run(&["resume", "001-plan-a", "--target", "codex"]);
    assert_eq!(resumed.code, Some(2), "{resumed}");
    env.run(&["resume", "002-plan-b", "--target", "codex"]).success();
    let prompt = fs_err::read_to_string(env.project().join(".carryover/RESUME.md")).unwrap();
    assert!(prompt.contains("# B") && !prompt.contains("keys"), "{prompt}");
}
