use crate::support::TestEnv;

#[test]
fn sessions_of_all_agents_newest_first() {
    let env = TestEnv::with_sessions();
    insta::assert_snapshot!(env.run(&["list"]), @"
    exit code 0
    --- stdout
    AGENT        SESSION   WHEN        MESSAGES   SIZE  MODEL            TITLE
    claude-code  d3a03cdd  56 min ago         –  ## KB  claude-opus-5-5  Please fix the bug in calc.py and add a test. The…
    codex        01a1dcb4  1 h ago            –  ## KB  gpt-5.5          mean() crashes on an empty list, see the picture.…
    ");
    insta::assert_snapshot!(env.run(&["list", "--source", "claude"]), @"
    exit code 0
    --- stdout
    AGENT        SESSION   WHEN        MESSAGES   SIZE  MODEL            TITLE
    claude-code  d3a03cdd  56 min ago         –  ## KB  claude-opus-5-5  Please fix the bug in calc.py and add a test. The…
    ");
    insta::assert_snapshot!(env.run(&["list", "-n", "1"]), @"
    exit code 0
    --- stdout
    AGENT        SESSION   WHEN        MESSAGES   SIZE  MODEL            TITLE
    claude-code  d3a03cdd  56 min ago         –  ## KB  claude-opus-5-5  Please fix the bug in calc.py and add a test. The…
    --- stderr
    hint: 1 more; `--all` shows them
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
    AGENT        SESSION   WHEN        MESSAGES   SIZE  MODEL            TITLE
    ~/calc
    claude-code  d3a03cdd  56 min ago         –  ## KB  claude-opus-5-5  Please fix the bug in calc.py and add a test. The…
    codex        01a1dcb4  1 h ago            –  ## KB  gpt-5.5          mean() crashes on an empty list, see the picture.…
    other projects
    claude-code  aaaaaaaa  56 min ago         –  ## KB  claude-opus-5-5  /home/you/calc: Please fix the bug in calc.py and…
    ");
    insta::assert_snapshot!(env.run(&["list", "--project", "."]), @"
    exit code 0
    --- stdout
    AGENT        SESSION   WHEN        MESSAGES   SIZE  MODEL            TITLE
    claude-code  d3a03cdd  56 min ago         –  ## KB  claude-opus-5-5  Please fix the bug in calc.py and add a test. The…
    codex        01a1dcb4  1 h ago            –  ## KB  gpt-5.5          mean() crashes on an empty list, see the picture.…
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
    AGENT        SESSION        WHEN        MESSAGES   SIZE  MODEL            TITLE
    ~/calc
    claude-code  d3a03cdd-c689  56 min ago         –  ## KB  claude-opus-5-5  Please fix the bug in calc.py and add a test.…
    other projects
    claude-code  d3a03cdd-c68f  56 min ago         –  ## KB  claude-opus-5-5  /home/you/calc: Please fix the bug in calc.py…
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
    AGENT        SESSION   WHEN     MESSAGES   SIZE  MODEL  TITLE
    claude-code  aaaaaaaa  1 h ago         –  520 B  –      (no title)
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
