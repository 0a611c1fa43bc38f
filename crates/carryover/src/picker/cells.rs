//! Text as cells: everything of a store passes here before it is drawn.

use std::borrow::Cow;

use carryover_core::plain::{one_line, strip_hidden};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::session_row::cut_to_width;

/// The most characters of one text that are looked at.
const MAX_CHARS: usize = 2_000;

/// The most marks above and below one letter; more would be drawn over the lines around it.
const MAX_MARKS: usize = 2;

/// One line without anything that a terminal obeys, and with widths that terminals agree on.
pub(crate) fn plain_line(text: &str) -> String {
    tame_widths(&one_line(text, MAX_CHARS)).into_owned()
}

/// The same with its blanks as they are, for what was typed.
pub(super) fn plain_text(text: &str) -> String {
    tame_widths(&strip_hidden(text).replace(['\t', '\n'], " ")).into_owned()
}

/// Takes out what terminals draw in different widths: joined emoji fall apart, and marks do not pile up.
fn tame_widths(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut marks = 0;
    for next in text.chars() {
        let is_mark = next.width() == Some(0);
        marks = if is_mark { marks + 1 } else { 0 };
        let is_joiner = matches!(next, '\u{200d}' | '\u{fe0e}' | '\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}' | '\u{20e3}');
        if !is_joiner && marks <= MAX_MARKS {
            kept.push(next);
        }
    }
    Cow::Owned(kept)
}

/// Plain text cut to a number of columns.
pub(super) fn fit(text: &str, room: usize) -> String {
    cut_to_width(&plain_line(text), room)
}

/// Cut and filled up to a number of columns.
pub(super) fn fit_left(text: &str, room: usize) -> String {
    let text = fit(text, room);
    let gap = room.saturating_sub(text.width());
    text + &" ".repeat(gap)
}

/// The same, standing to the right.
pub(super) fn fit_right(text: &str, room: usize) -> String {
    let text = fit(text, room);
    " ".repeat(room.saturating_sub(text.width())) + &text
}

/// Plain text in lines of a number of columns, broken between words where that can be.
pub(crate) fn wrap(text: &str, room: usize, max_lines: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let plain = strip_hidden(text);
    for paragraph in plain.lines().filter(|line| !line.trim().is_empty()) {
        wrap_paragraph(&plain_line(paragraph), room.max(2), max_lines + 1, &mut lines);
        if lines.len() > max_lines {
            break;
        }
    }
    if lines.len() > max_lines {
        lines.truncate(max_lines);
        if let Some(last) = lines.last_mut() {
            *last = cut_to_width(&format!("{last} …"), room);
        }
    }
    lines
}

fn wrap_paragraph(text: &str, room: usize, max_lines: usize, lines: &mut Vec<String>) {
    let mut line = String::new();
    for word in text.split(' ') {
        let mut word = word.to_owned();
        if !line.is_empty() && line.width() + 1 + word.width() > room {
            lines.push(std::mem::take(&mut line));
        }
        while word.width() > room && lines.len() < max_lines {
            let rest = split_at_width(&mut word, room);
            lines.push(std::mem::replace(&mut word, rest));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&word);
        if lines.len() >= max_lines {
            return;
        }
    }
    lines.push(line);
}

/// Leaves the first columns of a word, and gives the rest.
fn split_at_width(word: &mut String, room: usize) -> String {
    let mut used = 0;
    let beyond = |next: &(usize, char)| {
        used += next.1.width().unwrap_or(0);
        used > room
    };
    let at = word.char_indices().find(beyond).map_or(word.len(), |(at, _)| at);
    word.split_off(at)
}

/// Draws a piece of a line and answers the column behind it. What is outside of the area is left out.
pub(super) fn put(buffer: &mut Buffer, area: Rect, x: u16, y: u16, text: &str, style: Style) -> u16 {
    let area = area.intersection(buffer.area);
    if y < area.top() || y >= area.bottom() || x < area.left() || x >= area.right() {
        return x;
    }
    buffer.set_stringn(x, y, text, usize::from(area.right() - x), style).0
}

/// Draws a piece so that it ends at the right edge.
pub(super) fn put_right(buffer: &mut Buffer, area: Rect, y: u16, text: &str, style: Style) {
    let width = u16::try_from(text.width()).unwrap_or(u16::MAX);
    put(buffer, area, area.right().saturating_sub(width).max(area.left()), y, text, style);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_broken_between_words_and_within_long_ones() {
        assert_eq!(wrap("fix the add bug", 8, 9), ["fix the", "add bug"]);
        assert_eq!(wrap("a abcdefghij b", 4, 9), ["a", "abcd", "efgh", "ij b"]);
        assert_eq!(wrap("日本語テキスト", 5, 9), ["日本", "語テ", "キス", "ト"]);
        assert_eq!(wrap("one\n\ntwo\nthree", 10, 2), ["one", "two …"]);
        assert_eq!(wrap("", 10, 2), [""; 0]);
    }

    #[test]
    fn what_terminals_draw_in_different_widths_is_taken_apart() {
        assert_eq!(plain_line("👩\u{200d}👩\u{200d}👧 ok ❤\u{fe0f} 👍\u{1f3fd}"), "👩👩👧 ok ❤ 👍");
        assert_eq!(plain_line("Z\u{300}\u{301}\u{302}\u{303}\u{304}!"), "Z\u{300}\u{301}!");
        assert_eq!(plain_line("a\u{1b}[2Jb\u{7}\r\nc\td"), "ab c d");
    }

    #[test]
    fn columns_are_counted_and_not_characters() {
        assert_eq!(fit_left("日本", 6), "日本  ");
        assert_eq!(fit_right("日本語", 5), "日本…");
        assert_eq!(fit_right("7", 3), "  7");
    }
}
