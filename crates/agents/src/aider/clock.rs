//! Local time.
//!
//! The client writes local times without their zone. The file of its prompts tells the zone all the same: its last
//! line but the prompt itself is the local time of the moment in which the file was last changed.

use std::path::Path;

use carryover_core::time::Timestamp;

use crate::formats::jsonl;

const PROMPTS_FILE: &str = ".aider.input.history";

/// How far local time is ahead of UTC, in seconds, by the prompts in a folder; none is known to be UTC.
pub(super) fn utc_offset_seconds(folder: &Path) -> i64 {
    known_offset(&folder.join(PROMPTS_FILE)).unwrap_or(0)
}

fn known_offset(prompts: &Path) -> Option<i64> {
    const QUARTER_HOUR_SECONDS: i64 = 15 * 60;
    const MAX_OFFSET_SECONDS: i64 = 14 * 60 * 60;
    const TOLERANCE_SECONDS: i64 = 30;
    let tail = jsonl::read_tail(prompts, 8 << 10).ok()?;
    let tail = String::from_utf8_lossy(&tail);
    let local = tail.lines().rev().find_map(|line| parse_seconds(line.strip_prefix("# ")?))?;
    let apart = local - modified_at(prompts)?.seconds();
    let quarters = (apart + QUARTER_HOUR_SECONDS / 2).div_euclid(QUARTER_HOUR_SECONDS) * QUARTER_HOUR_SECONDS;
    // A copy is as old as its making, which tells nothing.
    ((apart - quarters).abs() <= TOLERANCE_SECONDS && quarters.abs() <= MAX_OFFSET_SECONDS).then_some(quarters)
}

/// A local time as if it were UTC.
fn parse_seconds(text: &str) -> Option<i64> {
    let time: jiff::civil::DateTime = text.trim().parse().ok()?;
    Some(jiff::tz::Offset::UTC.to_timestamp(time).ok()?.as_second())
}

/// The moment that a local time means.
pub(super) fn to_timestamp(local: &str, ahead: i64) -> Option<Timestamp> {
    Some(Timestamp::from_millis(parse_seconds(local)?.saturating_sub(ahead).saturating_mul(1000)))
}

/// The local time of a moment, as the client writes it.
pub(super) fn format_local(at: Timestamp, zone: &jiff::tz::TimeZone) -> String {
    let at = jiff::Timestamp::from_millisecond(at.millis()).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// When a file was last changed.
pub(super) fn modified_at(path: &Path) -> Option<Timestamp> {
    let at = jiff::Timestamp::try_from(fs_err::metadata(path).ok()?.modified().ok()?).ok()?;
    Some(Timestamp::from_millis(at.as_millisecond()))
}
