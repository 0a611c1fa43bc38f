//! `search`, `restore` and `forget`, as a user runs them.

use carryover_testkit::agents::LABS;

use crate::stores::store;
use crate::support::{CLAUDE, CODEX, TestEnv};

fn session_file(env: &TestEnv) -> std::path::PathBuf {
    let slug: String =
        env.project().display().to_string().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    env.home().join(format!(".claude/projects/{slug}/d3a03cdd-c689-41e6-9587-86a6223f5251.jsonl"))
}

#[test]
fn words_are_found_in_every_agents_sessions() {
    let env = TestEnv::with_sessions();
    let before = env.files();
    insta::assert_snapshot!(env.run(&["search", "mean", "empty"]), @"
    exit code 0
    --- stdout
    codex  01a1dcb4  1 h ago  ~/calc: mean() crashes on an empty list, see the picture. Let it return 0.
      user   mean() crashes on an empty list, see the picture. Let it return 0.
      carryover show 01a1dcb4-8ab4-7e10-b6d2-c8b20e08cdf8 --entry afa
    --- stderr
    found in 1 session; 2 sessions were searched
    ");
    insta::assert_snapshot!(env.run(&["search", "changelog", "-n", "1"]), @"
    exit code 0
    --- stdout
    claude-code  d3a03cdd  56 min ago  ~/calc: Please fix the bug in calc.py and add a test. The icon in the READ…
      user   Good. Then the changelog, please.
      agent  …is fine: it is red on purpose. Still open: the changelog.
      carryover show d3a03cdd-c689-41e6-9587-86a6223f5251 --entry 6102
    --- stderr
    found in 1 session; 2 sessions were searched
    ");
    insta::assert_snapshot!(env.run(&["search", "giraffe"]), @"
    exit code 0
    --- stderr
    no entry has these words; 2 sessions were searched
    ");
    assert_eq!(env.files(), before, "no store is touched");
    let found = env.json("search", &["search", "a"]);
    assert_eq!((found["total"].as_u64(), found["covered"].as_u64()), (Some(2), Some(2)));
    assert_eq!(env.json("search", &["search", "a", "--source", "codex"])["total"], 1);
    assert_eq!(env.json("search", &["search", "a", "--since", "1min"])["total"], 0);
    assert_eq!(env.json("search", &["search", "a", "--project", ".."])["total"], 0);
    let entry = found["sessions"][0]["entries"][0]["entry"].as_str().unwrap();
    let id = found["sessions"][0]["id"].as_str().unwrap();
    env.run(&["show", id, "--entry", entry]).success();
}

#[test]
fn a_search_without_words_or_sessions_says_so() {
    let env = TestEnv::new();
    assert_eq!(env.run(&["search"]).code, Some(64));
    insta::assert_snapshot!(env.run(&["search", "anything"]), @"
    exit code 0
    --- stderr
    no entry has these words; 0 sessions were searched
    ");
    assert_eq!(env.run(&["search", "x", "--since", "yesterday"]).code, Some(64));
}

#[test]
fn a_deleted_session_is_found_and_brought_back_as_it_was() {
    let env = TestEnv::with_sessions();
    let file = session_file(&env);
    env.run(&["search", "calc"]).success();
    let before = (env.files(), env.run(&["show", CLAUDE]).success().stdout);
    fs_err::remove_file(&file).unwrap();
    insta::assert_snapshot!(env.run(&["search", "icon", "readme"]), @"
    exit code 0
    --- stdout
    claude-code  d3a03cdd  56 min ago  ~/calc: Please fix the bug in calc.py and add a test. The icon in the READ…  deleted
      user   …fix the bug in calc.py and add a test. The icon in the README looks wrong too.
      carryover restore d3a03cdd-c689-41e6-9587-86a6223f5251
    --- stderr
    found in 1 session; 2 sessions were searched
    ");
    insta::assert_snapshot!(env.run(&["restore"]), @"
    exit code 0
    --- stdout
    claude-code  d3a03cdd  56 min ago  ~/calc: Please fix the bug in calc.py and add a test. The icon in the README looks w…
    --- stderr
    hint: `carryover restore ID` brings one back
    ");
    env.json("restore-list", &["restore"]);
    insta::assert_snapshot!(env.run(&["restore", CLAUDE]), @"
    exit code 0
    --- stdout
    carryover show d3a03cdd-c689-41e6-9587-86a6223f5251
    --- stderr
    restored claude-code session d3a03cdd-c689-41e6-9587-86a6223f5251, as it was
      ~/.claude/projects/[SLUG]-calc/d3a03cdd-c689-41e6-9587-86a6223f5251.jsonl
    hint: `carryover undo 00000000` takes it back
    ");
    assert_eq!(env.files(), before.0);
    assert_eq!(env.run(&["show", CLAUDE]).success().stdout, before.1);
    insta::assert_snapshot!(env.run(&["restore", CLAUDE]), @"
    exit code 64
    --- stderr
    error: session d3a03cdd-c689-41e6-9587-86a6223f5251 is still where it was: [HOME]/.claude/projects/[SLUG]-calc/d3a03cdd-c689-41e6-9587-86a6223f5251.jsonl
    hint: `carryover resume` goes on with it; `--project FOLDER` copies it into another folder
    ");
    insta::assert_snapshot!(env.run(&["restore"]), @"
    exit code 0
    --- stderr
    no session that the ledger knows was deleted
    ");
    env.run(&["undo"]).success();
    assert!(!file.exists());
}

#[test]
fn a_session_is_brought_back_into_another_folder() {
    let env = TestEnv::with_sessions();
    env.run(&["search", "calc"]).success();
    fs_err::remove_file(session_file(&env)).unwrap();
    fs_err::create_dir(env.home().join("other")).unwrap();
    let restored = env.command(&["restore", CLAUDE, "--project", "../other", "--json"]).output().unwrap();
    let restored: serde_json::Value = serde_json::from_slice(&restored.stdout).unwrap();
    crate::support::check_schema("restore", &restored);
    assert_eq!(restored["exact"], false);
    let list = env.json("restore-list", &["restore"]);
    assert_eq!(list["sessions"][0]["restored_as"], restored["session_id"]);
    env.run(&["show", restored["session_id"].as_str().unwrap()]).success();
}

/// What an agent would go on with is the same, and no other file has changed.
#[test]
fn every_agents_files_come_back_with_the_same_messages() {
    for lab in LABS.iter().filter(|lab| !lab.sample.is_database()) {
        let store = store(lab.id);
        // A conversation, one that is being written, and one with a record that cannot be read.
        for (what, env) in store.sound().into_iter().step_by(3).chain([("damage".to_owned(), store.damaged())]) {
            let path = env.home().join(store.path());
            if env.run(&["list", "--all"]).stdout.is_empty() {
                continue;
            }
            let id = env.json("list", &["list", "--all"])["sessions"][0]["id"].as_str().unwrap().to_owned();
            env.write("calc/other-file", "");
            env.run(&["search", "done"]).success();
            let look = || {
                let show = env.run(&["show", &id, "--full", "--json"]);
                let carry = env.run(&["resume", &id, "--target", "pi", "--dry-run", "--json"]);
                (show.stdout, carry.stdout)
            };
            let before = (env.files(), look());
            fs_err::remove_file(&path).unwrap();
            let restored = env.run(&["restore", &id, "--json"]);
            assert_eq!(restored.code, Some(0), "{}, {what}: {restored}", lab.id);
            assert_eq!(env.files(), before.0, "{}, {what}", lab.id);
            assert_eq!(look(), before.1, "{}, {what}", lab.id);
        }
    }
}

fn read_fixture(name: &str) -> String {
    let agents = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/src");
    fs_err::read_to_string(agents.join(name)).unwrap()
}

/// Its client begins a new file after each rewind.
#[test]
fn a_session_in_several_files_comes_back_with_all_of_them() {
    let env = TestEnv::new();
    let session = "01a1dd4e-28b8-7aa1-b342-b500b0f8e1b8";
    let files = [
        ("revert-base", String::new()),
        ("revert-middle", "_01a1dd4e-2bae-7300-9e69-99d3a14b12d6".to_owned()),
        ("revert", "_01a1dd4e-2d61-79c0-9876-b447afcf7a1d".to_owned()),
    ];
    for (fixture, part) in &files {
        let path = format!(".codex/sessions/2026/11/15/rollout-2026-11-15T03-44-10-{session}{part}.jsonl");
        env.write(&path, &read_fixture(&format!("codex/fixtures/0.166.0-{fixture}.jsonl")));
    }
    env.run(&["search", "prompt"]).success();
    let before = (env.files(), env.run(&["show", session, "--full"]).success().stdout);
    fs_err::remove_dir_all(env.home().join(".codex/sessions")).unwrap();
    let gone = env.files();
    env.run(&["restore", session]).success();
    assert_eq!(env.files(), before.0);
    assert_eq!(env.run(&["show", session, "--full"]).success().stdout, before.1);
    env.run(&["undo"]).success();
    assert_eq!(env.files(), gone);
}

#[test]
fn a_history_comes_back_without_the_log_that_stood_beside_it() {
    let env = TestEnv::new();
    env.write("calc/.aider.chat.history.md", &read_fixture("aider/fixtures/0.86.2-logged.md"));
    env.write("calc/.aider.llm.history", &read_fixture("aider/fixtures/0.86.2-logged.llm.history"));
    let list = env.json("list", &["list", "--all"]);
    let id = list["sessions"][0]["id"].as_str().unwrap();
    env.run(&["search", "calc"]).success();
    let (history, log) = (env.project().join(".aider.chat.history.md"), env.project().join(".aider.llm.history"));
    fs_err::remove_file(&history).unwrap();
    fs_err::remove_file(log).unwrap();
    env.run(&["restore", id]).success();
    assert!(history.exists());
}

#[test]
fn what_is_forgotten_is_gone_for_good() {
    let env = TestEnv::with_sessions();
    env.run(&["search", "calc"]).success();
    let refused = env.run(&["forget", CLAUDE]);
    insta::assert_snapshot!(refused, @"
    exit code 64
    --- stderr
    error: 1 session would be forgotten, and nobody can be asked
    hint: say so with `--yes`
    ");
    let said = env.run(&["forget", CLAUDE, "--yes"]).success();
    assert!(said.stderr.starts_with("forgot 1 session; the ledger is "), "{said}");
    assert!(said.stderr.contains("  claude-code d3a03cdd-c689-41e6-9587-86a6223f5251"), "{said}");
    assert_eq!(env.json("search", &["search", "a"])["total"], 1, "its store still holds it");
    insta::assert_snapshot!(env.run(&["forget", CLAUDE, "--yes"]), @"
    exit code 2
    --- stderr
    error: the ledger holds no session `d3a03cdd`
    hint: run `carryover restore` to see the sessions that were deleted
    ");
    let forgotten = env.json("forget", &["forget", "--all", "--yes"]);
    assert!(forgotten["sessions"][0]["id"].as_str().unwrap().starts_with(CODEX));
    assert_eq!(env.json("search", &["search", "calc"])["covered"], 0);
    for wrong in [&["forget", "--yes"][..], &["forget", CLAUDE, "--all"], &["forget", "--all", "--before", "1d"]] {
        assert_eq!(env.run(wrong).code, Some(64), "{wrong:?}");
    }
}

#[test]
fn a_ledger_that_is_switched_off_is_not_made() {
    let env = TestEnv::with_sessions();
    env.run(&["config", "set", "ledger.enabled", "false"]).success();
    insta::assert_snapshot!(env.run(&["search", "calc"]), @"
    exit code 2
    --- stderr
    error: the ledger is switched off
    hint: `carryover config set ledger.enabled true` switches it on
    ");
    assert!(!env.home().join(".carryover/ledger.sqlite").exists());
    assert_eq!(env.run(&["config", "set", "ledger.retention", "-1"]).code, Some(64));
}

#[test]
fn a_broken_ledger_is_told_and_made_anew() {
    let env = TestEnv::with_sessions();
    env.run(&["search", "calc"]).success();
    fs_err::write(env.home().join(".carryover/ledger.sqlite"), "no database, but long enough to be taken for one")
        .unwrap();
    let said = env.run(&["search", "calc", "-n", "1", "-q"]);
    assert!(said.stderr.starts_with("warning: the ledger could not be read: it was set aside as"), "{said}");
    assert_eq!(said.code, Some(0));
    // In its midst, where only a reading meets it.
    let path = env.home().join(".carryover/ledger.sqlite");
    let mut bytes = fs_err::read(&path).unwrap();
    let middle = bytes.len() / 4;
    bytes[4096..middle.max(8192)].fill(0xa5);
    fs_err::write(&path, bytes).unwrap();
    let said = env.run(&["search", "calc"]);
    assert_eq!(said.code, Some(0), "{said}");
}

/// Killed at many points of its first run, and asked again.
#[cfg(unix)]
#[test]
fn a_search_that_is_killed_leaves_nothing_missing_and_nothing_double() {
    let counts = |env: &TestEnv| {
        let count = |words: &str| {
            let found = env.json("search", &["search", words, "-n", "50"]);
            let rows = found["sessions"].as_array().unwrap().iter();
            let mut rows: Vec<(String, u64)> =
                rows.map(|row| (row["id"].to_string(), row["found"].as_u64().unwrap())).collect();
            rows.sort();
            (rows, found["covered"].as_u64())
        };
        ["the", "test", "bug"].map(count)
    };
    let expected = counts(&TestEnv::with_sessions());
    assert!(expected.iter().all(|(rows, _)| !rows.is_empty()));
    for step in 0..12_u64 {
        let env = TestEnv::with_sessions();
        let mut child = env.command(&["search", "the"]).stdout(std::process::Stdio::null()).spawn().unwrap();
        // No event tells how far it is; wherever it is met, the end is the same.
        let begun = std::time::Instant::now();
        while begun.elapsed() < std::time::Duration::from_millis(step * 6) {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(counts(&env), expected, "after {step}");
    }
}
