//! Private keys between their marks: whole, cut off at either end, and with whatever stands before and after their lines.

use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::rules::compile;

/// No private key is longer.
const MAX_KEY_BYTES: usize = 16_000;
/// A run of letters and digits so long is a part of a key and no word.
const MIN_RUN_BYTES: usize = 16;

static MARK: LazyLock<Option<Regex>> =
    LazyLock::new(|| compile(r"-{4,5} ?(BEGIN|END)[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"));

/// Finds the private keys of a text.
pub(super) fn find_keys(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if memchr::memmem::find(text.as_bytes(), b"PRIVATE KEY").is_none() {
        return found;
    }
    let marks = MARK.iter().flat_map(|regex| regex.captures_iter(text.as_bytes()));
    let marks: Vec<(Range<usize>, bool)> = marks
        .filter_map(|mark| Some((mark.get(0)?.range(), mark.get(1).is_some_and(|word| word.as_bytes() == b"BEGIN"))))
        .collect();
    // Text up to here was looked at, and belongs to an earlier mark.
    let mut from = 0;
    for (index, (mark, begins)) in marks.iter().enumerate() {
        let next = marks.get(index + 1);
        let limit = next.map_or(text.len(), |(next, _)| next.start);
        if !*begins {
            let start = text.ceil_char_boundary(mark.start.saturating_sub(MAX_KEY_BYTES).max(from));
            if let Some(length) = last_lines(&text[start..mark.start]) {
                found.push(mark.start - length..mark.end);
            }
            from = mark.end;
            continue;
        }
        let body = &text[mark.end..limit];
        match next {
            Some((end, false)) if body.len() <= MAX_KEY_BYTES && is_body(body) => found.push(mark.start..end.end),
            _ => {
                let body = &body[..body.floor_char_boundary(MAX_KEY_BYTES)];
                if let Some(length) = first_lines(body) {
                    found.push(mark.start..mark.end + length);
                }
            }
        }
        from = mark.end;
    }
    merge_ranges(found)
}

/// A key of which an end was also found alone is one key.
fn merge_ranges(found: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(found.len());
    for range in found {
        match merged.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// The kinds of lines between the marks.
#[derive(PartialEq, Eq)]
enum LineKind {
    /// A part of the key, which ends so many bytes into the line.
    Key(usize),
    /// The rest of a key, or a word.
    Short(usize),
    /// Blank, or a header.
    Between,
    Other,
}

fn classify_line(text: &str) -> LineKind {
    let is_key = |next: char| next.is_ascii_alphanumeric() || matches!(next, '+' | '/' | '=');
    let trimmed = text.trim_end_matches(|next: char| !is_key(next) || next == '+' && text.ends_with(" +"));
    let run = trimmed.len() - trimmed.trim_end_matches(is_key).len();
    let headers = ["Proc-Type:", "DEK-Info:", "Version:", "Comment:", "Charset:", "Hash:"];
    let is_header = headers.iter().any(|header| text.contains(header));
    let is_long = |word: &str| word.len() >= 2 * MIN_RUN_BYTES && word.chars().all(is_key);
    match run {
        _ if trimmed.split_whitespace().any(is_long) => LineKind::Key(trimmed.len()),
        _ if is_header => LineKind::Between,
        0 => LineKind::Between,
        MIN_RUN_BYTES.. => LineKind::Key(trimmed.len()),
        _ if trimmed.split_whitespace().count() <= 2 => LineKind::Short(trimmed.len()),
        _ => LineKind::Other,
    }
}

/// Whether what stands between both marks is a key: an example in a manual has none.
fn is_body(text: &str) -> bool {
    let (mut keys, mut others) = (0, 0);
    for text in text.lines() {
        match classify_line(text) {
            LineKind::Key(_) => keys += 1,
            LineKind::Other => others += 1,
            LineKind::Short(_) | LineKind::Between => {}
        }
    }
    keys > 0 && others <= 3 + keys / 4
}

/// How far a key goes whose end is cut off.
fn first_lines(text: &str) -> Option<usize> {
    let (mut at, mut end) = (0, None);
    for full in text.split_inclusive('\n') {
        match classify_line(full) {
            LineKind::Key(length) => end = Some(at + length),
            // The last line is shorter, and padded.
            LineKind::Short(length) if end.is_some() => {
                return if full[..length].ends_with('=') { Some(at + length) } else { end };
            }
            LineKind::Short(_) | LineKind::Other => return end,
            LineKind::Between => {}
        }
        at += full.len();
    }
    end
}

/// How far back a key goes whose beginning is cut off.
fn last_lines(text: &str) -> Option<usize> {
    let (mut length, mut found) = (0, None);
    for (index, full) in text.split_inclusive('\n').rev().enumerate() {
        length += full.len();
        match classify_line(full) {
            LineKind::Key(_) => found = Some(length - key_start(full)),
            LineKind::Short(_) if index <= 2 && found.is_none() => {}
            LineKind::Between if index <= 2 => {}
            LineKind::Short(_) | LineKind::Other | LineKind::Between => break,
        }
    }
    found
}

/// Where the key begins in its line.
fn key_start(line: &str) -> usize {
    line.trim_end().rfind(|next: char| !next.is_ascii_alphanumeric() && !matches!(next, '+' | '/' | '=')).map_or(
        0,
        |at| {
            // The key follows the last mark, unless that stands at the end.
            let after = at + line[at..].chars().next().map_or(1, char::len_utf8);
            if line.trim_end().len() - after >= MIN_RUN_BYTES { after } else { 0 }
        },
    )
}
