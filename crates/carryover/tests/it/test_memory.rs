//! Files that tell agents' models something: told, captured, and made to follow one another.

use std::process::Command;

use carryover_agents::all_facts;
use serde_json::Value;

use crate::support::TestEnv;

const RULES: &str = "# Rules\n\n- use tabs\n- test first\n";

/// A project in a repository of its own, in which two agents have worked.
fn project() -> TestEnv {
    let env = TestEnv::with_sessions().var("PATH", "/bin:/usr/bin");
    git(&env, &["init", "-q"]);
    env
}

fn git(env: &TestEnv, args: &[&str]) {
    let done =
        Command::new("git").args(args).current_dir(env.project()).env_clear().env("PATH", "/bin:/usr/bin").status();
    assert!(done.unwrap().success());
}

fn text(env: &TestEnv, name: &str) -> Option<String> {
    fs_err::read_to_string(env.project().join(name)).ok()
}

fn sync(env: &TestEnv, args: &[&str]) -> Value {
    env.json("memory-sync", &[&["memory", "sync", "--yes"], args].concat())
}

fn undo(env: &TestEnv) {
    assert_eq!(env.run(&["undo"]).code, Some(0));
}

#[test]
fn who_reads_what_is_told_with_where_they_differ() {
    let env = project();
    env.write("calc/AGENTS.md", RULES);
    env.write("calc/CLAUDE.md", "# Rules\n\n- use spaces\n- test first\n");
    env.write("calc/CLAUDE.local.md", "my own\n");
    env.write("calc/.cursor/rules/deep/a.mdc", "---\nalwaysApply: true\n---\nrule\n");
    env.write(".claude/CLAUDE.md", "for all\n");
    env.write(".gemini/settings.json", "{}");
    insta::assert_snapshot!(env.run(&["memory"]), @"
    exit code 0
    --- stdout
    AGENTS.md  4 lines
      read by         Codex CLI
      at times by     Gemini CLI (where `context.fileName` in its settings names it)
      passed over by  Claude Code (CLAUDE.md is there)
    CLAUDE.md  4 lines; differs from AGENTS.md: 1 line only here, 1 only there
      read by         Claude Code
    CLAUDE.local.md  1 line; private: a person's own
      read by         Claude Code
    ~/.claude/CLAUDE.md  yours, in every project
      read by         Claude Code
    Gemini CLI reads none of the project's (it would read GEMINI.md)
    --- stderr
    ~/calc
    hint: `carryover memory sync --dry-run` shows how AGENTS.md would become the source of all
    ");
    let told = env.json("memory", &["memory", "--all"]);
    let files = told["files"].as_array().unwrap();
    let of = |path: &str| files.iter().find(|file| file["path"] == path).unwrap();
    let reads = |path: &str, agent: &str| {
        let readers = of(path)["readers"].as_array().unwrap().clone();
        readers.into_iter().find(|reader| reader["agent"] == agent).map(|reader| reader["reads"].clone())
    };
    assert_eq!(told["source"], "AGENTS.md");
    assert_eq!(reads("CLAUDE.md", "opencode"), Some("passed-over".into()));
    assert_eq!(reads(".cursor/rules/deep/a.mdc", "cursor"), Some("always".into()));
    assert_eq!(of("CLAUDE.md")["relation"]["kind"], "differs");
}

#[test]
fn an_agent_that_can_import_gets_a_line_and_undo_gives_back_every_byte() {
    let env = project();
    env.write("calc/AGENTS.md", RULES);
    env.write("calc/CLAUDE.md", "# Mine\r\n\r\nbe brief");
    env.write(".gemini/settings.json", "{}");
    let before = env.files();
    let done = sync(&env, &[]);
    let claude = text(&env, "CLAUDE.md").unwrap();
    assert!(claude.starts_with("# Mine\r\n\r\nbe brief") && claude.contains("\r\n@AGENTS.md\r\n"), "{claude:?}");
    assert!(!claude.contains("use tabs"));
    assert!(text(&env, "GEMINI.md").unwrap().contains("\n@./AGENTS.md\n"));
    assert_eq!(text(&env, "AGENTS.md").unwrap(), RULES, "the source stays as it is");
    let forms: Vec<&Value> = done["changes"].as_array().unwrap().iter().map(|change| &change["form"]).collect();
    assert_eq!(forms, ["import", "import"]);
    assert_eq!(done["told"][0]["agent"], "codex");
    let after = env.files();
    let again = sync(&env, &[]);
    assert_eq!((&again["changes"], &again["undo_id"]), (&Value::Array(vec![]), &Value::Null));
    assert_eq!(env.files(), after, "twice is once");
    let told = env.json("memory", &["memory"]);
    let readers = told["files"][0]["readers"].as_array().unwrap();
    assert!(readers.iter().any(|reader| reader["agent"] == "claude-code" && reader["detail"] == "CLAUDE.md"), "{told}");
    undo(&env);
    assert_eq!(env.files(), before);
}

#[test]
fn an_agent_that_cannot_import_gets_a_copy_that_follows_its_source() {
    let env = project();
    env.write("calc/CLAUDE.md", "one\r\n\r\n```\r\nopen\r\n");
    let before = env.files();
    let done = sync(&env, &["--to", "codex"]);
    assert_eq!(
        done["changes"][0],
        serde_json::json!({ "file": "AGENTS.md", "form": "copy", "created": true, "agents": ["codex"] })
    );
    let copy = text(&env, "AGENTS.md").unwrap();
    assert!(copy.contains("one\n\n```\nopen\n```\n"), "{copy}");
    assert!(sync(&env, &["--to", "codex", "--from", "CLAUDE.md"])["changes"].as_array().unwrap().is_empty());
    env.write("calc/CLAUDE.md", "two\n");
    let told = env.json("memory", &["memory"]);
    assert_eq!(
        told["files"].as_array().unwrap().iter().find(|file| file["path"] == "AGENTS.md").unwrap()["relation"]["kind"],
        "older-copy"
    );
    sync(&env, &["--to", "codex"]);
    let copy = text(&env, "AGENTS.md").unwrap();
    assert!(copy.contains("two") && !copy.contains("one") && copy.matches("CARRYOVER:START").count() == 1, "{copy}");
    env.write("calc/CLAUDE.md", "one\r\n\r\n```\r\nopen\r\n");
    undo(&env);
    assert_eq!(env.files(), before, "the file that was made is gone");
}

#[test]
fn words_that_somebody_put_into_a_copy_are_not_lost() {
    let env = project();
    env.write("calc/CLAUDE.md", "one\n");
    sync(&env, &["--to", "codex"]);
    let mine = text(&env, "AGENTS.md").unwrap().replace("one", "one, and mine");
    env.write("calc/AGENTS.md", &mine);
    env.write("calc/CLAUDE.md", "two\n");
    insta::assert_snapshot!(env.run(&["memory", "sync", "--from", "claude", "--to", "codex"]), @"
    exit code 64
    --- stderr
    error: one agent could not be told of CLAUDE.md
      Codex CLI: AGENTS.md stays as it is until that is mended: somebody has written inside the block
    hint: `carryover memory --all` shows which agent reads which file
    ");
    assert_eq!(text(&env, "AGENTS.md").unwrap(), mine);
    assert_eq!(env.run(&["undo"]).code, Some(3), "somebody has been at it");
    assert_eq!(text(&env, "AGENTS.md").unwrap(), mine);
}

#[test]
fn nothing_private_gets_to_where_git_sees_it() {
    let env = project();
    env.write("calc/CLAUDE.local.md", "my own\n");
    env.write("calc/.gitignore", "GEMINI.md\n");
    env.write("calc/GEMINI.md", "ignored\n");
    env.write(".claude/CLAUDE.md", "in the home\n");
    let before = env.files();
    insta::assert_snapshot!(env.run(&["memory", "sync", "--from", "CLAUDE.local.md", "--to", "codex"]), @"
    exit code 64
    --- stderr
    error: CLAUDE.local.md is private (a person's own): nothing of it goes into AGENTS.md, which git could see
    hint: put what all may know into AGENTS.md, then run `carryover memory sync --from AGENTS.md`
    ");
    for from in ["GEMINI.md", "~/.claude/CLAUDE.md", "../.claude/CLAUDE.md"] {
        let said = env.run(&["memory", "sync", "--from", from, "--to", "codex", "--yes"]);
        assert!(said.code == Some(64) && said.stderr.contains("is private"), "{from}: {said}");
    }
    assert_eq!(env.files(), before);
    // Where git never gets it, it is the user's own matter.
    env.write("calc/.gitignore", "GEMINI.md\nAGENTS.md\n");
    sync(&env, &["--from", "GEMINI.md", "--to", "codex"]);
    assert!(text(&env, "AGENTS.md").unwrap().contains("ignored"));
    git(&env, &["add", "-f", "AGENTS.md"]);
    env.write("calc/GEMINI.md", "newer\n");
    assert_eq!(env.run(&["memory", "sync", "--from", "GEMINI.md", "--to", "codex"]).code, Some(64), "git has it now");
}

#[test]
fn no_agent_reads_less_because_of_a_new_file() {
    let env = project();
    env.write("calc/GEMINI.md", "rules\n");
    env.write("calc/CLAUDE.md", "other rules\n");
    let before = env.files();
    insta::assert_snapshot!(env.run(&["memory", "sync", "--from", "GEMINI.md", "--to", "codex"]), @"
    exit code 64
    --- stderr
    error: one agent could not be told of GEMINI.md
      Codex CLI: with AGENTS.md there, OpenCode would pass over CLAUDE.md
    hint: `carryover memory --all` shows which agent reads which file
    ");
    assert_eq!(env.files(), before);
    // The copy is of the very file that is passed over for it.
    sync(&env, &["--from", "CLAUDE.md", "--to", "codex"]);
    assert!(text(&env, "AGENTS.md").unwrap().contains("other rules"));
}

#[cfg(unix)]
#[test]
fn a_link_is_the_file_that_it_leads_to_and_one_that_leads_out_is_left_alone() {
    let env = project();
    env.write("calc/AGENTS.md", RULES);
    std::os::unix::fs::symlink("AGENTS.md", env.project().join("CLAUDE.md")).unwrap();
    let before = env.files();
    let done = sync(&env, &[]);
    assert!(done["changes"].as_array().unwrap().is_empty(), "{done}");
    assert_eq!(done["told"][0]["reason"], "reads CLAUDE.md, which is the same file");
    env.write("elsewhere.md", "not the project's\n");
    std::os::unix::fs::symlink("../elsewhere.md", env.project().join("GEMINI.md")).unwrap();
    let said = env.run(&["memory", "sync", "--to", "gemini"]);
    assert!(said.code == Some(64) && said.stderr.contains("GEMINI.md leads out of the project"), "{said}");
    let said = env.run(&["memory", "sync", "--from", "GEMINI.md", "--to", "qwen"]);
    assert!(said.code == Some(3) && said.stderr.contains("leads out of the project"), "{said}");
    fs_err::remove_file(env.project().join("GEMINI.md")).unwrap();
    fs_err::remove_file(env.home().join("elsewhere.md")).unwrap();
    assert_eq!(env.files(), before);
}

#[test]
fn nothing_is_written_unasked() {
    let env = project();
    env.write("calc/AGENTS.md", RULES);
    let before = env.files();
    insta::assert_snapshot!(env.run(&["memory", "sync"]), @"
    exit code 64
    --- stderr
    error: this would be written, and nobody can be asked
      CLAUDE.md (new): an import of AGENTS.md, for Claude Code
    hint: say so with `--yes`, or name one agent with `--to`
    ");
    insta::assert_snapshot!(env.run(&["memory", "sync", "--dry-run"]), @"
    exit code 0
    --- stderr
    would write CLAUDE.md (new): an import of AGENTS.md, for Claude Code
    Codex CLI reads it
    ");
    let plan = env.json("memory-sync", &["memory", "sync", "--dry-run", "--all"]);
    let rows = |key: &str| plan[key].as_array().unwrap().clone();
    let named = rows("told").into_iter().chain(rows("left")).map(|row| row["agent"].clone());
    let changed = rows("changes").into_iter().flat_map(|row| row["agents"].as_array().unwrap().clone());
    let mut told: Vec<String> = named.chain(changed).map(|id| id.as_str().unwrap().to_owned()).collect();
    let mut all: Vec<&str> = all_facts().map(|facts| facts.id).collect();
    told.sort();
    all.sort_unstable();
    assert_eq!(told, all, "each is told already, will be, or it is said why not");
    assert_eq!(env.files(), before);
    insta::assert_snapshot!(env.run_in(&env.home(), &["memory"]), @"
    exit code 64
    --- stderr
    error: [HOME] is no project of its own
    hint: name the folder of a project with `--project`
    ");
    fs_err::remove_file(env.project().join("AGENTS.md")).unwrap();
    insta::assert_snapshot!(env.run(&["memory", "sync", "--yes"]), @"
    exit code 2
    --- stderr
    error: no file in [HOME]/calc tells any agent something that others could be told
    hint: write what all agents should know into AGENTS.md, then run it again
    ");
}

#[test]
fn a_brief_and_a_copy_share_a_block_and_are_taken_back_apart() {
    let env = project();
    env.write("calc/CLAUDE.md", "one\n");
    let before = env.files();
    sync(&env, &["--to", "codex"]);
    let with_copy = env.files();
    assert_eq!(env.run(&["resume", "d3a03cdd", "--context-only", "-t", "codex"]).code, Some(0));
    let both = text(&env, "AGENTS.md").unwrap();
    assert!(both.contains(".carryover/context.md") && both.contains("one"), "{both}");
    undo(&env);
    assert_eq!(env.files(), with_copy);
    undo(&env);
    assert_eq!(env.files(), before);
}

#[test]
fn a_capture_holds_what_the_model_was_told() {
    const SECRET: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let env = project();
    env.write("calc/CLAUDE.md", RULES);
    env.write("calc/CLAUDE.local.md", &format!("token {SECRET}\n"));
    env.write("calc/GEMINI.md", "not for this agent\n");
    env.write("calc/AGENTS.md", "passed over\n");
    env.write(".claude/CLAUDE.md", &"in the home ".repeat(10_000));
    assert_eq!(env.run(&["capture", "d3a03cdd"]).code, Some(0));
    let written = text(&env, ".carryover/session.json").unwrap();
    assert!(!written.contains(SECRET) && !written.contains("not for this agent") && !written.contains("passed over"));
    let captured: Value = serde_json::from_str(&written).unwrap();
    crate::support::check_schema("portable-session", &captured);
    let project = &captured["project"];
    assert_eq!(project["memoryFileContents"], format!("# CLAUDE.md\n\n{RULES}"));
    let files = project["memoryFiles"].as_array().unwrap();
    assert_eq!(files[0]["sha256"], "ece5af2f13b03b76ae52adb64c25ebc66f4a589811dac7b09d901b01645aeeb0");
    assert_eq!(
        (&files[1]["path"], &files[1]["private"], &files[1]["sha256"]),
        (&"CLAUDE.local.md".into(), &true.into(), &Value::Null)
    );
    assert!(files[1]["content"].as_str().unwrap().contains("[redacted"));
    assert_eq!((&files[2]["path"], &files[2]["bytes"]), (&"~/.claude/CLAUDE.md".into(), &120_000.into()));
    assert!(files[2]["content"].as_str().unwrap().len() < 66_000);
}

#[test]
fn one_file_is_enough_for_agents_that_read_it_and_what_is_told_is_so_afterwards() {
    let env = project();
    env.write("calc/CLAUDE.md", RULES);
    for folder in [".qwen/settings.json", ".pi/agent/settings.json"] {
        env.write(folder, "{}");
    }
    let done = sync(&env, &[]);
    let written: Vec<&Value> = done["changes"].as_array().unwrap().iter().map(|change| &change["file"]).collect();
    assert_eq!(written, ["AGENTS.md"], "Qwen Code reads that one, too: {done}");
    let told = done["told"].as_array().unwrap();
    let pi = told.iter().find(|row| row["agent"] == "pi").unwrap();
    assert_eq!(pi["reason"], "reads AGENTS.md, which holds a copy", "it passes CLAUDE.md over by now");
    assert!(!told.iter().any(|row| row["agent"] == "codex"), "it is named beside the file that it got");
}
