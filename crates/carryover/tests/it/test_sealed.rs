//! Conversations whose messages are sealed.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{CLAUDE, Said, TestEnv, append_record, check_schema, write_session};

const WORDS: &str = "correct horse battery staple";
const KEY: &str = "age1sd7h32wmmdema7mq3z2ptdq8ksnheu06c3klue926z6gtr5ph9lqlark8v";
const SECRET_KEY: &str = "AGE-SECRET-KEY-1X0JGZ5D0YG9RLZ5GHFW39AMSCV6NLZJSRXTHAEXC7A9WVSGMNUPQX0J7JD\n";
const OTHER_KEY: &str = "age1sv9khr59u275360lyu8a9xtegxa95ek6tyu7gjhz8suty308949qp03yqc";
const OTHER_SECRET_KEY: &str = "AGE-SECRET-KEY-1J2ZJJMPW6SXUL4374C2RXM6ZV3YVHU7JUXFVPHKVZDVGJ9EPVD5Q738U4J\n";

/// Words of the bundled session: of its prompts, its replies and what its tools gave back.
const SAID: [&str; 4] = ["fix the bug", "The icon", "changelog", "AssertionError"];

fn sender() -> TestEnv {
    let env = TestEnv::with_sessions();
    env.write("key", SECRET_KEY);
    env.write("other-key", OTHER_SECRET_KEY);
    env
}

fn save(env: &TestEnv, args: &[&str]) -> Value {
    env.json("save", &[&["save"], args].concat())
}

fn seal(env: &TestEnv, args: &[&str]) -> Value {
    save(env, &[&[CLAUDE, "--encrypt", "--recipient", KEY], args].concat())
}

fn folder(saved: &Value) -> PathBuf {
    PathBuf::from(saved["folder"].as_str().unwrap())
}

fn sealed_file(saved: &Value) -> PathBuf {
    folder(saved).join(".session/messages.jsonl.age")
}

fn go_on(env: &TestEnv, prompt: &str) {
    append_record(
        env,
        &json!({ "type": "user", "parentUuid": "b7144843-8586-4407-a37b-b369bf0d8e95", "isSidechain": false,
            "userType": "external", "uuid": "00000000-0000-4000-8000-00000000user", "cwd": env.project(),
            "sessionId": "d3a03cdd-c689-41e6-9587-86a6223f5251", "timestamp": "2026-11-15T09:30:00.000Z",
            "version": "2.1.0", "message": { "role": "user", "content": prompt } }),
    );
}

/// Fails where words of the session can be read in the project, in a file's content or name.
fn check_nothing_said(env: &TestEnv, said: &[&str]) {
    for (path, bytes) in env.files().iter().filter(|(path, _)| path.starts_with(env.project())) {
        let text = format!("{}\n{}", path.display(), String::from_utf8_lossy(bytes)).to_lowercase();
        for words in said {
            let words = words.to_lowercase();
            assert!(!text.contains(&words) && !text.contains(&words.replace(' ', "-")), "{words}: {text}");
        }
    }
}

/// Another machine: the repository and the keys, and nothing else of it.
fn clone_to_other(env: &TestEnv) -> TestEnv {
    let other = TestEnv::new();
    let kept = |path: &PathBuf| path.starts_with(env.project()) || path.ends_with("key") || path.ends_with("other-key");
    for (path, bytes) in env.files().into_iter().filter(|(path, _)| kept(path)) {
        let place = other.home().join(path.strip_prefix(env.home()).unwrap());
        fs_err::create_dir_all(place.parent().unwrap()).unwrap();
        fs_err::write(place, bytes).unwrap();
    }
    other
}

fn check_nothing_left(env: &TestEnv) {
    for agent in [".codex", ".claude"] {
        assert!(!env.home().join(agent).exists(), "{agent}");
    }
    let staging = env.home().join(".carryover/unsealing");
    assert!(!staging.exists() || fs_err::read_dir(staging).unwrap().count() == 0);
}

#[test]
fn what_was_said_is_sealed_and_what_is_readable_is_told() {
    let env = sender();
    let words = ["save", CLAUDE, "--type", "plan", "--encrypt", "--recipient", KEY];
    insta::assert_snapshot!(env.run(&words), @r"
    exit code 0
    --- stderr
    saved 001-plan-claude-code
      wrote     ~/calc/conversations/2026-11-15/001-plan-claude-code/plan.md
      wrote     ~/calc/conversations/2026-11-15/001-plan-claude-code/.session/session.json
      wrote     ~/calc/conversations/2026-11-15/001-plan-claude-code/.session/messages.jsonl.age
      messages  6
      left out  1 image
      sealed    what was said, the last request and the title of the session
      readable  topic, type, status, times, counts, agent, model, tools, branch and folder
    hint: `carryover resume 001-plan-claude-code` goes on with it, `--target AGENT` elsewhere
    hint: `carryover undo 00000000` takes it back
    ");
    check_nothing_said(&env, &SAID);
    let place = env.project().join("conversations/2026-11-15/001-plan-claude-code");
    assert!(fs_err::read(place.join(".session/messages.jsonl.age")).unwrap().starts_with(b"age-encryption.org/v1\n"));
    assert!(!place.join(".session/messages.jsonl").exists());
    insta::assert_snapshot!(fs_err::read_to_string(place.join("plan.md")).unwrap(), @r"
    # plan with Claude Code

    - Type: plan
    - Begun: 2026-11-15T09:00:07.000Z
    - Last active: 2026-11-15T09:03:34.814Z
    - Messages: 6
    - Agent: Claude Code, `claude-opus-5-5`
    - Go on with it: `carryover resume 001-plan-claude-code`

    ## Conversation

    It is sealed: what was said is encrypted in `.session/messages.jsonl.age`. Whoever has the key reads it with `carryover conversations show 001-plan-claude-code --unseal`, or decrypts the file with any program that knows age's format.
    ");
    let session: Value = serde_json::from_slice(&fs_err::read(place.join(".session/session.json")).unwrap()).unwrap();
    check_schema("conversation", &session);
    assert_eq!((&session["sealed"], &session["title"]), (&json!(true), &json!("plan with Claude Code")));
    insta::assert_snapshot!(env.run(&["conversations"]), @r"
    exit code 0
    --- stdout
    plan with Claude Code  plan  paused
      001-plan-claude-code  56 min ago · Claude Code · sealed
    ");
    let shown = env.json("conversation-show", &["conversations", "show", "001-plan"]);
    assert_eq!((&shown["saves"][0]["sealed"], &shown["saves"][0]["has_messages"]), (&json!(true), &json!(true)));
}

#[test]
fn saving_again_stays_sealed_and_rewrites_nothing_that_has_not_changed() {
    let env = sender();
    let first = seal(&env, &["--topic", "calc"]);
    let sealed = fs_err::read(sealed_file(&first)).unwrap();
    let again = save(&env, &[CLAUDE, "--status", "completed"]);
    assert_eq!((&again["sealed"], &again["added"], &again["folder"]), (&json!(true), &json!(0), &first["folder"]));
    assert!(fs_err::read(sealed_file(&first)).unwrap() == sealed);
    go_on(&env, "buy the competitor");
    // Without the flag and without a key: those that it was sealed for are known.
    let more = save(&env, &[CLAUDE]);
    assert_eq!((&more["sealed"], &more["added"]), (&json!(true), &json!(1)));
    assert!(fs_err::read(sealed_file(&first)).unwrap() != sealed);
    check_nothing_said(&env, &[&SAID[..], &["buy the competitor"]].concat());
    let key = env.home().join("key");
    let shown = env.run(&["conversations", "show", "calc", "--identity", key.to_str().unwrap()]).success();
    assert!(
        shown.stdout.contains("> buy the competitor") && shown.stdout.contains("> Good. Then the changelog"),
        "{shown}"
    );
    // Taken back one after the other, nothing is left of it, and what was sealed is so in between.
    env.run(&["undo", more["undo_id"].as_str().unwrap()]).success();
    assert!(fs_err::read(sealed_file(&first)).unwrap() == sealed);
    for _ in 0..2 {
        check_nothing_said(&env, &SAID);
        env.run(&["undo"]).success();
    }
    assert!(!env.project().join("conversations").exists());
}

#[test]
fn conversation_in_the_open_is_sealed_from_then_on_and_what_was_readable_is_told() {
    let env = sender();
    let open = save(&env, &[CLAUDE, "--topic", "calc"]);
    let sealed = seal(&env, &[]);
    assert_eq!((&sealed["folder"], &sealed["is_new"]), (&open["folder"], &json!(false)));
    assert!(sealed["warnings"].to_string().contains("in the open until now"), "{sealed:#}");
    check_nothing_said(&env, &SAID);
    assert!(!folder(&sealed).join(".session/messages.jsonl").exists());
}

#[test]
fn document_that_was_written_in_by_hand_is_not_left_open_beside_what_is_sealed() {
    for saves_between in [false, true] {
        let env = sender();
        let document = folder(&save(&env, &[CLAUDE, "--topic", "calc"])).join("conversation.md");
        let mine = fs_err::read_to_string(&document).unwrap() + "note\n";
        fs_err::write(&document, &mine).unwrap();
        if saves_between {
            save(&env, &[CLAUDE]);
        }
        let before = env.files();
        for more in [&[] as &[&str], &["--dry-run"]] {
            let said = env.run(&[&["save", CLAUDE, "--encrypt", "--recipient", KEY], more].concat());
            insta::allow_duplicates! {
                insta::assert_snapshot!(said, @r"
    exit code 3
    --- stderr
    error: [HOME]/calc/conversations/2026-11-15/001-conversation-calc/conversation.md was written in by hand, and what was said would stay readable in it
    hint: nothing was written: move it out of the project, or delete it, and save again
    ");
            }
            assert!(env.files() == before);
        }
        // Out of the way, it keeps nobody from sealing.
        fs_err::rename(&document, env.home().join("mine.md")).unwrap();
        seal(&env, &[]);
        check_nothing_said(&env, &SAID);
        // Beside what is sealed, words of somebody else stay, and are said to; quotes do not.
        let text = fs_err::read_to_string(&document).unwrap() + "My own words.\n";
        fs_err::write(&document, &text).unwrap();
        let sealed = seal(&env, &[]);
        assert!(sealed["warnings"].to_string().contains("written in by hand and stays as it is"), "{sealed:#}");
        assert_eq!(fs_err::read_to_string(&document).unwrap(), text);
        fs_err::write(&document, &mine).unwrap();
        assert_eq!(env.run(&["save", CLAUDE, "--encrypt", "--recipient", KEY]).code, Some(3));
    }
}

#[test]
fn no_file_that_is_missing_or_changed_makes_it_fall_back_to_plain_text() {
    for broken in ["the sealed file is gone", "the mark is gone", "both are gone, on this machine"] {
        let env = sender();
        let first = seal(&env, &["--topic", "calc"]);
        let session = folder(&first).join(".session/session.json");
        if broken != "the mark is gone" {
            fs_err::remove_file(sealed_file(&first)).unwrap();
        }
        if broken != "the sealed file is gone" {
            let text = fs_err::read_to_string(&session).unwrap().replace("\"sealed\": true", "\"sealed\": false");
            fs_err::write(&session, text).unwrap();
        }
        go_on(&env, "buy the competitor");
        assert_eq!(save(&env, &[CLAUDE])["sealed"], true, "{broken}");
        check_nothing_said(&env, &[&SAID[..], &["buy the competitor"]].concat());
    }
}

#[test]
fn session_that_was_sealed_is_not_saved_in_the_open_beside_a_damaged_file() {
    let env = sender();
    let first = seal(&env, &["--topic", "calc"]);
    fs_err::write(folder(&first).join(".session/session.json"), "{").unwrap();
    go_on(&env, "buy the competitor");
    let refused = env.run(&["save", CLAUDE]);
    assert!(refused.code == Some(3) && refused.stderr.contains("--passphrase-file"), "{refused}");
    assert_eq!(seal(&env, &[])["sealed"], true);
    check_nothing_said(&env, &[&SAID[..], &["buy the competitor"]].concat());
}

#[test]
fn sealed_conversation_goes_on_elsewhere_with_its_key_and_stays_sealed_there() {
    let env = sender();
    seal(&env, &["--type", "plan", "--topic", "calculator"]);
    let other = clone_to_other(&env);
    let key = other.home().join("key");
    let key = key.to_str().unwrap();
    for target in ["codex", "claude-code"] {
        let resumed = other.resume_json(&["resume", "calculator", "--target", target, "--identity", key]);
        let session = resumed["session_id"].as_str().unwrap();
        let shown = other.run(&["show", session, "--full"]).success();
        // The last request is in the opening, too, which only who has the key can know.
        let summary = "Summary: Please fix the bug";
        for words in ["You are continuing a previous conversation", summary, "add(1, 2) is -1", "AssertionError"] {
            assert!(shown.stdout.contains(words), "{target}: {words}\n{shown}");
        }
        assert!(shown.stdout.contains("[HOME]/calc/icon.png"), "{shown}");
        check_nothing_said(&other, &SAID);
        assert_eq!(fs_err::read_dir(other.home().join(".carryover/unsealing")).unwrap().count(), 0);
        // The next save is of the same conversation, so it is sealed; for whom is not known here, and not guessed.
        let refused = other.run(&["save", session]);
        assert!(refused.code == Some(64) && refused.stderr.contains("sealed for keys that are not known"), "{refused}");
        check_nothing_said(&other, &SAID);
        let again = save(&other, &[session, "--encrypt", "--recipient", KEY]);
        assert_eq!((&again["continues"], &again["sealed"]), (&json!("2026-11-15/001-plan-calculator"), &json!(true)));
        check_nothing_said(&other, &SAID);
        other.run(&["undo", again["undo_id"].as_str().unwrap()]).success();
    }
    // What was carried from it once is known again: the copy that nobody has used gives way to the next.
    let n_sessions = |env: &TestEnv| env.json("list", &["list", "--source", "codex"])["total"].clone();
    let key = key.to_owned();
    let other = other.var("CARRYOVER_SEED", "2000000");
    let copy = other.resume_json(&["resume", "calculator", "--target", "codex", "--identity", &key]);
    assert_eq!(n_sessions(&other), 1);
    // What was opened for it is gone by now, and it goes on all the same.
    let back = other.resume_json(&["resume", copy["session_id"].as_str().unwrap(), "--target", "claude-code"]);
    let shown = other.run(&["show", back["session_id"].as_str().unwrap(), "--full"]).success();
    assert!(shown.stdout.contains("add(1, 2) is -1") && shown.stdout.contains("AssertionError"), "{shown}");
}

#[test]
fn saves_of_a_sealed_thread_are_sealed_for_the_same_keys() {
    let env = sender();
    let first = seal(&env, &["--type", "debug", "--topic", "calculator"]);
    let resumed = env.resume_json(&["resume", "001-debug-calculator", "--target", "codex"]);
    let second = save(&env, &[resumed["session_id"].as_str().unwrap()]);
    assert_eq!((&second["sealed"], &second["conversation_type"]), (&json!(true), &json!("debug")));
    assert_eq!(second["thread"], "2026-11-15/001-debug-calculator");
    // The topic is the user's own; of one that has none, nothing is kept that was said.
    assert_eq!((&second["title"], &second["conversation_id"]), (&json!("calculator"), &json!("002-debug-calculator")));
    assert_ne!(first["folder"], second["folder"]);
    check_nothing_said(&env, &SAID);
    let listed = env.json("conversations", &["conversations"]);
    assert_eq!((&listed["total"], &listed["conversations"][0]["saves"]), (&json!(1), &json!(2)));
}

#[test]
fn passphrase_seals_and_only_the_same_one_seals_again() {
    let env = sender().var("CARRYOVER_PASSPHRASE", WORDS);
    let first = save(&env, &[CLAUDE, "--encrypt", "--topic", "calc"]);
    let sealed = fs_err::read(sealed_file(&first)).unwrap();
    go_on(&env, "buy the competitor");
    env.write("wrong", "another\n");
    env.write("right", &format!("{WORDS}\nmore\n"));
    let [wrong, right] = ["wrong", "right"].map(|name| env.home().join(name).display().to_string());
    let said = env.run(&["save", CLAUDE, "--passphrase-file", &wrong]);
    insta::assert_snapshot!(said, @r"
    exit code 3
    --- stderr
    error: could not open [HOME]/calc/conversations/2026-11-15/001-conversation-calc/.session/messages.jsonl.age
    caused by: the passphrase does not fit
    hint: nothing was written; try it again
    ");
    assert!(fs_err::read(sealed_file(&first)).unwrap() == sealed);
    assert_eq!(save(&env, &[CLAUDE, "--passphrase-file", &right])["added"], 1);
    // A machine that knows no digest finds out with the passphrase that nothing has changed.
    let sealed = fs_err::read(sealed_file(&first)).unwrap();
    fs_err::remove_dir_all(env.home().join(".carryover")).unwrap();
    save(&env, &[CLAUDE]);
    assert!(fs_err::read(sealed_file(&first)).unwrap() == sealed);
    // Explicitly, it gets another lock.
    let relocked = save(&env, &[CLAUDE, "--encrypt", "--passphrase-file", &wrong]);
    assert_eq!(relocked["sealed"], true);
    let shown = env.run(&["conversations", "show", "calc", "--passphrase-file", &wrong]).success();
    assert!(shown.stdout.contains("> buy the competitor"), "{shown}");
}

#[test]
fn configured_keys_seal_where_none_is_named() {
    let env = sender();
    let wrong = env.run(&["config", "set", "conversations.recipients", "age1none"]);
    assert!(wrong.code == Some(64) && wrong.stderr.contains("a list of public keys of age or ssh"), "{wrong}");
    env.run(&["config", "set", "conversations.recipients", &format!("{KEY},{OTHER_KEY}")]).success();
    save(&env, &[CLAUDE, "--encrypt", "--topic", "calc"]);
    for key in ["key", "other-key"] {
        let key = env.home().join(key);
        let shown = env.run(&["conversations", "show", "calc", "--identity", key.to_str().unwrap()]).success();
        assert!(shown.stdout.contains("fix the bug"), "{shown}");
    }
}

#[test]
fn without_the_key_and_with_another_or_a_damaged_file_it_is_told_and_nothing_is_written() {
    let env = sender();
    let sealed = seal(&env, &["--topic", "calculator"]);
    let inside = sealed_file(&sealed).strip_prefix(env.home()).unwrap().to_owned();
    let whole = fs_err::read(sealed_file(&sealed)).unwrap();
    let mut changed = whole.clone();
    *changed.last_mut().unwrap() ^= 1;
    let cut = whole[..whole.len() - 40].to_vec();
    let cases: [(&str, &[u8], &str, &str); 5] = [
        ("", &whole, "it is encrypted for keys", "name your key: `--identity"),
        ("other-key", &whole, "for other keys than those that were tried", "name another key"),
        ("key", &cut, "cut short, or changed", "nothing was written"),
        ("key", &changed, "changed after it had been encrypted", "nothing was written"),
        ("key", b"something else", "is not, or no longer, in age's format", "nothing was written"),
    ];
    for (key, bytes, reason, hint) in cases {
        let other = clone_to_other(&env);
        fs_err::write(other.home().join(&inside), bytes).unwrap();
        let before = other.files();
        let path = other.home().join(key).display().to_string();
        let mut args = vec!["resume", "calculator", "--target", "codex"];
        if !key.is_empty() {
            args.extend(["--identity", &path]);
        }
        let said: Said = other.run(&args);
        assert!(said.code == Some(3) && said.stderr.contains(reason) && said.stderr.contains(hint), "{reason}: {said}");
        assert!(said.stderr.contains("messages.jsonl.age") || key.is_empty(), "{said}");
        assert!(other.files() == before, "{reason}");
        check_nothing_left(&other);
    }
}

#[test]
fn passphrase_that_is_wrong_or_missing_is_told_and_nothing_is_written() {
    let env = sender().var("CARRYOVER_PASSPHRASE", WORDS);
    save(&env, &[CLAUDE, "--encrypt", "--topic", "calculator"]);
    for (words, reason) in [("another", "the passphrase does not fit"), ("", "none was given")] {
        let other = clone_to_other(&env).var("CARRYOVER_PASSPHRASE", words);
        let before = other.files();
        let said = other.run(&["resume", "calculator", "--target", "codex"]);
        assert!(said.code == Some(3) && said.stderr.contains(reason) && said.stderr.contains("hint:"), "{said}");
        assert!(other.files() == before);
        check_nothing_left(&other);
    }
    let other = clone_to_other(&env).var("CARRYOVER_PASSPHRASE", WORDS);
    other.resume_json(&["resume", "calculator", "--target", "codex"]);
    // A new one needs words as well, and asks nobody in a pipe.
    let none = sender().run(&["save", CLAUDE, "--encrypt"]);
    assert!(none.code == Some(3) && none.stderr.contains("--passphrase-file"), "{none}");
}

#[test]
fn pruning_leaves_what_is_sealed_and_says_so() {
    let env = sender();
    let sealed = seal(&env, &["--topic", "calc"]);
    let prune = ["conversations", "prune", "--before", "2027-01-01", "--yes"];
    let pruned = env.json("conversations-prune", &prune);
    assert_eq!((&pruned["pruned"], &pruned["freed_bytes"]), (&json!([]), &json!(0)));
    assert!(pruned["warnings"].to_string().contains("001-conversation-calc is sealed and stays"), "{pruned:#}");
    assert!(env.run(&prune).success().stderr.contains("001-conversation-calc is sealed and stays"));
    assert!(sealed_file(&sealed).exists());
}

#[test]
fn sealed_file_that_is_gone_is_an_error_where_it_is_to_be_opened() {
    let env = sender();
    let sealed = seal(&env, &["--topic", "calc"]);
    fs_err::remove_file(sealed_file(&sealed)).unwrap();
    env.run(&["conversations", "show", "calc"]).success();
    insta::assert_snapshot!(env.run(&["conversations", "show", "calc", "--unseal"]), @r"
    exit code 2
    --- stderr
    error: ~/calc/conversations/2026-11-15/001-conversation-calc/.session/messages.jsonl.age is not here, and nothing else holds what was said
    hint: if it was committed, `git log -- ~/calc/conversations/2026-11-15/001-conversation-calc/.session/messages.jsonl.age` tells where git has it
    ");
}

#[test]
fn what_was_typed_behind_a_command_stays_sealed_with_it() {
    let env = sender();
    env.write("calc/.claude/commands/workspace.plan.md", "Make a plan for: $ARGUMENTS\n");
    let typed = "<command-message>workspace.plan</command-message>\n<command-name>/workspace.plan</command-name>\n\
                 <command-args>the secret move</command-args>";
    let answer = json!([{ "type": "text", "text": "Where to?" }]);
    write_session(&env, "aaaaaaaa-0000-4000-8000-000000000001", &[("user", json!(typed)), ("assistant", answer)]);
    let saved = save(&env, &["aaaaaaaa", "--encrypt", "--recipient", KEY]);
    let sealed = fs_err::read(sealed_file(&saved)).unwrap();
    save(&env, &["aaaaaaaa", "--status", "completed"]);
    assert_eq!(fs_err::read(sealed_file(&saved)).unwrap(), sealed);
    let conversations = env.project().join("conversations");
    for (path, bytes) in env.files().iter().filter(|(path, _)| path.starts_with(&conversations)) {
        assert!(!String::from_utf8_lossy(bytes).contains("secret move"), "{}", path.display());
    }
}
