//! The cost of a reply, from the line that the client prints behind it, rounded as it is there:
//! `Tokens: 12k sent, 3.4k cache write, 8.1k cache hit, 1.2k received. Cost: $0.03 message, $0.10 session.`

use carryover_core::transcript::{Tokens, Usage};

/// How the line begins.
pub(super) const TOKENS_START: &str = "Tokens: ";

/// The usage in the line. Tokens from a cache are part of what was sent.
pub(super) fn parse_line(said: &str) -> Usage {
    let told = said.strip_prefix(TOKENS_START).unwrap_or_default();
    let told = told.split_once(" received").map_or("", |(told, _)| told);
    let mut tokens = Tokens::default();
    for figure in told.split(", ") {
        let (count, kind) = figure.split_once(' ').unwrap_or((figure, "received"));
        let Some(count) = parse_count(count) else { continue };
        match kind {
            "sent" => tokens.input = count,
            "cache write" => tokens.cache_written = count,
            "cache hit" => tokens.cache_read = count,
            "received" => tokens.output = count,
            _ => {}
        }
    }
    Usage::for_reply(tokens, None).unwrap_or_default()
}

/// `250`, `2.5k`, `12k`.
fn parse_count(figure: &str) -> Option<u64> {
    let (digits, factor) = figure.strip_suffix('k').map_or((figure, 1), |digits| (digits, 1_000));
    let (whole, part) = digits.split_once('.').unwrap_or((digits, "0"));
    let tenths = part.parse::<u64>().ok().filter(|_| part.len() == 1)?;
    Some(whole.parse::<u64>().ok()?.checked_mul(factor)? + tenths * factor / 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_read_with_all_that_may_stand_in_it() {
        let all = "Tokens: 12k sent, 3.4k cache write, 8.1k cache hit, 122 received. Cost: $0.03 message, $1 session.";
        let tokens = Tokens { input: 12_000, output: 122, cache_read: 8_100, cache_written: 3_400, reasoning: 0 };
        assert_eq!(parse_line(all).tokens, tokens);
        for odd in ["Tokens: ", "Tokens: many sent, 1 received.", "Tokens: 1.25k sent, -1 received."] {
            assert!(parse_line(odd).tokens.input == 0, "{odd}");
        }
    }
}
