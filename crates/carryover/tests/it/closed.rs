//! Our own folder, when others can write to it.

#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use carryover_testkit::agents::find_lab;

use crate::support::{CLAUDE, TestEnv, file_targets};

const WRITING: &[&[&str]] = &[
    &["resume", CLAUDE, "--target", "codex"],
    &["resume", CLAUDE, "--target", "codex", "--prompt"],
    &["resume", CLAUDE, "--target", "cursor", "--context-only"],
    &["handoff", CLAUDE, "--no-copy"],
    &["capture", CLAUDE],
    &["undo"],
    &["undo", "--force"],
    &["watch"],
    &["config", "set", "resume.target", "codex"],
    &["config", "set", "resume.target", ""],
];

const READING: &[&[&str]] =
    &[&["list", "--all"], &["show", CLAUDE], &["brief", CLAUDE], &["detect"], &["info"], &["config", "show"]];

fn open(path: &Path, mode: u32) {
    fs_err::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
}

#[test]
fn a_folder_of_ours_that_others_can_write_to_is_refused() {
    for (path, mode) in
        [("", 0o777), ("", 0o720), ("", 0o1777), ("resumes", 0o757), ("config.toml", 0o666), ("config.toml", 0o620)]
    {
        let env = TestEnv::with_sessions();
        env.run(&["config", "set", "watch.interval", "30"]).success();
        env.run(&["resume", CLAUDE, "--target", "codex"]).success();
        let path = env.home().join(".carryover").join(path);
        open(&path, mode);
        let before = env.files();
        for command in WRITING {
            let said = env.run(command);
            assert!(said.code == Some(3) && said.stderr.contains("can be written by others"), "{command:?}: {said}");
            assert!(said.stderr.contains("chmod go-w [HOME]/.carryover"), "{command:?}: {said}");
            assert_eq!(env.files(), before, "{command:?}");
        }
        for command in READING {
            let said = env.run(command).success();
            assert!(said.stderr.contains("warning: [HOME]/.carryover"), "{command:?}: {said}");
        }
        let said = env.run(&["doctor"]);
        assert!(format!("{}{}", said.stdout, said.stderr).contains("can be written by others"), "{said}");
        open(&path, if path.is_dir() { 0o700 } else { 0o600 });
        env.run(&["undo"]).success();
    }
}

#[test]
fn a_folder_that_others_can_read_is_not() {
    let env = TestEnv::with_sessions();
    env.run(&["resume", CLAUDE, "--target", "codex"]).success();
    open(&env.home().join(".carryover"), 0o755);
    let said = env.run(&["undo"]).success();
    assert!(!said.stderr.contains("others"), "{said}");
}

/// What is set for a process says how open new folders are; sessions are private whatever it says.
#[test]
fn folders_that_are_made_in_a_store_are_closed_to_others() {
    for target in file_targets() {
        let env = TestEnv::with_sessions();
        let place = find_lab(target).unwrap().conformance.sessions;
        if place.is_in_project() || target == "claude-code" {
            // The folder is there already: it is the user's own, or that of the session.
            continue;
        }
        fs_err::remove_dir_all(env.home().join(".codex")).unwrap();
        let mut command = env.command(&[]);
        let program = command.get_program().to_owned();
        let variables: Vec<_> =
            command.get_envs().map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned))).collect();
        command = std::process::Command::new("/bin/sh");
        command.args(["-c", "umask 000; exec \"$@\"", "sh"]).arg(program).current_dir(env.project()).env_clear();
        command.envs(variables.into_iter().filter_map(|(name, value)| Some((name, value?))));
        let output = command.args(["resume", CLAUDE, "--target", target, "--json"]).output().unwrap();
        let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let file = Path::new(told["files"][0].as_str().unwrap());
        let home = env.home();
        for folder in file.ancestors().skip(1).take_while(|folder| *folder != home) {
            let mode = fs_err::metadata(folder).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, 0o700, "{target}: {}", folder.display());
        }
    }
}
