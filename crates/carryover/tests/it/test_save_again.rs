//! Sessions that are saved again, and saves that are taken back: the last one, and nothing of anybody else's.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{CLAUDE, CODEX, TestEnv, append_record, slug, write_session};

fn save(env: &TestEnv, args: &[&str]) -> Value {
    env.json("save", &[&["save"], args].concat())
}

fn undo(env: &TestEnv, args: &[&str]) -> Value {
    env.json("undo", &[&["undo"], args].concat())
}

fn folder(saved: &Value) -> PathBuf {
    PathBuf::from(saved["folder"].as_str().unwrap())
}

fn document(saved: &Value) -> PathBuf {
    folder(saved).join("conversation.md")
}

fn read(saved: &Value, file: &str) -> String {
    fs_err::read_to_string(folder(saved).join(file)).unwrap()
}

/// The user says something more in the session of Claude Code.
fn go_on(env: &TestEnv, prompt: &str) {
    append_record(
        env,
        &json!({ "type": "user", "parentUuid": "b7144843-8586-4407-a37b-b369bf0d8e95", "isSidechain": false,
            "userType": "external", "uuid": format!("00000000-0000-4000-8000-{prompt}"), "cwd": env.project(),
            "sessionId": "d3a03cdd-c689-41e6-9587-86a6223f5251", "timestamp": "2026-11-15T09:30:00.000Z",
            "version": "2.1.0", "message": { "role": "user", "content": prompt } }),
    );
}

/// Somebody writes a line at the end of a document.
fn write_in(saved: &Value, line: &str) -> String {
    let text = format!("{}\n{line}\n", fs_err::read_to_string(document(saved)).unwrap());
    fs_err::write(document(saved), &text).unwrap();
    text
}

#[test]
fn words_that_somebody_wrote_outlast_a_save_and_its_undo() {
    for grows in [false, true] {
        let env = TestEnv::with_sessions();
        let first = save(&env, &[CLAUDE]);
        let mine = write_in(&first, "We went with REST.");
        let messages = read(&first, ".session/messages.jsonl");
        if grows {
            go_on(&env, "one more thing");
        }
        save(&env, &[CLAUDE]);
        assert_eq!(read(&first, "conversation.md").contains("one more thing"), grows);
        undo(&env, &[]);
        assert_eq!(
            (read(&first, "conversation.md"), read(&first, ".session/messages.jsonl")),
            (mine.clone(), messages)
        );
        // What is left is the first save, and a document that is the user's by now.
        let before = env.files();
        insta::allow_duplicates! {
            insta::assert_snapshot!(env.run(&["undo"]), @"
    exit code 3
    --- stderr
    error: [HOME]/calc/conversations/2026-11-15/001-conversation-please-fix-the-bug-in-calc-py-and-add-a-test/conversation.md has been changed since it was written
    hint: `carryover undo 00000000 --force` takes back the rest, and leaves the document
    ");
        }
        assert_eq!(env.files(), before);
        let forced = env.run(&["undo", "--force"]).success();
        assert!(forced.stderr.contains("was written in by hand, and stays"), "{forced}");
        assert_eq!(read(&first, "conversation.md"), mine);
        assert!(!folder(&first).join(".session").exists());
    }
}

#[test]
fn undo_takes_back_the_last_save_and_not_the_last_conversation() {
    let env = TestEnv::with_sessions();
    let first = save(&env, &[CLAUDE, "--topic", "one"]);
    let other = save(&env, &[CODEX, "--topic", "two"]);
    go_on(&env, "one more thing");
    let grown = env.files();
    let again = save(&env, &[CLAUDE]);
    assert_ne!(again["undo_id"], first["undo_id"]);
    // An earlier save is not taken back below a later one.
    let id = first["undo_id"].as_str().unwrap();
    let refused = env.run(&["undo", id]);
    assert_eq!(refused.code, Some(3), "{refused}");
    assert!(refused.stderr.contains("was saved again after that") && refused.stderr.contains("`carryover undo "));
    insta::assert_snapshot!(env.run(&["undo", "--list"]), @"
    exit code 0
    --- stdout
    00000002  just now     claude-code → conversation  one
      changes ~/calc/conversations/2026-11-15/001-conversation-one/.session/messages.jsonl
      changes ~/calc/conversations/2026-11-15/001-conversation-one/conversation.md
      changes ~/calc/conversations/2026-11-15/001-conversation-one/.session/session.json
    00000001  just now     codex → conversation  two
      removes ~/calc/conversations/2026-11-15/002-conversation-two/.session/messages.jsonl
      removes ~/calc/conversations/2026-11-15/002-conversation-two/conversation.md
      removes ~/calc/conversations/2026-11-15/002-conversation-two/.session/session.json
    00000000  just now     claude-code → conversation  one
      removes ~/calc/conversations/2026-11-15/001-conversation-one/.session/messages.jsonl
      removes ~/calc/conversations/2026-11-15/001-conversation-one/conversation.md
      removes ~/calc/conversations/2026-11-15/001-conversation-one/.session/session.json
    ");
    insta::assert_snapshot!(env.run(&["undo"]), @"
    exit code 0
    --- stderr
    took back the last save of 2026-11-15/001-conversation-one
      put back ~/calc/conversations/2026-11-15/001-conversation-one/.session/messages.jsonl
      put back ~/calc/conversations/2026-11-15/001-conversation-one/conversation.md
      put back ~/calc/conversations/2026-11-15/001-conversation-one/.session/session.json
    ");
    assert_eq!(env.files(), grown);
    assert!(folder(&other).exists());
    undo(&env, &[other["undo_id"].as_str().unwrap()]);
    undo(&env, &[id]);
    assert!(!env.project().join("conversations").exists());
}

#[test]
fn a_save_again_can_be_taken_back_by_its_id_and_leaves_the_saves_before_it() {
    let env = TestEnv::with_sessions();
    let mut stood = Vec::new();
    let mut ids = Vec::new();
    for prompt in ["the first thing", "the second thing", "the third thing"] {
        let saved = save(&env, &[CLAUDE, "--topic", "calc"]);
        stood.push([read(&saved, "conversation.md"), read(&saved, ".session/session.json")]);
        ids.push(saved["undo_id"].as_str().unwrap().to_owned());
        go_on(&env, prompt);
    }
    let saved = save(&env, &[CLAUDE]);
    undo(&env, &[saved["undo_id"].as_str().unwrap()]);
    for (id, stood) in ids.iter().zip(&stood).rev() {
        assert_eq!([read(&saved, "conversation.md"), read(&saved, ".session/session.json")], *stood);
        undo(&env, &[id]);
    }
    assert!(!folder(&saved).exists());
    let kept = env.home().join(".carryover/backups");
    assert!(!kept.exists() || fs_err::read_dir(kept).unwrap().count() == 0);
}

#[test]
fn a_save_of_a_conversation_that_came_with_a_clone_is_taken_back_too() {
    let env = TestEnv::with_sessions();
    save(&env, &[CLAUDE]);
    fs_err::remove_dir_all(env.home().join(".carryover")).unwrap();
    let before = env.files();
    go_on(&env, "one more thing");
    let grown = env.files();
    assert_ne!(grown, before);
    let again = save(&env, &[CLAUDE, "--status", "completed"]);
    undo(&env, &[again["undo_id"].as_str().unwrap()]);
    assert_eq!(env.files(), grown);
}

#[test]
fn a_document_that_somebody_wrote_in_keeps_its_save_from_being_taken_back() {
    let env = TestEnv::with_sessions();
    let saved = save(&env, &[CLAUDE]);
    go_on(&env, "one more thing");
    save(&env, &[CLAUDE]);
    let mine = write_in(&saved, "Mine.");
    let refused = env.run(&["undo"]);
    assert_eq!(refused.code, Some(3), "{refused}");
    assert!(refused.stderr.contains("has been changed since it was written\n"), "{refused}");
    assert_eq!(read(&saved, "conversation.md"), mine);
}

#[test]
fn an_undone_resume_leaves_the_conversation_as_it_stood() {
    let env = TestEnv::with_sessions();
    let saved = save(&env, &[CLAUDE, "--topic", "calculator"]);
    let before = env.files();
    let resume = ["resume", "001-conversation-calculator", "--target", "codex"];
    env.resume_json(&resume);
    // The second takes the place of the first, which nobody used.
    let again = env.command(&resume).arg("--fork").env("CARRYOVER_SEED", "2000000").output().unwrap();
    env.said(again).success();
    assert!(read(&saved, ".session/session.json").contains(r#""status": "active""#));
    undo(&env, &[]);
    assert_eq!(env.files(), before);
    // A brief goes with it as well.
    env.run(&["resume", "001-conversation-calculator", "--target", "codex", "--context-only"]).success();
    assert!(read(&saved, ".session/session.json").contains(r#""status": "active""#));
    undo(&env, &[]);
    assert_eq!(env.files(), before);
    // What somebody has changed since stays theirs.
    env.resume_json(&resume);
    let changed = read(&saved, ".session/session.json").replace("active", "completed");
    fs_err::write(folder(&saved).join(".session/session.json"), &changed).unwrap();
    let said = env.run(&["undo"]).success();
    assert!(said.stderr.contains("its status stays as it is"), "{said}");
    assert_eq!(read(&saved, ".session/session.json"), changed);
    // And a save can still be taken back after a resume, and under one.
    let again = save(&env, &[CLAUDE]);
    env.run(&resume).success();
    undo(&env, &[]);
    undo(&env, &[again["undo_id"].as_str().unwrap()]);
}

#[test]
fn a_save_that_was_cut_short_is_taken_back_and_what_stood_there_stands_again() {
    let env = TestEnv::with_sessions();
    let first = save(&env, &[CLAUDE, "--topic", "one"]);
    let session = read(&first, ".session/session.json");
    go_on(&env, "one more thing");
    let before = env.files();
    let again = save(&env, &[CLAUDE]);
    // As it is when the last of the files is not written yet.
    fs_err::write(folder(&first).join(".session/session.json"), session).unwrap();
    let journal = env.home().join(format!(".carryover/resumes/{}.json", again["undo_id"].as_str().unwrap()));
    let text = fs_err::read_to_string(&journal).unwrap();
    fs_err::write(&journal, text.replace(r#""state": "done""#, r#""state": "writing""#)).unwrap();
    let other = env.run(&["save", CODEX, "--topic", "two"]).success();
    assert!(other.stderr.contains("was cut short and was taken back"), "{other}");
    undo(&env, &[]);
    assert_eq!(env.files(), before);
}

#[test]
fn a_dry_run_says_what_it_would_do_and_offers_nothing_that_is_not_there() {
    let env = TestEnv::with_sessions();
    insta::assert_snapshot!(env.run(&["save", CLAUDE, "--topic", "calc", "--dry-run"]), @"
    exit code 0
    --- stderr
    would save 001-conversation-calc
      would write ~/calc/conversations/2026-11-15/001-conversation-calc/conversation.md
      would write ~/calc/conversations/2026-11-15/001-conversation-calc/.session/session.json
      would write ~/calc/conversations/2026-11-15/001-conversation-calc/.session/messages.jsonl
      messages  6
      left out  1 image
    ");
}

#[test]
fn saving_again_tells_the_files_that_changed_and_no_others() {
    let env = TestEnv::with_sessions();
    save(&env, &[CLAUDE, "--topic", "calc"]);
    insta::assert_snapshot!(env.run(&["save", CLAUDE]), @"
    exit code 0
    --- stderr
    saved again 001-conversation-calc
      wrote     nothing: all of it is there as it is
      messages  6, 0 lines new
      left out  1 image
    hint: `carryover resume 001-conversation-calc` goes on with it, `--target AGENT` elsewhere
    ");
    assert_eq!(save(&env, &[CLAUDE])["undo_id"], Value::Null);
    insta::assert_snapshot!(env.run(&["save", CLAUDE, "--status", "active"]), @"
    exit code 0
    --- stderr
    saved again 001-conversation-calc
      wrote     ~/calc/conversations/2026-11-15/001-conversation-calc/.session/session.json
      messages  6, 0 lines new
      left out  1 image
    hint: `carryover resume 001-conversation-calc` goes on with it, `--target AGENT` elsewhere
    hint: `carryover undo 00000001` takes it back
    ");
}

#[test]
fn what_is_completed_stays_so_until_something_new_is_said() {
    let env = TestEnv::with_sessions();
    save(&env, &[CLAUDE, "--status", "completed"]);
    assert_eq!(save(&env, &[CLAUDE])["status"], "completed");
    go_on(&env, "one more thing");
    let said = env.run(&["save", CLAUDE]).success();
    assert!(said.stderr.contains("it was completed, and is paused again: something new was said"), "{said}");
}

#[test]
fn what_a_save_again_does_not_change_is_told() {
    let env = TestEnv::with_sessions();
    let first = save(&env, &[CLAUDE, "--type", "plan", "--topic", "calc"]);
    let said = env.run(&["save", CLAUDE, "--type", "debug", "--topic", "The calculator"]).success();
    for words in ["its type stays `plan`", "its folder keeps its name, 001-plan-calc: only the title is another"] {
        assert!(said.stderr.contains(words), "{said}");
    }
    assert!(read(&first, "plan.md").starts_with("# The calculator\n"));
    let key = "age1sd7h32wmmdema7mq3z2ptdq8ksnheu06c3klue926z6gtr5ph9lqlark8v";
    let sealed = env.run(&["save", CLAUDE, "--encrypt", "--recipient", key, "--topic", "sealed"]).success();
    assert!(!sealed.stderr.contains("its title") && !sealed.stderr.contains("   git"), "{sealed}");
    assert!(sealed.stderr.contains("the name of its folder stays as it was, and what git has committed"), "{sealed}");
    // What was in the open before is so again.
    undo(&env, &[]);
    assert!(folder(&first).join(".session/messages.jsonl").exists());
    assert!(!folder(&first).join(".session/messages.jsonl.age").exists());
}

#[test]
fn nothing_is_put_into_a_strange_folder_where_nobody_can_be_asked() {
    let env = TestEnv::with_sessions();
    env.write("other/readme", "x");
    let before = env.files();
    let home = env.home();
    for (folder, args) in [
        (env.project(), &["save", CLAUDE, "--project", home.to_str().unwrap()] as &[&str]),
        (home.join("other"), &["save", CLAUDE]),
    ] {
        let refused = env.run_in(&folder, args);
        assert_eq!((refused.code, env.files() == before), (Some(64), true), "{refused}");
        assert!(refused.stderr.contains("nobody can be asked") && refused.stderr.contains("`--yes`"), "{refused}");
    }
    env.run_in(&home.join("other"), &["save", CLAUDE, "--yes"]).success();
}

#[test]
fn a_thread_that_is_in_use_keeps_the_messages_of_all_its_saves() {
    let env = TestEnv::with_sessions();
    save(&env, &[CLAUDE, "--topic", "calculator"]);
    let resumed = env.resume_json(&["resume", "001-conversation-calculator", "--target", "codex"]);
    let second = save(&env, &[resumed["session_id"].as_str().unwrap()]);
    let file = folder(&second).join(".session/session.json");
    let mut session: Value = serde_json::from_slice(&fs_err::read(&file).unwrap()).unwrap();
    session["last_active"] = json!("2026-11-15T09:52:00Z");
    fs_err::write(&file, session.to_string()).unwrap();
    let prune = ["conversations", "prune", "--before", "2026-11-15T09:30:00Z", "--dry-run"];
    assert_eq!(env.json("conversations-prune", &prune)["pruned"], json!([]));
}

#[test]
fn a_copy_of_another_agents_session_keeps_the_topic_and_tells_nobodys_words_as_its_own() {
    let env = TestEnv::with_sessions();
    let first = save(&env, &[CLAUDE, "--type", "plan", "--topic", "calculator"]);
    assert!(fs_err::read_to_string(folder(&first).join("plan.md")).unwrap().contains("\n**Claude Code** "));
    let resumed = env.resume_json(&["resume", "calculator", "--target", "codex"]);
    let second = save(&env, &[resumed["session_id"].as_str().unwrap()]);
    assert_eq!((&second["title"], &second["conversation_id"]), (&json!("calculator"), &json!("002-plan-calculator")));
    let document = fs_err::read_to_string(folder(&second).join("plan.md")).unwrap();
    assert!(document.contains("\n**Assistant**") && !document.contains("**Codex CLI**"), "{document}");
    assert!(document.contains("- Agent: Codex CLI"), "{document}");
    let again = save(&env, &[resumed["session_id"].as_str().unwrap(), "--topic", "calc"]);
    assert_eq!((&again["title"], &again["folder"]), (&json!("calc"), &second["folder"]));
    env.run(&["resume", "calc", "--target", "gemini-cli", "--prompt"]).success();
    let prompt = fs_err::read_to_string(env.project().join(".carryover/RESUME.md")).unwrap();
    assert!(prompt.contains("**Assistant**") && !prompt.contains("**Codex CLI**"), "{prompt}");
}

#[test]
fn words_that_fit_a_conversation_and_its_copies_mean_the_conversation() {
    let env = TestEnv::with_sessions();
    let said = [("user", json!("Please move the server to axum, one route at a time.")), ("assistant", json!("Sure."))];
    write_session(&env, "cccccccc-0000-4000-8000-000000000001", &said);
    save(&env, &["cccccccc", "--topic", "move to axum"]);
    env.resume_json(&["resume", "001-conversation-move-to-axum", "--target", "codex"]);
    fs_err::remove_file(find_session(&env, "cccccccc-0000-4000-8000-000000000001")).unwrap();
    let again = env.command(&["resume", "axum", "--target", "gemini-cli"]).env("CARRYOVER_SEED", "2000000").output();
    let again = env.said(again.unwrap()).success();
    assert!(again.stderr.contains("the conversation:\n001-conversation-move-to-axum"), "{again}");
    let listed = env.json("list", &["list", "--source", "gemini-cli"]);
    let from = &listed["sessions"][0]["carried_from"];
    assert_eq!(from["id"], "cccccccc-0000-4000-8000-000000000001", "{listed}");
}

#[cfg(unix)]
#[test]
fn a_session_that_came_in_a_capsule_is_told_by_its_own_id() {
    let sender = crate::test_capsule::env_with_git();
    let (capsule, _) = crate::test_capsule::export(&sender, "a.tar.zst", &[]);
    let env = TestEnv::new().var("PATH", "/usr/bin:/bin");
    env.run(&["import", capsule.to_str().unwrap(), "--target", "codex"]).success();
    let listed = env.json("list", &["list", "--source", "codex"]);
    let from = &listed["sessions"][0]["carried_from"];
    assert_eq!(from["id"], "d3a03cdd-c689-41e6-9587-86a6223f5251", "{listed}");
}

fn find_session(env: &TestEnv, id: &str) -> PathBuf {
    env.home().join(format!(".claude/projects/{}/{id}.jsonl", slug(env.project().to_str().unwrap())))
}

#[test]
fn the_last_request_is_no_command_to_the_client() {
    let env = TestEnv::with_sessions();
    let text = include_str!("../../../agents/src/claude_code/fixtures/2.1.325-compact-hooks.jsonl");
    let first: Value = serde_json::from_str(text.lines().find(|line| line.contains("\"cwd\"")).unwrap()).unwrap();
    let text = text.replace(first["cwd"].as_str().unwrap(), env.project().to_str().unwrap());
    let id = first["sessionId"].as_str().unwrap();
    env.write(&format!(".claude/projects/{}/{id}.jsonl", slug(env.project().to_str().unwrap())), &text);
    let saved = save(&env, &[id]);
    let session: Value = serde_json::from_str(&read(&saved, ".session/session.json")).unwrap();
    assert_eq!(session["context_summary"], "HKTUI-U3 after");
    env.run(&["resume", saved["conversation_id"].as_str().unwrap(), "--target", "codex", "--prompt"]).success();
    let prompt = fs_err::read_to_string(env.project().join(".carryover/RESUME.md")).unwrap();
    assert!(prompt.contains("\nSummary: HKTUI-U3 after\n") && !prompt.contains("exchange"), "{prompt}");
    let brief = env.run(&["brief", id]).success();
    let task = brief.stdout.split("## ").find(|section| section.starts_with("Task")).unwrap_or_default();
    assert!(!task.contains("/compact"), "{brief}");
}
