//! Streams: what was asked for goes to stdout, everything that accompanies it to stderr.

use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal, Write};

use anstream::AutoStream;
use carryover_core::plain::escaped_json;
use carryover_engine::sessions::list::ListedSession;
use serde::Serialize;

use crate::args::{Color, Globals};
use crate::paint::{HINT, Painted};
use crate::process_env;
use crate::progress::tell_if_slow;
use crate::quantity;

pub(crate) use crate::paint::{BAD, BOLD, COMMAND, DIM, DOUBTFUL, GOOD, Paint};

/// How wide a table is where nobody looks at it.
const DEFAULT_WIDTH: usize = 160;

/// The two streams, and how they are used.
pub(crate) struct Ui {
    out: Painted<BufWriter<Box<dyn Write>>>,
    err: Painted<Box<dyn Write>>,
    quiet: bool,
    json: bool,
    width: usize,
    interactive: bool,
    color: anstream::ColorChoice,
}

impl Ui {
    /// The streams of this process.
    pub(crate) fn new(globals: Globals) -> Self {
        let choice = color_choice(globals.color);
        Self {
            out: Painted::new(BufWriter::new(Box::new(AutoStream::new(io::stdout(), choice)))),
            err: Painted::new(Box::new(AutoStream::new(io::stderr(), choice))),
            quiet: globals.quiet,
            json: globals.json,
            width: detect_width(),
            color: choice,
            interactive: io::stdin().is_terminal() && io::stderr().is_terminal(),
        }
    }

    /// Both streams in one, for output that is shown as a whole; nobody is asked anything.
    pub(crate) fn merged(globals: Globals) -> Self {
        let mut ui = Self::new(globals);
        ui.err = Painted::new(Box::new(AutoStream::new(io::stdout(), color_choice(globals.color))));
        ui.json = false;
        ui.interactive = false;
        ui
    }

    /// Shows what is wrong with a command line, before anything is known of how to show it. It holds words of that line.
    pub(crate) fn write_usage(text: &str) -> io::Result<()> {
        Painted::new(io::stderr()).write_all(text.as_bytes())
    }

    /// Where data goes.
    pub(crate) fn out(&mut self) -> &mut dyn Write {
        &mut self.out
    }

    /// Whether data is wanted as JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// How many columns there are.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Whether somebody is there to answer a question.
    pub(crate) fn is_interactive(&self) -> bool {
        self.interactive && !self.json
    }

    /// Says what happened; `--quiet` silences it.
    pub(crate) fn status(&mut self, line: impl Display) -> io::Result<()> {
        if self.quiet || self.json {
            return Ok(());
        }
        self.write_line(line)
    }

    /// Suggests what to do next; `--quiet` silences it.
    pub(crate) fn hint(&mut self, line: impl Display) -> io::Result<()> {
        self.status(format_args!("{HINT}hint:{HINT:#} {line}"))
    }

    /// Tells what the user should know; never silenced.
    pub(crate) fn warning(&mut self, line: impl Display) -> io::Result<()> {
        self.write_line(format_args!("{DOUBTFUL}warning:{DOUBTFUL:#} {line}"))
    }

    /// Shows an error with its causes and hints.
    pub(crate) fn error(&mut self, lines: &[(&str, String)]) -> io::Result<()> {
        for (label, text) in lines {
            match *label {
                "error" => self.write_line(format_args!("{BAD}error:{BAD:#} {text}"))?,
                "hint" => self.write_line(format_args!("{HINT}hint:{HINT:#} {text}"))?,
                "" => self.write_line(format_args!("  {text}"))?,
                label => self.write_line(format_args!("{label}: {text}"))?,
            }
        }
        Ok(())
    }

    /// Does what takes time with a session, and says so where somebody looks on and it takes over a second.
    pub(crate) fn while_reading<T>(&self, session: &ListedSession, work: impl FnOnce() -> T) -> T {
        if self.quiet || self.json || !io::stderr().is_terminal() {
            return work();
        }
        let bytes = session.found.bytes;
        let size = if bytes == 0 { String::new() } else { format!(" of {}", quantity::format_bytes(bytes)) };
        let line = format!("{DIM}reading a session{size}…{DIM:#}");
        tell_if_slow(&line, Painted::new(AutoStream::new(io::stderr(), self.color)), work)
    }

    /// Asks for a line.
    pub(crate) fn ask(&mut self, question: &str) -> io::Result<String> {
        self.out.flush()?;
        write!(self.err, "{question} ")?;
        self.err.flush()?;
        let mut answer = String::new();
        io::stdin().read_line(&mut answer)?;
        Ok(answer.trim().to_owned())
    }

    /// Writes a line to stderr whatever the flags are. Where a name has lines of its own, they stand further in: none
    /// of them is mistaken for one of ours.
    pub(crate) fn write_line(&mut self, line: impl Display) -> io::Result<()> {
        self.out.flush()?;
        writeln!(self.err, "{}", line.to_string().replace('\n', "\n  "))
    }

    /// Writes data as JSON.
    pub(crate) fn write_json(&mut self, value: &impl Serialize) -> io::Result<()> {
        let text = serde_json::to_string_pretty(value)?;
        self.out.write_all(escaped_json(&text).as_bytes())?;
        self.out.write_all(b"\n")
    }

    /// Writes data as one line of JSON, for output that never ends.
    pub(crate) fn write_json_line(&mut self, value: &impl Serialize) -> io::Result<()> {
        let text = serde_json::to_string(value)?;
        self.out.write_all(escaped_json(&text).as_bytes())?;
        self.out.write_all(b"\n")?;
        self.out.flush()
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()?;
        self.err.flush()
    }
}

/// Whether colours are wanted on a stream.
pub(crate) fn has_colors(color: Color, on_stderr: bool) -> bool {
    let seen = || if on_stderr { AutoStream::choice(&io::stderr()) } else { AutoStream::choice(&io::stdout()) };
    match color {
        Color::Auto => seen() != anstream::ColorChoice::Never,
        Color::Always => true,
        Color::Never => false,
    }
}

fn color_choice(color: Color) -> anstream::ColorChoice {
    match color {
        Color::Auto => anstream::ColorChoice::Auto,
        Color::Always => anstream::ColorChoice::Always,
        Color::Never => anstream::ColorChoice::Never,
    }
}

fn detect_width() -> usize {
    let told = process_env::terminal_columns();
    let seen = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    told.or_else(seen).unwrap_or(DEFAULT_WIDTH).max(40)
}
