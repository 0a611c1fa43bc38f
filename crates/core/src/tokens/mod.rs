//! Token counts: estimated from bytes where a round figure is enough, counted where a budget has to be kept.
//!
//! The estimate is four bytes a token, the measure that the agents themselves use for what they have not sent yet, and
//! is said to be one wherever it is shown. The count is made with a published vocabulary.

mod estimate;

pub use estimate::{estimate, estimate_within};

/// What one image costs in a context, roughly, whatever its size in bytes.
pub const IMAGE: u64 = 1_500;

/// By how much a count is raised for models whose vocabulary is not published, in hundredths. A margin that was chosen,
/// not measured: such models are known to need more tokens for the same text, for code above all.
pub const PADDING: u64 = 135;

/// The tokens that some bytes of text make.
pub fn of_bytes(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(4)
}

/// The bytes that fit into some tokens.
pub fn to_bytes(tokens: u64) -> usize {
    usize::try_from(tokens.saturating_mul(4)).unwrap_or(usize::MAX)
}

/// How tokens are counted for the model that will read a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Counter {
    /// By the vocabulary `o200k`, exactly: for models that use it.
    Exact,
    /// The same count, raised by [`PADDING`]: for all other models.
    #[default]
    Padded,
}

impl Counter {
    /// The tokens of a text.
    pub fn count(self, text: &str) -> u64 {
        self.padded(o200k::o200k_base().count(text) as u64)
    }

    /// The tokens of a text where they are not more than `limit`; looks no further than needed.
    pub fn count_within(self, text: &str, limit: u64) -> Option<u64> {
        let exact = usize::try_from(self.exact(limit)).unwrap_or(usize::MAX);
        let count = o200k::o200k_base().split(text).try_fold(0_usize, |sum, piece| {
            let sum = sum + o200k::o200k_base().bpe.count(piece.as_bytes());
            (sum <= exact).then_some(sum)
        })?;
        Some(self.padded(count as u64))
    }

    /// In words, for whoever reads a figure.
    pub fn label(self) -> &'static str {
        match self {
            Self::Exact => "counted with o200k",
            Self::Padded => "counted with o200k and raised by 35 %",
        }
    }

    /// What a count by the vocabulary stands for.
    pub(crate) fn padded(self, exact: u64) -> u64 {
        match self {
            Self::Exact => exact,
            Self::Padded => (exact * PADDING).div_ceil(100),
        }
    }

    /// The count by the vocabulary that stands for so many tokens.
    pub(crate) fn exact(self, padded: u64) -> u64 {
        match self {
            Self::Exact => padded,
            Self::Padded => padded.saturating_mul(100) / PADDING,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_within_a_limit_is_the_count() {
        let text = "The quick brown fox\n\n```rust\nfn main() {}\n```\n".repeat(20);
        for counter in [Counter::Exact, Counter::Padded] {
            let whole = counter.count(&text);
            assert_eq!(counter.count_within(&text, whole), Some(whole));
            assert_eq!(counter.count_within(&text, whole - 1), None);
        }
    }

    #[test]
    fn other_vocabularies_are_counted_with_a_margin() {
        assert_eq!(Counter::Exact.count("hello world"), 2);
        assert_eq!(Counter::Padded.count("hello world"), 3);
        assert_eq!(Counter::Padded.count(""), 0);
    }
}
