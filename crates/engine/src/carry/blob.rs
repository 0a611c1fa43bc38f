//! Bringing images and files of a session into memory.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use carryover_agents::Loss;
use carryover_agents::formats::{file, jsonl};
use carryover_core::plain::one_line;
use carryover_core::transcript::{Blob, BlobLocation, Body, Header, Part};

/// No agent's API takes a larger one.
const MAX_BYTES: u64 = 64 << 20;

/// Losses by what was lost and why.
#[derive(Default)]
pub(crate) struct Losses(BTreeMap<(&'static str, &'static str), usize>);

impl Losses {
    fn add(&mut self, what: &'static str, reason: &'static str) {
        *self.0.entry((what, reason)).or_default() += 1;
    }

    pub(crate) fn into_vec(self) -> Vec<Loss> {
        self.0.into_iter().map(|((what, reason), count)| Loss { what, count, reason }).collect()
    }
}

/// Loads every blob of a body; one that cannot be had leaves a line of text in its place.
pub(crate) fn load_all(body: &mut Body, header: &Header, losses: &mut Losses) {
    let parts = match body {
        Body::Prompt(parts) | Body::Reply(parts) | Body::Summary(parts) => parts,
        Body::Outcome(outcome) => &mut outcome.parts,
        _ => return,
    };
    for part in parts {
        let Part::Blob(blob) = part else { continue };
        match read_place(&blob.location, header) {
            Ok(text) => blob.location = BlobLocation::Inline(text),
            Err(reason) => {
                losses.add(if blob.is_image() { "images" } else { "files" }, reason);
                *part = Part::Text(placeholder_text(blob));
            }
        }
    }
}

fn read_place(place: &BlobLocation, header: &Header) -> Result<Arc<str>, &'static str> {
    match place {
        BlobLocation::Inline(text) => Ok(text.clone()),
        BlobLocation::Encoded { file, offset, length } => {
            let path = header.files.get(usize::from(*file)).ok_or("their file is not known")?;
            read_encoded(path, *offset, *length).map_err(|_| "they could not be read")
        }
        BlobLocation::File(path) => read_raw(path).map_err(|_| "their files could not be read"),
        BlobLocation::Remote(_) => Err("only their vendor holds them"),
        BlobLocation::LeftOut => Err("what was kept does not hold them"),
    }
}

/// Base64 text in a log; JSON may write a slash with a backslash before it.
fn read_encoded(path: &Path, offset: u64, length: u64) -> io::Result<Arc<str>> {
    if length > MAX_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut text = jsonl::read_record_at(path, offset, length)?;
    text.retain(|letter| letter != '\\');
    let sound = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte));
    if sound { Ok(text.into()) } else { Err(io::ErrorKind::InvalidData.into()) }
}

fn read_raw(path: &Path) -> io::Result<Arc<str>> {
    Ok(STANDARD.encode(file::read_bytes(path, MAX_BYTES)?).into())
}

fn placeholder_text(blob: &Blob) -> String {
    let what = if blob.is_image() { "image" } else { "file" };
    let name = one_line(blob.name.as_deref().unwrap_or(&blob.media_type), 120);
    format!("[{what} not carried over: {name}]")
}
