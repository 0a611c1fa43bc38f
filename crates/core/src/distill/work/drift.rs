//! Changes since the session ended: commits, and files that are not as it last saw them.

use std::collections::BTreeMap;

use super::Work;
use super::changes::FileEffect;
use crate::distill::{CurrentFile, Drift, Item, Voice};
use crate::time::Timestamp;
use crate::transcript::{Action, EntryKey};

/// A file's time may be a little behind the record of the call that wrote it.
const SLACK_MILLIS: i64 = 5_000;
/// Files and commits that are told.
const MAX_ITEMS: usize = 60;

pub(super) fn collect_from(work: &Work<'_>) -> Drift {
    let ended = work.history.header.updated_at;
    let log = work.workspace.git.iter().flat_map(|git| &git.log);
    let since = log.filter(|commit| ended.is_some_and(|end| commit.at > end.plus_millis(999)));
    Drift { commits: since.take(MAX_ITEMS).cloned().collect(), files: changed_files(work) }
}

/// A file as the session last saw it.
struct LastSeen<'a> {
    at: Option<Timestamp>,
    /// The text that it wrote, where it wrote the file whole.
    text: Option<&'a str>,
    is_deleted: bool,
    key: EntryKey,
}

fn changed_files(work: &Work<'_>) -> Vec<Item> {
    let mut seen: BTreeMap<&str, LastSeen<'_>> = BTreeMap::new();
    for touch in &work.touches {
        let call = &work.calls[touch.call];
        let (text, is_deleted) = match touch.effect {
            FileEffect::Whole(text) | FileEffect::Add(text) => (Some(text), false),
            FileEffect::Delete | FileEffect::MovedAway => (None, true),
            FileEffect::Read => (seen.get(touch.path.as_str()).and_then(|seen| seen.text), false),
            _ => (None, false),
        };
        seen.insert(&touch.path, LastSeen { at: call.over_at(), text, is_deleted, key: call.key });
    }
    let mut found = Vec::new();
    for file in &work.workspace.files {
        let path = work.roots.relative_path(&file.path);
        let Some(seen) = seen.get(path) else { continue };
        let Some(what) = describe_change(work, file, seen) else { continue };
        found.push(Item {
            text: format!("{}: {what}", work.quoting.mask(path)),
            voice: Voice::Workspace,
            at: file.modified_at,
            entries: vec![seen.key],
        });
    }
    found.truncate(MAX_ITEMS);
    found
}

fn describe_change(work: &Work<'_>, file: &CurrentFile, seen: &LastSeen<'_>) -> Option<String> {
    if seen.is_deleted {
        return file.exists.then(|| "is there again".to_owned());
    }
    if !file.exists {
        return Some("is gone".to_owned());
    }
    let is_same = |wrote: &str| file.text.as_ref().is_some_and(|now| wrote.trim_end() == now.trim_end());
    if seen.text.is_some_and(is_same) {
        return None;
    }
    let (modified, at) = (file.modified_at?, seen.at?);
    let is_later = modified > at.plus_millis(SLACK_MILLIS);
    (is_later && !is_own_change(work, modified, at)).then(|| format!("changed at {modified}"))
}

/// Whether a command of the session was running when the file was changed: a formatter, a generator.
fn is_own_change(work: &Work<'_>, modified: Timestamp, seen: Timestamp) -> bool {
    let runs = work.calls.iter().rev().take_while(|call| call.over_at().is_none_or(|at| at >= seen));
    runs.filter(|call| matches!(call.action, Action::Run { .. })).any(|call| {
        let (Some(start), Some(end)) = (call.at, call.over_at()) else { return false };
        start.plus_millis(-1000) <= modified && modified <= end.plus_millis(SLACK_MILLIS)
    })
}
