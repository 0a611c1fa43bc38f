//! Facts that git knows of a project. The program is asked, read-only and bounded, and can start nothing.

mod index;
mod own_changes;
mod query;

use std::collections::BTreeSet;
use std::path::Path;

use carryover_core::distill::{Commit, Git};
use carryover_core::time::Timestamp;

use crate::context::Context;
use own_changes::OwnParts;
pub(crate) use query::{FilterOverrides, GitQuery, find_repository};

const MAX_LINES: usize = 200;

/// The last commits; those since the session began are among them.
const LOG_ARGS: &[&str] = &[
    "log",
    "-n100",
    "--name-only",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--no-notes",
    "--no-color",
    "--format=%x1e%h%x1f%ct%x1f%an%x1f%s",
];
/// Submodules have settings of their own.
const STATUS_ARGS: &[&str] =
    &["status", "--short", "--no-branch", "--untracked-files=normal", "--ignore-submodules=all"];
const DIFF_STAT_ARGS: &[&str] =
    &["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=all", "--stat=100", "HEAD"];

/// Stands between the fields of a commit, and before each: no name or subject has it.
const FIELD_SEPARATOR: char = '\u{1f}';
const COMMIT_SEPARATOR: char = '\u{1e}';

/// The repository that a project is in; none where there is none, or no git.
pub(super) fn inspect_repository(context: &Context, project: &Path, since: Option<Timestamp>) -> Option<Git> {
    let asker = GitQuery::new(context, project).filter(GitQuery::is_own)?;
    let branch = asker.ask(&["branch", "--show-current"])?;
    // A repository without a commit has no log, and that is no failure.
    let mut log = parse_commits(&asker.ask(LOG_ARGS).unwrap_or_default());
    let head = log.first().cloned().map(|head| Commit { files: Vec::new(), ..head });
    for commit in &mut log {
        // The files of older commits are nobody's concern.
        if since.is_none_or(|since| commit.at.seconds() < since.seconds()) {
            commit.files.clear();
        }
    }
    let unfiltered = asker.disable_filters();
    let of_files = |question: &[&str]| asker.ask_unfiltered(unfiltered.as_ref()?, question);
    let mut status = of_files(STATUS_ARGS).unwrap_or_default();
    let own_paths = take_own_paths(context, &asker, project, &mut status);
    Some(Git {
        branch: Some(branch.trim().to_owned()).filter(|branch| !branch.is_empty()),
        head,
        status: answer_lines(&status),
        diff_stat: answer_lines(&of_files(&diff_stat_args(&own_paths)).unwrap_or_default()),
        log,
    })
}

/// Takes the paths out of a status in which nothing differs but what we wrote; answers how a diff leaves them out, too.
fn take_own_paths(context: &Context, asker: &GitQuery<'_>, project: &Path, status: &mut String) -> Vec<String> {
    if status.is_empty() {
        return Vec::new();
    }
    let parts = OwnParts::load(context);
    let mut paths = Vec::new();
    let mut rest = String::new();
    for line in status.split_inclusive('\n') {
        match parts.find_own_path(asker, project, line.trim_end()) {
            Some(path) => paths.push(format!(":(exclude,literal){path}")),
            None => rest.push_str(line),
        }
    }
    *status = rest;
    paths
}

fn diff_stat_args(without: &[String]) -> Vec<&str> {
    let mut args = DIFF_STAT_ARGS.to_vec();
    if !without.is_empty() {
        // All of the repository, whichever folder of it this is.
        args.extend(["--", ":/"]);
        args.extend(without.iter().map(String::as_str));
    }
    args
}

/// Whether git keeps a file, so that what is written there may be committed. Where git does not answer, its index is read.
pub fn is_tracked(context: &Context, project: &Path, file: &Path) -> bool {
    let Some(root) = find_repository(project) else { return false };
    let name = file.display().to_string();
    // The name of a folder is no pattern.
    let question = ["--literal-pathspecs", "ls-files", "-z", "--", &name];
    match GitQuery::new(context, project).and_then(|asker| asker.ask(&question)) {
        Some(answer) => !answer.is_empty(),
        None => index::may_hold(root, &project.join(file)),
    }
}

/// Whether something keeps git from a folder, except for what the folder holds itself; none where there is no work tree.
pub(crate) fn ignores_folder(context: &Context, project: &Path, name: &str) -> Option<bool> {
    let asker = GitQuery::new(context, project)?;
    asker.ask(&["rev-parse", "--is-inside-work-tree"]).filter(|answer| answer.trim() == "true")?;
    // With a slash behind it, a folder that is there would answer for itself; without, one that is not is no folder.
    let folder = if project.join(name).is_dir() { name.to_owned() } else { format!("{name}/") };
    Some(asker.ask(&["check-ignore", "--no-index", "--", &folder]).is_some())
}

/// The same of a file, which need not be there yet.
pub(crate) fn ignores_file(context: &Context, project: &Path, name: &str) -> Option<bool> {
    let asker = GitQuery::new(context, project)?;
    asker.ask(&["rev-parse", "--is-inside-work-tree"]).filter(|answer| answer.trim() == "true")?;
    Some(asker.ask(&["check-ignore", "--no-index", "--", name]).is_some())
}

/// Those of some files that git neither has nor could take in, by their names from the project on. None where there is a
/// repository, and git does not answer: then nobody knows.
pub(crate) fn list_kept_from_git(
    context: &Context,
    project: &Path,
    names: &BTreeSet<String>,
) -> Option<BTreeSet<String>> {
    if names.is_empty() || find_repository(project).is_none() {
        return Some(BTreeSet::new());
    }
    let asker = GitQuery::new(context, project)?;
    let question = ["--literal-pathspecs", "ls-files", "--others", "--ignored", "--exclude-standard", "-z", "--"];
    let question: Vec<&str> = question.into_iter().chain(names.iter().map(String::as_str)).collect();
    let answer = asker.ask(&question)?;
    Some(answer.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect())
}

fn parse_commits(log: &str) -> Vec<Commit> {
    log.split(COMMIT_SEPARATOR).filter_map(parse_commit).collect()
}

fn parse_commit(text: &str) -> Option<Commit> {
    let mut lines = text.lines();
    let mut fields = lines.next()?.splitn(4, FIELD_SEPARATOR);
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

fn answer_lines(answer: &str) -> Vec<String> {
    answer.lines().take(MAX_LINES).map(|line| line.trim_end().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_are_taken_apart() {
        let log = "\u{1e}abc1234\u{1f}1700000000\u{1f}Ada\u{1f}fix: a \u{1f} b\n\nsrc/a.rs\nsrc/b c.rs\n\u{1e}def\u{1f}1600000000\u{1f}Bob\u{1f}first\n";
        let commits = parse_commits(log);
        assert_eq!(commits.len(), 2);
        assert_eq!(commits[0].files, ["src/a.rs", "src/b c.rs"]);
        assert_eq!((commits[0].subject.as_str(), commits[1].author.as_str()), ("fix: a \u{1f} b", "Bob"));
    }
}
