//! Token counts estimated from bytes.
//!
//! An estimate, and said to be one wherever it is shown: four bytes a token, the measure that the agents themselves use
//! for what they have not sent yet.

/// What one image costs in a context, roughly, whatever its size in bytes.
pub const IMAGE: u64 = 1_500;

/// The tokens that some bytes of text make.
pub fn of_bytes(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(4)
}

/// The bytes that fit into some tokens.
pub fn to_bytes(tokens: u64) -> usize {
    usize::try_from(tokens.saturating_mul(4)).unwrap_or(usize::MAX)
}
