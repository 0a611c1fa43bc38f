//! Addresses of places, as users write them and as objects in them are named.

use std::fmt;
use std::path::PathBuf;

use carryover_core::plain::one_line;
use carryover_engine::context::Context;

const MAX_SHOWN_CHARS: usize = 120;

/// A place for objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    Folder(PathBuf),
}

/// An address that names no place.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{address} is no address of a place: {reason}")]
pub(crate) struct AddressError {
    address: String,
    reason: &'static str,
}

impl Address {
    pub(crate) fn parse(context: &Context, text: &str) -> Result<Self, AddressError> {
        let error = |reason| AddressError { address: hide_query(text), reason };
        if let Some(rest) = text.strip_prefix("file://") {
            let path = rest.strip_prefix("localhost").unwrap_or(rest);
            let path = decode_percents(path).ok_or_else(|| error("it is not encoded as addresses are"))?;
            // `file:///C:/team` names a drive.
            let is_drive = path.as_bytes().get(2) == Some(&b':');
            let path = PathBuf::from(if is_drive { &path[1..] } else { &path });
            return if path.is_absolute() { Ok(Self::Folder(path)) } else { Err(error("it names no folder")) };
        }
        if text.contains("://") {
            return Err(error("carryover knows no such service"));
        }
        if text.is_empty() {
            return Err(error("it is empty"));
        }
        let path = match text.strip_prefix("~/") {
            Some(below) => context.env.home.join(below),
            None => context.cwd.join(text),
        };
        Ok(Self::Folder(path))
    }
}

/// An address as it may be shown: without what behind `?` or before `@` may be a secret.
pub(crate) fn hide_query(address: &str) -> String {
    let shown = address.split(['?', '#']).next().unwrap_or_default();
    let shown = match shown.split_once("://").map(|(scheme, rest)| (scheme, rest.split_once('/').unwrap_or((rest, ""))))
    {
        Some((scheme, (authority, path))) if authority.contains(':') && authority.contains('@') => {
            let host = authority.rsplit('@').next().unwrap_or_default();
            format!("{scheme}://{host}/{path}")
        }
        _ => shown.to_owned(),
    };
    one_line(&shown, MAX_SHOWN_CHARS)
}

fn decode_percents(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
            let (high, low) = (digit(rest.next())?, digit(rest.next())?);
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(path) => write!(f, "{}", path.display()),
        }
    }
}
