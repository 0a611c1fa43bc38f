//! The one road to the terminal: text made plain, and our own styles put into effect.
//!
//! Styles are marks in the text, characters that Unicode keeps for use inside a program. So everything that is printed
//! can be made plain in one place, and escapes are written there and nowhere else: a path, an id or an error may hold
//! any, and none of theirs gets through.

use std::fmt;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use carryover_agents::{AGENTS, Agent};
use carryover_core::plain::strip_hidden;

/// A style, as a mark that begins it; in its alternate form, the mark that ends every style.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint(char);

pub(crate) const BOLD: Paint = Paint('\u{fdd0}');
pub(crate) const DIM: Paint = Paint('\u{fdd1}');
pub(crate) const GOOD: Paint = Paint('\u{fdd2}');
pub(crate) const COMMAND: Paint = Paint('\u{fdd3}');
pub(crate) const BAD: Paint = Paint('\u{fdd4}');
pub(crate) const DOUBTFUL: Paint = Paint('\u{fdd5}');
/// A line that is taken out of a file; no error, so it is not bold.
pub(crate) const REMOVED: Paint = Paint('\u{fdda}');
pub(crate) const HINT: Paint = COMMAND;
const END: char = '\u{fddf}';

/// The first of the marks that stand for agents' colours.
const FIRST_AGENT_MARK: char = '\u{fde0}';

/// Colours of agents, in the order of `AGENTS`: neither bold, nor what errors are told in.
const AGENT_COLORS: [AnsiColor; 9] = [
    AnsiColor::Magenta,
    AnsiColor::Cyan,
    AnsiColor::Blue,
    AnsiColor::Green,
    AnsiColor::Yellow,
    AnsiColor::BrightMagenta,
    AnsiColor::BrightCyan,
    AnsiColor::BrightBlue,
    AnsiColor::BrightGreen,
];

/// The colour of an agent.
pub(crate) fn agent_color(agent: &dyn Agent) -> AnsiColor {
    AGENT_COLORS[color_index(agent)]
}

/// Which colour an agent has, the same wherever it is named.
fn color_index(agent: &dyn Agent) -> usize {
    let place = AGENTS.iter().position(|known| known.facts().id == agent.facts().id);
    place.unwrap_or(AGENTS.len()) % AGENT_COLORS.len()
}

impl fmt::Display for Paint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Write::write_char(out, if out.alternate() { END } else { self.0 })
    }
}

impl Paint {
    /// The style in which an agent is named.
    pub(crate) fn for_agent(agent: &dyn Agent) -> Self {
        let mark =
            u32::try_from(color_index(agent)).ok().and_then(|index| char::from_u32(FIRST_AGENT_MARK as u32 + index));
        Self(mark.unwrap_or(FIRST_AGENT_MARK))
    }

    fn style_for(mark: char) -> Option<Style> {
        Some(match mark {
            '\u{fdd0}' => Style::new().bold(),
            '\u{fdd1}' => Style::new().dimmed(),
            '\u{fdd2}' => AnsiColor::Green.on_default(),
            '\u{fdd3}' => AnsiColor::Cyan.on_default(),
            '\u{fdd4}' => AnsiColor::Red.on_default().bold(),
            '\u{fdd5}' => AnsiColor::Yellow.on_default().bold(),
            '\u{fdda}' => AnsiColor::Red.on_default(),
            mark => {
                let index = (mark as u32).checked_sub(FIRST_AGENT_MARK as u32)?;
                AGENT_COLORS.get(usize::try_from(index).ok()?)?.on_default()
            }
        })
    }
}

/// Whether a character is a mark of ours, which takes no room.
pub(crate) fn is_mark(letter: char) -> bool {
    letter == END || Paint::style_for(letter).is_some()
}

/// A stream that lets plain text and our styles through.
pub(crate) struct Painted<W>(W);

impl<W: Write> Painted<W> {
    pub(crate) fn new(stream: W) -> Self {
        Self(stream)
    }

    fn write_text(&mut self, text: &str) -> io::Result<()> {
        let mut rest = text;
        while let Some((at, mark)) = rest.char_indices().find(|(_, mark)| is_mark(*mark)) {
            self.0.write_all(strip_hidden(&rest[..at]).as_bytes())?;
            match Paint::style_for(mark) {
                Some(style) => write!(self.0, "{}", style.render())?,
                None => write!(self.0, "{}", anstyle::Reset.render())?,
            }
            rest = &rest[at + mark.len_utf8()..];
        }
        self.0.write_all(strip_hidden(rest).as_bytes())
    }
}

impl<W: Write> Write for Painted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(chunk) = bytes.utf8_chunks().next() else { return Ok(0) };
        self.write_text(chunk.valid())?;
        if !chunk.invalid().is_empty() {
            self.write_text("\u{fffd}")?;
        }
        Ok(chunk.valid().len() + chunk.invalid().len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paint_bytes(text: &[u8]) -> String {
        let mut stream = Painted::new(Vec::new());
        stream.write_all(text).unwrap();
        String::from_utf8(stream.0).unwrap()
    }

    #[test]
    fn our_styles_get_through_and_no_other_escape_does() {
        let hostile = "a\u{1b}[8mb\u{1b}]0;title\u{7}c\u{9b}2Jd\u{202e}e\rf";
        let line = format!("{BAD}error:{BAD:#} {DIM}{hostile}{DIM:#}\n");
        assert_eq!(paint_bytes(line.as_bytes()), "\u{1b}[1m\u{1b}[31merror:\u{1b}[0m \u{1b}[2mabcdef\u{1b}[0m\n");
    }

    #[test]
    fn an_escape_that_comes_in_pieces_does_not_get_through() {
        let mut stream = Painted::new(Vec::new());
        for piece in ["a\u{1b}", "[31m", "b"] {
            write!(stream, "{piece}").unwrap();
        }
        assert_eq!(stream.0, b"a[31mb");
    }

    #[test]
    fn what_is_no_text_is_shown_as_such() {
        assert_eq!(paint_bytes(b"a\xffb\x1b[1mc\xe2\x80"), "a\u{fffd}bc\u{fffd}");
    }
}
