//! A transcript for a terminal.

use std::io::{self, Write};

use carryover_agents::Env;
use carryover_core::plain::{one_line, strip_hidden};
use carryover_core::transcript::{Body, Call, Entry, Outcome};
use jiff::tz::TimeZone;

use super::diff::LineKind;
use super::entries::{self, CallTools};
use super::{Item, View};
use crate::ui::{BOLD, DIM, GOOD, Paint, REMOVED};
use crate::wrap::{wrap_prose, wrap_row};

/// Writes a transcript as text.
///
/// Prose is wrapped to so many columns, where a number is given.
pub(crate) fn write_text(out: &mut dyn Write, view: &View, env: &Env, columns: Option<usize>) -> io::Result<()> {
    if !view.is_excerpt {
        write_styled(out, BOLD, &entries::title_line(view), columns)?;
        for line in entries::header_lines(view, env) {
            write_styled(out, DIM, &line, columns)?;
        }
    }
    let mut writer = TextWriter {
        out,
        view,
        zone: &env.zone,
        columns,
        has_text_above: !view.is_excerpt,
        heading: None,
        calls: CallTools::default(),
    };
    for item in &view.items {
        match *item {
            Item::Entry { index, live } => writer.write_entry(&view.transcript.entries[index], live)?,
            Item::Answer { text, .. } => writer.write_indented(&strip_hidden(text))?,
        }
    }
    let footer = if view.is_excerpt { Vec::new() } else { entries::footer_lines(view, env) };
    if !footer.is_empty() {
        writeln!(out)?;
    }
    footer.iter().try_for_each(|line| write_styled(out, DIM, line, columns))
}

/// Prose in a style that begins and ends on each line: a pager shows any of them first.
fn write_styled(out: &mut dyn Write, paint: Paint, text: &str, columns: Option<usize>) -> io::Result<()> {
    wrap_prose(text, columns).lines().try_for_each(|line| writeln!(out, "{paint}{line}{paint:#}"))
}

struct TextWriter<'a> {
    out: &'a mut dyn Write,
    view: &'a View,
    zone: &'a TimeZone,
    columns: Option<usize>,
    /// A line is left free below it.
    has_text_above: bool,
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
                let text = format!("(thinking) {}", strip_hidden(&reasoning.text).trim_end());
                write_styled(self.out, DIM, &text, self.columns)
            }
            Body::Call(call) => self.write_call(call),
            Body::Outcome(outcome) => self.write_outcome(outcome),
            body => writeln!(self.out, "{}", wrap_prose(&entries::render_parts(body.parts()), self.columns)),
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
        self.write_gap()?;
        writeln!(self.out, "{BOLD}{speaker}{BOLD:#}  {DIM}{at}{mark}{DIM:#}")?;
        self.heading = Some((speaker, live));
        Ok(())
    }

    fn write_event(&mut self, body: &Body) -> io::Result<()> {
        let Some(event) = entries::describe_event(body) else { return Ok(()) };
        self.heading = None;
        self.write_gap()?;
        write_styled(self.out, DIM, &format!("-- {event} --"), self.columns)
    }

    fn write_gap(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.has_text_above, true) { writeln!(self.out) } else { Ok(()) }
    }

    fn write_rows(&mut self, text: &str) -> io::Result<()> {
        text.lines().try_for_each(|line| writeln!(self.out, "{}", wrap_row(line, self.columns)))
    }

    fn write_call(&mut self, call: &'a Call) -> io::Result<()> {
        self.calls.record_call(call);
        let (tool, subject) = (one_line(&call.tool, 60), self.view.call_subject(call));
        if self.view.full {
            self.write_rows(&format!("> {BOLD}{tool}{BOLD:#} {}", strip_hidden(&subject)))?;
        } else {
            self.write_rows(&format!("> {BOLD}{tool}{BOLD:#} {}", one_line(&subject, 160)))?;
        }
        for line in self.view.call_diff(call) {
            match line.kind {
                LineKind::Added => writeln!(self.out, "  {GOOD}{line}{GOOD:#}")?,
                LineKind::Removed => writeln!(self.out, "  {REMOVED}{line}{REMOVED:#}")?,
                LineKind::Heading | LineKind::Same => writeln!(self.out, "  {DIM}{line}{DIM:#}")?,
            }
        }
        Ok(())
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
        let columns = self.columns.map(|columns| columns.saturating_sub(2));
        for line in text.lines() {
            wrap_row(line, columns).split('\n').try_for_each(|line| writeln!(self.out, "  {DIM}{line}{DIM:#}"))?;
        }
        Ok(())
    }
}
