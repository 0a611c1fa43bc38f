//! Numbers as people read them.

/// Bytes, in the unit that leaves two or three digits.
pub(crate) fn format_bytes(count: u64) -> String {
    format_scaled(count, &["B", "KB", "MB", "GB", "TB"], " ")
}

/// Tokens, which are estimates wherever we show them.
pub(crate) fn format_tokens(count: u64) -> String {
    format_scaled(count, &["", "k", "M", "G"], "")
}

/// How much of a whole: with a decimal below ten, and what is there never reads as nothing, nor what is not full as full.
pub(crate) fn format_percent(part: u64, whole: u64) -> String {
    let tenths = scale_to(1000, part, whole);
    match tenths {
        0 => "0".to_owned(),
        1 if part.saturating_mul(1000) < whole => "under 0.1".to_owned(),
        1..100 => format!("{}.{}", tenths / 10, tenths % 10),
        _ => (tenths / 10).to_string(),
    }
}

/// Parts of a cell, from nothing to seven eighths.
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// A bar of ten cells, true to an eighth of a cell.
pub(crate) fn format_bar(part: u64, whole: u64) -> String {
    let eighths = usize::try_from(scale_to(80, part, whole).min(80)).unwrap_or(80);
    let (full, rest) = (eighths / 8, EIGHTHS[eighths % 8]);
    let empty = 10 - full - usize::from(!rest.is_empty());
    format!("{}{rest}{}", "█".repeat(full), "░".repeat(empty))
}

/// A part on a scale of so many steps, rounded; the first step is reached by anything, the last by the whole only.
fn scale_to(steps: u64, part: u64, whole: u64) -> u64 {
    let whole = whole.max(1);
    let rounded = part.saturating_mul(steps).saturating_add(whole / 2) / whole;
    match part {
        0 => 0,
        _ if part < whole => rounded.clamp(1, steps - 1),
        _ => rounded,
    }
}

/// A number with its noun.
pub(crate) fn format_count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

fn format_scaled(count: u64, units: &[&str], gap: &str) -> String {
    let mut whole = count;
    let mut tenths = 0;
    let mut unit = 0;
    while whole >= 1000 && unit + 1 < units.len() {
        tenths = whole % 1000 / 100;
        whole /= 1000;
        unit += 1;
    }
    if unit > 0 && whole < 10 {
        return format!("{whole}.{tenths}{gap}{}", units[unit]);
    }
    format!("{whole}{gap}{}", units[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_two_or_three_digits() {
        let sizes = [0, 999, 1000, 26_577, 999_999, 1_250_000, 116_000_000].map(format_bytes);
        assert_eq!(sizes, ["0 B", "999 B", "1.0 KB", "26 KB", "999 KB", "1.2 MB", "116 MB"]);
        assert_eq!([512, 4_200, 258_400].map(format_tokens), ["512", "4.2k", "258k"]);
    }

    #[test]
    fn a_little_is_not_nothing_and_no_more_than_it_is() {
        let percents =
            [(0, 200), (1, 200_000), (600, 200_000), (1_999, 200_000), (24_000, 200_000), (199_999, 200_000)];
        let percents = percents.map(|(part, whole)| format_percent(part, whole));
        assert_eq!(percents, ["0", "under 0.1", "0.3", "1.0", "12", "99"]);
        assert_eq!([format_percent(200, 200), format_percent(300, 200), format_percent(0, 0)], ["100", "150", "0"]);
        let bars = [(0, 200), (1, 200_000), (2_500, 200_000), (20_000, 200_000), (25_000, 200_000), (300, 200)];
        let bars = bars.map(|(part, whole)| format_bar(part, whole));
        assert_eq!(bars, ["░░░░░░░░░░", "▏░░░░░░░░░", "▏░░░░░░░░░", "█░░░░░░░░░", "█▎░░░░░░░░", "██████████"]);
        assert_eq!(format_bar(199_999, 200_000), "█████████▉");
    }
}
