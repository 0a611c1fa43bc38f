//! The line in a project's own `.gitignore` that keeps `.carryover/` from git, or the sessions of an agent that keeps them
//! with the work.
//!
//! That file is the user's, and committed: it is never made, every other byte of it stays, and what was added is noted
//! down so that it can be taken out again. The folder has a list of its own besides, so nothing depends on its line; a
//! session has none, so where its line cannot be added, that is told.

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
use crate::write::journal::{self, IgnoreLine, Journal, Lock, SessionRef, State};
use crate::write::removal;
use crate::write::undo;

/// Git's own list.
const FILE_NAME: &str = ".gitignore";
/// Stands above the folder's line, so that whoever finds it knows where it comes from.
const COMMENT: &str = "# Carryover (auto-added)";
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
    let missing = MissingIgnoreRule::for_line(project, Some(COMMENT), &folder_line())?;
    let is_seen = workspace::ignores_folder(context, project, FOLDER).is_some_and(|ignores| !ignores);
    is_seen.then_some(missing)
}

fn folder_line() -> String {
    format!("{FOLDER}/")
}

/// The note to the user about the folder's line.
pub(crate) fn note_line(dry_run: bool) -> String {
    note_added(&folder_line(), dry_run)
}

fn note_added(line: &str, dry_run: bool) -> String {
    let gets = if dry_run { "would get" } else { "gets" };
    format!("{FILE_NAME} {gets} the line `{line}`")
}

/// The rule that keeps git from a session in a project.
#[derive(Default)]
pub(crate) struct IgnoreCheck {
    pub(crate) missing: Option<MissingIgnoreRule>,
    /// A note to the user.
    pub(crate) note: Option<String>,
}

impl IgnoreCheck {
    /// For a file of the project's own folder, by the line that its agent would add.
    pub(crate) fn for_file(context: &Context, project: &Path, file: &Path, line: &str, dry_run: bool) -> Self {
        let name = file.strip_prefix(project).ok().and_then(Path::to_str);
        let Some(name) = name.filter(|name| workspace::ignores_file(context, project, name) == Some(false)) else {
            return Self::default();
        };
        let missing = MissingIgnoreRule::for_line(project, None, line);
        let told = match &missing {
            Some(_) => note_added(line, dry_run),
            None => format!("git sees {name}, which holds the session: put the line `{line}` into {FILE_NAME}"),
        };
        Self { missing, note: Some(told) }
    }
}

impl MissingIgnoreRule {
    /// The project's list and what it would get, where it is there and does not speak of that.
    fn for_line(project: &Path, comment: Option<&str>, line: &str) -> Option<Self> {
        let file = project.join(FILE_NAME);
        // Git does not follow a link here, and neither do we.
        fs_err::symlink_metadata(&file).ok().filter(std::fs::Metadata::is_file)?;
        let before = files::read_bounded(&file, MAX_BYTES).ok()??;
        let added = text_to_add(&before, comment, line)?;
        Some(Self { file, before, added })
    }

    /// The line as the journal keeps it, before anything is written.
    pub(crate) fn to_journal(&self) -> IgnoreLine {
        IgnoreLine { file: self.file.clone(), added: self.added.clone() }
    }

    pub(crate) fn append_line(&self, disk: &mut dyn Disk, project: &Path) -> io::Result<()> {
        disk.replace_shared(&self.file, &[&self.before, self.added.as_bytes()].concat(), project)
    }
}

/// Adds the line for a command that writes into the folder and leaves nothing else to take back. Answers what the user
/// should know; the folder is kept from git even where this fails.
pub fn ignore_folder(context: &Context, project: &Path, agent: &str, session: &str, dry_run: bool) -> Option<String> {
    let missing = find_missing_rule(context, project)?;
    if dry_run {
        return Some(note_line(true));
    }
    let source = SessionRef { agent: agent.to_owned(), session: SessionId(session.to_owned()) };
    Some(match ignore_folder_on(&mut RealDisk, context, project, source, &missing) {
        Ok(id) => format!("{}; `carryover undo {id}` takes it out", note_line(false)),
        Err(error) => format!("{FILE_NAME} could not get the line `{FOLDER}/`: {error}"),
    })
}

pub(crate) fn ignore_folder_on(
    disk: &mut dyn Disk,
    context: &Context,
    project: &Path,
    source: SessionRef,
    missing: &MissingIgnoreRule,
) -> io::Result<String> {
    let _lock = Lock::acquire(context)?;
    undo::recover(AGENTS, disk, context);
    // Nobody's session: there is nothing to find the way back from.
    let target = SessionRef { agent: FILE_NAME.to_owned(), session: SessionId::default() };
    let mut journal = Journal::begin(context, source, target, project);
    journal.ignored = Some(missing.to_journal());
    journal::write(disk, context, &journal)?;
    let done = project_dir::prepare_folder(disk, project).and_then(|()| missing.append_line(disk, project));
    journal.state = State::Done;
    if let Err(error) = done.and_then(|()| journal::write(disk, context, &journal)) {
        removal::take_back(disk, &journal, true).ok();
        journal.state = State::Undone;
        journal::write(disk, context, &journal)?;
        return Err(error);
    }
    Ok(journal.id)
}

/// Whether a note is about our line in the list of a project, or the agent's, and no link to another.
pub(crate) fn is_ours(left: &IgnoreLine, project: &Path, agent_line: Option<&str>) -> bool {
    let is_link = fs_err::symlink_metadata(&left.file).is_ok_and(|metadata| metadata.is_symlink());
    let mut lines = left.added.trim().lines().rev();
    let has_own_line = lines.next().is_some_and(|line| line == folder_line() || Some(line) == agent_line);
    left.file == project.join(FILE_NAME) && has_own_line && lines.all(|line| line == COMMENT) && !is_link
}

/// Takes the line out; whether it was there. One that is gone is not missed.
pub(crate) fn remove_line(disk: &mut dyn Disk, left: &IgnoreLine, project: &Path) -> io::Result<bool> {
    let Some(now) = files::read_bounded(&left.file, MAX_BYTES)? else { return Ok(false) };
    let Some(rest) = without_added(&now, &left.added) else { return Ok(false) };
    disk.replace_shared(&left.file, &rest, project)?;
    Ok(true)
}

/// The text of a list without what we added; none where it is not there.
pub(crate) fn without_line(text: &str, left: &IgnoreLine) -> Option<String> {
    String::from_utf8(without_added(text.as_bytes(), &left.added)?).ok()
}

/// The text to add at the end of a list; none where it speaks of the same already, to ignore it or not.
fn text_to_add(before: &[u8], comment: Option<&str>, line: &str) -> Option<String> {
    let names = |known: &[u8]| mentions_pattern(&String::from_utf8_lossy(known), line);
    if before.contains(&0) || before.split(|byte| *byte == b'\n').any(names) {
        return None;
    }
    let last = before.iter().rposition(|byte| *byte == b'\n');
    let end = if last.is_some_and(|at| before[..at].ends_with(b"\r")) { "\r\n" } else { "\n" };
    let gap = if before.is_empty() || before.ends_with(b"\n") { "" } else { end };
    let comment = comment.map_or_else(String::new, |comment| format!("{comment}{end}"));
    Some(format!("{gap}{comment}{line}{end}"))
}

fn mentions_pattern(line: &str, added: &str) -> bool {
    let (stem, is_open) = (added.trim_end_matches(['/', '*']), added.ends_with('*'));
    let line = line.trim_start_matches('\u{feff}').trim();
    let pattern = line.strip_prefix('!').unwrap_or(line);
    let pattern = pattern.strip_prefix("**/").unwrap_or(pattern).trim_start_matches('/');
    pattern.strip_prefix(stem).is_some_and(|rest| is_open || rest.is_empty() || rest.starts_with('/'))
}

/// A list without what was added to it; none where it is not there.
fn without_added(now: &[u8], added: &str) -> Option<Vec<u8>> {
    let is_whole = |rest: &&[u8]| rest.is_empty() || rest.ends_with(b"\n") || added.starts_with(['\r', '\n']);
    if let Some(rest) = now.strip_suffix(added.as_bytes()).filter(is_whole) {
        return Some(rest.to_vec());
    }
    // Somebody has written behind it: the line goes with the comment above it, and every other byte stays.
    let mut lines: Vec<&[u8]> = now.split_inclusive(|byte| *byte == b'\n').collect();
    let mut added_lines = added.trim().lines().rev();
    let line = added_lines.next()?;
    let is_text = |found: &[u8], text: &str| found.trim_ascii_end() == text.as_bytes();
    let ours = lines.iter().rposition(|found| is_text(found, line))?;
    let has_comment = added_lines.next().is_some_and(|comment| ours > 0 && is_text(lines[ours - 1], comment));
    lines.drain(if has_comment { ours - 1..=ours } else { ours..=ours });
    Some(lines.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOLDER_LINE: &str = ".carryover/";

    #[test]
    fn the_line_goes_to_the_end_as_the_file_ends_its_lines() {
        for (before, added) in [
            ("", "# Carryover (auto-added)\n.carryover/\n"),
            ("target\n", "# Carryover (auto-added)\n.carryover/\n"),
            ("target", "\n# Carryover (auto-added)\n.carryover/\n"),
            ("a\r\ntarget\r\n", "# Carryover (auto-added)\r\n.carryover/\r\n"),
            ("a\r\ntarget", "\r\n# Carryover (auto-added)\r\n.carryover/\r\n"),
            ("# .carryover/ is what?\n.carryover2\nx/.carryover\n", "# Carryover (auto-added)\n.carryover/\n"),
        ] {
            assert_eq!(
                text_to_add(before.as_bytes(), Some(COMMENT), FOLDER_LINE).as_deref(),
                Some(added),
                "{before:?}"
            );
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
            assert_eq!(
                text_to_add(format!("{line}\r\ntarget\r\n").as_bytes(), Some(COMMENT), FOLDER_LINE),
                None,
                "{line}"
            );
            assert_eq!(text_to_add(line.as_bytes(), Some(COMMENT), FOLDER_LINE), None, "{line}");
        }
        assert_eq!(text_to_add(b"\xff\xfet\0a\0", None, FOLDER_LINE), None, "git reads no such text");
    }

    #[test]
    fn what_was_added_is_taken_out_to_the_byte() {
        for before in ["", "target\n", "target", "a\r\ntarget\r\n", "a\r\ntarget", "\u{feff}a\n\n\n", "x/.carryover"] {
            let added = text_to_add(before.as_bytes(), Some(COMMENT), FOLDER_LINE).unwrap();
            let now = format!("{before}{added}");
            assert_eq!(without_added(now.as_bytes(), &added).as_deref(), Some(before.as_bytes()), "{before:?}");
            assert_eq!(without_added(before.as_bytes(), &added), None, "{before:?}: taken out before");
        }
    }

    #[test]
    fn what_others_wrote_since_stays() {
        let taken = |now: &str, added: &str| String::from_utf8(without_added(now.as_bytes(), added).unwrap()).unwrap();
        assert_eq!(taken("target\n.carryover/\ndist\n", "\n.carryover/\n"), "target\ndist\n");
        assert_eq!(taken("new\r\ntarget\r\n.carryover/\r\n", ".carryover/\r\n"), "new\r\ntarget\r\n");
        assert_eq!(taken("target\n.carryover/", ".carryover/\n"), "target\n");
        assert_eq!(without_added(b"target\nmy.carryover/\n", ".carryover/\n"), None);
        let added = "# Carryover (auto-added)\n.carryover/\n";
        assert_eq!(taken(&format!("target\n{added}dist\n"), added), "target\ndist\n");
        assert_eq!(taken("target\n# why\n.carryover/\ndist\n", added), "target\n# why\ndist\n");
    }

    #[test]
    fn a_line_that_stands_for_many_names_is_left_to_who_speaks_of_one() {
        let addition = |before: &str| text_to_add(before.as_bytes(), None, ".sessions*");
        assert_eq!(addition("target\n").as_deref(), Some(".sessions*\n"));
        assert_eq!(addition("!.sessions.shared.md\n"), None);
        assert_eq!(
            without_added(b"target\n.sessions*\nmine\n", ".sessions*\n").as_deref(),
            Some(&b"target\nmine\n"[..])
        );
    }
}
