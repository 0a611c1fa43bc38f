//! A command that is killed, and what the next one makes of it.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::support::{CLAUDE, TestEnv};

/// A client whose import takes its time: it says when it has begun and when it has ended.
fn with_slow_client(env: &TestEnv) {
    let home = env.home().display().to_string();
    let begin = format!("echo \"$2\" > '{home}/given'; touch '{home}/begun'");
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = import ] || {{ echo 1.18.33; exit; }}\n{begin}\n( sleep 1; touch '{home}/ended' )\n"
    );
    env.write("bin/opencode", &script);
    let program = env.home().join("bin/opencode");
    fs_err::set_permissions(program, PermissionsExt::from_mode(0o755)).unwrap();
}

fn wait_for(path: &Path) {
    let end = Instant::now() + Duration::from_secs(30);
    while !path.exists() {
        assert!(Instant::now() < end, "{}", path.display());
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn slow() -> TestEnv {
    let env = TestEnv::with_sessions();
    let path = format!("{}/bin:/usr/bin:/bin", env.home().display());
    let env = env.var("PATH", &path);
    with_slow_client(&env);
    env
}

/// Kills a resume while the client imports; the file that the client was given.
fn kill_amid_import(env: &TestEnv) -> String {
    let mut resume = env.command(&["resume", CLAUDE, "--target", "opencode"]).spawn().unwrap();
    wait_for(&env.home().join("begun"));
    resume.kill().unwrap();
    resume.wait().unwrap();
    fs_err::read_to_string(env.home().join("given")).unwrap().trim().to_owned()
}

#[test]
fn undo_waits_for_a_clients_command_that_outlived_its_resume() {
    let env = slow();
    let given = kill_amid_import(&env);
    assert!(given.starts_with(&env.home().join(".carryover").display().to_string()), "{given}");
    let folder = Path::new(&given).parent().unwrap();
    assert_eq!(fs_err::metadata(folder).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(fs_err::metadata(&given).unwrap().permissions().mode() & 0o777, 0o600);
    env.run(&["undo"]).success();
    assert!(env.home().join("ended").exists(), "what it adds after that would stay");
    assert!(!env.home().join(".carryover/tmp").exists());
}

#[test]
fn any_command_sweeps_what_a_killed_one_left() {
    let env = slow();
    let given = kill_amid_import(&env);
    env.run(&["list"]).success();
    assert!(Path::new(&given).exists() || env.home().join("ended").exists(), "it is still read");
    wait_for(&env.home().join("ended"));
    std::thread::sleep(Duration::from_millis(300));
    for file in [".carryover-abc.tmp", ".carryover/.carryover-def.tmp"] {
        env.write(&format!("calc/{file}"), "half a brief");
    }
    env.write("calc/.carryover-mine", "not ours");
    env.run(&["list"]).success();
    assert!(!Path::new(&given).exists());
    assert!(!env.project().join(".carryover-abc.tmp").exists());
    assert!(!env.project().join(".carryover/.carryover-def.tmp").exists());
    assert!(env.project().join(".carryover-mine").exists());
}

/// A limit on the size of files ends a program without a word, unless it asks to be told.
#[test]
fn a_write_that_is_too_long_is_an_error_that_names_its_file() {
    let env = TestEnv::with_sessions();
    let before = env.files();
    let mut command = std::process::Command::new("/bin/bash");
    command.args(["-c", "ulimit -f 4; exec \"$@\"", "bash"]).arg(env!("CARGO_BIN_EXE_carryover"));
    command.args(["resume", CLAUDE, "--target", "codex"]).current_dir(env.project()).env_clear();
    let output = command.env("HOME", env.home()).env("TZ", "UTC").output().unwrap();
    let said = env.said(output);
    assert!(said.code == Some(3) && said.stderr.contains("error: could not write [HOME]/."), "{said}");
    assert_eq!(env.files(), before);
}
