//! A transcript for a terminal.

use std::io::{self, Write};

use carryover_core::plain::{one_line, strip_hidden};
use carryover_core::transcript::{Body, Call, Entry, Outcome};
use jiff::tz::TimeZone;

use super::entries::{self, CallTools};
use super::{Item, View};
use crate::ui::{BOLD, DIM};

/// Writes a transcript as text.
pub(crate) fn write_text(out: &mut dyn Write, view: &View, zone: &TimeZone) -> io::Result<()> {
    writeln!(out, "{BOLD}{}{BOLD:#}", entries::title_line(view))?;
    for line in entries::header_lines(view, zone) {
        writeln!(out, "{DIM}{line}{DIM:#}")?;
    }
    let mut writer = TextWriter { out, view, zone, heading: None, calls: CallTools::default() };
    for item in &view.items {
        match *item {
            Item::Entry { index, live } => writer.write_entry(&view.transcript.entries[index], live)?,
            Item::Answer { text, .. } => writer.write_indented(&strip_hidden(text))?,
        }
    }
    Ok(())
}

struct TextWriter<'a> {
    out: &'a mut dyn Write,
    view: &'a View,
    zone: &'a TimeZone,
    /// Who spoke last, and whether it was live: a heading stands where that changes.
    heading: Option<(String, bool)>,
    calls: CallTools<'a>,
}

impl<'a> TextWriter<'a> {
    fn write_entry(&mut self, entry: &'a Entry, live: bool) -> io::Result<()> {
        let Some(speaker) = entries::speaker_name(self.view, entry) else {
            return self.write_event(&entry.body);
        };
        self.write_heading(speaker, entry, live)?;
        match &entry.body {
            Body::Reasoning(reasoning) if reasoning.text.is_empty() => Ok(()),
            Body::Reasoning(reasoning) => {
                writeln!(self.out, "{DIM}(thinking) {}{DIM:#}", strip_hidden(&reasoning.text).trim_end())
            }
            Body::Call(call) => self.write_call(call),
            Body::Outcome(outcome) => self.write_outcome(outcome),
            body => writeln!(self.out, "{}", entries::render_parts(body.parts())),
        }
    }

    /// A heading, where somebody else speaks now.
    fn write_heading(&mut self, speaker: String, entry: &Entry, live: bool) -> io::Result<()> {
        let same = self.heading.as_ref().is_some_and(|(last, was)| *last == speaker && *was == live);
        if same && !matches!(entry.body, Body::Prompt(_)) {
            return Ok(());
        }
        let at = entries::time_of_day(entry.at, self.zone);
        let mark = if live { "" } else { "  (not in context)" };
        writeln!(self.out, "\n{BOLD}{speaker}{BOLD:#}  {DIM}{at}{mark}{DIM:#}")?;
        self.heading = Some((speaker, live));
        Ok(())
    }

    fn write_event(&mut self, body: &Body) -> io::Result<()> {
        let Some(event) = entries::describe_event(body) else { return Ok(()) };
        self.heading = None;
        writeln!(self.out, "\n{DIM}-- {event} --{DIM:#}")
    }

    fn write_call(&mut self, call: &'a Call) -> io::Result<()> {
        self.calls.record_call(call);
        let (tool, subject) = (one_line(&call.tool, 60), self.view.call_subject(call));
        if self.view.full {
            writeln!(self.out, "> {BOLD}{tool}{BOLD:#} {}", strip_hidden(&subject))
        } else {
            writeln!(self.out, "> {BOLD}{tool}{BOLD:#} {}", one_line(&subject, 160))
        }
    }

    fn write_outcome(&mut self, outcome: &'a Outcome) -> io::Result<()> {
        if let Some(tool) = self.calls.tool_of(outcome) {
            writeln!(self.out, "< {BOLD}{tool}{BOLD:#}")?;
        }
        if let Some(ending) = entries::describe_ending(outcome) {
            self.write_indented(&ending)?;
        }
        let text = entries::render_parts(&outcome.parts);
        self.write_indented(&entries::shorten_output(&text, self.view.full))
    }

    fn write_indented(&mut self, text: &str) -> io::Result<()> {
        for line in text.lines() {
            writeln!(self.out, "  {DIM}{line}{DIM:#}")?;
        }
        Ok(())
    }
}
