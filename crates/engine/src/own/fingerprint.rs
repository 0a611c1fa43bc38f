//! Digests by which we notice that bytes have changed.
//!
//! They guard against accidents and against people who went on working, not against forgery: whoever can forge them
//! can write our files.

use std::fmt;
use std::io::{self, Read};
use std::path::Path;

use carryover_agents::formats::file;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// FNV-1a over some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Fingerprint(u64);

impl Fingerprint {
    /// The digest of nothing.
    pub(crate) const EMPTY: Self = Self(0xcbf2_9ce4_8422_2325);

    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        Self::EMPTY.extend_with(bytes)
    }

    /// A digest as it is written.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        u64::from_str_radix(text, 16).ok().map(Self)
    }

    /// The digest of what came before and these bytes.
    #[must_use]
    pub(crate) fn extend_with(self, bytes: &[u8]) -> Self {
        let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        Self(bytes.iter().fold(self.0, step))
    }

    /// The digest as a number.
    pub(crate) fn to_bits(self) -> u64 {
        self.0
    }

    /// The digest of two things whose order does not matter.
    #[must_use]
    pub(crate) fn combine_unordered(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }

    /// The size and digest of a file, or of its first bytes.
    pub(crate) fn from_file(path: &Path, limit: Option<u64>) -> io::Result<(u64, Self)> {
        let mut file = file::open_regular(path)?.take(limit.unwrap_or(u64::MAX));
        let mut buffer = vec![0; 64 << 10];
        let mut digest = Self::EMPTY;
        let mut size = 0;
        loop {
            let read = file.read(&mut buffer)?;
            if read == 0 {
                return Ok((size, digest));
            }
            digest = digest.extend_with(&buffer[..read]);
            size += read as u64;
        }
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:016x}", self.0)
    }
}

/// Hexadecimal text: many JSON readers lose the last bits of a big number.
impl Serialize for Fingerprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("not a digest"))
    }
}
