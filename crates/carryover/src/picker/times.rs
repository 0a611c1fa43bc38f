//! Times in few columns.

use carryover_core::time::Timestamp;

/// The steps of an age: a unit counts until the next begins.
const UNITS: &[(i64, &str)] =
    &[(60, "m"), (3600, "h"), (86_400, "d"), (7 * 86_400, "w"), (30 * 86_400, "mo"), (365 * 86_400, "y")];

/// An age in at most four columns.
pub(super) fn short_age(then: Timestamp, now: Timestamp) -> String {
    let seconds = now.seconds().saturating_sub(then.seconds());
    let fits = UNITS.iter().rev().find(|(unit, _)| seconds >= *unit);
    fits.map_or_else(|| "now".to_owned(), |(unit, name)| format!("{}{name}", (seconds / unit).min(99)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_take_four_columns_at_most() {
        let now = Timestamp::from_millis(1_800_000_000_000);
        let age = |seconds: i64| short_age(now.plus_millis(-seconds * 1000), now);
        assert_eq!([age(0), age(-99), age(200), age(7200)], ["now", "now", "3m", "2h"]);
        assert_eq!([age(86_400 * 6), age(86_400 * 300), age(86_400 * 800)], ["6d", "10mo", "2y"]);
        assert!(short_age(Timestamp::from_millis(i64::MIN), now).len() <= 4);
    }
}
