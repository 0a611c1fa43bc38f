//! Changes of files by the session: by its tools, and by commands whose effect is evident.

use std::collections::{BTreeMap, BTreeSet};

use super::call::Call;
use super::effects::{command_effects, has_ending, is_outside};
use crate::distill::Roots;
use crate::transcript::{Action, Change, Hunk};

/// One change of one file.
pub(super) struct FileTouch<'a> {
    /// The index of the call.
    pub(super) call: usize,
    /// Relative to the project where it is inside.
    pub(super) path: String,
    pub(super) effect: FileEffect<'a>,
}

pub(super) enum FileEffect<'a> {
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
pub(super) fn collect_touches<'a>(calls: &[Call<'a>], roots: &Roots) -> Vec<FileTouch<'a>> {
    let mut found: Vec<FileTouch<'a>> = Vec::new();
    let mut folders: BTreeSet<String> = BTreeSet::new();
    for (call, done) in calls.iter().enumerate().filter(|(_, call)| call.succeeded()) {
        for (path, what) in call_effects(done, roots) {
            let path = roots.display_path(&path);
            let touch = |path: String, what: FileEffect<'a>| FileTouch { call, path, effect: what };
            match what {
                FileEffect::Folder => drop(folders.insert(path)),
                FileEffect::DeleteBelow => {
                    let gone = files_below(&found, &path);
                    found.extend(gone.into_iter().map(|path| touch(path, FileEffect::Delete)));
                }
                FileEffect::MoveTo(to) => {
                    for (from, to) in expand_move(&found, &folders, &path, &to) {
                        found.push(touch(from, FileEffect::MovedAway));
                        found.push(touch(to, FileEffect::MovedHere));
                    }
                }
                FileEffect::Delete if is_outside(&path) => {
                    let gone = known_outside(&found, &path);
                    found.extend(gone.map(|path| touch(path, FileEffect::Delete)));
                }
                what => found.push(touch(path, what)),
            }
        }
    }
    found
}

/// The files that a move moves, with where to; of a folder, those that the session had to do with.
fn expand_move(touches: &[FileTouch<'_>], folders: &BTreeSet<String>, from: &str, to: &str) -> Vec<(String, String)> {
    let bare = to.trim_end_matches('/');
    let is_folder = bare.len() < to.len() || folders.contains(bare) || !files_below(touches, bare).is_empty();
    // A folder that is there takes it in; else it gets that name.
    let name = from.rsplit('/').next().filter(|_| is_folder);
    let target = name.map_or_else(|| bare.to_owned(), |name| format!("{bare}/{name}"));
    let inside = files_below(touches, from);
    if inside.is_empty() && has_ending(from) && (is_folder || has_ending(bare)) {
        return vec![(from.to_owned(), target)];
    }
    inside.into_iter().map(|file| (file.clone(), format!("{target}{}", &file[from.len()..]))).collect()
}

/// How the session named a file outside of its project, which a shell may find by `~`.
fn known_outside(touches: &[FileTouch<'_>], path: &str) -> Option<String> {
    let end = path.trim_start_matches('~');
    let is_home = end.len() < path.len();
    let mut known = touches.iter().map(|touch| &touch.path);
    known.find(|known| *known == path || is_home && known.ends_with(end) && is_outside(known)).cloned()
}

/// The files below a folder that the session had to do with and that are there.
fn files_below(touches: &[FileTouch<'_>], folder: &str) -> Vec<String> {
    let mut is_there: BTreeMap<&str, bool> = BTreeMap::new();
    for touch in touches {
        if touch.path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')) {
            is_there.insert(&touch.path, !matches!(touch.effect, FileEffect::Delete | FileEffect::MovedAway));
        }
    }
    is_there.into_iter().filter(|(_, is_there)| *is_there).map(|(path, _)| path.to_owned()).collect()
}

fn call_effects<'a>(call: &Call<'a>, roots: &Roots) -> Vec<(String, FileEffect<'a>)> {
    match call.action {
        Action::Read { path, .. } | Action::View { path } => vec![(path.clone(), FileEffect::Read)],
        Action::Write { path, content } => vec![(path.clone(), FileEffect::Whole(content))],
        Action::Edit(changes) => changes.iter().flat_map(change_effects).collect(),
        Action::Run { command, workdir } => {
            call.line.as_ref().map_or_else(Vec::new, |line| command_effects(command, line, workdir.as_deref(), roots))
        }
        _ => Vec::new(),
    }
}

fn change_effects(change: &Change) -> Vec<(String, FileEffect<'_>)> {
    match change {
        Change::Add { path, content } => vec![(path.clone(), FileEffect::Add(content))],
        Change::Delete { path } => vec![(path.clone(), FileEffect::Delete)],
        Change::Update { path, moved_to: None, hunks } => vec![(path.clone(), FileEffect::Hunks(hunks))],
        Change::Update { path, moved_to: Some(to), hunks } => {
            vec![(path.clone(), FileEffect::Delete), (to.clone(), FileEffect::Hunks(hunks))]
        }
    }
}
