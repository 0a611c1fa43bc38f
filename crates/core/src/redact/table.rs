//! Tables with a column of passwords or keys: in Markdown, as databases print them, with commas or tabs, in columns.

use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::check::Check;
use super::rules::compile;

/// A heading that says that secrets stand below it.
static HEADING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(concat!(
        r"(?i)^[*`_]{0,2}(?:[a-z0-9]{1,16}[ _-]?){0,2}(?:password|passwd|passwort|kennwort|pwd|pass|passphrase|contrase(?:ñ|n)a|",
        r"mot de passe|secret|token|api[ _-]?key|secret[ _-]?key|access[ _-]?key|credential)s?(?: ?\([^()]*\)|[_ ](?:prod|dev|test))?[*`_]{0,2}$",
    ))
});
/// Words of such headings, of which each has one; they are keywords.
pub(super) const HEADING_WORDS: [&str; 8] = ["pass", "pwd", "kennwort", "contrase", "secret", "token", "key", "cred"];

/// The separator between the cells of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Separator {
    Mark(char),
    /// Two blanks or more.
    Blanks,
}

/// Whether a heading, or the name of a column, says that secrets stand below it.
pub(super) fn is_heading(name: &str) -> bool {
    HEADING.as_ref().is_some_and(|heading| heading.is_match(name.as_bytes()))
}

/// Finds what stands in the columns of secrets, whose headings have a word at one of some places.
pub(super) fn find_secrets(text: &str, places: &[usize]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let Some(heading) = HEADING.as_ref() else { return found };
    let mut at = 0;
    for place in places {
        // Its line was looked at, and rows are no headings.
        if *place < at {
            continue;
        }
        let start = memchr::memrchr(b'\n', &text.as_bytes()[..*place]).map_or(0, |end| end + 1);
        let end = memchr::memchr(b'\n', &text.as_bytes()[*place..]).map_or(text.len(), |length| place + length);
        at = scan_rows(text, start.max(at)..end, heading, &mut found);
    }
    found
}

/// Looks at the rows below a line, if it is a heading; tells where they end.
fn scan_rows(text: &str, line: Range<usize>, heading: &Regex, found: &mut Vec<Range<usize>>) -> usize {
    let end = line.end;
    // A line so long is no heading.
    if line.len() > 2_000 || end >= text.len() {
        return end;
    }
    let Some(separator) = find_separator(&text[line.clone()]) else { return end };
    let headings = find_cells(text, line, separator);
    let is_secret = |cell: &Range<usize>| heading.is_match(&text.as_bytes()[cell.clone()]);
    let columns: Vec<usize> = (0..headings.len()).filter(|column| is_secret(&headings[*column])).collect();
    if columns.is_empty() || headings.len() < 2 {
        return end;
    }
    let mut at = end + 1;
    for row in text[at..].split_inclusive('\n') {
        let line = at..at + row.trim_end_matches('\n').len();
        if line.len() > 4_000 {
            break;
        }
        if !is_separator_line(&text[line.clone()]) {
            let cells = find_cells(text, line, separator);
            if cells.len() != headings.len() {
                break;
            }
            let secrets = columns.iter().filter_map(|column| cells.get(*column).cloned());
            found.extend(secrets.filter_map(|cell| Check::Cell.find_secret(text, cell.clone(), cell)));
        }
        at += row.len();
    }
    at.max(end)
}

/// The separator between the cells of a heading.
fn find_separator(line: &str) -> Option<Separator> {
    let mark = ['|', '│', '┃', '║', '\t'].into_iter().find(|mark| line.contains(*mark));
    if let Some(mark) = mark {
        return Some(Separator::Mark(mark));
    }
    let is_list = |next: char| next.is_ascii_alphanumeric() || matches!(next, '_' | '-' | ' ' | '"' | ',' | ';');
    let is_indented = line.starts_with([' ', '\t']);
    if !is_indented && line.chars().all(is_list) {
        let mark = [',', ';'].into_iter().find(|mark| line.contains(*mark) && !line.ends_with(*mark));
        if let Some(mark) = mark {
            return Some(Separator::Mark(mark));
        }
    }
    line.trim().contains("  ").then_some(Separator::Blanks)
}

/// Where the cells of a line are, without what stands around their text.
fn find_cells(text: &str, line: Range<usize>, separator: Separator) -> Vec<Range<usize>> {
    let content = &text[line.clone()];
    let trimmed = content.trim();
    let start = line.start + (content.len() - content.trim_start().len());
    let mut cells = Vec::new();
    let mut add = |cell: &str, at: usize| {
        let is_around = |next: char| next.is_whitespace() || matches!(next, '`' | '"' | '\'');
        let inner = cell.trim_start_matches(is_around);
        let from = at + (cell.len() - inner.len());
        cells.push(from..from + inner.trim_end_matches(is_around).len());
    };
    match separator {
        Separator::Mark(mark) => {
            let inner = trimmed.strip_prefix(mark).unwrap_or(trimmed);
            let mut at = start + (trimmed.len() - inner.len());
            for cell in inner.strip_suffix(mark).unwrap_or(inner).split(mark) {
                add(cell, at);
                at += cell.len() + mark.len_utf8();
            }
        }
        Separator::Blanks => {
            let mut at = start;
            for cell in trimmed.split("  ") {
                if !cell.trim().is_empty() {
                    add(cell, at);
                }
                at += cell.len() + 2;
            }
        }
    }
    cells
}

/// A line that only separates.
fn is_separator_line(line: &str) -> bool {
    !line.trim().is_empty()
        && line.chars().all(|next| matches!(next, '-' | '+' | '|' | ':' | '=' | ' ') || ('─'..='╿').contains(&next))
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
    fn columns_of_secrets_are_found() {
        let markdown = "| user | Password |\n|---|---|\n| admin | `hunter2!` |\n| root | Xk29fjw |\n\nadmin | other9";
        assert_eq!(found_texts(markdown), ["hunter2!", "Xk29fjw"]);
        let database = " id |  password  | x\n----+------------+--\n  1 | hunter2!   | y\n(1 row)";
        assert_eq!(found_texts(database), ["hunter2!"]);
        assert_eq!(found_texts("user,password\nadmin,hunter2!\n"), ["hunter2!"]);
        assert_eq!(found_texts("NAME    API KEY\nmain    k29fj2Lq8Zx01\n"), ["k29fj2Lq8Zx01"]);
    }

    #[test]
    fn tables_about_secrets_have_none() {
        for text in [
            "| Field | Password |\n|---|---|\n| type | string |\n| length | 8 |",
            "| auth | password auth |\n|---|---|\n| a | OAuth2-code |",
            "user, password, token\nadd, remove, list\n",
            "tokens | cost\n12345 | 0.5",
        ] {
            assert_eq!(found_texts(text), Vec::<&str>::new(), "{text}");
        }
    }
}
