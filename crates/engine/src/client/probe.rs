//! Asking a program for its version.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use carryover_agents::Version;

const TIMEOUT: Duration = Duration::from_secs(5);
const MAX_OUTPUT_BYTES: u64 = 64 << 10;

/// Runs `program --version` where it can neither see nor write anything of the user's.
pub(super) fn query_version(program: &Path, path: Option<&str>) -> Option<Version> {
    let home = tempfile::tempdir().ok()?;
    let mut command = Command::new(program);
    command.arg("--version").current_dir(home.path()).env_clear();
    command.env("PATH", path.unwrap_or_default());
    for name in ["HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TMPDIR", "TEMP", "TMP"] {
        command.env(name, home.path());
    }
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let output = child.stdout.take()?;
    let (sender, receiver) = mpsc::channel();
    // The thread is not joined: a grandchild may hold the pipe open long after the program was ended.
    std::thread::spawn(move || {
        let mut text = Vec::new();
        if output.take(MAX_OUTPUT_BYTES).read_to_end(&mut text).is_ok() {
            sender.send(text).ok();
        }
    });
    let text = receiver.recv_timeout(TIMEOUT);
    // It has said all or has had its time; a program that has ended already cannot be killed, and need not be.
    child.kill().ok();
    child.wait().ok();
    Version::find_in(&String::from_utf8_lossy(&text.ok()?))
}
