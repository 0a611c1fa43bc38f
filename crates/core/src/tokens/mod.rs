//! Token counts, estimated: a budget is kept by the estimate, and whoever is shown a figure is told that it is about right.

mod estimate;

pub use estimate::{estimate, estimate_within};

/// The tokens of one image in a context, roughly, whatever its size in bytes.
pub const PER_IMAGE: u64 = 1_500;

/// The tokens that some bytes of text make, where the text is not at hand: four bytes a token, the measure that the agents
/// themselves use for what they have not sent yet.
pub fn estimate_bytes(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(4)
}
