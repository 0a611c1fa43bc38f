//! `show` on a terminal, which `script` makes for it.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;

use crate::support::{CLAUDE, TestEnv};

/// Runs a command line on a terminal of 24 lines; none where there is no program that makes one.
#[expect(clippy::print_stdout, reason = "who runs the tests is told what did not run")]
fn run_on_terminal(env: &TestEnv, args: &[&str], vars: &[(&str, &str)]) -> Option<Output> {
    if !Path::new("/usr/bin/script").exists() {
        println!("skipped: there is no script(1) to make a terminal");
        return None;
    }
    let words = format!("{} {}", env!("CARGO_BIN_EXE_carryover"), args.join(" "));
    let mut script = std::process::Command::new("/usr/bin/script");
    script.args(["-qec", &words, "/dev/null"]).current_dir(env.project()).env_clear();
    script.envs(env.command(&[]).get_envs().filter_map(|(name, value)| Some((name, value?))));
    script.env("TERM", "xterm").env("PATH", "/usr/bin:/bin").envs(vars.iter().copied());
    Some(script.stdin(std::process::Stdio::null()).output().unwrap())
}

/// A pager that keeps what it is given, and says with what it was started.
fn write_pager(env: &TestEnv, body: &str) -> String {
    env.write("pager", &format!("#!/bin/sh\n{body}\n"));
    let path = env.home().join("pager");
    fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

const KEEPING: &str = r#"echo "$# $* LESS=$LESS" > "$HOME/started"; cat > "$HOME/paged""#;

fn paged(env: &TestEnv) -> Option<String> {
    fs_err::read_to_string(env.home().join("paged")).ok()
}

#[test]
fn a_long_session_goes_through_the_pager_in_colour_and_wrapped() {
    let env = TestEnv::with_sessions();
    let pager = write_pager(&env, KEEPING);
    let vars = [("PAGER", "/nowhere"), ("CARRYOVER_PAGER", pager.as_str()), ("COLUMNS", "60")];
    let Some(output) = run_on_terminal(&env, &["show", CLAUDE], &vars) else { return };
    assert!(output.status.success());
    let text = paged(&env).unwrap();
    assert!(text.contains("\u{1b}[32m+    return a + b\u{1b}[0m"), "{text}");
    assert!(text.contains("\u{1b}[31m-    return a - b\u{1b}[0m"), "{text}");
    assert!(text.contains("add a test. The icon in\nthe README looks wrong too."), "{text}");
    assert_eq!(fs_err::read_to_string(env.home().join("started")).unwrap(), "0  LESS=FRX\n");
    assert!(!String::from_utf8_lossy(&output.stdout).contains("return a"));
}

#[test]
fn a_pager_gets_no_colours_that_the_user_does_not_want() {
    let env = TestEnv::with_sessions();
    let pager = write_pager(&env, KEEPING);
    let vars = [("PAGER", pager.as_str()), ("NO_COLOR", "1"), ("LESS", "-i")];
    let Some(_) = run_on_terminal(&env, &["show", CLAUDE], &vars) else { return };
    let text = paged(&env).unwrap();
    assert!(text.contains("+    return a + b") && !text.contains('\u{1b}'), "{text}");
    assert_eq!(fs_err::read_to_string(env.home().join("started")).unwrap(), "0  LESS=-i\n");
}

#[test]
fn the_pager_is_left_alone_where_it_is_of_no_use() {
    let env = TestEnv::with_sessions();
    let pager = write_pager(&env, KEEPING);
    let env = env.var("PAGER", &pager);
    env.run(&["show", CLAUDE]).success();
    assert_eq!(paged(&env), None, "in a pipe");
    for args in
        [&["show", CLAUDE, "--json"][..], &["show", CLAUDE, "--no-pager"], &["show", CLAUDE, "--format", "markdown"]]
    {
        let Some(output) = run_on_terminal(&env, args, &[]) else { return };
        assert!(output.status.success() && paged(&env).is_none(), "{args:?}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("return a + b"), "{args:?}");
    }
}

#[test]
fn a_pager_that_is_not_there_or_quits_is_no_error() {
    let env = TestEnv::with_sessions();
    for pager in ["/nowhere/pager", "no-such-pager", "", "cat"] {
        let Some(output) = run_on_terminal(&env, &["show", CLAUDE], &[("PAGER", pager)]) else { return };
        assert!(output.status.success(), "{pager:?}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("return a + b"), "{pager:?}");
    }
    let quitting = write_pager(&env, "exec true");
    let Some(output) = run_on_terminal(&env, &["show", CLAUDE, "--full"], &[("PAGER", &quitting)]) else { return };
    assert!(output.status.success(), "{output:?}");
    assert!(!String::from_utf8_lossy(&output.stdout).contains("error"), "{output:?}");
}

#[test]
fn reports_are_wrapped_at_words_on_a_terminal() {
    let env = TestEnv::with_sessions();
    let commands: &[&[&str]] = &[&["info"], &["help"], &["brief", CLAUDE], &["resume", CLAUDE, "-t", "codex"]];
    for args in commands {
        let Some(output) = run_on_terminal(&env, args, &[("COLUMNS", "60"), ("NO_COLOR", "1")]) else { return };
        let text = String::from_utf8(output.stdout).unwrap();
        let is_too_wide = |line: &&str| line.trim_end().chars().count() > 60;
        // What cannot be parted stays whole: a path, or a command that is to be copied.
        let is_whole = |line: &str| line.contains('/') || line.contains('`') || line.contains("codex resume");
        let wide: Vec<&str> = text.lines().filter(is_too_wide).filter(|line| !is_whole(line)).collect();
        assert!(wide.is_empty(), "{args:?}: {wide:#?}");
    }
}

#[test]
fn documents_and_what_a_search_found_are_wrapped_at_words() {
    let env = TestEnv::with_sessions();
    env.run(&["save", CLAUDE, "--topic", "calc"]).success();
    for args in [&["conversations", "show", "calc"][..], &["search", "README"]] {
        let Some(output) = run_on_terminal(&env, args, &[("COLUMNS", "60"), ("NO_COLOR", "1")]) else { return };
        let text = String::from_utf8_lossy(&output.stdout).replace('\r', "");
        let long = text.lines().find(|line| line.chars().count() > 60 && line.trim().contains(' '));
        assert!(long.is_none_or(|line| line.contains("carryover ") || line.contains('/')), "{long:?}: {text}");
        assert!(text.contains("README"), "{text}");
    }
}
