//! A transcript for a terminal.

use std::io::{self, Write};

use carryover_core::plain::{one_line, plain};
use carryover_core::transcript::{Body, Call, Entry, Outcome};
use jiff::tz::TimeZone;

use super::entries::{self, Calls};
use super::{Item, View};
use crate::ui::{BOLD, DIM};

/// Writes a transcript as text.
pub(crate) fn text(out: &mut dyn Write, view: &View, zone: &TimeZone) -> io::Result<()> {
    writeln!(out, "{BOLD}{}{BOLD:#}", entries::title(view))?;
    for line in entries::header(view, zone) {
        writeln!(out, "{DIM}{line}{DIM:#}")?;
    }
    let mut writer = Writer { out, view, zone, heading: None, calls: Calls::default() };
    for item in &view.items {
        match *item {
            Item::Entry { index, live } => writer.entry(&view.transcript.entries[index], live)?,
            Item::Answer { text, .. } => writer.indented(&plain(text))?,
        }
    }
    Ok(())
}

struct Writer<'a> {
    out: &'a mut dyn Write,
    view: &'a View,
    zone: &'a TimeZone,
    /// Who spoke last, and whether it was live: a heading stands where that changes.
    heading: Option<(String, bool)>,
    calls: Calls<'a>,
}

impl<'a> Writer<'a> {
    fn entry(&mut self, entry: &'a Entry, live: bool) -> io::Result<()> {
        let Some(speaker) = entries::speaker(self.view, entry) else {
            return self.event(&entry.body);
        };
        self.speaker(speaker, entry, live)?;
        match &entry.body {
            Body::Reasoning(reasoning) if reasoning.text.is_empty() => Ok(()),
            Body::Reasoning(reasoning) => {
                writeln!(self.out, "{DIM}(thinking) {}{DIM:#}", plain(&reasoning.text).trim_end())
            }
            Body::Call(call) => self.call(call),
            Body::Outcome(outcome) => self.outcome(outcome),
            body => writeln!(self.out, "{}", entries::parts(body.parts())),
        }
    }

    /// A heading, where somebody else speaks now.
    fn speaker(&mut self, speaker: String, entry: &Entry, live: bool) -> io::Result<()> {
        let same = self.heading.as_ref().is_some_and(|(last, was)| *last == speaker && *was == live);
        if same && !matches!(entry.body, Body::Prompt(_)) {
            return Ok(());
        }
        let at = entries::clock(entry.at, self.zone);
        let mark = if live { "" } else { "  (not in context)" };
        writeln!(self.out, "\n{BOLD}{speaker}{BOLD:#}  {DIM}{at}{mark}{DIM:#}")?;
        self.heading = Some((speaker, live));
        Ok(())
    }

    fn event(&mut self, body: &Body) -> io::Result<()> {
        let Some(event) = entries::event(body) else { return Ok(()) };
        self.heading = None;
        writeln!(self.out, "\n{DIM}-- {event} --{DIM:#}")
    }

    fn call(&mut self, call: &'a Call) -> io::Result<()> {
        self.calls.note(call);
        let (tool, subject) = (one_line(&call.tool, 60), self.view.subject(call));
        if self.view.full {
            writeln!(self.out, "> {BOLD}{tool}{BOLD:#} {}", plain(&subject))
        } else {
            writeln!(self.out, "> {BOLD}{tool}{BOLD:#} {}", one_line(&subject, 160))
        }
    }

    fn outcome(&mut self, outcome: &'a Outcome) -> io::Result<()> {
        if let Some(tool) = self.calls.tool_of(outcome) {
            writeln!(self.out, "< {BOLD}{tool}{BOLD:#}")?;
        }
        if let Some(ending) = entries::ending(outcome) {
            self.indented(&ending)?;
        }
        let text = entries::parts(&outcome.parts);
        self.indented(&entries::shortened(&text, self.view.full))
    }

    fn indented(&mut self, text: &str) -> io::Result<()> {
        for line in text.lines() {
            writeln!(self.out, "  {DIM}{line}{DIM:#}")?;
        }
        Ok(())
    }
}
