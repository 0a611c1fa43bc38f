//! Our own folder, when others can write to it.

#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::support::{CLAUDE, TestEnv};

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
