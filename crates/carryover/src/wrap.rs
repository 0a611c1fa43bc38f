//! Text wrapped at words: prose, in which code, tables and whatever else has its own lines keeps them, and the lines in
//! which we report.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::paint;

/// Characters of languages without spaces that belong to what is before them.
const CLOSING: &str = "、。，．！？：；）」』】》〉”’ー…";

/// Words that begin a line of ours, and what it tells stands behind them.
const LABELS: [&str; 4] = ["hint: ", "warning: ", "error: ", "caused by: "];

/// Wraps a text to so many columns; without a number, it stays as it is.
pub(crate) fn wrap_prose(text: &str, columns: Option<usize>) -> Cow<'_, str> {
    let Some(columns) = columns.filter(|columns| text.lines().any(|line| line.width() > *columns)) else {
        return Cow::Borrowed(text);
    };
    let mut is_fenced = false;
    let lines = text.lines().map(|line| {
        let is_fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        is_fenced ^= is_fence;
        if is_fenced || is_fence || is_preformatted(line) { Cow::Borrowed(line) } else { wrap_line(line, columns) }
    });
    Cow::Owned(lines.collect::<Vec<_>>().join("\n"))
}

/// Indented code, and rows of a table.
fn is_preformatted(line: &str) -> bool {
    let text = line.trim_start();
    let is_indented = line.starts_with('\t') || line.starts_with("    ");
    text.starts_with('|') || (is_indented && bullet_len(text) == 0)
}

/// How far the text of an item of a list is from its beginning.
fn bullet_len(text: &str) -> usize {
    let number = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let mark = if number > 0 { number + 1 } else { 1 };
    let is_mark = match text.as_bytes().get(mark - 1) {
        Some(b'.' | b')') => number > 0,
        Some(b'-' | b'*' | b'+' | b'>') => number == 0,
        _ => false,
    };
    if is_mark && text.as_bytes().get(mark) == Some(&b' ') { mark + 1 } else { 0 }
}

fn wrap_line(line: &str, columns: usize) -> Cow<'_, str> {
    if line.width() <= columns {
        return Cow::Borrowed(line);
    }
    let text = line.trim_start();
    let indent = (line.len() - text.len() + bullet_len(text)).min(columns / 2);
    Cow::Owned(join_words(split_words(line, word_end), columns, indent))
}

/// Wraps a line of a report, styles and all; without a number of columns, it stays as it is.
///
/// What follows stands below what is told: behind a label or the first column, else a little further in than the line.
/// A command in backticks is a word: in two lines it could not be copied.
pub(crate) fn wrap_row(line: &str, columns: Option<usize>) -> Cow<'_, str> {
    match columns {
        Some(columns) if painted_width(line) > columns => {
            let indent = Some(hanging_indent(line)).filter(|indent| *indent <= columns / 2);
            let indent = indent.unwrap_or_else(|| leading_spaces(line) + 2);
            Cow::Owned(join_words(split_words(line, report_word_end), columns, indent))
        }
        _ => Cow::Borrowed(line),
    }
}

/// Where the text of a line of a report begins.
fn hanging_indent(line: &str) -> usize {
    let plain: String = line.chars().filter(|letter| !paint::is_mark(*letter)).collect();
    let text = plain.trim_start_matches(' ');
    let start = plain.len() - text.len();
    if let Some(label) = LABELS.iter().find(|label| text.starts_with(**label)) {
        return start + label.len();
    }
    match text.split_once("  ") {
        // A column ends with at least two spaces; a sentence has none.
        Some((cell, rest)) => start + cell.width() + 2 + leading_spaces(rest),
        None => start + 2,
    }
}

fn leading_spaces(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

fn painted_width(text: &str) -> usize {
    text.chars().filter(|letter| !paint::is_mark(*letter)).map(|letter| letter.width().unwrap_or(0)).sum()
}

fn join_words<'a>(words: impl Iterator<Item = (&'a str, &'a str)>, columns: usize, indent: usize) -> String {
    let mut wrapped = String::new();
    let mut used = 0;
    for (gap, word) in words {
        let width = painted_width(word);
        if used > indent && used + gap.len() + width > columns {
            wrapped.push('\n');
            wrapped.extend(std::iter::repeat_n(' ', indent));
            wrapped.push_str(word);
            used = indent + width;
        } else {
            wrapped.push_str(gap);
            wrapped.push_str(word);
            used += gap.len() + width;
        }
    }
    wrapped
}

/// The words of a line, each with the spaces before it. Wide characters are words of their own.
fn split_words(line: &str, word_end: fn(&str) -> usize) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = line.trim_end_matches(' ');
    std::iter::from_fn(move || {
        let (gap, text) = rest.split_at(rest.len() - rest.trim_start_matches(' ').len());
        let (word, after) = text.split_at(word_end(text));
        rest = after;
        (!word.is_empty()).then_some((gap, word))
    })
}

fn word_end(text: &str) -> usize {
    let mut before: Option<char> = None;
    for (at, letter) in text.char_indices() {
        let is_apart = before.is_some_and(|before| before != '\u{200d}' && (is_wide(before) || is_wide(letter)));
        let is_joined = letter.width() == Some(0) || CLOSING.contains(letter);
        if letter == ' ' || (is_apart && !is_joined) {
            return at;
        }
        // What has no width of its own belongs to the letter before it; a joiner also joins the next.
        if letter.width() != Some(0) || letter == '\u{200d}' {
            before = Some(letter);
        }
    }
    text.len()
}

/// The same where what stands in backticks is one word, with what is around it.
fn report_word_end(text: &str) -> usize {
    let end = word_end(text);
    let Some(open) = text[..end].rfind('`').filter(|_| text[..end].matches('`').count() % 2 == 1) else { return end };
    match text[open + 1..].find('`') {
        Some(close) => {
            let after = open + 1 + close + 1;
            after + word_end(&text[after..])
        }
        None => end,
    }
}

fn is_wide(letter: char) -> bool {
    letter.width() == Some(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_whole_and_lists_hang() {
        let text = "One two three four five.\n- an item of a list that is long\n12. a step of a plan";
        insta::assert_snapshot!(wrap_prose(text, Some(14)), @r"
        One two three
        four five.
        - an item of a
          list that is
          long
        12. a step of
            a plan
        ");
    }

    #[test]
    fn wide_characters_count_twice_and_part_anywhere() {
        assert_eq!(wrap_prose("日本語のテキスト。", Some(8)), "日本語の\nテキス\nト。");
        assert_eq!(wrap_prose("日本語です。", Some(10)), "日本語で\nす。");
        assert_eq!(wrap_prose("ab 日本 cd", Some(7)), "ab 日本\ncd");
    }

    #[test]
    fn code_and_tables_keep_their_lines() {
        let text = "```\na long line of code that is not wrapped\n```\n    indented code is not wrapped\n| a | table is not wrapped |";
        assert_eq!(wrap_prose(text, Some(12)), text);
    }

    #[test]
    fn a_word_that_is_too_long_stands_alone() {
        assert_eq!(
            wrap_prose("see https://example.com/a/long/path now", Some(10)),
            "see\nhttps://example.com/a/long/path\nnow"
        );
    }

    #[test]
    fn lines_of_a_report_hang_below_what_they_tell() {
        let wrap = |line: &str| wrap_row(line, Some(34)).into_owned();
        insta::assert_snapshot!(wrap("  lost        3 calls: their tools are not known there"), @r"
          lost        3 calls: their tools
                      are not known there
        ");
        insta::assert_snapshot!(wrap("hint: run `carryover info` to see where carryover looks for sessions"), @r"
        hint: run `carryover info` to see
              where carryover looks for
              sessions
        ");
        insta::assert_snapshot!(wrap("wrote the handoff, and now run `carryover show --entry 17d` here"), @r"
        wrote the handoff, and now run
          `carryover show --entry 17d`
          here
        ");
    }

    #[test]
    fn styles_take_no_room() {
        use crate::ui::{DIM, GOOD};
        let line = format!("{GOOD}one{GOOD:#} {DIM}two{DIM:#} three");
        assert_eq!(wrap_row(&line, Some(13)), line);
        assert_eq!(wrap_row(&line, Some(12)), line.replace(" three", "\n  three"));
        assert_eq!(wrap_row(&line, None), line);
    }

    #[test]
    fn nothing_changes_without_a_terminal() {
        assert_eq!(wrap_prose("One two three", None), "One two three");
    }
}
