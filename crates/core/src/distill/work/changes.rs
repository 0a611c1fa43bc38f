//! What the session did to files: by its tools, and by commands whose effect is in plain sight.

use super::call::Call;
use super::shell::CommandLine;
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
    /// A folder becomes another, with all that is in it.
    MoveBelow(String),
    /// Made by a command that does not tell the content.
    Made,
    /// Changed by a command that does not tell how.
    Altered,
}

/// Everything that was done to files, in order; calls that failed, or of which nothing came back, count for nothing.
pub(super) fn touches<'a>(calls: &[Call<'a>], roots: &Roots) -> Vec<Touch<'a>> {
    let mut found: Vec<Touch<'a>> = Vec::new();
    for (call, done) in calls.iter().enumerate().filter(|(_, call)| call.succeeded()) {
        for (path, what) in effects(done, roots) {
            let path = roots.name(&path);
            match what {
                What::DeleteBelow => {
                    let gone = below(&found, &path);
                    found.extend(gone.into_iter().map(|path| Touch { call, path, what: What::Delete }));
                }
                What::MoveBelow(to) => {
                    let (path, to) = (path.trim_end_matches('/'), to.trim_end_matches('/'));
                    // What is there already takes the folder in; else the folder becomes it.
                    let name = path.rsplit('/').next().filter(|_| !below(&found, to).is_empty());
                    let within = name.map(|name| format!("/{name}")).unwrap_or_default();
                    for from in below(&found, path) {
                        let to = format!("{to}{within}{}", &from[path.len()..]);
                        found.push(Touch { call, path: from, what: What::Delete });
                        found.push(Touch { call, path: to, what: What::Made });
                    }
                }
                what => found.push(Touch { call, path, what }),
            }
        }
    }
    found
}

/// The files below a folder that the session had to do with.
fn below(touches: &[Touch<'_>], folder: &str) -> Vec<String> {
    let inside = touches.iter().filter(|touch| {
        touch.path.strip_prefix(folder.trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/'))
    });
    let mut paths: Vec<String> = inside.map(|touch| touch.path.clone()).collect();
    paths.sort_unstable();
    paths.dedup();
    paths
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

/// What a command does to files, where that is in plain sight.
fn by_command<'a>(
    command: &'a str,
    line: &CommandLine<'_>,
    workdir: Option<&str>,
    roots: &Roots,
) -> Vec<(String, What<'a>)> {
    let mut found = Vec::new();
    let workdir = workdir.filter(|folder| !roots.has(folder)).unwrap_or_default();
    let mut folder = roots.relative(workdir).to_owned();
    for simple in line.commands() {
        let words: Vec<&str> = std::iter::once(simple.program()).chain(simple.arguments()).collect();
        if let ["cd", to] = words[..] {
            folder = joined(&folder, roots.relative(to));
            continue;
        }
        let here = |path: &str| joined(&folder, path);
        let mut effects = by_words(&words);
        effects.retain(|(path, _)| is_plain(path));
        for (path, what) in effects {
            let what = match what {
                What::Made => here_document(command).map_or(What::Made, What::Whole),
                what => what,
            };
            let path = roots.relative(&here(path)).to_owned();
            // What lies outside the project is the machine's business.
            if !path.starts_with(['/', '~']) && !path.starts_with("..") {
                found.push((path, what));
            }
        }
    }
    found
}

fn by_words<'w>(words: &[&'w str]) -> Vec<(&'w str, What<'static>)> {
    let mut found = redirected(words);
    let rest: Vec<&str> = words.iter().skip(1).copied().filter(|word| !word.starts_with('-')).collect();
    match (words[0], rest.as_slice()) {
        ("rm", files) => found.extend(files.iter().map(|file| (*file, removal(file)))),
        ("git", ["rm", files @ ..]) => found.extend(files.iter().map(|file| (*file, What::Delete))),
        ("mv", [from, to]) | ("git", ["mv", from, to]) if has_ending(from) && has_ending(to) => {
            found.extend([(*from, What::Delete), (*to, What::Made)]);
        }
        ("mv", [from, to]) | ("git", ["mv", from, to]) if !has_ending(from) => {
            found.push((from, What::MoveBelow((*to).to_owned())));
        }
        ("cp", [_, to]) if has_ending(to) => found.push((to, What::Made)),
        ("touch", files) => found.extend(files.iter().map(|file| (*file, What::Made))),
        ("tee", [file, ..]) => found.push((file, What::Made)),
        ("sed" | "perl", [.., file])
            if has_ending(file) && words.iter().any(|word| word.starts_with("-i") || word.starts_with("-pi")) =>
        {
            found.push((file, What::Altered));
        }
        _ => {}
    }
    found
}

fn removal(path: &str) -> What<'static> {
    if has_ending(path) { What::Delete } else { What::DeleteBelow }
}

/// `… > file`, and `>>`.
fn redirected<'w>(words: &[&'w str]) -> Vec<(&'w str, What<'static>)> {
    if !matches!(words[0], "cat" | "echo" | "printf" | "jq") {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let (mark, glued) = if let Some(rest) = word.strip_prefix(">>") {
            (">>", rest)
        } else if let Some(rest) = word.strip_prefix('>') {
            (">", rest)
        } else {
            continue;
        };
        let target = if glued.is_empty() { words.get(index + 1).copied().unwrap_or_default() } else { glued };
        if has_ending(target) {
            found.push((target, if mark == ">" { What::Made } else { What::Altered }));
        }
    }
    found
}

fn here_document(command: &str) -> Option<&str> {
    let (head, body) = command.split_once('\n')?;
    let mark = head.split_once("<<")?.1.trim_start_matches('-').trim();
    let mark = mark.split_whitespace().next()?.trim_matches(['\'', '"']);
    let end = body.lines().scan(0, |at, line| {
        let start = *at;
        *at += line.len() + 1;
        Some((start, line))
    });
    let end = end.into_iter().find(|(_, line)| line.trim() == mark).map_or(body.len(), |(start, _)| start);
    body.get(..end)
}

fn is_plain(path: &str) -> bool {
    !path.is_empty()
        && !path.contains(['*', '?', '$', '`', '{', '<', '>', '(', ')', '\n'])
        && !path.starts_with("/dev/")
        && !path.ends_with('/')
}

/// Whether a path names a file in plain sight: a name with an ending.
fn has_ending(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| {
        name.trim_start_matches('.').contains('.') || name.starts_with('.') && name.len() > 2 || name.ends_with("file")
    })
}

fn joined(folder: &str, path: &str) -> String {
    if folder.is_empty() || path.starts_with(['/', '~']) {
        return path.to_owned();
    }
    format!("{}/{}", folder.trim_end_matches('/'), path.strip_prefix("./").unwrap_or(path))
}
