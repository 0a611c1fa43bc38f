//! Tokens and limits that a session used, and how it was begun: in words, and as data.

use carryover_core::plain::one_line;
use carryover_core::transcript::{Limit, SessionUsage, StartSettings, Tokens};
use jiff::tz::TimeZone;
use serde::Serialize;

use super::entries::time_span;
use crate::quantity::{self, format_count};

/// Tokens as `show --json` tells them.
#[derive(Serialize)]
pub(crate) struct TokensRow {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_written: u64,
    reasoning: u64,
}

/// The usage of a session, as `show --json` tells it.
#[derive(Serialize)]
pub(super) struct UsageRow {
    #[serde(flatten)]
    total: TokensRow,
    models: Vec<ModelRow>,
    limits: Vec<LimitRow>,
}

#[derive(Serialize)]
struct ModelRow {
    model: String,
    #[serde(flatten)]
    tokens: TokensRow,
}

#[derive(Serialize)]
pub(crate) struct LimitRow {
    used_percent: f64,
    window_minutes: Option<u32>,
    resets_at: Option<String>,
}

impl From<Tokens> for TokensRow {
    fn from(tokens: Tokens) -> Self {
        let Tokens { input, output, cache_read, cache_written, reasoning } = tokens;
        Self { input, output, cache_read, cache_written, reasoning }
    }
}

impl From<Limit> for LimitRow {
    fn from(limit: Limit) -> Self {
        let resets_at = limit.resets_at.map(|at| at.to_string());
        Self { used_percent: limit.used_percent, window_minutes: limit.window_minutes, resets_at }
    }
}

impl From<SessionUsage> for UsageRow {
    fn from(used: SessionUsage) -> Self {
        let models = used.models.into_iter().map(|(model, tokens)| ModelRow { model, tokens: tokens.into() });
        let limits = used.limits.into_iter().map(LimitRow::from);
        Self { total: used.total.into(), models: models.collect(), limits: limits.collect() }
    }
}

/// The tokens in one line: `tokens used: 174k input (120k from cache, 3.0k to cache), 588 output (40 reasoning)`.
pub(super) fn tokens_line(used: &SessionUsage) -> Option<String> {
    let part = |tokens: u64, words: &str| (tokens > 0).then(|| format!("{} {words}", quantity::format_tokens(tokens)));
    let within = |parts: [Option<String>; 2]| {
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
    };
    let Tokens { input, output, cache_read, cache_written, reasoning } = used.total;
    let cached = within([part(cache_read, "from cache"), part(cache_written, "to cache")]);
    let thought = within([part(reasoning, "thinking"), None]);
    let (input, output) = (quantity::format_tokens(input), quantity::format_tokens(output));
    (!used.total.is_empty()).then(|| format!("tokens used: {input} input{cached}, {output} output{thought}"))
}

/// How far the limits were used up, when that was last told.
pub(super) fn limits_line(used: &SessionUsage, zone: &TimeZone) -> Option<String> {
    let limit = |limit: &Limit| {
        let window = limit.window_minutes.map(|minutes| format!(" of {}", format_window(minutes))).unwrap_or_default();
        let reset = time_span(limit.resets_at, None, zone).map(|at| format!(", resets {at}")).unwrap_or_default();
        format!("{:.0}%{window}{reset}", limit.used_percent)
    };
    let limits: Vec<String> = used.limits.iter().map(limit).collect();
    (!limits.is_empty()).then(|| format!("limits used when last told: {}", limits.join("; ")))
}

fn format_window(minutes: u32) -> String {
    match minutes {
        1..60 => format_count(minutes as usize, "minute", "minutes"),
        60..2880 => format_count((minutes / 60) as usize, "hour", "hours"),
        _ => format_count((minutes / 1440) as usize, "day", "days"),
    }
}

/// How a session was begun, in one line.
pub(super) fn begun_line(begun: &StartSettings) -> Option<String> {
    let told = |word: &str, text: &Option<String>| text.as_deref().map(|text| format!("{word}{}", one_line(text, 80)));
    let many = |list: &[String], one: &str, many: &str| (!list.is_empty()).then(|| format_count(list.len(), one, many));
    let parts = [
        told("command ", &begun.command),
        told("as ", &begun.entrypoint),
        told("permission mode ", &begun.permission_mode),
        told("approval policy ", &begun.approval_policy),
        told("sandbox ", &begun.sandbox),
        told("output style ", &begun.output_style),
        many(&begun.permission_rules, "permission rule", "permission rules"),
        many(&begun.tools, "tool", "tools"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("begun: {}", parts.join(", ")))
}

#[cfg(test)]
mod tests {
    use carryover_core::time::Timestamp;

    use super::*;

    #[test]
    fn tokens_and_limits_are_told_in_one_line_each() {
        let total = Tokens { input: 174_000, output: 588, cache_read: 120_000, cache_written: 0, reasoning: 40 };
        let limit = |used_percent, window_minutes| Limit {
            used_percent,
            window_minutes: Some(window_minutes),
            resets_at: Timestamp::parse("2026-11-15T09:00:00Z"),
        };
        let used = SessionUsage { total, models: Vec::new(), limits: vec![limit(41.6, 300), limit(7.0, 10_080)] };
        insta::assert_snapshot!(tokens_line(&used).unwrap(), @"tokens used: 174k input (120k from cache), 588 output (40 thinking)");
        insta::assert_snapshot!(
            limits_line(&used, &TimeZone::UTC).unwrap(),
            @"limits used when last told: 42% of 5 hours, resets 2026-11-15 09:00; 7% of 7 days, resets 2026-11-15 09:00"
        );
        assert_eq!(tokens_line(&SessionUsage::default()), None);
        assert_eq!(begun_line(&StartSettings::default()), None);
    }
}
