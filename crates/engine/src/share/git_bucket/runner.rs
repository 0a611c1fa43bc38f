//! Runs git in our own repository: with the user's keys, and without questions.
//!
//! The user's own settings hold (addresses that stand for others, keys, helpers, proxies), since the remote is theirs. What
//! they have set up for their own work does not: hooks, signatures, and the repository that they are in.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use carryover_agents::Env;
use carryover_core::plain::one_line;

use super::push_answer::{PushAnswer, parse_push};

/// A remote that does not tell its branches by then does not answer.
const ASK_TIMEOUT: Duration = Duration::from_secs(20);
const TRANSFER_TIMEOUT: Duration = Duration::from_mins(30);
const LOCAL_TIMEOUT: Duration = Duration::from_mins(5);
const MAX_OUTPUT_BYTES: u64 = 256 << 20;
const MAX_REASON_CHARS: usize = 200;

const SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.quotePath=false",
    "core.autocrlf=false",
    // Encrypted bytes get no smaller; from here on, a file is not held in memory.
    "core.compression=0",
    "core.bigFileThreshold=8m",
    "push.gpgSign=false",
    "push.followTags=false",
    "push.recurseSubmodules=no",
    "fetch.recurseSubmodules=no",
    "fetch.writeCommitGraph=false",
    "gc.autoDetach=false",
    "maintenance.autoDetach=false",
    "protocol.ext.allow=never",
    "http.lowSpeedLimit=1000",
    "http.lowSpeedTime=20",
    "color.ui=false",
    "advice.fetchShowForcedUpdates=false",
];

/// Variables of git that say how a remote is reached. All others would lead it elsewhere.
const KEPT_VARIABLES: &[&str] = &["GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH"];
/// It asks no question, and says when nobody is there.
const SSH_COMMAND: &str = "ssh -o BatchMode=yes -o ConnectTimeout=8 -o ServerAliveInterval=10 -o ServerAliveCountMax=3";

#[derive(Debug, thiserror::Error)]
pub(super) enum GitError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("{reason}")]
    Failed { reason: String, is_refusal: bool },
}

/// Bytes for git to read.
#[derive(Clone, Copy)]
pub(super) enum Input<'a> {
    None,
    Bytes(&'a [u8]),
    File(&'a Path),
}

pub(super) struct GitRunner {
    program: PathBuf,
    /// Our repository.
    folder: PathBuf,
    variables: BTreeMap<String, String>,
}

impl GitRunner {
    pub(super) fn new(program: PathBuf, folder: PathBuf, env: &Env) -> Self {
        let is_kept = |name: &str| !name.starts_with("GIT_") || KEPT_VARIABLES.contains(&name);
        let mut variables: BTreeMap<String, String> = env
            .vars
            .iter()
            .filter(|(name, _)| is_kept(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let ours = [
            ("HOME", env.home.display().to_string()),
            ("LC_ALL", "C.UTF-8".to_owned()),
            ("GIT_TERMINAL_PROMPT", "0".to_owned()),
            // An empty one is asked nothing, and keeps that of ssh from being asked.
            ("GIT_ASKPASS", String::new()),
            ("SSH_ASKPASS_REQUIRE", "never".to_owned()),
            ("GCM_INTERACTIVE", "never".to_owned()),
            ("GIT_LITERAL_PATHSPECS", "1".to_owned()),
            ("GIT_AUTHOR_NAME", "carryover".to_owned()),
            ("GIT_AUTHOR_EMAIL", "carryover@localhost".to_owned()),
            ("GIT_COMMITTER_NAME", "carryover".to_owned()),
            ("GIT_COMMITTER_EMAIL", "carryover@localhost".to_owned()),
        ];
        variables.extend(ours.map(|(name, value)| (name.to_owned(), value)));
        let mut runner = Self { program, folder, variables };
        runner.silence_ssh();
        runner
    }

    /// Keeps ssh from asking, unless the user has another command for it.
    fn silence_ssh(&mut self) {
        let is_theirs = ["GIT_SSH", "GIT_SSH_COMMAND"].iter().any(|name| self.variables.contains_key(*name));
        if is_theirs {
            return;
        }
        let mut command = Command::new(&self.program);
        command.args(["config", "--global", "--get", "core.sshCommand"]).env_clear().envs(&self.variables);
        let set = command.stdin(Stdio::null()).stderr(Stdio::null()).output();
        if !set.is_ok_and(|output| output.status.success()) {
            self.variables.insert("GIT_SSH_COMMAND".to_owned(), SSH_COMMAND.to_owned());
        }
    }

    pub(super) fn run(&self, args: &[&str]) -> Result<Vec<u8>, GitError> {
        finish(self.command(args), Input::None, LOCAL_TIMEOUT)
    }

    /// An answer of one line.
    pub(super) fn run_line(&self, args: &[&str]) -> Result<String, GitError> {
        Ok(to_line(&self.run(args)?))
    }

    /// The same with an index of its own, so that writers do not meet.
    pub(super) fn run_with_index(&self, index: &Path, args: &[&str], input: Input<'_>) -> Result<Vec<u8>, GitError> {
        let mut command = self.command(args);
        command.env("GIT_INDEX_FILE", index);
        finish(command, input, LOCAL_TIMEOUT)
    }

    pub(super) fn line_with_index(&self, index: &Path, args: &[&str]) -> Result<String, GitError> {
        Ok(to_line(&self.run_with_index(index, args, Input::None)?))
    }

    pub(super) fn write_blob(&self, input: &Input<'_>) -> Result<String, GitError> {
        let args = ["hash-object", "-w", "--no-filters", "--stdin"];
        Ok(to_line(&finish(self.command(&args), *input, LOCAL_TIMEOUT)?))
    }

    /// Writes a blob as it is read from our repository; answers its length.
    pub(super) fn copy_blob(&self, id: &str, into: &mut dyn Write) -> Result<u64, GitError> {
        let mut command = self.command(&["cat-file", "blob", id]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let copied = child.stdout.take().map_or(Ok(0), |mut output| io::copy(&mut output, into));
        if copied.is_err() {
            child.kill().ok();
        }
        let status = child.wait()?;
        let copied = copied?;
        if status.success() {
            Ok(copied)
        } else {
            Err(GitError::Failed { reason: format!("{id} is damaged"), is_refusal: false })
        }
    }

    /// The commit that a branch of the remote is at; none where it has no such branch.
    pub(super) fn ask_remote(&self, remote: &str, branch: &str) -> Result<Option<String>, GitError> {
        let command = self.command(&["ls-remote", "--quiet", "--", remote, branch]);
        let answer = finish(command, Input::None, ASK_TIMEOUT)?;
        let answer = String::from_utf8_lossy(&answer);
        let commits = answer.lines().filter_map(|line| line.split_once('\t'));
        Ok(commits.filter(|(_, name)| *name == branch).map(|(commit, _)| commit.to_owned()).next())
    }

    pub(super) fn fetch(&self, remote: &str, refspec: &str) -> Result<(), GitError> {
        let args = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--depth=1", "--", remote, refspec];
        finish(self.command(&args), Input::None, TRANSFER_TIMEOUT).map(|_| ())
    }

    pub(super) fn push(&self, remote: &str, commit: &str, branch: &str) -> Result<PushAnswer, GitError> {
        let refspec = format!("{commit}:{branch}");
        let command = self.command(&["push", "--porcelain", "--no-verify", "--no-signed", "--", remote, &refspec]);
        let output = run_bounded(command, Input::None, TRANSFER_TIMEOUT)?;
        match parse_push(&String::from_utf8_lossy(&output.stdout)) {
            Some(answer) => Ok(answer),
            None => Err(explain_failure(&output.stderr)),
        }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("--no-pager").arg("--git-dir").arg(&self.folder);
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        command.args(args).current_dir(&self.folder).env_clear().envs(&self.variables);
        command
    }
}

fn finish(command: Command, input: Input<'_>, limit: Duration) -> Result<Vec<u8>, GitError> {
    let output = run_bounded(command, input, limit)?;
    if output.status.success() { Ok(output.stdout) } else { Err(explain_failure(&output.stderr)) }
}

fn to_line(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end().to_owned()
}

/// Runs a program that is given its time, and ended then.
fn run_bounded(mut command: Command, input: Input<'_>, limit: Duration) -> Result<Output, GitError> {
    let stdin = match input {
        Input::None => Stdio::null(),
        Input::Bytes(_) => Stdio::piped(),
        Input::File(path) => fs_err::File::open(path)?.into_parts().0.into(),
    };
    let mut child = command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    std::thread::scope(|scope| {
        let stdout = child.stdout.take().map(|output| scope.spawn(move || read_bounded(output)));
        let stderr = child.stderr.take().map(|output| scope.spawn(move || read_bounded(output)));
        let stdin = child.stdin.take();
        if let (Some(mut stdin), Input::Bytes(bytes)) = (stdin, input) {
            // One that has ended already says why itself.
            stdin.write_all(bytes).ok();
        }
        let status = wait_bounded(&mut child, limit);
        let join = |reader: Option<std::thread::ScopedJoinHandle<'_, io::Result<Vec<u8>>>>| {
            reader.and_then(|reader| reader.join().ok()).unwrap_or_else(|| Ok(Vec::new()))
        };
        let (stdout, stderr) = (join(stdout), join(stderr));
        Ok(Output { status: status?, stdout: stdout?, stderr: stderr? })
    })
}

fn read_bounded(output: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    output.take(MAX_OUTPUT_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn wait_bounded(child: &mut Child, limit: Duration) -> Result<std::process::ExitStatus, GitError> {
    let end = Instant::now() + limit;
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if Instant::now() >= end {
            child.kill().ok();
            child.wait()?;
            let reason = format!("it has not answered for {} seconds", limit.as_secs());
            return Err(GitError::Failed { reason, is_refusal: false });
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Words by which git and services say that the one who asks may not.
const REFUSALS: &[&str] = &[
    "Permission denied",
    "Authentication failed",
    "could not read Username",
    "could not read Password",
    "Host key verification failed",
    "terminal prompts disabled",
    "error: 403",
    "error: 401",
    "access denied",
    "Access denied",
    "Repository not found",
];

fn explain_failure(stderr: &[u8]) -> GitError {
    let text = String::from_utf8_lossy(stderr);
    let is_refusal = REFUSALS.iter().any(|words| text.contains(words));
    let is_cause = |line: &&str| REFUSALS.iter().any(|words| line.contains(words)) || line.starts_with("fatal:");
    let line = text.lines().find(is_cause).or_else(|| text.lines().find(|line| !line.trim().is_empty()));
    let line = line.unwrap_or("git failed without a word").trim_start_matches("fatal: ");
    GitError::Failed { reason: one_line(&hide_passwords(line), MAX_REASON_CHARS), is_refusal }
}

/// An address that the user's settings put in the place of another can have a password in it.
fn hide_passwords(line: &str) -> String {
    let hide = |word: &str| match (word.find("://"), word.rfind('@')) {
        (Some(scheme), Some(at)) if scheme < at => format!("{}://{}", &word[..scheme], &word[at + 1..]),
        _ => word.to_owned(),
    };
    line.split(' ').map(hide).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reason_is_told_without_passwords() {
        let explain = |text: &str| match explain_failure(text.as_bytes()) {
            GitError::Failed { reason, is_refusal } => (reason, is_refusal),
            GitError::Io(error) => panic!("{error}"),
        };
        let refused = explain("fatal: Authentication failed for 'https://me:secret@example.com/x'\n");
        assert_eq!(refused, ("Authentication failed for 'https://example.com/x'".to_owned(), true));
        let key = explain("git@example.com: Permission denied (publickey).\nfatal: Could not read from remote\n");
        assert_eq!(key, ("git@example.com: Permission denied (publickey).".to_owned(), true));
        let gone = explain("ssh: connect to host example.com port 22: Connection refused\nfatal: Could not read\n");
        assert_eq!(gone, ("Could not read".to_owned(), false));
    }
}
