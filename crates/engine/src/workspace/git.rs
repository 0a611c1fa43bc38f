//! What git tells of a project. The program is asked, read-only and bounded: a repository's own settings can name
//! programs, so those that a question could start are switched off.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use carryover_core::distill::{Commit, Git};
use carryover_core::time::Timestamp;

use crate::client::find_program;
use crate::context::Context;

const LIMIT: Duration = Duration::from_secs(5);
const MAX_ANSWER: u64 = 4 << 20;
const MAX_LINES: usize = 200;
/// Commits that are looked at; those since the session began are among them.
const MAX_COMMITS: &str = "-n100";

/// Stands between the fields of a commit, and before each: no name or subject has it.
const FIELD: char = '\u{1f}';
const COMMIT: char = '\u{1e}';

/// The repository that a project is in; none where there is none, or no git.
pub(super) fn look(context: &Context, project: &Path, since: Option<Timestamp>) -> Option<Git> {
    let asker = Asker::new(context, project)?;
    let branch = asker.ask(&["branch", "--show-current"])?;
    // A repository without a commit has no log, and that is no failure.
    let log = asker.ask(&["log", MAX_COMMITS, "--name-only", "--no-renames", "--format=%x1e%h%x1f%ct%x1f%an%x1f%s"]);
    let mut log = commits(&log.unwrap_or_default());
    let head = log.first().cloned().map(|head| Commit { files: Vec::new(), ..head });
    for commit in &mut log {
        // The files of older commits are nobody's concern.
        if since.is_none_or(|since| commit.at.seconds() < since.seconds()) {
            commit.files.clear();
        }
    }
    Some(Git {
        branch: Some(branch.trim().to_owned()).filter(|branch| !branch.is_empty()),
        head,
        status: lines(asker.ask(&["status", "--short", "--untracked-files=normal"])),
        diff_stat: lines(asker.ask(&["diff", "--no-ext-diff", "--no-textconv", "--stat=100", "HEAD"])),
        log,
    })
}

/// Whether git keeps a file, so that what is written there may be committed.
pub fn is_tracked(context: &Context, project: &Path, file: &Path) -> bool {
    let Some(asker) = Asker::new(context, project) else { return false };
    let file = file.display().to_string();
    asker.ask(&["ls-files", "--error-unmatch", "--", &file]).is_some()
}

/// Whether something keeps git from a folder, except for what the folder holds itself; none where there is no work tree.
pub(crate) fn ignores(context: &Context, project: &Path, name: &str) -> Option<bool> {
    let asker = Asker::new(context, project)?;
    asker.ask(&["rev-parse", "--is-inside-work-tree"]).filter(|answer| answer.trim() == "true")?;
    // With a slash behind it, a folder that is there would answer for itself; without, one that is not is no folder.
    let folder = if project.join(name).is_dir() { name.to_owned() } else { format!("{name}/") };
    Some(asker.ask(&["check-ignore", "--no-index", "--", &folder]).is_some())
}

fn commits(log: &str) -> Vec<Commit> {
    log.split(COMMIT).filter_map(commit).collect()
}

fn commit(text: &str) -> Option<Commit> {
    let mut lines = text.lines();
    let mut fields = lines.next()?.splitn(4, FIELD);
    let mut field = || fields.next();
    let (id, at, author, subject) = (field()?, field()?, field()?, field()?);
    Some(Commit {
        id: id.to_owned(),
        at: Timestamp::from_millis(at.parse::<i64>().ok()?.saturating_mul(1000)),
        author: author.to_owned(),
        subject: subject.to_owned(),
        files: lines.filter(|line| !line.is_empty()).map(str::to_owned).collect(),
    })
}

fn lines(answer: Option<String>) -> Vec<String> {
    answer.unwrap_or_default().lines().take(MAX_LINES).map(|line| line.trim_end().to_owned()).collect()
}

/// Asks git about one folder.
struct Asker<'a> {
    program: PathBuf,
    context: &'a Context,
    project: &'a Path,
}

impl<'a> Asker<'a> {
    fn new(context: &'a Context, project: &'a Path) -> Option<Self> {
        // Cheaper than to ask, and the answer for most folders that are no repositories.
        project.ancestors().find(|above| above.join(".git").exists())?;
        Some(Self { program: find_program(context, "git")?, context, project })
    }

    /// What it answers; none where it fails, answers too much or takes too long.
    fn ask(&self, args: &[&str]) -> Option<String> {
        let mut command = Command::new(&self.program);
        command.args(["--no-pager", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false"]);
        command.args(["-c", "core.hooksPath=/dev/null", "-c", "log.showSignature=false"]);
        command.args(args).current_dir(self.project).env_clear();
        command.env("HOME", &self.context.env.home).env("LC_ALL", "C.UTF-8").env("GIT_TERMINAL_PROMPT", "0");
        if let Some(path) = self.context.env.var("PATH") {
            command.env("PATH", path);
        }
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
        let output = child.stdout.take()?;
        let reader = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            output.take(MAX_ANSWER).read_to_end(&mut bytes).map(|_| bytes)
        });
        let end = Instant::now() + LIMIT;
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) if Instant::now() < end && !reader.is_finished() => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                // It has said all that we read: it ends now, or is ended.
                Ok(None) if reader.is_finished() => break child.wait().ok(),
                _ => {
                    child.kill().ok();
                    child.wait().ok();
                    return None;
                }
            }
        };
        let bytes = reader.join().ok()?.ok()?;
        status.filter(std::process::ExitStatus::success)?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_are_taken_apart() {
        let log = "\u{1e}abc1234\u{1f}1700000000\u{1f}Ada\u{1f}fix: a \u{1f} b\n\nsrc/a.rs\nsrc/b c.rs\n\u{1e}def\u{1f}1600000000\u{1f}Bob\u{1f}first\n";
        let commits = commits(log);
        assert_eq!(commits.len(), 2);
        assert_eq!(commits[0].files, ["src/a.rs", "src/b c.rs"]);
        assert_eq!((commits[0].subject.as_str(), commits[1].author.as_str()), ("fix: a \u{1f} b", "Bob"));
    }
}
