//! Running a vendor's own command, step by step and never for long.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use carryover_agents::{Env, TEMPORARY_FOLDER, VendorCommand};
use carryover_core::plain::one_line;

use crate::own::files;
use crate::write::scratch::ScratchFolder;

const STEP_TIMEOUT: Duration = Duration::from_secs(10);
const TOTAL_TIMEOUT: Duration = Duration::from_secs(20);
/// A command that writes the session itself has all of it to write.
const WRITE_TIMEOUT: Duration = Duration::from_mins(3);
/// How long a program may take to end once it was told all.
const END_TIMEOUT: Duration = Duration::from_secs(3);
/// Nobody keeps us from looking at the time.
const MAX_LINES_AT_ONCE: usize = 1_000;
const DRAIN_TIMEOUT: Duration = Duration::from_millis(200);
const MAX_LINE_BYTES: u64 = 16 << 20;
/// So much of what a program that failed said is told.
const MAX_SAID: usize = 6;
const MAX_SAID_BYTES: usize = 16 << 10;
const MAX_SAID_COLUMNS: usize = 200;

/// Variables that a program needs on any system; everything else of the user's environment stays out.
const PASSED_VARS: &[&str] =
    &["PATH", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "SYSTEMROOT", "TMPDIR", "TEMP", "TMP", "LANG"];

#[derive(Debug, thiserror::Error)]
pub(crate) enum RunError {
    #[error("what it needs could not be written")]
    Prepare(#[source] io::Error),
    #[error("it could not be started")]
    Start(#[source] io::Error),
    #[error("it stopped listening")]
    Send(#[source] io::Error),
    #[error("it ended before it had answered")]
    Ended,
    #[error("it did not answer in time")]
    TimedOut,
    #[error("it ended with {}", describe_code(*.code))]
    Failed {
        code: Option<i32>,
        /// Its last lines.
        said: Vec<String>,
    },
}

fn describe_code(code: Option<i32>) -> String {
    code.map_or_else(|| "a signal".to_owned(), |code| format!("exit code {code}"))
}

impl RunError {
    /// The last lines of a program that failed.
    pub(crate) fn said(self) -> Vec<String> {
        if let Self::Failed { said, .. } = self { said } else { Vec::new() }
    }
}

/// Runs it and sends its lines, each after the answer to the one before has come.
pub(crate) fn run_program(run: &VendorCommand, env: &Env, home: &Path) -> Result<(), RunError> {
    let scratch = prepare_scratch(run, home).map_err(RunError::Prepare)?;
    let mut child = spawn_child(run, env, &scratch).map_err(RunError::Start)?;
    let mut result = exchange_lines(run, &mut child);
    if let Err(RunError::Failed { said, .. }) = &mut result {
        // Errors are told last: they are what is asked for.
        said.extend(last_lines(&scratch.read_stderr()));
        said.drain(..said.len().saturating_sub(MAX_SAID));
    }
    // It has done its work or failed at it; one that has ended already cannot be killed, and need not be.
    child.kill().ok();
    child.wait().ok();
    scratch.remove_when_free();
    result
}

/// A folder that only we can open, with the files that are handed over.
fn prepare_scratch(run: &VendorCommand, home: &Path) -> io::Result<ScratchFolder> {
    let scratch = ScratchFolder::create(home)?;
    for (name, bytes) in &run.files {
        files::write_private(&scratch.path().join(name), bytes)?;
    }
    Ok(scratch)
}

fn spawn_child(run: &VendorCommand, env: &Env, scratch: &ScratchFolder) -> io::Result<Child> {
    let mut command = Command::new(&run.program);
    let folder = scratch.path().to_string_lossy();
    let filled = |text: &String| text.replace(TEMPORARY_FOLDER, &folder);
    command.args(run.args.iter().map(filled)).env_clear().env("HOME", &env.home);
    // Not where we happen to be: a client takes settings from the project that it is started in.
    if let Some(cwd) = run.cwd.as_ref().or(Some(&env.home).filter(|home| home.is_dir())) {
        command.current_dir(cwd);
    }
    for name in PASSED_VARS {
        if let Some(value) = env.var(name) {
            command.env(name, value);
        }
    }
    command.envs(run.vars.iter().map(|(name, value)| (name, filled(value))));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(scratch.stderr()?).spawn()
}

fn exchange_lines(run: &VendorCommand, child: &mut Child) -> Result<(), RunError> {
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(RunError::Ended);
    };
    let end = Instant::now() + if run.required { WRITE_TIMEOUT } else { TOTAL_TIMEOUT };
    let lines = read_lines(output);
    for (line, awaited) in &run.dialogue {
        send_line(&mut input, line).map_err(RunError::Send)?;
        if let Some(awaited) = awaited {
            wait_for(&lines, awaited, end.min(Instant::now() + STEP_TIMEOUT))?;
        }
    }
    drop(input);
    if run.dialogue.is_empty() { wait_for_end(child, end, &lines) } else { wait_briefly(child, &lines) }
}

fn send_line(input: &mut ChildStdin, line: &str) -> io::Result<()> {
    input.write_all(line.as_bytes())?;
    input.write_all(b"\n")?;
    input.flush()
}

/// Hands over what the program says, line by line. The thread is not joined: a grandchild may keep the pipe open.
fn read_lines(output: ChildStdout) -> Receiver<Vec<u8>> {
    let (sender, receiver) = sync_channel(64);
    std::thread::spawn(move || {
        let mut output = BufReader::new(output);
        loop {
            let mut line = Vec::new();
            match (&mut output).take(MAX_LINE_BYTES).read_until(b'\n', &mut line) {
                Ok(1..) if sender.send(line).is_ok() => {}
                _ => return,
            }
        }
    });
    receiver
}

fn wait_for(lines: &Receiver<Vec<u8>>, awaited: &str, end: Instant) -> Result<(), RunError> {
    loop {
        let line = lines.recv_timeout(end.saturating_duration_since(Instant::now())).map_err(|error| match error {
            RecvTimeoutError::Timeout => RunError::TimedOut,
            RecvTimeoutError::Disconnected => RunError::Ended,
        })?;
        if String::from_utf8_lossy(&line).contains(awaited) {
            return Ok(());
        }
    }
}

fn wait_for_end(child: &mut Child, end: Instant, lines: &Receiver<Vec<u8>>) -> Result<(), RunError> {
    let mut output = Vec::new();
    loop {
        let ended = child.try_wait();
        // Taken in all the time: who is not listened to stops. What was said last is still on its way when it has ended.
        let patience = if matches!(ended, Ok(None)) { Duration::ZERO } else { DRAIN_TIMEOUT };
        for line in std::iter::from_fn(|| lines.recv_timeout(patience).ok()).take(MAX_LINES_AT_ONCE) {
            output.extend_from_slice(&line);
            output.drain(..output.len().saturating_sub(MAX_SAID_BYTES));
        }
        match ended {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(RunError::Failed { code: status.code(), said: last_lines(&output) }),
            Err(_) => return Err(RunError::Failed { code: None, said: last_lines(&output) }),
            Ok(None) if Instant::now() >= end => return Err(RunError::TimedOut),
            Ok(None) => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}

/// A program that has answered everything may end in its own time, so that it can put its files in order.
fn wait_briefly(child: &mut Child, lines: &Receiver<Vec<u8>>) -> Result<(), RunError> {
    match wait_for_end(child, Instant::now() + END_TIMEOUT, lines) {
        Ok(()) | Err(RunError::TimedOut | RunError::Failed { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// The last lines of what a program said, without what would steer a terminal.
fn last_lines(output: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(output);
    let lines = text.lines().map(|line| one_line(line, MAX_SAID_COLUMNS));
    let lines: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(MAX_SAID)..].to_vec()
}

#[cfg(all(test, unix))]
mod tests {
    use std::collections::BTreeMap;

    use carryover_agents::{Inverse, Os};
    use carryover_core::time::Timestamp;

    use super::*;

    fn run_shell(script: &str, dialogue: &[(&str, Option<&str>)]) -> Result<(), RunError> {
        let vars = BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned()), ("KEY".into(), "k".into())]);
        let zone = jiff::tz::TimeZone::UTC;
        let home = std::env::temp_dir();
        let env = Env {
            home,
            vars,
            os: Os::Linux,
            now: Timestamp::EPOCH,
            zone,
            stores: BTreeMap::new(),
            projects: Vec::new(),
        };
        let step = |(line, awaited): &(&str, Option<&str>)| ((*line).to_owned(), awaited.map(str::to_owned));
        let planned = VendorCommand {
            program: "/bin/sh".into(),
            args: vec!["-c".into(), script.into()],
            vars: vec![("GIVEN".into(), "g".into())],
            dialogue: dialogue.iter().map(step).collect(),
            reason: "test",
            files: vec![("in.txt".into(), b"handed".to_vec())],
            cwd: Some("/".into()),
            inverse: Inverse::default(),
            required: false,
        };
        let ours = tempfile::tempdir().map_err(RunError::Prepare)?;
        run_program(&planned, &env, ours.path())
    }

    #[test]
    fn files_are_handed_over_in_a_folder_that_goes_again() {
        let seen = tempfile::tempdir().unwrap();
        let note = seen.path().join("note").display().to_string();
        let script = format!(
            r#"[ "$PWD" = / ] && [ "$(cat "{{temporary}}/in.txt")" = handed ] && echo "{{temporary}}" > '{note}'"#
        );
        run_shell(&script, &[]).unwrap();
        let folder = fs_err::read_to_string(note).unwrap();
        assert!(!folder.trim().is_empty() && !std::path::Path::new(folder.trim()).exists());
    }

    #[test]
    fn answers_are_awaited_in_order() {
        let script = r#"read a; echo noise; echo "got $a"; read b; echo "then $b"; cat > /dev/null"#;
        run_shell(script, &[("one", Some("got one")), ("two", Some("then two")), ("bye", None)]).unwrap();
    }

    #[test]
    fn the_environment_is_what_was_given() {
        let script = r#"[ "$GIVEN$KEY" = g ] && [ -n "$HOME" ]"#;
        run_shell(script, &[]).unwrap();
    }

    #[test]
    fn a_program_that_fails_says_so() {
        let failed = run_shell("echo out; printf '\\033[31mnot \\033[0mthat\\n' >&2; exit 3", &[]).unwrap_err();
        assert_eq!(failed.to_string(), "it ended with exit code 3");
        assert_eq!(failed.said(), ["out", "not that"]);
        assert!(matches!(run_shell("read a; exit 0", &[("x", Some("y"))]), Err(RunError::Ended)));
    }

    #[test]
    fn a_program_that_will_not_end_is_ended() {
        let start = Instant::now();
        run_shell("read a; echo yes; exec sleep 60", &[("x", Some("yes"))]).unwrap();
        assert!(start.elapsed() < Duration::from_secs(15));
    }
}
