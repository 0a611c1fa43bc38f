//! What a session's model is told by files, taken along with the session.

use std::io;
use std::path::{Path, PathBuf};

use carryover_agents::{Facts, MemoryPlace};
use carryover_core::distill::MemoryText;

use crate::context::Context;
use crate::handoff::pointer;
use crate::memory::files::{FoundFile, MAX_BYTES, Owner, find_files};
use crate::memory::ground::Ground;
use crate::memory::imports::{ImportedFile, follow_imports};
use crate::memory::privacy::{Privacy, Private, is_settings};
use crate::own::files;
use crate::own::sha256::hex_sha256;
use crate::sessions::project::{resolve_inside, resolve_path};

/// So much of a file is captured, and so much of all.
const MAX_CAPTURED_BYTES: usize = 64 << 10;
const MAX_ALL_CAPTURED_BYTES: usize = 1 << 20;

/// A file that is to be read.
struct ToldFile {
    name: String,
    path: PathBuf,
    is_private: bool,
    when: Option<&'static str>,
}

/// The files that tell a session's model something, with their texts; the notes say what is not read.
pub(crate) fn read_texts(context: &Context, facts: &Facts, project: &Path, notes: &mut Vec<String>) -> Vec<MemoryText> {
    let mut texts = Vec::new();
    let mut room = MAX_ALL_CAPTURED_BYTES;
    for told in list_told(context, facts, project, notes) {
        match read_text(&told, room.min(MAX_CAPTURED_BYTES)) {
            Ok((text, is_whole)) => {
                if !is_whole {
                    notes.push(format!("{} is longer than what is taken of it", told.name));
                }
                room = room.saturating_sub(text.text.len());
                texts.push(text);
            }
            Err(error) => notes.push(format!("{} is not read: {error}", told.name)),
        }
    }
    texts
}

/// The agent's files, each followed by those that it takes in: the project's, then the user's own.
fn list_told(context: &Context, facts: &Facts, project: &Path, notes: &mut Vec<String>) -> Vec<ToldFile> {
    let ground = Ground::new(&context.env, project);
    let mut found = find_files(&context.env, facts, project);
    found.retain(|found| found.hidden_by.is_none());
    let imported = follow_imports(&ground, facts, &found);
    let (own, shared): (Vec<_>, Vec<_>) = found.into_iter().partition(|found| found.owner == Owner::User);
    let (own_taken, taken): (Vec<_>, Vec<_>) = imported.into_iter().partition(|taken| taken.is_users);
    let mut told = list_shared(context, &ground, shared, taken, notes);
    let own = own.into_iter().filter(|found| is_safe_above(found, notes));
    let own = own.map(|found| (found.name, found.path, found.when));
    let own_taken = own_taken.into_iter().map(|taken| (taken.name, taken.path, taken.when));
    let own = own.chain(own_taken).map(|(name, path, when)| ToldFile { name, path, is_private: true, when });
    told.extend(own);
    told
}

/// Those of the repository, as far as they are in it.
fn list_shared(
    context: &Context,
    ground: &Ground,
    shared: Vec<FoundFile>,
    taken: Vec<ImportedFile>,
    notes: &mut Vec<String>,
) -> Vec<ToldFile> {
    let names = shared.iter().map(|found| &found.path).chain(taken.iter().map(|taken| &taken.path));
    let names: Vec<String> = names.filter_map(|path| ground.inside(path)).collect();
    let privacy = Privacy::new(context, &ground.root, names.iter().map(String::as_str));
    if privacy.is_unasked() && !shared.is_empty() {
        notes.push("git does not tell what it ignores here: the project's instructions are kept as private".to_owned());
    }
    // One that is taken in and is private is for this agent alone.
    let is_shared = |taken: &ImportedFile| ground.inside(&taken.path).is_some_and(|name| privacy.of(&name).is_none());
    let taken = taken.into_iter().filter(is_shared).map(|taken| (taken.name, taken.path, taken.when));
    let mut told = Vec::new();
    for (name, path, when) in shared.into_iter().map(|found| (found.name, found.path, found.when)).chain(taken) {
        // Whoever made the project may not have a file read that is not in it.
        let inside = ground.inside(&path).unwrap_or_default();
        let Some(path) = resolve_inside(&ground.root, &inside).ok().flatten() else {
            notes.push(format!("{name} leads out of the project and is not read"));
            continue;
        };
        match privacy.of(&inside) {
            Some(Private::Behind(reason)) => notes.push(format!("{name} is not read: {reason}")),
            private => told.push(ToldFile { name, path, is_private: private.is_some(), when }),
        }
    }
    told
}

/// Whether a file above the repository may be read: others may have put a link there that leads to something else.
fn is_safe_above(found: &FoundFile, notes: &mut Vec<String>) -> bool {
    if found.file.place != MemoryPlace::Project {
        return true;
    }
    let folder = found.path.parent().unwrap_or(&found.path);
    let real = resolve_path(&found.path);
    let is_safe = real.starts_with(resolve_path(folder)) && !is_settings(&real.display().to_string());
    if !is_safe {
        notes.push(format!("{} leads elsewhere and is not read", found.name));
    }
    is_safe
}

/// The beginning of a file, and whether that is all of it.
fn read_text(told: &ToldFile, room: usize) -> io::Result<(MemoryText, bool)> {
    let bytes = files::read_bounded(&told.path, MAX_BYTES)?.unwrap_or_default();
    let (sha256, n_bytes) = (Some(hex_sha256(&bytes)), bytes.len() as u64);
    let text = String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not text"))?;
    // What we have put there says nothing about the project.
    let mut text = pointer::without_pointers(&text);
    let size = text.len();
    if size > room {
        let kept = text.floor_char_boundary(room);
        text.replace_range(kept.., &format!("\n[… {} more bytes]", size - kept));
    }
    let ToldFile { name, is_private, when, .. } = told;
    let text = MemoryText { path: name.clone(), sha256, bytes: n_bytes, is_private: *is_private, when: *when, text };
    Ok((text, size <= room))
}
