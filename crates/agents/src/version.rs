//! Versions of clients.

use std::fmt;

/// The first three numbers of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

impl Version {
    /// Finds a version in what a client prints, such as `2.1.325 (Claude Code)` or `codex-cli 0.166.0`.
    pub fn find_in(text: &str) -> Option<Self> {
        text.split(|c: char| c.is_whitespace() || c == 'v').find_map(Self::parse)
    }

    fn parse(word: &str) -> Option<Self> {
        let core = word.split(['-', '+']).next()?;
        let mut numbers = core.split('.').map(str::parse::<u32>);
        let version = Self(numbers.next()?.ok()?, numbers.next()?.ok()?, numbers.next()?.ok()?);
        numbers.next().is_none().then_some(version)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}.{}", self.0, self.1, self.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_clients_print() {
        assert_eq!(Version::find_in("2.1.325 (Claude Code)"), Some(Version(2, 1, 325)));
        assert_eq!(Version::find_in("codex-cli 0.166.0"), Some(Version(0, 166, 0)));
        assert_eq!(Version::find_in("v0.150.0-alpha.7"), Some(Version(0, 150, 0)));
        assert_eq!(Version::find_in("no version"), None);
    }
}
