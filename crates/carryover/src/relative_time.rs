//! Points in time as people say them.

use carryover_agents::Env;
use carryover_core::time::Timestamp;
use jiff::Zoned;

/// The steps of a relative time: a unit counts until the next begins.
const UNITS: &[(i64, &str)] =
    &[(60, "min"), (3600, "h"), (86_400, "d"), (7 * 86_400, "wk"), (30 * 86_400, "mo"), (365 * 86_400, "yr")];

/// Up to so many hours are counted, also over midnight.
const COUNTED_HOURS: i64 = 6;
/// A weekday says which day was meant for so many days.
const WEEKDAY_DAYS: i32 = 6;

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

/// A time of the past on the user's calendar: `4 min ago`, `yesterday 17:02`, `12 Mar`. In brief, without the hour.
pub(crate) fn format_when(then: Timestamp, env: &Env, in_brief: bool) -> String {
    let seconds = env.now.seconds() - then.seconds();
    let (then_there, now_there) = (to_local(then, env), to_local(env.now, env));
    let days = days_between(&then_there, &now_there);
    if seconds < COUNTED_HOURS * 3600 || days == 0 {
        return format_ago(then, env.now);
    }
    let clock = if in_brief { "" } else { " %H:%M" };
    match days {
        1 => then_there.strftime(&format!("yesterday{clock}")).to_string(),
        2..=WEEKDAY_DAYS => then_there.strftime(&format!("%a{clock}")).to_string(),
        _ if then_there.year() == now_there.year() => then_there.strftime("%-d %b").to_string(),
        _ => then_there.strftime("%-d %b %Y").to_string(),
    }
}

/// A time to come on the user's calendar: `17:00`, `tomorrow 09:00`, `12 Mar 09:00`.
pub(crate) fn format_until(then: Timestamp, env: &Env) -> String {
    let (then, now) = (to_local(then, env), to_local(env.now, env));
    let form = match days_between(&now, &then) {
        ..=0 => "%H:%M",
        1 => "tomorrow %H:%M",
        2..=WEEKDAY_DAYS => "%a %H:%M",
        _ => "%-d %b %H:%M",
    };
    then.strftime(form).to_string()
}

/// A time to the minute: `17:02` of today, `12 Mar 17:02`, `12 Mar 2025 17:02`.
pub(crate) fn format_clock(at: Timestamp, env: &Env) -> String {
    let (at, now) = (to_local(at, env), to_local(env.now, env));
    let form = match () {
        () if at.date() == now.date() => "%H:%M",
        () if at.year() == now.year() => "%-d %b %H:%M",
        () => "%-d %b %Y %H:%M",
    };
    at.strftime(form).to_string()
}

fn to_local(at: Timestamp, env: &Env) -> Zoned {
    let at = jiff::Timestamp::from_millisecond(at.millis()).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    at.to_zoned(env.zone.clone())
}

/// How many midnights lie between two times.
fn days_between(from: &Zoned, to: &Zoned) -> i32 {
    (to.date() - from.date()).get_days()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use carryover_agents::Os;

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

    #[test]
    fn times_are_told_by_the_calendar() {
        // Two hours east: midnight there is at 22:00.
        let env = Env {
            home: "/h".into(),
            vars: BTreeMap::new(),
            os: Os::Linux,
            now: Timestamp::parse("2026-11-15T10:00:00Z").unwrap(),
            zone: jiff::tz::TimeZone::fixed(jiff::tz::offset(2)),
            stores: BTreeMap::new(),
            projects: Vec::new(),
        };
        let at = |text: &str| Timestamp::parse(text).unwrap();
        for (then, long, brief) in [
            ("2026-11-15T10:05:00Z", "in the future", "in the future"),
            ("2026-11-15T09:56:00Z", "4 min ago", "4 min ago"),
            ("2026-11-14T22:30:00Z", "11 h ago", "11 h ago"),
            ("2026-11-14T21:30:00Z", "yesterday 23:30", "yesterday"),
            ("2026-11-13T22:30:00Z", "yesterday 00:30", "yesterday"),
            ("2026-11-10T08:00:00Z", "Tue 10:00", "Tue"),
            ("2026-11-08T08:00:00Z", "8 Nov", "8 Nov"),
            ("2026-03-12T08:00:00Z", "12 Mar", "12 Mar"),
            ("2025-11-20T08:00:00Z", "20 Nov 2025", "20 Nov 2025"),
        ] {
            assert_eq!(format_when(at(then), &env, false), long);
            assert_eq!(format_when(at(then), &env, true), brief);
        }
        for (then, said) in [
            ("2026-11-15T15:00:00Z", "17:00"),
            ("2026-11-15T22:30:00Z", "tomorrow 00:30"),
            ("2026-11-17T15:00:00Z", "Tue 17:00"),
            ("2026-12-01T15:00:00Z", "1 Dec 17:00"),
        ] {
            assert_eq!(format_until(at(then), &env), said);
        }
        for (then, said) in [
            ("2026-11-14T22:30:00.123Z", "00:30"),
            ("2026-11-14T21:30:00Z", "14 Nov 23:30"),
            ("2025-11-20T08:00:00Z", "20 Nov 2025 10:00"),
        ] {
            assert_eq!(format_clock(at(then), &env), said);
        }
        for edge in [i64::MIN, i64::MAX] {
            assert!(!format_when(Timestamp::from_millis(edge), &env, false).is_empty());
            assert!(!format_until(Timestamp::from_millis(edge), &env).is_empty());
        }
    }
}
