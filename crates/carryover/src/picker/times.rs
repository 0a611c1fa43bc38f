//! Times in few columns.

use carryover_core::time::Timestamp;
use jiff::tz::TimeZone;

/// The steps of an age: a unit counts until the next begins.
const UNITS: &[(i64, &str)] =
    &[(60, "m"), (3600, "h"), (86_400, "d"), (7 * 86_400, "w"), (30 * 86_400, "mo"), (365 * 86_400, "y")];

/// An age in at most four columns.
pub(super) fn short_age(then: Timestamp, now: Timestamp) -> String {
    let seconds = now.seconds().saturating_sub(then.seconds());
    let fits = UNITS.iter().rev().find(|(unit, _)| seconds >= *unit);
    fits.map_or_else(|| "now".to_owned(), |(unit, name)| format!("{}{name}", (seconds / unit).min(99)))
}

/// The time at which something ends: the hour today, else the day too.
pub(crate) fn until(at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    let local = |at: Timestamp| {
        jiff::Timestamp::from_millisecond(at.millis()).unwrap_or(jiff::Timestamp::UNIX_EPOCH).to_zoned(zone.clone())
    };
    let (at, now) = (local(at), local(now));
    let format = if at.date() == now.date() { "%H:%M" } else { "%-d %b %H:%M" };
    at.strftime(format).to_string()
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

    #[test]
    fn another_day_is_named() {
        let now = Timestamp::parse("2026-11-15T10:00:00Z").unwrap();
        let tell = |text: &str| until(Timestamp::parse(text).unwrap(), now, &TimeZone::UTC);
        assert_eq!(tell("2026-11-15T14:30:00Z"), "14:30");
        assert_eq!(tell("2026-11-17T09:05:00Z"), "17 Nov 09:05");
    }
}
