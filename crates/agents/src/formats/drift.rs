//! Telling a format that has changed from a session in which nothing was said yet.

/// A question and an answer. Fewer records that we do not know, among some that we do, may be new bookkeeping at the
/// beginning of a session.
const MIN_UNKNOWN_RECORDS: usize = 2;

/// How much of a session is looked at before it is said to have drifted: its ends may hold long records only.
pub const CHECK_BYTES: u64 = 4 << 20;

/// Whether records are there, but none that says anything: so many of kinds that we know and that we do not know.
pub fn has_drifted(known: usize, unknown: usize, spoken: bool) -> bool {
    !spoken && (unknown >= MIN_UNKNOWN_RECORDS || (known == 0 && unknown > 0))
}

#[cfg(test)]
mod tests {
    use super::has_drifted;

    #[test]
    fn nothing_said_is_told_from_nothing_understood() {
        assert!(!has_drifted(0, 0, false), "an empty file");
        assert!(!has_drifted(3, 0, false), "a session that has just begun");
        assert!(!has_drifted(3, 1, false), "new bookkeeping");
        assert!(!has_drifted(3, 9, true), "a conversation among much that is new");
        assert!(has_drifted(0, 1, false), "another envelope");
        assert!(has_drifted(1, 2, false), "a beginning that we know, and turns that we do not");
    }
}
