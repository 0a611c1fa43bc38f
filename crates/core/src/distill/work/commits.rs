//! The commits that were made during the session.

use super::{Work, commands};
use crate::distill::Commit;
use crate::time::Timestamp;
use crate::transcript::Action;

/// Commits that are told, the newest of them.
const MAX_COMMITS: usize = 40;

/// The newest first, as a log tells them.
pub(super) fn collect_from(work: &Work<'_>) -> Vec<Commit> {
    let header = &work.history.header;
    let made = announced_commits(work);
    let Some(git) = &work.workspace.git else {
        return made.into_iter().rev().take(MAX_COMMITS).collect();
    };
    let within = |commit: &&Commit| {
        let named = made.iter().any(|made| commit.id.starts_with(made.id.as_str()));
        let lasted = header.started_at.is_some_and(|start| start <= commit.at)
            && header.updated_at.is_some_and(|end| commit.at <= end.plus_millis(999));
        named || lasted
    };
    git.log.iter().filter(within).take(MAX_COMMITS).cloned().collect()
}

/// Commits as `git commit` printed them: `[main 1a2b3c4] subject`.
fn announced_commits(work: &Work<'_>) -> Vec<Commit> {
    let mut found = Vec::new();
    for call in work.calls.iter().filter(|call| call.succeeded()) {
        let (Action::Run { command, .. }, Some(end)) = (call.action, call.end) else { continue };
        if !command.contains("commit") {
            continue;
        }
        let told = end.text.lines().take(40).find_map(parse_commit_line);
        let Some((id, subject)) = told else { continue };
        let subject = commands::commit_subject(command).unwrap_or_else(|| subject.to_owned());
        let subject = work.quoting.quote_line(&subject, 200);
        let at = call.over_at().unwrap_or(Timestamp::EPOCH);
        found.push(Commit { id: id.to_owned(), at, author: String::new(), subject, files: Vec::new() });
    }
    found
}

fn parse_commit_line(line: &str) -> Option<(&str, &str)> {
    let (inside, subject) = line.trim().strip_prefix('[')?.split_once("] ")?;
    let id = inside.rsplit(' ').next()?;
    let is_id = (7..=40).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_id && inside.contains(' ')).then_some((id, subject))
}
