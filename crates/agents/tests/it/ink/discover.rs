//! Listing sessions from the two ends of their files.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use carryover_core::time::Timestamp;
use carryover_core::transcript::{Body, Header};

use super::record;
use carryover_agents::formats::line::Line;
use carryover_agents::formats::unopened::Unopened;
use carryover_agents::formats::{drift, jsonl};
use carryover_agents::{AgentError, Found, Liveness, Source, Store};

/// How much of each end is looked at.
const END_BYTES: u64 = 20 << 10;

pub(super) fn discover(store: &Store, found: &mut dyn FnMut(Found) -> ControlFlow<()>) -> Result<(), AgentError> {
    let mut unopened = Unopened::default();
    for file in unopened.take(fs_err::read_dir(store.root.join("sessions"))).into_iter().flatten() {
        let path = file?.path();
        if path.extension().is_none_or(|end| end != "jsonl") || !unopened.passes(&path) {
            continue;
        }
        let Some(session) = unopened.take(look(&path)).flatten() else { continue };
        if found(session).is_break() {
            return Ok(());
        }
    }
    unopened.end()
}

/// Looks at a session; one in which nothing was said is none.
fn look(path: &Path) -> io::Result<Option<Found>> {
    let metadata = fs_err::metadata(path)?;
    let mut ends = Ends::default();
    ends.take(&jsonl::head(path, END_BYTES)?);
    ends.take(&jsonl::tail(path, END_BYTES.min(metadata.len().saturating_sub(END_BYTES)))?);
    let is_whole = metadata.len() <= 2 * END_BYTES;
    if !is_whole && ends.has_drifted() {
        // Long records may fill both ends.
        ends = Ends::default();
        ends.take(&jsonl::head(path, drift::DOUBT)?);
    }
    let drifted = ends.has_drifted();
    if ends.known + ends.unknown == 0 || (is_whole && !ends.is_talk && !drifted) {
        return Ok(None);
    }
    let modified = metadata.modified().ok().and_then(|at| jiff::Timestamp::try_from(at).ok());
    let modified = modified.map(|at| Timestamp::from_millis(at.as_millisecond()));
    let mut header = ends.header;
    if header.session.0.is_empty() {
        header.session.0 = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    }
    Ok(Some(Found {
        source: Source { path: path.to_path_buf(), key: None },
        id: header.session,
        title: header.title,
        project: header.project,
        branch: header.branch,
        started_at: header.started_at,
        updated_at: header.updated_at.or(modified),
        messages: None,
        bytes: metadata.len(),
        model: header.model,
        live: Liveness::Unknown,
        drifted,
    }))
}

#[derive(Default)]
struct Ends {
    header: Header,
    known: usize,
    unknown: usize,
    is_talk: bool,
}

impl Ends {
    fn has_drifted(&self) -> bool {
        drift::has_drifted(self.known, self.unknown, self.is_talk)
    }

    fn take(&mut self, bytes: &[u8]) {
        for bytes in jsonl::lines(bytes) {
            let line = Line { offset: 0, bytes, length: bytes.len() as u64, unterminated: false };
            let Some(parsed) = record::parse(line).filter(|_| !line.is_hollow()) else { continue };
            self.known += usize::from(parsed.is_known);
            self.unknown += usize::from(!parsed.is_known);
            for entry in &parsed.entries {
                self.is_talk |= !matches!(entry.body, Body::Opaque(_));
                entry.at.into_iter().for_each(|at| self.header.saw(at));
            }
            parsed.facts.into_iter().for_each(|fact| self.header.learn(fact));
        }
    }
}
