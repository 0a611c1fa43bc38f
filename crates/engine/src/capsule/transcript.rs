//! The transcript of a capsule: UASF, its session on the first line and an event on each of the others.

use std::io::{self, Write};

use carryover_core::plain::escaped_json;
use carryover_core::render::{Uasf, UasfSession};
use serde::Serialize;

#[derive(Serialize)]
struct FirstLine<'a> {
    schema: &'a str,
    session: &'a UasfSession,
}

/// Writes a transcript line by line.
pub(super) fn write_lines(transcript: &Uasf) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    write_line(&mut out, &FirstLine { schema: transcript.schema, session: &transcript.session })?;
    transcript.events.iter().try_for_each(|event| write_line(&mut out, event))?;
    Ok(out)
}

fn write_line(out: &mut Vec<u8>, value: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_string(value)?;
    out.write_all(escaped_json(&text).as_bytes())?;
    out.write_all(b"\n")
}
