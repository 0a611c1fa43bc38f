//! Sessions that real clients wrote, read and written back.
#![expect(clippy::disallowed_methods, reason = "tests make their own files")]

mod reading;
mod reverting;
mod speaking;
mod writing;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use carryover_core::live::{self, Alive};
use carryover_core::transcript::{Body, Entry, Origin, Part, Transcript, TranscriptBuilder};

use super::Codex;
use crate::{Agent, Bookmark, Source};

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
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/codex/fixtures").join(format!("{name}.jsonl"))
}

fn source(path: &Path) -> Source {
    Source { path: path.to_owned(), key: None }
}

fn read(path: &Path) -> Transcript {
    read_from(path, TranscriptBuilder::new("codex"), &Bookmark::Start).0
}

fn read_whole(path: &Path) -> Transcript {
    read_from(path, TranscriptBuilder::new("codex").keeping_everything(), &Bookmark::Start).0
}

fn read_from(path: &Path, mut builder: TranscriptBuilder, from: &Bookmark) -> (Transcript, Bookmark) {
    let bookmark = Codex.read(&source(path), from, &mut builder).unwrap();
    (builder.finish(), bookmark)
}

/// One line for each entry.
fn render(transcript: &Transcript) -> String {
    let mut out = String::new();
    for entry in &transcript.entries {
        writeln!(out, "{}:{}.{} {}", entry.key.file, entry.key.offset, entry.key.part, line_of(entry)).unwrap();
    }
    for rejected in &transcript.rejected {
        writeln!(out, "rejected {}: {}", rejected.key.offset, rejected.reason).unwrap();
    }
    out
}

/// What the model would see, one line each.
fn render_live(transcript: &Transcript) -> String {
    let mut out = String::new();
    for alive in live::resolve(transcript) {
        match alive {
            Alive::Entry(index) => writeln!(out, "{}", line_of(&transcript.entries[index])).unwrap(),
            Alive::Answer { text, .. } => writeln!(out, "answered: {text}").unwrap(),
        }
    }
    out
}

fn line_of(entry: &Entry) -> String {
    let said = match &entry.body {
        Body::Prompt(parts) | Body::Reply(parts) | Body::Summary(parts) => parts_of(parts),
        Body::Reasoning(reasoning) => format!("{:?} sealed={}", reasoning.text, reasoning.sealed),
        Body::Call(call) => format!("{} {} {:?} {}", call.id.0, call.tool, call.form, call.input.as_str()),
        Body::Outcome(outcome) => {
            format!("{} {:?} {:?} {}", outcome.call.0, outcome.status, outcome.exit_code, parts_of(&outcome.parts))
        }
        Body::Failure(failure) => {
            format!("{:?} {:?} {:?}", failure.kind, failure.message, failure.resets_at.map(|at| at.to_string()))
        }
        Body::Rewound { turns } => turns.to_string(),
        Body::Opaque(kind) => kind.to_string(),
        body => format!("{body:?}"),
    };
    let who = match entry.origin {
        Origin::User => "user",
        Origin::Agent => "agent",
        Origin::Harness => "harness",
        Origin::Hook => "hook",
    };
    let line = format!("{who} {} {said}", entry.body.kind());
    line.chars().take(300).collect()
}

fn parts_of(parts: &[Part]) -> String {
    let parts: Vec<String> = parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => format!("{text:?}"),
            Part::Blob(blob) => format!("<{} {:?} {:?}>", blob.media_type, blob.name, blob.place),
        })
        .collect();
    parts.join(" ")
}
