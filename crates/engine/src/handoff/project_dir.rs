//! `.carryover/` in a project: what is private to its user, and never committed.

use std::io;
use std::path::{Path, PathBuf};

use crate::context::Context;
use crate::handoff::workspace;
use crate::own::cache;
use crate::own::files;
use crate::own::fingerprint::Fingerprint;
use crate::write::disk::{Disk, RealDisk};

/// The folder's name.
pub const FOLDER: &str = ".carryover";

/// The prompt in it that the next agent goes on from.
pub const RESUME_FILE: &str = "RESUME.md";

/// The handoff in it; that of all projects has the same name in our own folder.
pub const HANDOFF_FILE: &str = "handoff.md";

/// The brief in it, to which a pointer leads.
pub(crate) const CONTEXT_FILE: &str = "context.md";

/// That brief's place in a project.
pub(crate) fn context_path(project: &Path) -> PathBuf {
    project.join(FOLDER).join(CONTEXT_FILE)
}

/// Where that prompt is, from the project's folder.
pub fn resume_path() -> String {
    Path::new(FOLDER).join(RESUME_FILE).display().to_string()
}

/// Where the handoff is, from the project's folder. Agents read it in their settings, with a slash on every system.
pub fn handoff_path() -> String {
    format!("{FOLDER}/{HANDOFF_FILE}")
}

/// A short prompt that names the file, for command lines are bounded, and how its reader gets all of it.
pub fn pointer_prompt(reading_advice: &str) -> String {
    format!("{} ({reading_advice}){POINTER_END}", pointer_start())
}

fn pointer_start() -> String {
    format!("Read {} in this folder", resume_path())
}

const POINTER_END: &str = " and go on from there.";

/// Whether a prompt is that one, for whomever, and nothing else.
pub(crate) fn is_pointer(prompt: &str) -> bool {
    let advice = prompt.trim().strip_prefix(&pointer_start()).and_then(|rest| rest.strip_suffix(POINTER_END));
    advice.is_some_and(|advice| advice.starts_with(" (") && advice.find(')') == Some(advice.len() - 1))
}

/// Whether a prompt sends the agent to the file.
pub(crate) fn names_resume(prompt: &str) -> bool {
    prompt.contains(FOLDER) && prompt.contains(RESUME_FILE)
}

/// Keeps git away from everything in the folder, itself included.
const IGNORE_ALL: &str = "*\n";

/// The list that says so.
const IGNORE_FILE: &str = ".gitignore";

/// Stands behind the name of a file in the name of the copy that is kept of what somebody wrote there.
const KEPT_MARK: &str = ".before";

/// A prompt that is longer is not one.
const MAX_KEPT_BYTES: u64 = 64 << 20;

/// A list of a folder that is longer is not one.
const MAX_IGNORE_BYTES: u64 = 1 << 20;

/// Writes a file into the project's own folder, which is kept from git before its first byte is written. It can be made
/// again from its session, so nobody waits until it is on disk.
pub fn write_file(context: &Context, project: &Path, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
    check_private(context, project, name)?;
    prepare_folder(&mut RealDisk, project)?;
    let path = project.join(FOLDER).join(name);
    files::write_cached(&path, bytes)?;
    Ok(path)
}

/// The same for a file that cannot be made again: it is on disk when this returns.
pub(crate) fn write_file_on(
    disk: &mut dyn Disk,
    context: &Context,
    project: &Path,
    name: &str,
    bytes: &[u8],
) -> io::Result<PathBuf> {
    let path = project.join(FOLDER).join(name);
    check_private(context, project, name)?;
    prepare_folder(disk, project)?;
    disk.write_own(&path, bytes)?;
    Ok(path)
}

/// The same for a file that people may write into: what they wrote is kept beside it. Answers what the user should know.
pub fn write_over(context: &Context, project: &Path, name: &str, bytes: &[u8]) -> io::Result<Option<String>> {
    check_private(context, project, name)?;
    let kept = KeptContent::find_changed(context, project, name)?;
    if let Some(kept) = &kept {
        write_file_on(&mut RealDisk, context, project, &kept.name, &kept.bytes)?;
    }
    let path = write_file(context, project, name, bytes)?;
    // If it is forgotten, the next one is kept without need.
    cache::remember_written(context, &path, Fingerprint::from_bytes(bytes)).ok();
    Ok(kept.map(|kept| kept.note_for(name, "is")))
}

/// The note that `write_over` would give; an error where it would refuse.
pub fn would_write_over(context: &Context, project: &Path, name: &str) -> io::Result<Option<String>> {
    check_private(context, project, name)?;
    Ok(KeptContent::find_changed(context, project, name)?.map(|kept| kept.note_for(name, "would be")))
}

/// Removes the copies of a file's earlier content that were kept because somebody had changed it.
pub(crate) fn remove_kept_copies(file: &Path) -> io::Result<()> {
    let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else { return Ok(()) };
    let kept = format!("{}{KEPT_MARK}", name.to_string_lossy());
    let Ok(listing) = fs_err::read_dir(folder) else { return Ok(()) };
    let copies = listing.filter_map(Result::ok).filter(|entry| entry.file_name().to_string_lossy().starts_with(&kept));
    copies.map(|entry| entry.path()).try_for_each(|copy| files::remove_if_there(&copy))
}

/// Content that somebody else wrote in the place of a file of ours, and where it goes.
struct KeptContent {
    bytes: Vec<u8>,
    name: String,
}

impl KeptContent {
    fn find_changed(context: &Context, project: &Path, name: &str) -> io::Result<Option<Self>> {
        let path = project.join(FOLDER).join(name);
        // A link is replaced, and what it leads to stays as it is.
        if !fs_err::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_file()) {
            return Ok(None);
        }
        let Some(bytes) = files::read_bounded(&path, MAX_KEPT_BYTES)? else { return Ok(None) };
        if bytes.is_empty() || cache::is_written(context, &path, Fingerprint::from_bytes(&bytes)) {
            return Ok(None);
        }
        let names = (1..).map(|number| match number {
            1 => format!("{name}{KEPT_MARK}"),
            _ => format!("{name}{KEPT_MARK}-{number}"),
        });
        let mut free = names.filter(|name| fs_err::symlink_metadata(project.join(FOLDER).join(name)).is_err());
        Ok(free.next().map(|name| Self { bytes, name }))
    }

    fn note_for(&self, name: &str, is: &str) -> String {
        format!("{FOLDER}/{name} was changed by hand: what stood there {is} kept as {FOLDER}/{}", self.name)
    }
}

/// Makes the folder, which hides itself from git.
pub(crate) fn prepare_folder(disk: &mut dyn Disk, project: &Path) -> io::Result<()> {
    refuse_link(project)?;
    ensure_ignored(disk, &project.join(FOLDER))
}

/// Refuses to write a file where it would not be private, before anything is touched.
pub fn check_private(context: &Context, project: &Path, name: &str) -> io::Result<()> {
    refuse_link(project)?;
    refuse_tracked(context, project, name)
}

/// A clone may bring a link of that name, which would lead us to write elsewhere.
fn refuse_link(project: &Path) -> io::Result<()> {
    let folder = project.join(FOLDER);
    if fs_err::symlink_metadata(&folder).is_ok_and(|metadata| !metadata.is_dir()) {
        let message = format!("{} is not a folder", folder.display());
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
    }
    Ok(())
}

/// Refuses to write what git keeps: it would be committed, whatever lists say.
fn refuse_tracked(context: &Context, project: &Path, name: &str) -> io::Result<()> {
    let path = project.join(FOLDER).join(name);
    if !workspace::is_tracked(context, project, &path) {
        return Ok(());
    }
    let path = path.display();
    let message = format!(
        "{path} is tracked by git, and what is written there would be committed: run `git rm --cached {FOLDER}/{name}`"
    );
    Err(io::Error::new(io::ErrorKind::AlreadyExists, message))
}

/// Sees to it that the folder's own list hides all of it. A clone may bring one that does not; its last line wins, so
/// one is added.
fn ensure_ignored(disk: &mut dyn Disk, folder: &Path) -> io::Result<()> {
    let list = folder.join(IGNORE_FILE);
    // Git does not follow a link here, so one hides nothing.
    let is_file = fs_err::symlink_metadata(&list).is_ok_and(|metadata| metadata.is_file());
    let mut text = if is_file { files::read_bounded(&list, MAX_IGNORE_BYTES)?.unwrap_or_default() } else { Vec::new() };
    if text.trim_ascii_end().rsplit(|byte| *byte == b'\n').next() == Some(b"*") {
        return Ok(());
    }
    if !text.is_empty() && !text.ends_with(b"\n") {
        text.push(b'\n');
    }
    text.extend_from_slice(IGNORE_ALL.as_bytes());
    disk.write_own(&list, &text)
}

/// Removes the folder where nothing is left in it but the list that we put there. Answers what is gone.
pub(crate) fn remove_if_unused(disk: &mut dyn Disk, project: &Path) -> io::Result<Option<PathBuf>> {
    let folder = project.join(FOLDER);
    if !fs_err::symlink_metadata(&folder).is_ok_and(|metadata| metadata.is_dir()) {
        return Ok(None);
    }
    let list = folder.join(IGNORE_FILE);
    let names: Vec<_> =
        fs_err::read_dir(&folder)?.map(|file| file.map(|file| file.path())).collect::<Result<_, _>>()?;
    let is_list = |path: &PathBuf| {
        let text = files::read_bounded(path, MAX_IGNORE_BYTES).ok().flatten();
        *path == list && text.is_some_and(|text| text == IGNORE_ALL.as_bytes())
    };
    if !names.iter().all(is_list) {
        return Ok(None);
    }
    if !names.is_empty() {
        disk.remove_file(&list)?;
    }
    disk.remove_folder(&folder)?;
    Ok(Some(folder))
}
