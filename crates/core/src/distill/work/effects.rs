//! Effects of shell commands on files, where they are evident.

use super::changes::FileEffect;
use super::script;
use super::shell::CommandLine;
use crate::distill::Roots;

/// The paths that a command changes, as seen from the project, and how.
pub(super) fn command_effects<'a>(
    command: &'a str,
    line: &CommandLine<'_>,
    workdir: Option<&str>,
    roots: &Roots,
) -> Vec<(String, FileEffect<'a>)> {
    let mut found = Vec::new();
    let workdir = workdir.filter(|folder| !roots.is_root(folder)).unwrap_or_default();
    let mut folder = roots.relative_path(workdir).to_owned();
    for simple in line.commands() {
        let words: Vec<&str> = std::iter::once(simple.program()).chain(simple.arguments()).collect();
        if let ["cd", to] = words[..] {
            folder = join_path(&folder, roots.relative_path(to));
            continue;
        }
        let here = |path: &str| roots.relative_path(&join_path(&folder, path)).to_owned();
        let mut effects = simple_effects(&words);
        if script::is_interpreter(simple.name()) {
            effects.extend(script::written_files(command).into_iter().map(|path| (path, FileEffect::Altered)));
        }
        for (path, what) in effects {
            let what = match what {
                FileEffect::Made => here_document(command).map_or(FileEffect::Made, FileEffect::Whole),
                FileEffect::MoveTo(to) => FileEffect::MoveTo(here(&to)),
                what => what,
            };
            let path = here(path.trim_end_matches('/'));
            if is_plain_path(&path) && (!is_outside(&path) || matches!(what, FileEffect::Delete)) {
                found.push((path, what));
            }
        }
    }
    found
}

/// Whether a path lies outside the project: that is the machine's business.
pub(super) fn is_outside(path: &str) -> bool {
    path.starts_with(['/', '~']) || path.starts_with("..")
}

fn simple_effects<'w>(words: &[&'w str]) -> Vec<(&'w str, FileEffect<'static>)> {
    let mut found = redirection_effects(words);
    let rest: Vec<&str> = words.iter().skip(1).copied().filter(|word| !word.starts_with('-')).collect();
    match (words[0], rest.as_slice()) {
        ("rm", files) => found.extend(files.iter().map(|file| (*file, removal_effect(file)))),
        ("git", ["rm", files @ ..]) => found.extend(files.iter().map(|file| (*file, FileEffect::Delete))),
        ("mv", [from @ .., to]) | ("git", ["mv", from @ .., to]) if !from.is_empty() => {
            // Several go into a folder.
            let slash = if from.len() > 1 { "/" } else { "" };
            found.extend(from.iter().map(|from| (*from, FileEffect::MoveTo(format!("{to}{slash}")))));
        }
        ("mkdir", folders) => found.extend(folders.iter().map(|folder| (*folder, FileEffect::Folder))),
        ("cp", [_, to]) if has_ending(to) => found.push((to, FileEffect::Made)),
        ("touch", files) => found.extend(files.iter().map(|file| (*file, FileEffect::Made))),
        ("tee", [file, ..]) => found.push((file, FileEffect::Made)),
        ("sed" | "perl", [.., file])
            if has_ending(file) && words.iter().any(|word| word.starts_with("-i") || word.starts_with("-pi")) =>
        {
            found.push((file, FileEffect::Altered));
        }
        _ => {}
    }
    found
}

fn removal_effect(path: &str) -> FileEffect<'static> {
    if has_ending(path) { FileEffect::Delete } else { FileEffect::DeleteBelow }
}

/// `… > file`, and `>>`.
fn redirection_effects<'w>(words: &[&'w str]) -> Vec<(&'w str, FileEffect<'static>)> {
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
            found.push((target, if mark == ">" { FileEffect::Made } else { FileEffect::Altered }));
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

pub(super) fn is_plain_path(path: &str) -> bool {
    !path.is_empty()
        && !path.contains(['*', '?', '$', '`', '{', '<', '>', '(', ')', '\n'])
        && !path.starts_with("/dev/")
}

/// Whether a path names a file in plain sight: a name with an ending.
pub(super) fn has_ending(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| {
        name.trim_start_matches('.').contains('.') || name.starts_with('.') && name.len() > 2 || name.ends_with("file")
    })
}

fn join_path(folder: &str, path: &str) -> String {
    if folder.is_empty() || path.starts_with(['/', '~']) {
        return path.to_owned();
    }
    format!("{}/{}", folder.trim_end_matches('/'), path.strip_prefix("./").unwrap_or(path))
}
