//! What a command does to files, where that is in plain sight.

use super::changes::What;
use super::script;
use super::shell::CommandLine;
use crate::distill::Roots;

/// The paths that a command changes, as seen from the project, and how.
pub(super) fn by_command<'a>(
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
        let here = |path: &str| roots.relative(&joined(&folder, path)).to_owned();
        let mut effects = by_words(&words);
        if script::is_interpreter(simple.name()) {
            effects.extend(script::written_files(command).into_iter().map(|path| (path, What::Altered)));
        }
        for (path, what) in effects {
            let what = match what {
                What::Made => here_document(command).map_or(What::Made, What::Whole),
                What::MoveTo(to) => What::MoveTo(here(&to)),
                what => what,
            };
            let path = here(path.trim_end_matches('/'));
            if is_plain(&path) && (!is_outside(&path) || matches!(what, What::Delete)) {
                found.push((path, what));
            }
        }
    }
    found
}

/// What lies outside the project is the machine's business.
pub(super) fn is_outside(path: &str) -> bool {
    path.starts_with(['/', '~']) || path.starts_with("..")
}

fn by_words<'w>(words: &[&'w str]) -> Vec<(&'w str, What<'static>)> {
    let mut found = redirected(words);
    let rest: Vec<&str> = words.iter().skip(1).copied().filter(|word| !word.starts_with('-')).collect();
    match (words[0], rest.as_slice()) {
        ("rm", files) => found.extend(files.iter().map(|file| (*file, removal(file)))),
        ("git", ["rm", files @ ..]) => found.extend(files.iter().map(|file| (*file, What::Delete))),
        ("mv", [from @ .., to]) | ("git", ["mv", from @ .., to]) if !from.is_empty() => {
            // Several go into a folder.
            let slash = if from.len() > 1 { "/" } else { "" };
            found.extend(from.iter().map(|from| (*from, What::MoveTo(format!("{to}{slash}")))));
        }
        ("mkdir", folders) => found.extend(folders.iter().map(|folder| (*folder, What::Folder))),
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

pub(super) fn is_plain(path: &str) -> bool {
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

fn joined(folder: &str, path: &str) -> String {
    if folder.is_empty() || path.starts_with(['/', '~']) {
        return path.to_owned();
    }
    format!("{}/{}", folder.trim_end_matches('/'), path.strip_prefix("./").unwrap_or(path))
}
