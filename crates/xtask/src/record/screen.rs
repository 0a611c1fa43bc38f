//! A screen of the terminal: rows of text in styles, read from the escapes that tmux writes for it.

use std::iter::Peekable;
use std::str::Chars;

use unicode_width::UnicodeWidthChar;

/// How a cell looks.
#[expect(clippy::struct_excessive_bools, reason = "a terminal has that many switches")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct CellStyle {
    pub(super) foreground: Option<Color>,
    pub(super) background: Option<Color>,
    pub(super) bold: bool,
    pub(super) dim: bool,
    pub(super) italic: bool,
    pub(super) underlined: bool,
    pub(super) reversed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Color {
    /// One of the terminal's 256: the first 16 are as the terminal likes.
    Indexed(u8),
    Rgb(u8, u8, u8),
}

/// Cells beside each other that look the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Run {
    pub(super) column: usize,
    /// How many columns it takes.
    pub(super) width: usize,
    pub(super) text: String,
    pub(super) style: CellStyle,
}

/// A row of the screen.
pub(super) type Row = Vec<Run>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Screen {
    pub(super) rows: Vec<Row>,
}

impl Screen {
    pub(super) fn parse(captured: &str) -> Self {
        // A style holds on to the end of the screen, across rows.
        let mut style = CellStyle::default();
        Self { rows: captured.lines().map(|line| parse_row(line, &mut style)).collect() }
    }

    pub(super) fn row_text(&self, row: usize) -> String {
        self.rows.get(row).map(|runs| runs.iter().map(|run| run.text.as_str()).collect()).unwrap_or_default()
    }

    pub(super) fn text(&self) -> String {
        (0..self.rows.len()).map(|row| self.row_text(row) + "\n").collect()
    }

    pub(super) fn contains(&self, words: &str) -> bool {
        self.text().contains(words)
    }
}

fn parse_row(line: &str, style: &mut CellStyle) -> Row {
    let mut row: Row = Vec::new();
    let mut column = 0;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter == '\u{1b}' {
            read_escape(&mut letters, style);
            continue;
        }
        let width = letter.width().unwrap_or(0);
        match row.last_mut().filter(|last| last.style == *style) {
            Some(last) => {
                last.text.push(letter);
                last.width += width;
            }
            None => row.push(Run { column, width, text: letter.to_string(), style: *style }),
        }
        column += width;
    }
    row
}

/// Takes an escape away, and follows it where it sets a style.
fn read_escape(letters: &mut Peekable<Chars<'_>>, style: &mut CellStyle) {
    match letters.next() {
        Some('[') => {
            let mut numbers = String::new();
            let end = letters.find(|letter| {
                let is_end = ('@'..='~').contains(letter);
                if !is_end {
                    numbers.push(*letter);
                }
                is_end
            });
            if end == Some('m') {
                style.follow(&numbers);
            }
        }
        Some(']') => skip_string(letters),
        Some('(') => drop(letters.next()),
        _ => {}
    }
}

/// A link or a title ends with a bell, or with an escape and a stroke.
fn skip_string(letters: &mut Peekable<Chars<'_>>) {
    let end = letters.find(|letter| matches!(letter, '\u{7}' | '\u{1b}'));
    if end == Some('\u{1b}') {
        letters.next_if_eq(&'\\');
    }
}

impl CellStyle {
    fn follow(&mut self, numbers: &str) {
        let mut codes = numbers.split([';', ':']).map(|number| number.parse::<u8>().unwrap_or(0));
        while let Some(code) = codes.next() {
            match code {
                0 => *self = Self::default(),
                1 => self.bold = true,
                2 => self.dim = true,
                3 => self.italic = true,
                4 => self.underlined = true,
                7 => self.reversed = true,
                22 => (self.bold, self.dim) = (false, false),
                23 => self.italic = false,
                24 => self.underlined = false,
                27 => self.reversed = false,
                30..=37 => self.foreground = Some(Color::Indexed(code - 30)),
                38 => self.foreground = read_color(&mut codes),
                39 => self.foreground = None,
                40..=47 => self.background = Some(Color::Indexed(code - 40)),
                48 => self.background = read_color(&mut codes),
                49 => self.background = None,
                90..=97 => self.foreground = Some(Color::Indexed(code - 90 + 8)),
                100..=107 => self.background = Some(Color::Indexed(code - 100 + 8)),
                _ => {}
            }
        }
    }
}

fn read_color(codes: &mut impl Iterator<Item = u8>) -> Option<Color> {
    match codes.next()? {
        5 => Some(Color::Indexed(codes.next()?)),
        2 => Some(Color::Rgb(codes.next()?, codes.next()?, codes.next()?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_begin_and_end_where_they_are_told_to() {
        let screen = Screen::parse("a\u{1b}[1;31merror:\u{1b}[0m b\n\u{1b}[38;5;250mc\n\u{1b}[7md\u{1b}[39me");
        let shown: Vec<(usize, usize, &str)> =
            screen.rows.iter().flatten().map(|run| (run.column, run.width, run.text.as_str())).collect();
        assert_eq!(shown, [(0, 1, "a"), (1, 6, "error:"), (7, 2, " b"), (0, 1, "c"), (0, 1, "d"), (1, 1, "e")]);
        assert_eq!(screen.rows[0][1].style.foreground, Some(Color::Indexed(1)));
        assert!(screen.rows[0][1].style.bold && !screen.rows[0][2].style.bold);
        assert_eq!(screen.rows[2][0].style.foreground, Some(Color::Indexed(250)));
        assert!(screen.rows[2][1].style.reversed && screen.rows[2][1].style.foreground.is_none());
    }

    #[test]
    fn wide_letters_take_two_columns_and_links_none() {
        let screen = Screen::parse("\u{1b}]8;;x\u{1b}\\漢\u{1b}]8;;\u{7}\u{1b}[1mb");
        assert_eq!((screen.rows[0][0].width, screen.rows[0][1].column), (2, 2));
        assert!(screen.contains("漢b") && !screen.contains("x"));
    }
}
