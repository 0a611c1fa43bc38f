//! Points in time as people type them: `2026-11-01`, a whole time, or how long ago: `7d`, `12h`, `30min`, `2w`.

use carryover_core::time::Timestamp;
use carryover_engine::context::Context;

/// A point in time, before it is known what time it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    At(Timestamp),
    /// The beginning of a day.
    Day(jiff::civil::Date),
    /// So many milliseconds from now: before it, where nothing else is said.
    Ago(i64),
}

const UNITS: &[(&str, i64)] = &[("min", 60_000), ("h", 3_600_000), ("d", 86_400_000), ("w", 7 * 86_400_000)];

/// Reads one.
pub(crate) fn parse_moment(text: &str) -> Result<Moment, String> {
    let wrong = || "not a time, such as 2026-11-01, 2026-11-01T10:00:00Z, or 30min, 12h, 7d or 2w".to_owned();
    let text = text.trim();
    if let Some(at) = Timestamp::parse(text) {
        return Ok(Moment::At(at));
    }
    if let Ok(day) = text.parse::<jiff::civil::Date>() {
        return Ok(Moment::Day(day));
    }
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = UNITS.iter().find(|(name, _)| *name == &text[digits.len()..]);
    let count: i64 = digits.parse().map_err(|_| wrong())?;
    match unit.and_then(|(_, millis)| count.checked_mul(*millis)).filter(|_| count > 0) {
        Some(millis) => Ok(Moment::Ago(millis)),
        None => Err(wrong()),
    }
}

impl Moment {
    /// The same for something that is to come: `7d` is in seven days.
    pub(crate) fn resolve_ahead(self, context: &Context) -> Timestamp {
        match self {
            Self::Ago(millis) => context.env.now.plus_millis(millis),
            Self::At(_) | Self::Day(_) => self.resolve(context),
        }
    }

    /// The time that is meant, by the clock and where the user is.
    pub(crate) fn resolve(self, context: &Context) -> Timestamp {
        match self {
            Self::At(at) => at,
            Self::Ago(millis) => context.env.now.plus_millis(-millis),
            Self::Day(day) => {
                let begin = day.to_zoned(context.env.zone.clone()).map(|begin| begin.timestamp().as_millisecond());
                begin.map_or(context.env.now, Timestamp::from_millis)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        assert_eq!(parse_moment("7d"), Ok(Moment::Ago(604_800_000)));
        assert_eq!(parse_moment("90min"), Ok(Moment::Ago(5_400_000)));
        assert_eq!(parse_moment("2026-11-01"), Ok(Moment::Day(jiff::civil::date(2026, 11, 1))));
        assert!(matches!(parse_moment("2026-11-01T10:00:00Z"), Ok(Moment::At(_))));
        for wrong in ["", "d", "7", "7x", "-7d", "0d", "yesterday", "2026-13-01", "99999999999999999999d"] {
            assert!(parse_moment(wrong).is_err(), "{wrong}");
        }
    }
}
