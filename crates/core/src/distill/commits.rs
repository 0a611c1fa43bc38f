//! The commits that were made during the session.

use super::digest::Digest;
use super::{Commit, commands};
use crate::time::Timestamp;
use crate::transcript::Action;

/// Commits that are told, the newest of them.
const MANY: usize = 40;

/// The newest first, as a log tells them.
pub(super) fn commits(digest: &Digest<'_>) -> Vec<Commit> {
    let header = &digest.story.header;
    let made = announced(digest);
    let Some(git) = &digest.workspace.git else {
        return made.into_iter().rev().take(MANY).collect();
    };
    let within = |commit: &&Commit| {
        let named = made.iter().any(|made| commit.id.starts_with(made.id.as_str()));
        let lasted = header.started_at.is_some_and(|start| start <= commit.at)
            && header.updated_at.is_some_and(|end| commit.at <= end.plus_millis(999));
        named || lasted
    };
    git.log.iter().filter(within).take(MANY).cloned().collect()
}

/// What `git commit` said: `[main 1a2b3c4] subject`.
fn announced(digest: &Digest<'_>) -> Vec<Commit> {
    let mut found = Vec::new();
    for call in digest.calls.iter().filter(|call| call.may_commit && call.succeeded()) {
        let (Action::Run { command, .. }, Some(ended)) = (call.action, call.ended) else { continue };
        let told = ended.text.lines().take(40).find_map(head);
        let Some((id, subject)) = told else { continue };
        let subject = commands::committed(command).unwrap_or_else(|| subject.to_owned());
        let at = call.over_at().unwrap_or(Timestamp::EPOCH);
        found.push(Commit { id: id.to_owned(), at, author: String::new(), subject, files: Vec::new() });
    }
    found
}

fn head(line: &str) -> Option<(&str, &str)> {
    let (inside, subject) = line.trim().strip_prefix('[')?.split_once("] ")?;
    let id = inside.rsplit(' ').next()?;
    let is_id = (7..=40).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_id && inside.contains(' ')).then_some((id, subject))
}
