#[cfg(unix)]
use std::path::Path;
#[cfg(unix)]
use std::process::Command;

use crate::support::{CLAUDE, Said, TestEnv};

/// Asks as a shell does, with the cursor behind the last word.
fn complete(env: &TestEnv, shell: &str, words: &[&str]) -> Said {
    let mut command = env.command(&["--", "carryover"]);
    command.args(words).env("COMPLETE", shell).env("_CLAP_IFS", "\n");
    command.env("_CLAP_COMPLETE_INDEX", words.len().to_string());
    let said = env.said(command.output().unwrap()).success();
    assert_eq!(said.stderr, "", "{words:?}");
    said
}

/// The words alone, as they are put into the line; options that could follow are left out.
fn words(env: &TestEnv, typed: &[&str]) -> Vec<String> {
    let said = complete(env, "bash", typed);
    said.stdout.lines().filter(|line| !line.starts_with("--")).map(str::to_owned).collect()
}

#[test]
fn every_shell_has_a_script_that_asks_the_program() {
    let env = TestEnv::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let said = env.run(&["completions", shell]).success();
        assert!(said.stdout.contains("carryover --") || said.stdout.contains("\"carryover\" --"), "{said}");
        assert!(said.stdout.contains("COMPLETE"), "{said}");
    }
}

#[test]
fn an_unknown_shell_is_a_wrong_command_line() {
    insta::assert_snapshot!(TestEnv::new().run(&["completions", "fisch"]), @"
    exit code 64
    --- stderr
    error: invalid value 'fisch' for '[SHELL]'
      [possible values: bash, elvish, fish, powershell, zsh]

      tip: a similar value exists: 'fish'

    For more information, try '--help'.
    ");
}

#[test]
fn without_a_name_it_is_the_users_own_shell() {
    let env = TestEnv::new().var("SHELL", "/usr/bin/zsh");
    assert_eq!(env.run(&["completions"]).success().stdout, env.run(&["completions", "zsh"]).success().stdout);
    insta::assert_snapshot!(TestEnv::new().var("SHELL", "/bin/odd").run(&["completions"]), @"
    exit code 64
    --- stderr
    error: no shell was named, and SHELL names none that is known
    hint: name one: `carryover completions bash`, or zsh, fish, powershell, elvish
    ");
}

#[test]
fn sessions_complete_by_their_ids() {
    let env = TestEnv::with_sessions();
    assert_eq!(words(&env, &["resume", ""]), ["d3a03cdd", "01a1dcb4"]);
    assert_eq!(words(&env, &["show", "d3"]), ["d3a03cdd"]);
    // Who has typed more than that gets the rest.
    assert_eq!(words(&env, &["show", "d3a03cdd-c6"]), ["d3a03cdd-c689-41e6-9587-86a6223f5251"]);
    assert_eq!(words(&env, &["brief", "--session", "01"]), ["01a1dcb4"]);
    assert_eq!(words(&env, &["resume", "--from", "codex", ""]), ["01a1dcb4"]);
    assert_eq!(words(&env, &["codex", "d3"]), ["d3a03cdd"]);
    // After one, there is no other.
    assert_eq!(words(&env, &["show", CLAUDE, ""]), Vec::<String>::new());
    assert_eq!(words(&env, &["show", "@"]), ["@last"]);
}

#[test]
fn sessions_are_described_in_plain_words() {
    let env = TestEnv::with_sessions();
    let evil = r"\u001b]0;pwned\u0007\u001b[31mred\u202e $(touch pwned): Please fix the bug";
    let text = include_str!("../../demo/claude-code.jsonl").replace("Please fix the bug", evil);
    let text = text.replace("d3a03cdd", "eeeeeeee");
    env.write(".claude/projects/-home-you-calc/eeeeeeee-c689-41e6-9587-86a6223f5251.jsonl", &text);
    insta::assert_snapshot!(complete(&env, "fish", &["show", "e"]).stdout, @"eeeeeeee	claude-code, 56 min ago: red $(touch pwned): Please fix the bug in calc.py and add a…");
    insta::assert_snapshot!(complete(&env, "zsh", &["show", "d"]).stdout, @"d3a03cdd:claude-code, 56 min ago: Please fix the bug in calc.py and add a test. The icon in t…");
}

#[test]
fn resumes_keys_values_and_agents_complete() {
    let env = TestEnv::with_sessions();
    let carried = env.resume_json(&["resume", CLAUDE, "--target", "codex"]);
    assert_eq!(words(&env, &["undo", ""]), [carried["undo_id"].as_str().unwrap()]);
    assert!(complete(&env, "fish", &["undo", ""]).stdout.contains("\tclaude-code → codex, just now: Please fix"));
    assert_eq!(words(&env, &["config", "set", "handoff.pr"]), ["handoff.protocol"]);
    assert_eq!(words(&env, &["config", "unset", "stores.cod"]), ["stores.codex"]);
    assert_eq!(words(&env, &["config", "set", "handoff.protocol", ""]), ["ask", "brief", "silent"]);
    assert_eq!(words(&env, &["config", "set", "resume.target", "cl"]), ["claude-code"]);
    for option in ["--target", "--to"] {
        assert_eq!(words(&env, &["resume", option, "gem"]), ["gemini-cli"], "{option}");
    }
    // Bash parts the word at its sign.
    assert_eq!(words(&env, &["resume", "--target", "=", "gem"]), ["gemini-cli"]);
}

#[test]
fn what_goes_wrong_is_no_answer_and_no_message() {
    let env = TestEnv::with_sessions();
    env.write(".carryover/config.toml", "no toml at all [");
    assert_eq!(words(&env, &["show", ""]), Vec::<String>::new());
    complete(&env, "bash", &["no-such-command", "--no-such-option", ""]);
    complete(&env, "zsh", &["show", "--format"]);
    // Another tool's variable is none of ours.
    let said = env.said(env.command(&["config", "path"]).env("COMPLETE", "yes").output().unwrap()).success();
    assert!(said.stdout.contains("config.toml"), "{said}");
}

/// A shell with our script and our program in it; none where there is no such shell.
#[cfg(unix)]
#[expect(clippy::print_stdout, reason = "who runs the tests is told what did not run")]
fn run_shell(env: &TestEnv, shell: &str, line: &str) -> Option<Said> {
    let program = ["/usr/bin", "/bin"].iter().map(|folder| Path::new(folder).join(shell)).find(|path| path.exists());
    let Some(program) = program else {
        println!("skipped: {shell} is not installed");
        return None;
    };
    let script = env.run(&["completions", shell]).success().stdout;
    env.write(&format!("script.{shell}"), &script);
    let ours = Path::new(env!("CARGO_BIN_EXE_carryover")).parent().unwrap();
    let mut command = Command::new(program);
    command.args(["-c", line]).current_dir(env.project()).env_clear();
    command.envs(env.command(&[]).get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("PATH", format!("{}:/usr/bin:/bin", ours.display()));
    Some(env.said(command.output().unwrap()))
}

#[cfg(unix)]
#[test]
fn bash_gets_the_words() {
    let env = TestEnv::with_sessions();
    let line = "source ~/script.bash; COMP_WORDS=(carryover show d3); COMP_CWORD=2; COMP_TYPE=9
        _clap_complete_carryover carryover d3 show; printf '%s\\n' \"${COMPREPLY[@]}\"";
    let Some(said) = run_shell(&env, "bash", line) else { return };
    assert_eq!(said.stdout, "d3a03cdd\n", "{said}");
}

#[cfg(unix)]
#[test]
fn fish_gets_the_words_and_what_they_mean() {
    let env = TestEnv::with_sessions();
    let line = "source ~/script.fish; complete -C 'carryover show d3'";
    let Some(said) = run_shell(&env, "fish", line) else { return };
    assert!(said.stdout.starts_with("d3a03cdd\tclaude-code, 56 min ago: Please fix"), "{said}");
}

#[cfg(unix)]
#[test]
fn zsh_gets_the_words_and_what_they_mean() {
    let env = TestEnv::with_sessions();
    // What it would show is asked of the function that the script defines.
    let line = "compdef() { : }; _describe() { print -l -- ${(P)3} }; source ~/script.zsh
        words=(carryover show d3); CURRENT=3; _clap_dynamic_completer_carryover";
    let Some(said) = run_shell(&env, "zsh", line) else { return };
    assert!(said.stdout.starts_with("d3a03cdd:claude-code, 56 min ago: Please fix"), "{said}");
}

#[test]
fn files_and_agents_are_known_as_sources_of_memory() {
    let env = TestEnv::new();
    assert_eq!(words(&env, &["memory", "sync", "--from", "CL"]), ["CLAUDE.md"]);
    assert_eq!(words(&env, &["memory", "sync", "--from", "claude"]), ["claude-code"]);
    assert_eq!(words(&env, &["memory", "sync", "--to", "curs"]), ["cursor"]);
    assert_eq!(words(&env, &["memory", "s"]), ["sync"]);
}
