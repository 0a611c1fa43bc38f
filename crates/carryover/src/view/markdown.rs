//! A transcript as Markdown.

use std::io::{self, Write};

use carryover_core::plain::{one_line, plain};
use carryover_core::transcript::{Body, Entry};
use jiff::tz::TimeZone;

use super::entries::{self, Calls};
use super::{Item, View};

/// Writes a transcript as Markdown.
pub(crate) fn markdown(out: &mut dyn Write, view: &View, zone: &TimeZone) -> io::Result<()> {
    writeln!(out, "# {}\n", entries::title(view))?;
    for line in entries::header(view, zone) {
        writeln!(out, "- {line}")?;
    }
    let mut heading = None;
    let mut calls = Calls::default();
    for item in &view.items {
        match *item {
            Item::Answer { text, .. } => fenced(out, &plain(text))?,
            Item::Entry { index, live } => {
                let entry = &view.transcript.entries[index];
                let speaker = entries::speaker(view, entry);
                if speaker.is_some() && heading.as_ref() != Some(&(speaker.clone(), live)) {
                    let mark = if live { "" } else { " (not in context)" };
                    let at = entries::clock(entry.at, zone);
                    writeln!(out, "\n## {}, {at}{mark}", speaker.as_deref().unwrap_or_default())?;
                    heading = Some((speaker, live));
                }
                body(out, view, entry, &mut calls)?;
            }
        }
    }
    Ok(())
}

fn body<'a>(out: &mut dyn Write, view: &View, entry: &'a Entry, calls: &mut Calls<'a>) -> io::Result<()> {
    match &entry.body {
        Body::Prompt(parts) | Body::Reply(parts) | Body::Summary(parts) => {
            writeln!(out, "\n{}", entries::parts(parts))
        }
        Body::Reasoning(reasoning) if reasoning.text.is_empty() => Ok(()),
        Body::Reasoning(reasoning) => {
            writeln!(out)?;
            plain(&reasoning.text).trim_end().lines().try_for_each(|line| writeln!(out, "> {line}"))
        }
        Body::Call(call) => {
            calls.note(call);
            writeln!(out, "\n**{}**", one_line(&call.tool, 60))?;
            let subject = view.subject(call);
            fenced(out, &if view.full { plain(&subject).into_owned() } else { one_line(&subject, 400) })
        }
        Body::Outcome(outcome) => {
            if let Some(tool) = calls.tool_of(outcome) {
                writeln!(out, "\n**{tool}** gave")?;
            }
            if let Some(ending) = entries::ending(outcome) {
                writeln!(out, "\n*{ending}*")?;
            }
            fenced(out, &entries::shortened(&entries::parts(&outcome.parts), view.full))
        }
        other => match entries::event(other) {
            Some(event) => writeln!(out, "\n*{event}*"),
            None => Ok(()),
        },
    }
}

/// A code block whose fence is longer than any in the text.
fn fenced(out: &mut dyn Write, text: &str) -> io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    writeln!(out, "\n{fence}\n{text}\n{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_holds_what_it_holds() {
        let mut out = Vec::new();
        fenced(&mut out, "```\nx\n````").unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "\n`````\n```\nx\n````\n`````\n");
    }
}
