use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use crate::support::{CLAUDE, CODEX, TestEnv, meet_limit};

#[test]
fn sessions_of_all_agents_newest_first() {
    let env = TestEnv::with_sessions();
    insta::assert_snapshot!(env.run(&["list"]), @"
    exit code 0
    --- stdout
    AGENT        SESSION   WHEN        MESSAGES   SIZE  MODEL            BRANCH  TITLE
    claude-code  d3a03cdd  56 min ago         6  ## KB  claude-opus-5-5  main    Please fix the bug in calc.py and add a te…
    codex        01a1dcb4  1 h ago            4  ## KB  gpt-5.5          main    mean() crashes on an empty list, see the p…
    ");
    insta::assert_snapshot!(env.run(&["list", "--source", "claude"]), @"
    exit code 0
    --- stdout
    AGENT        SESSION   WHEN        MESSAGES   SIZE  MODEL            BRANCH  TITLE
    claude-code  d3a03cdd  56 min ago         6  ## KB  claude-opus-5-5  main    Please fix the bug in calc.py and add a te…
    ");
    insta::assert_snapshot!(env.run(&["list", "-n", "1"]), @"
    exit code 0
    --- stdout
    AGENT        SESSION   WHEN        MESSAGES   SIZE  MODEL            BRANCH  TITLE
    claude-code  d3a03cdd  56 min ago         6  ## KB  claude-opus-5-5  main    Please fix the bug in calc.py and add a te…
    --- stderr
    hint: 1 more; `--limit 2` shows it
    ");
}

#[test]
fn the_contract_of_json_holds() {
    let env = TestEnv::with_sessions();
    let listed = env.json("list", &["list"]);
    let sessions = listed["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 2);
    assert_eq!(sessions[0]["agent"], "claude-code");
    assert_eq!(sessions[0]["id"], "d3a03cdd-c689-41e6-9587-86a6223f5251");
    assert_eq!(sessions[0]["project"], env.project().display().to_string());
    assert_eq!(sessions[1]["model"], "gpt-5.5");
    let newest = env.json("list", &["list", "--limit", "1"]);
    assert_eq!((newest["sessions"].as_array().unwrap().len(), &newest["total"]), (1, &2.into()));
}

#[test]
fn sessions_of_other_projects_follow() {
    let env = TestEnv::with_sessions();
    let text = include_str!("../../demo/claude-code.jsonl").replace("d3a03cdd", "aaaaaaaa");
    env.write(".claude/projects/-home-you-calc/aaaaaaaa-c689-41e6-9587-86a6223f5251.jsonl", &text);
    insta::assert_snapshot!(env.run(&["list"]), @"
    exit code 0
    --- stdout
    AGENT        SESSION   WHEN        MESSAGES   SIZE  MODEL            BRANCH  TITLE
    ~/calc
    claude-code  d3a03cdd  56 min ago         6  ## KB  claude-opus-5-5  main    Please fix the bug in calc.py and add a te…
    codex        01a1dcb4  1 h ago            4  ## KB  gpt-5.5          main    mean() crashes on an empty list, see the p…
    other projects
    claude-code  aaaaaaaa  56 min ago         6  ## KB  claude-opus-5-5  main    /home/you/calc: Please fix the bug in calc…
    ");
    insta::assert_snapshot!(env.run(&["list", "--project", "."]), @"
    exit code 0
    --- stdout
    AGENT        SESSION   WHEN        MESSAGES   SIZE  MODEL            BRANCH  TITLE
    claude-code  d3a03cdd  56 min ago         6  ## KB  claude-opus-5-5  main    Please fix the bug in calc.py and add a te…
    codex        01a1dcb4  1 h ago            4  ## KB  gpt-5.5          main    mean() crashes on an empty list, see the p…
    ");
}

#[test]
fn ids_grow_until_they_differ() {
    let env = TestEnv::with_sessions();
    let text = include_str!("../../demo/claude-code.jsonl").replace("d3a03cdd-c689", "d3a03cdd-c68f");
    env.write(".claude/projects/-home-you-calc/d3a03cdd-c68f-41e6-9587-86a6223f5251.jsonl", &text);
    insta::assert_snapshot!(env.run(&["list", "--source", "claude"]), @"
    exit code 0
    --- stdout
    AGENT        SESSION        WHEN        MESSAGES   SIZE  MODEL            BRANCH  TITLE
    ~/calc
    claude-code  d3a03cdd-c689  56 min ago         6  ## KB  claude-opus-5-5  main    Please fix the bug in calc.py and add…
    other projects
    claude-code  d3a03cdd-c68f  56 min ago         6  ## KB  claude-opus-5-5  main    /home/you/calc: Please fix the bug in…
    ");
}

#[test]
fn no_agent_is_told_apart_from_no_session() {
    let env = TestEnv::new();
    insta::assert_snapshot!(env.run(&["list"]), @"
    exit code 1
    --- stderr
    error: no agent with sessions was found
    hint: run `carryover info` to see where carryover looks for sessions
    ");
    fs_err::create_dir_all(env.home().join(".claude/projects")).unwrap();
    insta::assert_snapshot!(env.run(&["list"]), @"
    exit code 0
    --- stderr
    no sessions
    ");
}

#[test]
fn a_format_that_has_drifted_is_said_loudly() {
    let env = TestEnv::new();
    let records = "{\"kind\":\"novel\",\"body\":1}\n".repeat(20);
    env.write(".claude/projects/-home-you-calc/aaaaaaaa-c689-41e6-9587-86a6223f5251.jsonl", &records);
    insta::assert_snapshot!(env.run(&["list"]), @"
    exit code 0
    --- stdout
    AGENT        SESSION   WHEN     MESSAGES   SIZE  TITLE
    claude-code  aaaaaaaa  1 h ago         –  520 B  (no title)  format not known
    --- stderr
    warning: Claude Code: the format has changed: 1 session in [HOME]/.claude holds nothing that carryover knows (seen: 20 × records that name no kind); run `carryover doctor`
    ");
}

#[test]
fn words_narrow_the_list() {
    let env = TestEnv::with_sessions();
    let count = |words: &[&str]| env.json("list", &[&["list"], words].concat())["total"].clone();
    assert_eq!(count(&["calc.py", "BUG"]), 1, "every word counts, whatever its case");
    assert_eq!(count(&["calc"]), 2, "a project's name counts, too");
    assert_eq!(count(&["d3a03cdd"]), 1);
    let none = env.run(&["list", "no-such-word"]);
    assert!(none.stderr.contains("no session has these words"), "{none}");
}

#[test]
fn columns_give_way_to_the_title() {
    let env = TestEnv::with_sessions();
    let at = |columns: &str| env.command(&["list"]).env("COLUMNS", columns).output().unwrap();
    insta::assert_snapshot!(env.said(at("60")), @"
    exit code 0
    --- stdout
    AGENT        SESSION   WHEN        TITLE
    claude-code  d3a03cdd  56 min ago  Please fix the bug in ca…
    codex        01a1dcb4  1 h ago     mean() crashes on an emp…
    ");
    insta::assert_snapshot!(env.said(at("80")), @"
    exit code 0
    --- stdout
    AGENT        SESSION   WHEN        MESSAGES  TITLE
    claude-code  d3a03cdd  56 min ago         6  Please fix the bug in calc.py and…
    codex        01a1dcb4  1 h ago            4  mean() crashes on an empty list, s…
    ");
    insta::assert_snapshot!(env.said(at("140")), @"
    exit code 0
    --- stdout
    AGENT        SESSION   WHEN        MESSAGES   SIZE  MODEL            BRANCH  TITLE
    claude-code  d3a03cdd  56 min ago         6  ## KB  claude-opus-5-5  main    Please fix the bug in calc.py and add a test. The icon in the…
    codex        01a1dcb4  1 h ago            4  ## KB  gpt-5.5          main    mean() crashes on an empty list, see the picture. Let it retur…
    ");
    insta::assert_snapshot!(env.said(at("40")), @"
    exit code 0
    --- stdout
    AGENT        SESSION   TITLE
    claude-code  d3a03cdd  Please fix the b…
    codex        01a1dcb4  mean() crashes o…
    ");
}

#[test]
fn where_a_session_came_from_and_went_is_told() {
    let env = TestEnv::with_sessions();
    env.run(&["resume", CLAUDE, "--target", "codex"]).success();
    let at = |columns: &str| env.command(&["list"]).env("COLUMNS", columns).output().unwrap();
    insta::assert_snapshot!(env.said(at("140")), @"
    exit code 0
    --- stdout
    AGENT        SESSION   WHEN        MESSAGES   SIZE  MODEL            BRANCH  TITLE
    claude-code  d3a03cdd  56 min ago         6  ## KB  claude-opus-5-5  main    Please fix the bug in calc.py and add a test…  → codex 01a1de6f
    codex        01a1de6f  56 min ago         6  ## KB  –                main    Please fix the bug in calc.py and add…  ← claude-code d3a03cdd
    codex        01a1dcb4  1 h ago            4  ## KB  gpt-5.5          main    mean() crashes on an empty list, see the picture. Let it retur…
    ");
    insta::assert_snapshot!(env.said(at("60")), @"
    exit code 0
    --- stdout
    AGENT        SESSION   WHEN        TITLE
    claude-code  d3a03cdd  56 min ago  Please fix the bug in ca…
        → codex 01a1de6f
    codex        01a1de6f  56 min ago  Please fix the bug in ca…
        ← claude-code d3a03cdd
    codex        01a1dcb4  1 h ago     mean() crashes on an emp…
    ");
    let listed = env.json("list", &["list"]);
    let session = |agent: &str, is_copy: bool| {
        let sessions = listed["sessions"].as_array().unwrap();
        let fits = |session: &&Value| session["agent"] == agent && session["carried_from"].is_null() != is_copy;
        sessions.iter().find(fits).unwrap().clone()
    };
    let (original, copy) = (session("claude-code", false), session("codex", true));
    assert_eq!(original["carried_to"], json!([{ "agent": "codex", "id": copy["id"] }]));
    assert_eq!(copy["carried_from"], json!({ "agent": "claude-code", "id": original["id"] }));
    assert_eq!(session("codex", false)["carried_to"], json!([]));
    env.run(&["undo"]).success();
    assert_eq!(env.json("list", &["list"])["sessions"][0]["carried_to"], json!([]), "taken back");
}

#[test]
fn a_limit_is_told_until_it_is_over() {
    let env = TestEnv::with_sessions();
    meet_limit(&env);
    let first_row = |now: &str| {
        let output = env.command(&["list"]).env("CARRYOVER_NOW", now).env("COLUMNS", "160").output().unwrap();
        env.said(output).stdout.lines().nth(1).unwrap().to_owned()
    };
    assert!(first_row("2026-11-15T10:00:00Z").ends_with("  limit until 12:00"));
    assert!(first_row("2026-11-14T10:00:00Z").ends_with("  limit until tomorrow 12:00"));
    assert!(first_row("2026-11-15T12:00:01Z").ends_with("  limit over"));
    let sessions = env.json("list", &["list"])["sessions"].clone();
    assert_eq!(sessions[0]["limit"], json!({ "resets_at": "2026-11-15T12:00:00.000Z" }));
    assert!(sessions[1]["limit"].is_null());
}

#[test]
fn hostile_titles_stay_in_their_line() {
    let env = TestEnv::with_sessions();
    let title = "\\u001b[2Jwide 日本語日本語日本語日本語日本語日本語 \\u202eabc\\nnext line \\ufdd4 👩‍👩‍👧 end";
    let text = include_str!("../../demo/claude-code.jsonl").replace("Please fix the bug", title);
    env.write(".claude/projects/-x/aaaaaaaa-c689-41e6-9587-86a6223f5251.jsonl", &text.replace("d3a03cdd", "aaaaaaaa"));
    for columns in [40_usize, 60, 80, 140] {
        let output = env.command(&["list", "--source", "claude"]).env("COLUMNS", columns.to_string()).output().unwrap();
        let said = env.said(output);
        assert_eq!(said.stdout.lines().count(), 5, "{said}");
        for line in said.stdout.lines() {
            assert!(line.width() <= columns, "{columns}: {line}");
            assert!(!line.contains(['\u{1b}', '\u{202e}', '\u{fdd4}']), "{line}");
        }
    }
}

#[test]
fn another_worktree_is_the_same_project() {
    let env = TestEnv::with_sessions();
    let project = env.project();
    let tree = env.home().join("tree");
    env.write("calc/.git/HEAD", "ref: refs/heads/main\n");
    env.write("calc/.git/worktrees/tree/gitdir", &format!("{}\n", tree.join(".git").display()));
    env.write("tree/.git", &format!("gitdir: {}\n", project.join(".git/worktrees/tree").display()));
    let said = env.run_in(&tree, &["list", "--project", "."]).success();
    assert!(said.stdout.contains(CLAUDE) && said.stdout.contains(CODEX), "{said}");
    let shown = env.run_in(&tree, &["show"]);
    assert!(shown.stderr.contains("the newest session of this project"), "{shown}");
}

#[test]
fn without_a_limit_json_tells_all() {
    let env = TestEnv::with_sessions();
    let text = include_str!("../../demo/claude-code.jsonl");
    for number in 0..12 {
        let id = format!("{number:08}");
        let path = format!(".claude/projects/-x/{id}-c689-41e6-9587-86a6223f5251.jsonl");
        env.write(&path, &text.replace("d3a03cdd", &id));
    }
    let count = |args: &[&str]| env.json("list", args)["sessions"].as_array().unwrap().len();
    assert_eq!((count(&["list"]), count(&["list", "--limit", "3"])), (14, 3));
}

#[test]
fn counting_is_remembered_and_a_broken_memory_costs_nothing() {
    let env = TestEnv::with_sessions();
    let messages = || {
        let listed = env.json("list", &["list"]);
        [0, 1].map(|index| listed["sessions"][index]["messages"].as_u64())
    };
    assert_eq!(messages(), [Some(6), Some(4)]);
    let ours = env.home().join(".carryover");
    let remembered = fs_err::read_to_string(ours.join("glances.jsonl")).unwrap();
    assert_eq!(remembered.lines().count(), 3);
    // What is remembered is told without reading.
    env.write(".carryover/glances.jsonl", &remembered.replace(r#""messages":6"#, r#""messages":77"#));
    assert_eq!(messages(), [Some(77), Some(4)]);
    for broken in ["", "carryover.glances/1\nffff", "\0\u{fffd}"] {
        env.write(".carryover/glances.jsonl", broken);
        env.write(".carryover/catalog.jsonl", broken);
        assert_eq!(messages(), [Some(6), Some(4)], "{broken:?}");
    }
    // Where nothing can be remembered, it is counted each time.
    fs_err::remove_file(ours.join("glances.jsonl")).unwrap();
    fs_err::create_dir(ours.join("glances.jsonl")).unwrap();
    assert_eq!(messages(), [Some(6), Some(4)]);
}

#[test]
fn what_is_not_shown_is_counted_with_what_shows_it() {
    let env = TestEnv::with_sessions();
    let text = include_str!("../../demo/claude-code.jsonl");
    for number in 0..10 {
        let id = format!("{number:08}");
        let path = format!(".claude/projects/-x/{id}-c689-41e6-9587-86a6223f5251.jsonl");
        env.write(&path, &text.replace("d3a03cdd", &id));
    }
    let hint = |args: &[&str]| env.run(&[&["list"], args].concat()).success().stderr;
    assert_eq!(hint(&[]), "hint: 2 more; `--all` shows them\n");
    assert_eq!(hint(&["--all"]), "");
    assert_eq!(hint(&["--all", "-n", "11"]), "hint: 1 more; `--limit 12` shows it\n");
    assert_eq!(hint(&["-n", "2"]), "hint: 10 more; `--limit 12` shows them\n");
}

#[test]
fn an_agent_without_sessions_and_a_folder_that_is_missing_are_named() {
    let env = TestEnv::with_sessions();
    let said = env.run(&["list", "--source", "opencode"]);
    assert!(said.stderr.starts_with("error: OpenCode has no sessions here\n"), "{said}");
    let said = env.run(&["list", "--project", "nowhere"]);
    assert!(said.stderr.starts_with("warning: the folder nowhere does not exist\n"), "{said}");
}

#[test]
fn a_long_path_leaves_the_title_its_room_and_a_pipe_gets_it_whole() {
    let env = TestEnv::with_sessions();
    let text = include_str!("../../demo/claude-code.jsonl").replace("d3a03cdd", "aaaaaaaa");
    let text = text.replace("/home/you/calc", "/srv/a/very/long/way/down/to/the/place/of/shop");
    env.write(".claude/projects/-x/aaaaaaaa-c689-41e6-9587-86a6223f5251.jsonl", &text);
    let row = |command: &mut std::process::Command| {
        let said = env.said(command.output().unwrap());
        said.stdout.lines().find(|line| line.contains("aaaaaaaa")).unwrap().to_owned()
    };
    let at_140 = row(env.command(&["list"]).env("COLUMNS", "140"));
    assert!(at_140.contains("  shop: Please fix the bug in calc.py and"), "{at_140}");
    let piped = row(env.command(&["list"]).env_remove("COLUMNS"));
    assert!(piped.contains("The icon in the README looks wrong too."), "{piped}");
}

#[test]
fn marks_of_one_row_do_not_move_those_of_another() {
    let env = TestEnv::with_sessions();
    env.run(&["resume", CLAUDE, "--target", "codex"]).success();
    env.run(&["resume", CLAUDE, "--target", "gemini-cli"]).success();
    let output = env.command(&["list"]).env("COLUMNS", "100").output().unwrap();
    let lines: Vec<String> = env.said(output).stdout.lines().map(str::to_owned).collect();
    let one_mark = lines.iter().find(|line| line.starts_with("codex") && line.contains('←'));
    assert!(one_mark.is_some(), "{lines:#?}");
    assert!(lines.iter().any(|line| line.starts_with("    → ")), "the row with two has them below: {lines:#?}");
}

#[test]
fn sessions_that_cannot_be_read_are_not_passed_over() {
    let env = TestEnv::with_sessions();
    env.write(".codeium/windsurf/cascade/a.pb", "sealed");
    env.write(".codeium/windsurf/cascade/b.pb", "sealed");
    let told = "hint: 2 more of Windsurf cannot be read; `carryover doctor` says why";
    let said = env.run(&["list"]).success();
    assert!(said.stdout.contains(CLAUDE.split('-').next().unwrap()) && said.stderr.contains(told), "{said}");
    assert!(!env.run(&["list", "--source", "codex"]).stderr.contains(told));
    assert!(env.run(&["list", "--source", "windsurf"]).stderr.contains(told));
    let unreadable = env.json("list", &["list"])["unreadable"].clone();
    assert_eq!((unreadable.as_array().unwrap().len(), &unreadable[0]["agent"]), (1, &"windsurf".into()));
    assert_eq!(unreadable[0]["count"], 2);
    assert!(unreadable[0]["reason"].as_str().unwrap().contains("encrypted"));
}
