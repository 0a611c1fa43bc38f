//! What the session did to files: by its tools, and by commands whose effect is in plain sight.

use std::collections::{BTreeMap, BTreeSet};

use super::call::Call;
use super::effects::{by_command, has_ending, is_outside};
use crate::distill::Roots;
use crate::transcript::{Action, Change, Hunk};

/// One change of one file.
pub(super) struct Touch<'a> {
    /// The index of the call.
    pub(super) call: usize,
    /// Relative to the project where it is inside.
    pub(super) path: String,
    pub(super) what: What<'a>,
}

pub(super) enum What<'a> {
    Read,
    /// Written whole.
    Whole(&'a str),
    Add(&'a str),
    Hunks(&'a [Hunk]),
    Delete,
    /// A folder, with all that is in it.
    DeleteBelow,
    /// A file or a folder, to a name or into a folder.
    MoveTo(String),
    /// A file is no longer here, but elsewhere.
    MovedAway,
    MovedHere,
    /// A folder was made.
    Folder,
    /// Made by a command that does not tell the content.
    Made,
    /// Changed by a command that does not tell how.
    Altered,
}

/// Everything that was done to files, in order; calls that failed, or of which nothing came back, count for nothing.
pub(super) fn touches<'a>(calls: &[Call<'a>], roots: &Roots) -> Vec<Touch<'a>> {
    let mut found: Vec<Touch<'a>> = Vec::new();
    let mut folders: BTreeSet<String> = BTreeSet::new();
    for (call, done) in calls.iter().enumerate().filter(|(_, call)| call.succeeded()) {
        for (path, what) in effects(done, roots) {
            let path = roots.name(&path);
            let touch = |path: String, what: What<'a>| Touch { call, path, what };
            match what {
                What::Folder => drop(folders.insert(path)),
                What::DeleteBelow => {
                    let gone = below(&found, &path);
                    found.extend(gone.into_iter().map(|path| touch(path, What::Delete)));
                }
                What::MoveTo(to) => {
                    for (from, to) in moves(&found, &folders, &path, &to) {
                        found.push(touch(from, What::MovedAway));
                        found.push(touch(to, What::MovedHere));
                    }
                }
                What::Delete if is_outside(&path) => {
                    let gone = known_outside(&found, &path);
                    found.extend(gone.map(|path| touch(path, What::Delete)));
                }
                what => found.push(touch(path, what)),
            }
        }
    }
    found
}

/// The files that a move moves, with where to; of a folder, those that the session had to do with.
fn moves(touches: &[Touch<'_>], folders: &BTreeSet<String>, from: &str, to: &str) -> Vec<(String, String)> {
    let bare = to.trim_end_matches('/');
    let is_folder = bare.len() < to.len() || folders.contains(bare) || !below(touches, bare).is_empty();
    // What is there already takes it in; else it becomes that.
    let name = from.rsplit('/').next().filter(|_| is_folder);
    let target = name.map_or_else(|| bare.to_owned(), |name| format!("{bare}/{name}"));
    let inside = below(touches, from);
    if inside.is_empty() && has_ending(from) && (is_folder || has_ending(bare)) {
        return vec![(from.to_owned(), target)];
    }
    inside.into_iter().map(|file| (file.clone(), format!("{target}{}", &file[from.len()..]))).collect()
}

/// How the session named a file outside of its project, which a shell may find by `~`.
fn known_outside(touches: &[Touch<'_>], path: &str) -> Option<String> {
    let end = path.trim_start_matches('~');
    let is_home = end.len() < path.len();
    let mut known = touches.iter().map(|touch| &touch.path);
    known.find(|known| *known == path || is_home && known.ends_with(end) && is_outside(known)).cloned()
}

/// The files below a folder that the session had to do with and that are there.
fn below(touches: &[Touch<'_>], folder: &str) -> Vec<String> {
    let mut is_there: BTreeMap<&str, bool> = BTreeMap::new();
    for touch in touches {
        if touch.path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')) {
            is_there.insert(&touch.path, !matches!(touch.what, What::Delete | What::MovedAway));
        }
    }
    is_there.into_iter().filter(|(_, is_there)| *is_there).map(|(path, _)| path.to_owned()).collect()
}

fn effects<'a>(call: &Call<'a>, roots: &Roots) -> Vec<(String, What<'a>)> {
    match call.action {
        Action::Read { path, .. } | Action::View { path } => vec![(path.clone(), What::Read)],
        Action::Write { path, content } => vec![(path.clone(), What::Whole(content))],
        Action::Edit(changes) => changes.iter().flat_map(change).collect(),
        Action::Run { command, workdir } => {
            call.line.as_ref().map_or_else(Vec::new, |line| by_command(command, line, workdir.as_deref(), roots))
        }
        _ => Vec::new(),
    }
}

fn change(change: &Change) -> Vec<(String, What<'_>)> {
    match change {
        Change::Add { path, content } => vec![(path.clone(), What::Add(content))],
        Change::Delete { path } => vec![(path.clone(), What::Delete)],
        Change::Update { path, moved_to: None, hunks } => vec![(path.clone(), What::Hunks(hunks))],
        Change::Update { path, moved_to: Some(to), hunks } => {
            vec![(path.clone(), What::Delete), (to.clone(), What::Hunks(hunks))]
        }
    }
}
