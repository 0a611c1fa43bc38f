//! How long ago something was.

use carryover_core::time::Timestamp;

/// The steps of a relative time: a unit counts until the next begins.
const UNITS: &[(i64, &str)] =
    &[(60, "min"), (3600, "h"), (86_400, "d"), (7 * 86_400, "wk"), (30 * 86_400, "mo"), (365 * 86_400, "yr")];

/// A relative time of one unit, such as `3 min ago`.
pub(crate) fn format_ago(then: Timestamp, now: Timestamp) -> String {
    let seconds = now.seconds() - then.seconds();
    if seconds < -60 {
        // Clocks differ, and files come from other machines.
        return "in the future".to_owned();
    }
    let fits = UNITS.iter().rev().find(|(unit, _)| seconds >= *unit);
    fits.map_or_else(|| "just now".to_owned(), |(unit, name)| format!("{} {name} ago", seconds / unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_unit_is_enough() {
        let now = Timestamp::from_millis(1_800_000_000_000);
        let check = |seconds: i64| format_ago(now.plus_millis(-seconds * 1000), now);
        assert_eq!(check(0), "just now");
        assert_eq!(check(59), "just now");
        assert_eq!(check(200), "3 min ago");
        assert_eq!(check(7200), "2 h ago");
        assert_eq!(check(86_400 * 6), "6 d ago");
        assert_eq!(check(86_400 * 20), "2 wk ago");
        assert_eq!(check(86_400 * 800), "2 yr ago");
        assert_eq!(check(-3600), "in the future");
    }
}
