//! Streams: what was asked for goes to stdout, everything that accompanies it to stderr.

use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::process::Child;

use anstream::{AutoStream, StripStream};
use carryover_core::plain::escaped_json;
use carryover_engine::sessions::list::ListedSession;
use serde::Serialize;

use crate::args::{Color, Globals};
use crate::pager::Pager;
use crate::paint::{HINT, Painted};
use crate::process_env;
use crate::progress::{Counter, tell_counting, tell_if_slow};
use crate::quantity;
use crate::signals;
use crate::wrap::wrap_row;

pub(crate) use crate::paint::{BAD, BOLD, COMMAND, DIM, DOUBTFUL, GOOD, Paint, REMOVED};

/// How wide a table is where nobody looks at it.
const DEFAULT_WIDTH: usize = 160;

/// More columns than a row has.
const UNCUT_COLUMNS: usize = 4_000;

/// The two streams, and how they are used.
pub(crate) struct Ui {
    out: Painted<BufWriter<Box<dyn Write>>>,
    err: Painted<Box<dyn Write>>,
    quiet: bool,
    json: bool,
    width: usize,
    interactive: bool,
    color: Color,
    /// The columns of the terminal that we report on; none where that is no terminal.
    report_columns: Option<usize>,
    /// The lines of the terminal that data goes to; none where it goes elsewhere.
    rows: Option<usize>,
}

impl Ui {
    /// The streams of this process.
    pub(crate) fn new(globals: Globals) -> Self {
        let choice = color_choice(globals.color);
        let width = detect_width();
        Self {
            out: Painted::new(BufWriter::new(Box::new(AutoStream::new(io::stdout(), choice)))),
            err: Painted::new(Box::new(AutoStream::new(io::stderr(), choice))),
            quiet: globals.quiet,
            json: globals.json,
            width,
            interactive: io::stdin().is_terminal() && io::stderr().is_terminal(),
            color: globals.color,
            report_columns: io::stderr().is_terminal().then_some(width),
            rows: io::stdout().is_terminal().then(detect_rows),
        }
    }

    /// Both streams in one, for output that is shown as a whole; nobody is asked anything.
    pub(crate) fn merged(globals: Globals) -> Self {
        let mut ui = Self::new(globals);
        ui.err = Painted::new(Box::new(AutoStream::new(io::stdout(), color_choice(globals.color))));
        ui.report_columns = ui.prose_columns();
        ui.json = false;
        ui.interactive = false;
        ui
    }

    /// Shows what is wrong with a command line, before anything is known of how to show it. It holds words of that line.
    pub(crate) fn write_usage(text: &str) -> io::Result<()> {
        Painted::new(io::stderr()).write_all(text.as_bytes())
    }

    /// Answers a shell in its own terms, separators and all. Whoever makes the answer makes its words plain.
    pub(crate) fn answer_shell(answer: &[u8]) -> io::Result<()> {
        io::stdout().write_all(answer)
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

    /// How many columns a table of data has: what no terminal shows is not cut, but where the user says how wide it is.
    pub(crate) fn table_columns(&self) -> usize {
        let is_cut = self.rows.is_some() || process_env::terminal_columns().is_some();
        if is_cut { self.width } else { UNCUT_COLUMNS }
    }

    /// The lines of the terminal that data goes to; none where it goes elsewhere.
    pub(crate) fn rows(&self) -> Option<usize> {
        self.rows
    }

    /// The columns to wrap prose to; none where data does not go to a terminal.
    pub(crate) fn prose_columns(&self) -> Option<usize> {
        self.rows.map(|_| self.width)
    }

    /// Shows a text that is rendered whole: through the pager, where somebody sits at a terminal that it does not fit on.
    pub(crate) fn write_paged(&mut self, text: &[u8], pager: Option<&Pager>) -> io::Result<()> {
        let lines = text.split(|byte| *byte == b'\n').count();
        let pager = pager.filter(|_| self.rows.is_some_and(|rows| lines > rows));
        self.flush()?;
        // One that cannot be started is no reason to show nothing.
        match pager.and_then(|pager| Some((pager, pager.start().ok()?))) {
            Some((pager, child)) => self.feed_pager(pager, child, text),
            None => self.out.write_all(text),
        }
    }

    fn feed_pager(&self, pager: &Pager, mut child: Child, text: &[u8]) -> io::Result<()> {
        // Ctrl-C is the pager's, as long as it runs.
        let _interrupts = signals::leave_interrupts_to_child();
        if let Some(mut input) = child.stdin.take() {
            let shows_colours = pager.takes_colours && self.shows_colours();
            let written = input.write_all(&painted_bytes(text, shows_colours)?);
            // Who has seen enough quits.
            written.or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })?;
        }
        child.wait().map(drop)
    }

    fn shows_colours(&self) -> bool {
        match self.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never,
        }
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
        let bytes = session.found.bytes;
        let size = if bytes == 0 { String::new() } else { format!(" of {}", quantity::format_bytes(bytes)) };
        self.while_doing(&format!("reading a session{size}…"), work)
    }

    /// The same for anything else that takes time.
    pub(crate) fn while_doing<T>(&self, what: &str, work: impl FnOnce() -> T) -> T {
        if self.quiet || self.json || !io::stderr().is_terminal() {
            return work();
        }
        let line = format!("{DIM}{what}{DIM:#}");
        tell_if_slow(&line, Painted::new(AutoStream::new(io::stderr(), color_choice(self.color))), work)
    }

    /// The same for what takes longer, and counts.
    pub(crate) fn while_counting<T>(&self, what: &str, work: impl FnOnce(&Counter) -> T) -> T {
        if self.quiet || self.json || !io::stderr().is_terminal() {
            return work(&Counter::default());
        }
        let line = format!("{DIM}{what}{DIM:#}");
        tell_counting(&line, Painted::new(AutoStream::new(io::stderr(), color_choice(self.color))), work)
    }

    /// Asks for a line.
    pub(crate) fn ask(&mut self, question: &str) -> io::Result<String> {
        self.out.flush()?;
        write!(self.err, "{question} ")?;
        self.err.flush()?;
        let mut answer = String::new();
        if io::stdin().read_line(&mut answer)? == 0 {
            // Whoever ends the input has left the line open.
            writeln!(self.err)?;
        }
        Ok(answer.trim().to_owned())
    }

    /// Asks for one of several; none where nothing is wanted.
    pub(crate) fn ask_choice(&mut self, question: &str) -> io::Result<Option<String>> {
        let answer = self.ask(question)?;
        Ok(Some(answer).filter(|answer| !answer.is_empty() && !["q", "quit"].contains(&answer.to_lowercase().as_str())))
    }

    /// Writes a line to stderr whatever the flags are. Where a name has lines of its own, they stand further in: none
    /// of them is mistaken for one of ours. On a terminal it is wrapped at words.
    pub(crate) fn write_line(&mut self, line: impl Display) -> io::Result<()> {
        self.out.flush()?;
        let text = line.to_string().replace('\n', "\n  ");
        text.split('\n').try_for_each(|line| writeln!(self.err, "{}", wrap_row(line, self.report_columns)))
    }

    /// Writes a line of a report that was asked for to stdout; on a terminal it is wrapped at words.
    pub(crate) fn write_row(&mut self, row: impl Display) -> io::Result<()> {
        let columns = self.prose_columns();
        writeln!(self.out, "{}", wrap_row(&row.to_string(), columns))
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

/// A text as a program gets it: plain, with our styles or without.
fn painted_bytes(text: &[u8], shows_colours: bool) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if shows_colours {
        Painted::new(&mut bytes).write_all(text)?;
    } else {
        Painted::new(StripStream::new(&mut bytes)).write_all(text)?;
    }
    Ok(bytes)
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

fn detect_rows() -> usize {
    terminal_size::terminal_size().map_or(24, |(_, height)| usize::from(height.0))
}
