//! Sessions that real clients wrote, read and written back.
#![expect(clippy::disallowed_methods, reason = "tests make their own files")]

mod reading;
mod reverting;
mod speaking;
mod writing;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use carryover_core::live::{self, LiveItem};
use carryover_core::transcript::{Body, Entry, Origin, Part, Transcript, TranscriptBuilder};

use super::Codex;
use crate::{Agent, Bookmark, Dialect, Discovery, Reader, Source, fixtures};

/// Every fixture that stands alone.
const FIXTURES: &[&str] = &[
    "0.20.0-exec",
    "0.36.0-exec",
    "0.44.0-exec",
    "0.98.0-exec",
    "0.130.0-exec",
    "0.166.0-rich",
    "0.166.0-code-mode",
    "0.166.0-compaction",
    "0.166.0-sealed",
    "0.166.0-interrupt",
    "0.166.0-parent",
    "0.166.0-subagent",
    "0.166.0-fork-base",
    "0.166.0-usage-limit",
    "0.166.0-import",
    "handwritten-legacy",
];

fn fixture(name: &str) -> PathBuf {
    fixtures::fixture_path(&Codex, &format!("{name}.jsonl"))
}

fn source(path: &Path) -> Source {
    Source::file(path)
}

fn read_session(path: &Path) -> Transcript {
    fixtures::read_session(&Codex, path)
}

fn read_whole(path: &Path) -> Transcript {
    fixtures::read_whole(&Codex, path)
}

fn read_from(path: &Path, builder: TranscriptBuilder, from: &Bookmark) -> (Transcript, Bookmark) {
    fixtures::read_from(&Codex, &source(path), builder, from)
}

/// One line for each entry.
fn render_entries(transcript: &Transcript) -> String {
    let mut out = String::new();
    for entry in &transcript.entries {
        writeln!(out, "{}:{}.{} {}", entry.key.file, entry.key.offset, entry.key.part, line_of(entry)).unwrap();
    }
    for rejected in &transcript.rejected {
        writeln!(out, "rejected {}: {}", rejected.key.offset, rejected.reason).unwrap();
    }
    out
}

/// The context that the model would see, one line each.
fn render_live(transcript: &Transcript) -> String {
    fixtures::render_live(transcript, &live::context_order(transcript), line_of, |text| format!("answered: {text}"))
}

fn line_of(entry: &Entry) -> String {
    let said = match &entry.body {
        Body::Reasoning(reasoning) => Some(format!("{:?} sealed={}", reasoning.text, reasoning.sealed)),
        Body::Call(call) => Some(format!("{} {} {:?} {}", call.id.0, call.tool, call.form, call.input.as_str())),
        Body::Rewound { turns } => Some(turns.to_string()),
        _ => None,
    };
    fixtures::long_line(entry, said, 300)
}
