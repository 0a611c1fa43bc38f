//! The parts of prompts, replies and outcomes.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// A piece of content.
#[derive(Clone, PartialEq, Eq)]
pub enum Part {
    Text(String),
    Blob(Blob),
}

/// An image or a file: described here, loaded when it is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blob {
    pub media_type: String,
    /// The name or path it had for the user, where there was one.
    pub name: Option<String>,
    pub location: BlobLocation,
}

/// Where a blob's bytes are.
#[derive(Clone, PartialEq, Eq)]
pub enum BlobLocation {
    /// Base64 text inside one of the session's files.
    Encoded { file: u16, offset: u64, length: u64 },
    /// Base64 text in memory, for sources that cannot be read at an offset.
    Inline(Arc<str>),
    /// Raw bytes in a file of their own.
    File(PathBuf),
    /// Behind an address that only the vendor's API resolves.
    Remote(String),
    /// Left out when the session was saved or captured.
    LeftOut,
}

impl Blob {
    pub fn is_image(&self) -> bool {
        self.media_type.starts_with("image/")
    }
}

impl Part {
    /// The bytes that it adds to a context, as text.
    pub fn text_len(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Blob(_) => 0,
        }
    }
}

/// The beginning of a prompt that is a command which the user ran by hand; its output is attached to it.
pub const RUN_BY_HAND_PREFIX: &str = "! ";

/// The text of some parts, blank lines between them; blobs are left out.
pub fn text_of(parts: &[Part]) -> String {
    text_cow(parts).into_owned()
}

/// The same, which is not copied where it is in one part.
pub fn text_cow(parts: &[Part]) -> Cow<'_, str> {
    if let [Part::Text(text)] = parts {
        return Cow::Borrowed(text);
    }
    let texts: Vec<&str> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Blob(_) => None,
        })
        .collect();
    Cow::Owned(texts.join("\n\n"))
}

/// The same of parts that are needed no more; one text is not copied.
pub fn into_text(mut parts: Vec<Part>) -> String {
    match parts.as_mut_slice() {
        [Part::Text(text)] => std::mem::take(text),
        _ => text_of(&parts),
    }
}

/// Prints lengths only: transcript text stays out of logs and errors.
impl fmt::Debug for Part {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(out, "Text({} bytes)", text.len()),
            Self::Blob(blob) => blob.fmt(out),
        }
    }
}

impl fmt::Debug for BlobLocation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Encoded { file, offset, length } => write!(out, "Encoded({file}:{offset}+{length})"),
            Self::Inline(text) => write!(out, "Inline({} bytes)", text.len()),
            Self::File(_) => write!(out, "File"),
            Self::Remote(_) => write!(out, "Remote"),
            Self::LeftOut => write!(out, "LeftOut"),
        }
    }
}
