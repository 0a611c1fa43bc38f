//! A transcript as Markdown.

use std::io::{self, Write};

use carryover_agents::Env;
use carryover_core::plain::{one_line, strip_hidden};
use carryover_core::transcript::{Body, Entry};

use super::entries::{self, CallTools};
use super::{Item, View};

/// Writes a transcript as Markdown.
pub(crate) fn write_markdown(out: &mut dyn Write, view: &View, env: &Env) -> io::Result<()> {
    if !view.is_excerpt {
        writeln!(out, "# {}\n", entries::title_line(view))?;
        for line in entries::header_lines(view, env) {
            writeln!(out, "- {line}")?;
        }
    }
    let mut heading = None;
    let mut calls = CallTools::default();
    for item in &view.items {
        match *item {
            Item::Answer { text, .. } => write_fenced(out, &strip_hidden(text))?,
            Item::Entry { index, live } => {
                let entry = &view.transcript.entries[index];
                let speaker = entries::speaker_name(view, entry);
                if speaker.is_some() && heading.as_ref() != Some(&(speaker.clone(), live)) {
                    let mark = if live { "" } else { " (not in context)" };
                    let at = entries::time_of_day(entry.at, &env.zone);
                    writeln!(out, "\n## {}, {at}{mark}", speaker.as_deref().unwrap_or_default())?;
                    heading = Some((speaker, live));
                }
                write_body(out, view, entry, &mut calls)?;
            }
        }
    }
    let footer = if view.is_excerpt { Vec::new() } else { entries::footer_lines(view, env) };
    if !footer.is_empty() {
        writeln!(out, "\n---\n")?;
    }
    footer.iter().try_for_each(|line| writeln!(out, "- {line}"))
}

fn write_body<'a>(out: &mut dyn Write, view: &View, entry: &'a Entry, calls: &mut CallTools<'a>) -> io::Result<()> {
    match &entry.body {
        Body::Prompt(parts) | Body::Reply(parts) | Body::Summary(parts) => {
            writeln!(out, "\n{}", entries::render_parts(parts))
        }
        Body::Reasoning(reasoning) if reasoning.text.is_empty() => Ok(()),
        Body::Reasoning(reasoning) => {
            writeln!(out)?;
            strip_hidden(&reasoning.text).trim_end().lines().try_for_each(|line| writeln!(out, "> {line}"))
        }
        Body::Call(call) => {
            calls.record_call(call);
            writeln!(out, "\n**{}**", one_line(&call.tool, 60))?;
            let subject = view.call_subject(call);
            write_fenced(out, &if view.full { strip_hidden(&subject).into_owned() } else { one_line(&subject, 400) })?;
            let lines: Vec<String> = view.call_diff(call).iter().map(ToString::to_string).collect();
            write_fenced_as(out, "diff", &lines.join("\n"))
        }
        Body::Outcome(outcome) => {
            if let Some(tool) = calls.tool_of(outcome) {
                writeln!(out, "\n**{tool}** gave")?;
            }
            if let Some(ending) = entries::describe_ending(outcome) {
                writeln!(out, "\n*{ending}*")?;
            }
            write_fenced(out, &entries::shorten_output(&entries::render_parts(&outcome.parts), view.full))
        }
        other => match entries::describe_event(other) {
            Some(event) => writeln!(out, "\n*{event}*"),
            None => Ok(()),
        },
    }
}

fn write_fenced(out: &mut dyn Write, text: &str) -> io::Result<()> {
    write_fenced_as(out, "", text)
}

/// A code block whose fence is longer than any in the text.
fn write_fenced_as(out: &mut dyn Write, language: &str, text: &str) -> io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    writeln!(out, "\n{fence}{language}\n{text}\n{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_holds_what_it_holds() {
        let mut out = Vec::new();
        write_fenced(&mut out, "```\nx\n````").unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "\n`````\n```\nx\n````\n`````\n");
    }
}
