//! Ids made from a seed: the same request always gives the same bytes.

use std::collections::BTreeSet;

use carryover_core::time::Timestamp;

/// Counts ids up from a seed.
#[derive(Debug, Clone)]
pub struct Ids(u128);

impl Ids {
    pub fn new(seed: u128) -> Self {
        Self(seed)
    }

    /// A random-looking UUID (version 4).
    pub fn next_uuid(&mut self) -> String {
        self.0 = self.0.wrapping_add(1);
        uuid::Builder::from_random_bytes(self.0.to_be_bytes()).into_uuid().to_string()
    }

    /// A UUID that begins with a time (version 7).
    pub fn next_timed_uuid(&mut self, at: Timestamp) -> String {
        self.0 = self.0.wrapping_add(1);
        let mut random = [0; 10];
        random.copy_from_slice(&self.0.to_be_bytes()[6..]);
        let millis = u64::try_from(at.millis()).unwrap_or(0);
        uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid().to_string()
    }
}

/// A digest of a name, for records that are known by one (FNV-1a; nothing depends on it being hard to invert).
pub fn digest_name(name: &str) -> u64 {
    extend_digest(0xcbf2_9ce4_8422_2325, name.as_bytes())
}

/// The digest of what came before and these bytes.
pub fn extend_digest(digest: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(digest, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Names that an API takes: letters, digits, `_` and `-`, up to a length, none twice.
#[derive(Debug, Default)]
pub struct UniqueNames {
    taken: BTreeSet<String>,
}

impl UniqueNames {
    /// The name with everything else replaced, counted on where it is taken already.
    pub fn make_unique(&mut self, name: &str, longest: usize) -> String {
        let base = clean_name(name, longest);
        let mut candidate = base.clone();
        let mut count = 1;
        while !self.taken.insert(candidate.clone()) {
            count += 1;
            let suffix = format!("_{count}");
            candidate = format!("{}{suffix}", clean_name(&base, longest - suffix.len()));
        }
        candidate
    }
}

/// Replaces what an API refuses in a name.
pub fn clean_name(name: &str, longest: usize) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    let name: String = name.chars().map(fits).take(longest).collect();
    if name.is_empty() { "unnamed".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_clean_and_unique() {
        let mut names = UniqueNames::default();
        assert_eq!(names.make_unique("call_a|fc.1", 64), "call_a_fc_1");
        assert_eq!(names.make_unique("call_a|fc.1", 64), "call_a_fc_1_2");
        assert_eq!(names.make_unique("", 64), "unnamed");
        assert_eq!(clean_name("日本", 8), "__");
    }
}
