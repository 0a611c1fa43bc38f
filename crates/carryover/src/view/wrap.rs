//! Prose wrapped at words. Code, tables and whatever else has its own lines keeps them.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Characters of languages without spaces that belong to what is before them.
const CLOSING: &str = "、。，．！？：；）」』】》〉”’ー…";

/// Wraps a text to so many columns; without a number, it stays as it is.
pub(super) fn wrap_prose(text: &str, columns: Option<usize>) -> Cow<'_, str> {
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
    let mut wrapped = String::new();
    let mut used = 0;
    for (gap, word) in split_words(line) {
        let needed = gap.len() + word.width();
        if used > indent && used + needed > columns {
            wrapped.push('\n');
            wrapped.extend(std::iter::repeat_n(' ', indent));
            wrapped.push_str(word);
            used = indent + word.width();
        } else {
            wrapped.push_str(gap);
            wrapped.push_str(word);
            used += needed;
        }
    }
    Cow::Owned(wrapped)
}

/// The words of a line, each with the spaces before it. Wide characters are words of their own.
fn split_words(line: &str) -> impl Iterator<Item = (&str, &str)> {
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
    fn nothing_changes_without_a_terminal() {
        assert_eq!(wrap_prose("One two three", None), "One two three");
    }
}
