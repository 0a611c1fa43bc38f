//! Secrets in text, masked.
//!
//! The rules of gitleaks (`gitleaks.toml`, data of a maintained project) know what the keys of services look like; rules of
//! our own (`own.toml`, `vendors.toml`) know passwords and keys beside what tells them. A rule looks only where one of its
//! keywords stands, so that a text without any costs one pass. Private keys, tables, statements and manifests have parts
//! that belong together, and a module each; so has a title, which has lost its lines. All of them look at a text as it will be read (`reading.rs`).

mod check;
mod code;
mod keywords;
mod manifest;
mod mask;
mod own;
mod pem;
mod prefix;
mod reading;
mod rules;
mod seed;
mod sql_insert;
mod table;
mod title;
mod value;

use std::borrow::Cow;
use std::ops::Range;

use keywords::Hit;
use reading::Reading;
use rules::{Rule, RuleSet};
pub use title::redact_title;

/// The beginning of every mask.
const MASK_START: &str = "[redacted: ";

/// Masks secrets as `[redacted: kind]`; everything else keeps every byte.
pub fn redact_text(text: &str) -> Cow<'_, str> {
    let Some(mut masked) = redact_once(text) else { return Cow::Borrowed(text) };
    // A mask changes what stands around it. Masking goes on until nothing is found, so that masking twice is the same
    // as masking once; every round masks something, and masks stay.
    while let Some(more) = redact_once(&masked) {
        masked = more;
    }
    Cow::Owned(masked)
}

/// The kinds of the masks in a text, one for each.
pub fn mask_kinds(text: &str) -> impl Iterator<Item = &str> {
    let found = text.match_indices(MASK_START).map(|(at, _)| &text[at + MASK_START.len()..]);
    found.filter_map(|rest| rest.split_once(']')).map(|(kind, _)| kind).filter(|kind| kind.len() <= 60)
}

/// The masks in a text, each with some words before it.
pub fn mask_excerpts(text: &str) -> impl Iterator<Item = &str> {
    const BEFORE_BYTES: usize = 48;
    find_masks(text).into_iter().map(|mask| {
        let before = text.floor_char_boundary(mask.start.saturating_sub(BEFORE_BYTES));
        let line = text[before..mask.start].rfind('\n').map_or(before, |at| before + at + 1);
        &text[line..mask.end]
    })
}

/// A secret, and what kind of.
struct Secret<'a> {
    range: Range<usize>,
    kind: &'a str,
}

/// None where nothing is found.
fn redact_once(text: &str) -> Option<String> {
    let found = find_secrets(text);
    let last = found.last()?;
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for Secret { range, kind } in &found {
        push_masked(&mut out, &text[at..range.start], kind);
        at = range.end;
    }
    out.push_str(&text[last.range.end..]);
    Some(out)
}

/// The secrets of a text, in order and apart from each other.
fn find_secrets(text: &str) -> Vec<Secret<'static>> {
    let rules = RuleSet::get();
    let plainly = reading::read_plain(text);
    let in_plain = rules.find_keywords(&plainly.text);
    if in_plain.is_empty() {
        return Vec::new();
    }
    let readings = reading::all_readings(plainly);
    let mut keywords = vec![in_plain];
    let mut found: Vec<Secret<'static>> = Vec::new();
    for (index, reading) in readings.iter().enumerate() {
        if let Some(of) = reading.of {
            keywords.push(rules.find_keywords_again(reading, &keywords[of]));
        }
        let in_text =
            |found: Secret<'static>| Secret { range: reading::range_in_text(&readings, index, found.range), ..found };
        found.extend(secrets_in_reading(reading, &keywords[index]).into_iter().map(in_text));
    }
    if !found.is_empty() {
        join_secrets(text, &mut found);
    }
    found
}

/// Puts what was found in order, and what overlaps together; what is masked already stays as it is.
fn join_secrets(text: &str, found: &mut Vec<Secret<'static>>) {
    let masks: Vec<Range<usize>> = find_masks(text);
    found.retain(|found| {
        let next = masks.partition_point(|mask| mask.end <= found.range.start);
        !found.range.is_empty() && masks.get(next).is_none_or(|mask| found.range.end <= mask.start)
    });
    // The longest of those that begin together says what it is.
    found.sort_by(|a, b| (a.range.start, b.range.end, a.kind).cmp(&(b.range.start, a.range.end, b.kind)));
    found.dedup_by(|next, current| {
        let overlaps = next.range.start < current.range.end;
        if overlaps {
            current.range.end = current.range.end.max(next.range.end);
        }
        overlaps
    });
}

/// The secrets of one reading.
fn secrets_in_reading(reading: &Reading<'_>, hits: &[Hit]) -> Vec<Secret<'static>> {
    let mut found: Vec<Secret<'static>> = Vec::new();
    let text = reading.text.as_ref();
    for (rule, windows) in RuleSet::get().find_windows(text, hits) {
        for window in windows {
            // What stands in another reading as well was looked at there.
            if !reading.is_new_near(&window, rule.reach()) || !rule.may_match(text, &window, hits) {
                continue;
            }
            apply_rule(rule, text, window, &mut found);
        }
    }
    let places = RuleSet::get().heading_places(hits);
    // All of these have such a word.
    if places.is_empty() {
        return found;
    }
    let kinds = [
        ("private key", pem::find_keys(text)),
        ("password", table::find_secrets(text, &places)),
        ("password", sql_insert::find_secrets(text, &places)),
        ("secret", manifest::find_secrets(text)),
    ];
    for (kind, ranges) in kinds {
        found.extend(ranges.into_iter().map(|range| Secret { range, kind }));
    }
    found
}

fn push_masked(out: &mut String, before: &str, kind: &str) {
    out.push_str(before);
    out.push_str(MASK_START);
    out.push_str(kind);
    out.push(']');
}

fn apply_rule<'a>(rule: &'a Rule, text: &str, window: Range<usize>, found: &mut Vec<Secret<'a>>) {
    let Some(regex) = rule.regex() else { return };
    let bytes = &text.as_bytes()[..window.end];
    let mut at = window.start;
    while at <= bytes.len()
        && let Some(captures) = regex.captures_at(bytes, at)
    {
        let Some(whole) = captures.get(0) else { return };
        let secret = rule.secret_group(&captures).unwrap_or(whole);
        at = whole.end().max(whole.start() + 1);
        let mut end = secret.end();
        if end == window.end {
            // The window ended, and the secret goes on.
            end += text.as_bytes()[end..].iter().take_while(|byte| value::is_token_byte(**byte)).count();
        }
        let range = text.floor_char_boundary(secret.start())..text.ceil_char_boundary(end);
        if range.is_empty() {
            continue;
        }
        // A pattern may begin or end inside of a character.
        let whole = text.floor_char_boundary(whole.start())..text.ceil_char_boundary(whole.end());
        if let Some(range) = rule.find_secret(text, range, whole) {
            found.push(Secret { range, kind: rule.kind() });
        }
    }
}

/// Where masks already stand.
fn find_masks(text: &str) -> Vec<Range<usize>> {
    let end = |start: usize| text[start..].find(']').map(|length| start..start + length + 1);
    text.match_indices(MASK_START).filter_map(|(start, _)| end(start)).collect()
}

#[cfg(test)]
mod tests;
