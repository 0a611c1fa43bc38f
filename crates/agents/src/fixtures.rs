//! Sessions that real clients wrote, read: what the tests of readers share.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carryover_core::live::{self, LiveItem};
use carryover_core::plain::one_line;
use carryover_core::transcript::{Body, Entry, FailureKind, Origin, Part, Transcript, TranscriptBuilder, text_of};

use crate::{Agent, Bookmark, FoundSession, Source, Store};

/// A file in the folder `fixtures` of an agent.
pub(crate) fn fixture_path(agent: &dyn Agent, name: &str) -> PathBuf {
    let folder = agent.facts().id.replace('-', "_");
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(folder).join("fixtures").join(name)
}

/// Reads a session as a resume does: what stands before its last compaction may be told by kinds and places.
pub(crate) fn read_session(agent: &dyn Agent, path: &Path) -> Transcript {
    read_from(agent, &Source::file(path), TranscriptBuilder::new(agent.facts().id), &Bookmark::Start).0
}

/// Reads all of a session.
pub(crate) fn read_whole(agent: &dyn Agent, path: &Path) -> Transcript {
    let builder = TranscriptBuilder::new(agent.facts().id).keeping_everything();
    read_from(agent, &Source::file(path), builder, &Bookmark::Start).0
}

pub(crate) fn read_from(
    agent: &dyn Agent,
    source: &Source,
    mut builder: TranscriptBuilder,
    from: &Bookmark,
) -> (Transcript, Bookmark) {
    let bookmark = agent.read_session(source, from, &mut builder).unwrap();
    (builder.finish(), bookmark)
}

/// Cuts the file of a session, lets it grow again, and holds what was read in these two steps against what is read at
/// once; `begin` makes the builder.
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
pub(crate) fn check_reading_in_steps(
    agent: &dyn Agent,
    name: &str,
    cuts: impl Fn(&[u8]) -> Vec<usize>,
    begin: impl Fn() -> TranscriptBuilder,
) {
    let bytes = fs_err::read(fixture_path(agent, name)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let source = Source::file(&folder.path().join(name));
    std::fs::write(&source.path, &bytes).unwrap();
    let (whole, _) = read_from(agent, &source, begin(), &Bookmark::Start);
    for cut in cuts(&bytes).into_iter().filter(|cut| *cut <= bytes.len()) {
        std::fs::write(&source.path, &bytes[..cut]).unwrap();
        let mut builder = begin();
        let bookmark = agent.read_session(&source, &Bookmark::Start, &mut builder).unwrap();
        std::fs::write(&source.path, &bytes).unwrap();
        let again = agent.read_session(&source, &bookmark, &mut builder).unwrap();
        let (stepped, end) = read_from(agent, &source, builder, &again);
        assert_eq!(end, again, "{name} cut at {cut}");
        assert_eq!(stepped.entries, whole.entries, "{name} cut at {cut}");
        assert_eq!(stepped.header.title, whole.header.title, "{name} cut at {cut}");
        assert_eq!(stepped.header.session, whole.header.session, "{name} cut at {cut}");
        assert_eq!(stepped.rejected, [], "{name} cut at {cut}");
    }
}

/// Cuts the file of a session at every byte: of each whole line there is a record.
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
pub(crate) fn check_truncation(agent: &dyn Agent, name: &str) {
    let bytes = fs_err::read(fixture_path(agent, name)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    for cut in 0..bytes.len() {
        std::fs::write(&path, &bytes[..cut]).unwrap();
        let whole_lines = bytes[..cut].split(|byte| *byte == b'\n').count() - 1;
        let records: BTreeSet<_> = read_session(agent, &path).entries.iter().map(|entry| entry.key.record()).collect();
        assert!(records.len() >= whole_lines, "{name} cut at {cut}");
    }
}

/// Every so many bytes of a file, and its end.
pub(crate) fn cut_every(step: usize) -> impl Fn(&[u8]) -> Vec<usize> {
    move |bytes| (0..bytes.len()).step_by(step).chain([bytes.len()]).collect()
}

/// The sessions of a store.
pub(crate) fn list_sessions(agent: &dyn Agent, root: &Path) -> Vec<FoundSession> {
    let mut all = Vec::new();
    let found = &mut |session| {
        all.push(session);
        ControlFlow::Continue(())
    };
    agent.list_sessions(&Store { root: root.to_owned() }, found).unwrap();
    all
}

pub(crate) fn failure_kinds(transcript: &Transcript) -> Vec<FailureKind> {
    let kind = |entry: &Entry| match &entry.body {
        Body::Failure(failure) => Some(failure.kind),
        _ => None,
    };
    transcript.entries.iter().filter_map(kind).collect()
}

/// Reads those live entries again that are wanted whole.
pub(crate) fn reload_live(agent: &dyn Agent, transcript: &Transcript, is_wanted: impl Fn(&Body) -> bool) -> Transcript {
    let mut transcript = transcript.clone();
    for index in live::context_order(&transcript) {
        let key = transcript.entries[index].key;
        if is_wanted(&transcript.entries[index].body) {
            let again = agent.reload_entries(&transcript.header, key).unwrap();
            transcript.entries[index] = again.into_iter().find(|entry| entry.key == key).unwrap();
        }
    }
    transcript
}

/// The live context, one line each; `order` is that of the transcript as it was read, for an entry that was read
/// again may not know its place.
pub(crate) fn render_live(
    transcript: &Transcript,
    order: &[usize],
    entry: impl Fn(&Entry) -> String,
    answer: impl Fn(&str) -> String,
) -> String {
    let mut out = String::new();
    for alive in live::close_calls(transcript, order) {
        let line = match alive {
            LiveItem::Entry(index) => entry(&transcript.entries[index]),
            LiveItem::Answer { text, .. } => answer(text),
        };
        writeln!(out, "{line}").unwrap();
    }
    out
}

/// Which entries tell in a line how many images they hold.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum ImageCounts {
    InOutcomes,
    Everywhere,
}

/// The live context, each entry read again, a short line each.
pub(crate) fn live_context(agent: &dyn Agent, transcript: &Transcript, images: ImageCounts) -> String {
    render_short(&reload_live(agent, transcript, |_| true), &live::context_order(transcript), images)
}

/// The live context as it was read, a short line each.
pub(crate) fn live_lines(transcript: &Transcript, images: ImageCounts) -> String {
    render_short(transcript, &live::context_order(transcript), images)
}

fn render_short(transcript: &Transcript, order: &[usize], images: ImageCounts) -> String {
    let answer = |text: &str| format!("answer: {}", one_line(text, 60));
    render_live(transcript, order, |entry| short_line(entry, images), answer)
}

fn short_line(entry: &Entry, shown: ImageCounts) -> String {
    let everywhere = shown == ImageCounts::Everywhere;
    let images = entry.body.parts().iter().filter(|part| matches!(part, Part::Blob(_))).count();
    let what = match &entry.body {
        Body::Reasoning(reasoning) => reasoning.text.clone(),
        Body::Call(call) => format!("{} {}", call.tool, call.input.as_str()),
        Body::Outcome(outcome) => {
            let code = outcome.exit_code.map(|code| format!(" exit {code}")).unwrap_or_default();
            let comma = if everywhere { "," } else { "" };
            format!("{:?}{code}{comma} {images} images: {}", outcome.status, text_of(&outcome.parts))
        }
        body if images > 0 && everywhere => format!("{images} images: {}", text_of(body.parts())),
        body => text_of(body.parts()),
    };
    one_line(&format!("{} {}: {what}", origin_name(entry.origin), entry.body.kind()), 110)
}

fn origin_name(origin: Origin) -> &'static str {
    match origin {
        Origin::User => "user",
        Origin::Agent => "agent",
        Origin::Harness => "harness",
        Origin::Hook => "hook",
    }
}

/// An entry in a line that tells more; `said` where the tests of an agent show an entry in a way of their own.
pub(crate) fn long_line(entry: &Entry, said: Option<String>, length: usize) -> String {
    let said = said.unwrap_or_else(|| match &entry.body {
        Body::Prompt(parts) | Body::Reply(parts) | Body::Summary(parts) => format_parts(parts),
        Body::Outcome(outcome) => {
            format!("{} {:?} {:?} {}", outcome.call.0, outcome.status, outcome.exit_code, format_parts(&outcome.parts))
        }
        Body::Failure(failure) => {
            format!("{:?} {:?} {:?}", failure.kind, failure.message, failure.resets_at.map(|at| at.to_string()))
        }
        Body::Opaque(opaque) => opaque.name().to_owned(),
        body => format!("{body:?}"),
    });
    let line = format!("{} {} {said}", origin_name(entry.origin), entry.body.kind());
    line.chars().take(length).collect()
}

fn format_parts(parts: &[Part]) -> String {
    let part = |part: &Part| match part {
        Part::Text(text) => format!("{text:?}"),
        Part::Blob(blob) => format!("<{} {:?} {:?}>", blob.media_type, blob.name, blob.location),
    };
    parts.iter().map(part).collect::<Vec<_>>().join(" ")
}
