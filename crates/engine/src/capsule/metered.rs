//! A stream that ends in an error once it has given more than it may.

use std::io::{self, Read};

use super::CapsuleError;

/// What an unpacked stream may give.
pub(super) struct Metered<R> {
    stream: R,
    left: u64,
}

/// The mark of the error.
#[derive(Debug, thiserror::Error)]
#[error("more than it may be")]
struct TooMuch;

impl<R> Metered<R> {
    pub(super) fn new(stream: R, limit: u64) -> Self {
        Self { stream, left: limit }
    }
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(buffer)?;
        self.left = self.left.checked_sub(count as u64).ok_or_else(|| io::Error::other(TooMuch))?;
        Ok(count)
    }
}

/// Whether a stream ended because it gave too much.
fn is_too_much(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| {
        inner.is::<TooMuch>() || inner.downcast_ref::<io::Error>().is_some_and(is_too_much) || has_source(inner)
    })
}

/// Readers of archives wrap what their stream says.
fn has_source(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut next = error.source();
    while let Some(source) = next {
        if source.is::<TooMuch>() || source.downcast_ref::<io::Error>().is_some_and(is_too_much) {
            return true;
        }
        next = source.source();
    }
    false
}

/// What it means that a packed stream cannot be read on.
pub(super) fn explain_read(error: io::Error, name: &str, packed: u64) -> CapsuleError {
    if is_too_much(&error) {
        return CapsuleError::Bomb { packed, limit: super::limits::max_unpacked(packed) };
    }
    match error.kind() {
        io::ErrorKind::UnexpectedEof => CapsuleError::damaged(name, "ends in the middle"),
        io::ErrorKind::Other | io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
            CapsuleError::damaged(name, "cannot be unpacked")
        }
        _ => CapsuleError::Io(error),
    }
}
