//! The line in a project's own `.gitignore` that keeps `.carryover/` from git.
//!
//! That file is the user's, and committed: it is never made, every other byte of it stays, and what was added is noted
//! down so that it can be taken out again. The folder has a list of its own besides, so nothing depends on the line.

use std::io;
use std::path::{Path, PathBuf};

use carryover_agents::AGENTS;
use carryover_core::transcript::SessionId;

use crate::context::Context;
use crate::handoff::project_dir;
use crate::handoff::project_dir::FOLDER;
use crate::handoff::workspace;
use crate::own::files;
use crate::write::disk::{Disk, RealDisk};
use crate::write::journal::{self, Ignored, Journal, Lock, Named, State};
use crate::write::undo;

/// Git's own list.
const NAME: &str = ".gitignore";
/// What the user is told.
pub(crate) const TOLD: &str = ".gitignore gets the line `.carryover/`";
/// A longer one is not what its name says.
const MAX_BYTES: u64 = 4 << 20;

/// A list that does not speak of the folder yet.
pub(crate) struct MissingIgnoreRule {
    file: PathBuf,
    before: Vec<u8>,
    added: String,
}

/// The project's list, where it is there, git reads it, and nothing keeps git from the folder yet.
pub(crate) fn find_missing_rule(context: &Context, project: &Path) -> Option<MissingIgnoreRule> {
    let file = project.join(NAME);
    // Git does not follow a link here, and neither do we.
    fs_err::symlink_metadata(&file).ok().filter(std::fs::Metadata::is_file)?;
    let before = files::read_bounded(&file, MAX_BYTES).ok()??;
    let added = addition(&before)?;
    let is_seen = workspace::ignores(context, project, FOLDER).is_some_and(|ignores| !ignores);
    is_seen.then_some(MissingIgnoreRule { file, before, added })
}

impl MissingIgnoreRule {
    /// What is to be noted down before anything is written.
    pub(crate) fn note(&self) -> Ignored {
        Ignored { file: self.file.clone(), added: self.added.clone() }
    }

    pub(crate) fn write(&self, disk: &mut dyn Disk, project: &Path) -> io::Result<()> {
        disk.rewrite(&self.file, &[&self.before, self.added.as_bytes()].concat(), project)
    }
}

/// Adds the line for a command that writes into the folder and leaves nothing else to take back. Answers what the user
/// should know; the folder is kept from git even where this fails.
pub fn hide(context: &Context, project: &Path, agent: &str, session: &str, dry_run: bool) -> Option<String> {
    let missing = find_missing_rule(context, project)?;
    if dry_run {
        return Some(TOLD.to_owned());
    }
    let source = Named { agent: agent.to_owned(), session: SessionId(session.to_owned()) };
    Some(match hide_on(&mut RealDisk, context, project, source, &missing) {
        Ok(id) => format!("{TOLD}; `carryover undo {id}` takes it out"),
        Err(error) => format!("{NAME} could not get the line `{FOLDER}/`: {error}"),
    })
}

pub(crate) fn hide_on(
    disk: &mut dyn Disk,
    context: &Context,
    project: &Path,
    source: Named,
    missing: &MissingIgnoreRule,
) -> io::Result<String> {
    let _lock = Lock::take(context)?;
    undo::recover(AGENTS, disk, context);
    // Nobody's session: there is nothing to find the way back from.
    let target = Named { agent: NAME.to_owned(), session: SessionId::default() };
    let mut journal = Journal::begun(context, source, target, project);
    journal.ignored = Some(missing.note());
    journal::write(disk, context, &journal)?;
    let done = project_dir::prepare(disk, project).and_then(|()| missing.write(disk, project));
    journal.state = State::Done;
    if let Err(error) = done.and_then(|()| journal::write(disk, context, &journal)) {
        undo::take_back(disk, &journal, true).ok();
        journal.state = State::Undone;
        journal::write(disk, context, &journal)?;
        return Err(error);
    }
    Ok(journal.id)
}

/// Whether a note is about our line in the list of a project, and no link to another.
pub(crate) fn is_ours(left: &Ignored, project: &Path) -> bool {
    let is_link = fs_err::symlink_metadata(&left.file).is_ok_and(|metadata| metadata.is_symlink());
    left.file == project.join(NAME) && left.added.trim() == format!("{FOLDER}/") && !is_link
}

/// Takes the line out; whether it was there. One that is gone is not missed.
pub(crate) fn take_out(disk: &mut dyn Disk, left: &Ignored, project: &Path) -> io::Result<bool> {
    let Some(now) = files::read_bounded(&left.file, MAX_BYTES)? else { return Ok(false) };
    let Some(rest) = without(&now, &left.added) else { return Ok(false) };
    disk.rewrite(&left.file, &rest, project)?;
    Ok(true)
}

/// What is added to the end of a list; nothing where it names the folder already, to ignore it or not.
fn addition(before: &[u8]) -> Option<String> {
    let names = |line: &[u8]| names_folder(&String::from_utf8_lossy(line));
    if before.contains(&0) || before.split(|byte| *byte == b'\n').any(names) {
        return None;
    }
    let last = before.iter().rposition(|byte| *byte == b'\n');
    let end = if last.is_some_and(|at| before[..at].ends_with(b"\r")) { "\r\n" } else { "\n" };
    let gap = if before.is_empty() || before.ends_with(b"\n") { "" } else { end };
    Some(format!("{gap}{FOLDER}/{end}"))
}

fn names_folder(line: &str) -> bool {
    let line = line.trim_start_matches('\u{feff}').trim();
    let pattern = line.strip_prefix('!').unwrap_or(line);
    let pattern = pattern.strip_prefix("**/").unwrap_or(pattern).trim_start_matches('/');
    pattern.strip_prefix(FOLDER).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A list without what was added to it; none where it is not there.
fn without(now: &[u8], added: &str) -> Option<Vec<u8>> {
    let is_whole = |rest: &&[u8]| rest.is_empty() || rest.ends_with(b"\n") || !added.starts_with('.');
    if let Some(rest) = now.strip_suffix(added.as_bytes()).filter(is_whole) {
        return Some(rest.to_vec());
    }
    // Somebody has written behind it: the line goes, and every other byte stays.
    let mut lines: Vec<&[u8]> = now.split_inclusive(|byte| *byte == b'\n').collect();
    let ours = lines.iter().rposition(|line| line.trim_ascii_end() == format!("{FOLDER}/").as_bytes())?;
    lines.remove(ours);
    Some(lines.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_goes_to_the_end_as_the_file_ends_its_lines() {
        for (before, added) in [
            ("", ".carryover/\n"),
            ("target\n", ".carryover/\n"),
            ("target", "\n.carryover/\n"),
            ("a\r\ntarget\r\n", ".carryover/\r\n"),
            ("a\r\ntarget", "\r\n.carryover/\r\n"),
            ("# .carryover/ is what?\n.carryover2\nx/.carryover\n", ".carryover/\n"),
        ] {
            assert_eq!(addition(before.as_bytes()).as_deref(), Some(added), "{before:?}");
        }
    }

    #[test]
    fn a_list_that_speaks_of_the_folder_is_left_alone() {
        for line in [
            ".carryover",
            ".carryover/",
            "/.carryover/",
            "**/.carryover/",
            ".carryover/*",
            "!.carryover/",
            "\u{feff}.carryover/",
        ] {
            assert_eq!(addition(format!("{line}\r\ntarget\r\n").as_bytes()), None, "{line}");
            assert_eq!(addition(line.as_bytes()), None, "{line}");
        }
        assert_eq!(addition(b"\xff\xfet\0a\0"), None, "git reads no such text");
    }

    #[test]
    fn what_was_added_is_taken_out_to_the_byte() {
        for before in ["", "target\n", "target", "a\r\ntarget\r\n", "a\r\ntarget", "\u{feff}a\n\n\n", "x/.carryover"] {
            let added = addition(before.as_bytes()).unwrap();
            let now = format!("{before}{added}");
            assert_eq!(without(now.as_bytes(), &added).as_deref(), Some(before.as_bytes()), "{before:?}");
            assert_eq!(without(before.as_bytes(), &added), None, "{before:?}: taken out before");
        }
    }

    #[test]
    fn what_others_wrote_since_stays() {
        let taken = |now: &str, added: &str| String::from_utf8(without(now.as_bytes(), added).unwrap()).unwrap();
        assert_eq!(taken("target\n.carryover/\ndist\n", "\n.carryover/\n"), "target\ndist\n");
        assert_eq!(taken("new\r\ntarget\r\n.carryover/\r\n", ".carryover/\r\n"), "new\r\ntarget\r\n");
        assert_eq!(taken("target\n.carryover/", ".carryover/\n"), "target\n");
        assert_eq!(without(b"target\nmy.carryover/\n", ".carryover/\n"), None);
    }
}
