//! Numbers as people read them.

/// Bytes, in the unit that leaves two or three digits.
pub(crate) fn format_bytes(count: u64) -> String {
    format_scaled(count, &["B", "KB", "MB", "GB", "TB"], " ")
}

/// Tokens, which are estimates wherever we show them.
pub(crate) fn format_tokens(count: u64) -> String {
    format_scaled(count, &["", "k", "M", "G"], "")
}

/// How much of a whole, rounded up so that nothing that is there reads as nothing.
pub(crate) fn percent_of(part: u64, whole: u64) -> u64 {
    part.saturating_mul(100).div_ceil(whole.max(1))
}

/// A bar of ten cells.
pub(crate) fn format_bar(part: u64, whole: u64) -> String {
    let cells = usize::try_from(percent_of(part, whole).min(100).div_ceil(10)).unwrap_or(10);
    format!("{}{}", "█".repeat(cells), "░".repeat(10 - cells))
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
    fn a_little_is_not_nothing() {
        assert_eq!(percent_of(1, 200_000), 1);
        assert_eq!(format_bar(1, 200_000), "█░░░░░░░░░");
        assert_eq!(format_bar(300, 200), "██████████");
        assert_eq!(percent_of(0, 0), 0);
    }
}
