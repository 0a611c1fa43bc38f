//! Names of objects: a keyed hash of what they hold.
//!
//! A plain hash would let whoever keeps the objects find out whether a file that they know is among them.

use std::fmt::Write as _;

use age_core::primitives::hkdf;

use crate::share::keys::SecretKey;

const LABEL: &[u8] = b"carryover object address";
const HEX_CHARS: usize = 64;

/// The key that names are made with.
pub(super) struct AddressKey([u8; 32]);

impl AddressKey {
    pub(super) fn from_secret(secret: &SecretKey) -> Self {
        Self(secret.derive("addresses"))
    }

    /// HMAC-SHA-256 of the content, and one more step, as HKDF has it.
    pub(super) fn compute_address(&self, content: &[u8]) -> String {
        let digest = hkdf(&self.0, LABEL, content);
        digest.iter().fold(String::with_capacity(HEX_CHARS), |mut text, byte| {
            // Into memory, where nothing fails.
            write!(text, "{byte:02x}").ok();
            text
        })
    }
}

pub(super) fn is_address(text: &str) -> bool {
    text.len() == HEX_CHARS && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
