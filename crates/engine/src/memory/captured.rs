//! What a session's model is told by files, taken along with the session.

use std::io;
use std::path::{Path, PathBuf};

use carryover_agents::{Facts, MemoryPlace};
use carryover_core::distill::MemoryText;

use crate::context::Context;
use crate::handoff::pointer;
use crate::memory::files::{MAX_BYTES, find_files};
use crate::memory::imports::{ImportingFile, follow_imports};
use crate::memory::privacy::{Privacy, Private};
use crate::own::files;
use crate::own::sha256::hex_sha256;
use crate::sessions::project::resolve_inside;

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

/// The agent's files, each followed by those that it takes in.
fn list_told(context: &Context, facts: &Facts, project: &Path, notes: &mut Vec<String>) -> Vec<ToldFile> {
    let found = find_files(&context.env, facts, project).into_iter().filter(|found| found.hidden_by.is_none());
    let (shared, own): (Vec<_>, Vec<_>) = found.partition(|found| found.file.place == MemoryPlace::Project);
    let importing = shared.iter().map(|found| ImportingFile { name: found.name.clone(), path: found.path.clone() });
    let imported = match facts.memory.import {
        Some(_) => follow_imports(project, importing.collect()),
        None => Vec::new(),
    };
    let names = shared.iter().map(|found| &found.name).chain(imported.iter().map(|taken| &taken.name));
    let privacy = Privacy::new(context, project, names.map(String::as_str));
    if privacy.is_unasked() && !shared.is_empty() {
        notes.push("git does not tell what it ignores here: the project's instructions are kept as private".to_owned());
    }
    let when_read = |name: &str| shared.iter().find(|found| found.name == name).and_then(|found| found.file.when);
    // One that is taken in and is private is for this agent alone.
    let taken = imported.iter().filter(|taken| privacy.of(&taken.name).is_none());
    let taken = taken.map(|taken| (taken.name.clone(), when_read(&taken.start)));
    let files = shared.iter().map(|found| (found.name.clone(), found.file.when)).chain(taken);
    let mut told: Vec<ToldFile> = Vec::new();
    for (name, when) in files {
        // Whoever made the project may not have a file read that is not in it.
        let Some(path) = resolve_inside(project, &name).ok().flatten() else {
            notes.push(format!("{name} leads out of the project and is not read"));
            continue;
        };
        match privacy.of(&name) {
            Some(Private::Behind(reason)) => notes.push(format!("{name} is not read: {reason}")),
            private => told.push(ToldFile { name, path, is_private: private.is_some(), when }),
        }
    }
    told.extend(own.into_iter().map(|found| {
        let (is_private, when) = (found.file.is_private, found.file.when);
        ToldFile { name: found.name, path: found.path, is_private, when }
    }));
    told
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
