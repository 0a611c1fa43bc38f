//! Rows that a statement puts into a table: the names of the columns stand before the values.

use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::check::Check;
use super::rules::compile;
use super::table;

/// The columns of a statement, up to its first row.
static STATEMENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"(?i)\b(?:insert|replace)\s{1,8}(?:ignore\s{1,8})?into\s{1,8}[^\s()]{1,120}\s{0,8}\(([^()]{1,2000})\)\s{0,8}values\s{0,8}",
    )
});
/// So many rows of a statement are looked at, and so many bytes of a row.
const MAX_ROWS: usize = 10_000;
const MAX_ROW_BYTES: usize = 8_192;

/// So far before its columns, a statement has said what it is.
const MAX_HEAD_BYTES: usize = 160;
const MAX_COLUMNS_BYTES: usize = 2_048;

/// Whether a word of a heading is among the columns of what may be a statement.
fn may_be_column(text: &[u8], place: usize) -> bool {
    let columns = &text[place.saturating_sub(MAX_COLUMNS_BYTES)..place];
    let Some(opens) = memchr::memrchr2(b'(', b')', columns).filter(|at| columns[*at] == b'(') else { return false };
    let opens = place - columns.len() + opens;
    let head = &text[opens.saturating_sub(MAX_HEAD_BYTES)..opens];
    head.windows(4).any(|word| word.eq_ignore_ascii_case(b"into"))
}

/// Finds what is put into columns of secrets, whose names have a word of a heading at one of some places.
pub(super) fn find_secrets(text: &str, places: &[usize]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if !places.iter().any(|place| may_be_column(text.as_bytes(), *place)) {
        return found;
    }
    let Some(statement) = STATEMENT.as_ref() else { return found };
    for captures in statement.captures_iter(text.as_bytes()) {
        let (Some(whole), Some(names)) = (captures.get(0), captures.get(1)) else { continue };
        let is_secret = |name: &str| table::is_heading(name.trim_matches([' ', '\n', '\t', '"', '`', '\'', '[', ']']));
        let names = String::from_utf8_lossy(names.as_bytes());
        let columns: Vec<bool> = names.split(',').map(is_secret).collect();
        if columns.contains(&true) {
            scan_rows(text, whole.end(), &columns, &mut found);
        }
    }
    found
}

/// Looks at the rows from a place on.
fn scan_rows(text: &str, mut at: usize, columns: &[bool], found: &mut Vec<Range<usize>>) {
    for _ in 0..MAX_ROWS {
        let Some((values, end)) = parse_row(text, at) else { return };
        if values.len() == columns.len() {
            let secrets = values.into_iter().zip(columns).filter_map(|(value, is_secret)| value.filter(|_| *is_secret));
            found.extend(secrets.filter_map(|value| Check::Cell.find_secret(text, value.clone(), value)));
        }
        let rest = text[end..].trim_start();
        let Some(next) = rest.strip_prefix(',').map(str::trim_start) else { return };
        at = text.len() - next.len();
    }
}

/// The values of a row, of which only texts are given, and where it ends.
fn parse_row(text: &str, start: usize) -> Option<(Vec<Option<Range<usize>>>, usize)> {
    if !text[start..].starts_with('(') {
        return None;
    }
    let (mut values, mut value, mut depth) = (Vec::new(), None, 0_usize);
    let mut bytes = text.as_bytes().iter().enumerate().skip(start).take(MAX_ROW_BYTES);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'(' => depth += 1,
            b',' if depth == 1 => values.push(value.take()),
            b')' if depth == 1 => {
                values.push(value.take());
                return Some((values, at + 1));
            }
            b')' => depth -= 1,
            b'\'' | b'"' => {
                let mut is_escaped = false;
                let end = bytes.by_ref().find(|(_, next)| {
                    let ends = *next == byte && !is_escaped;
                    is_escaped = **next == b'\\' && !is_escaped;
                    ends
                });
                // The argument of a function is no value of a column.
                value = Some(at + 1..end?.0).filter(|_| depth == 1);
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::rules::RuleSet;

    fn found_texts(text: &str) -> Vec<&str> {
        let rules = RuleSet::get();
        let places = rules.heading_places(&rules.find_keywords(text));
        find_secrets(text, &places).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn the_columns_of_a_statement_tell_its_secrets() {
        let rows = "INSERT INTO users (email, password) VALUES ('b@x.io', 'Xk29!fjwLq8'),\n ('c@x.io', 'hunter2!');";
        assert_eq!(found_texts(rows), ["Xk29!fjwLq8", "hunter2!"]);
        assert_eq!(found_texts("insert into t (`api_key`, n) values (\"k29fj2Lq8Zx01\", 1)"), ["k29fj2Lq8Zx01"]);
        assert_eq!(found_texts("INSERT INTO t (a, password) VALUES (NOW(), 'Xk29!(,)fjw')"), ["Xk29!(,)fjw"]);
    }

    #[test]
    fn other_rows_have_none() {
        for text in [
            "INSERT INTO users (email, name) VALUES ('b@x.io', 'Xk29!fjwLq8')",
            "INSERT INTO users (email, password) VALUES (?, ?)",
            "INSERT INTO users (email, password) VALUES ('b@x.io', 'password')",
            "INSERT INTO users (email, password) VALUES ($1, crypt($2, gen_salt('bf8xK!')))",
            "INSERT INTO users (email, password) VALUES ('b@x.io'",
            "INSERT INTO settings (password_min_length, name) VALUES ('12ab!x', 'a')",
        ] {
            assert_eq!(found_texts(text), Vec::<&str>::new(), "{text}");
        }
    }
}
