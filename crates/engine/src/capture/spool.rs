//! Events of hooks that found no daemon: one small file each, which the next daemon takes.
//!
//! Nothing depends on them but how soon something is noticed: what was said is in the agents' own stores, and none of it
//! is in here. So they are bounded, and where there are too many, one more is let go.

use std::io;
use std::path::PathBuf;

use carryover_agents::{HookEvent, HookKind, RunMode, StartReason, hooked_agents};
use carryover_core::time::Timestamp;
use carryover_core::transcript::SessionId;
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::own::files;

const SCHEMA: &str = "carryover.spool/1";
const FOLDER: &str = "spool";
const SUFFIX: &str = ".json";
/// More events than this are not kept.
const MAX_EVENTS: usize = 1_000;
const MAX_BYTES: u64 = 64 << 10;

/// One event, without a word of what was said.
#[derive(Debug, Serialize, Deserialize)]
struct SpooledEvent {
    schema: String,
    agent: String,
    kind: String,
    session: Option<SessionId>,
    folder: Option<PathBuf>,
    transcript: Option<PathBuf>,
    at: Timestamp,
}

impl SpooledEvent {
    fn from_event(event: &HookEvent, at: Timestamp) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            agent: event.agent.to_owned(),
            kind: event.kind.name().to_owned(),
            session: event.session.clone(),
            folder: event.folder.clone(),
            transcript: event.transcript.clone(),
            at,
        }
    }

    /// The event again; none where nobody has such.
    fn into_event(self) -> Option<HookEvent> {
        let agent = hooked_agents().find(|facts| facts.id == self.agent)?;
        Some(HookEvent {
            agent: agent.id,
            is_through_another: false,
            kind: HookKind::from_name(&self.kind)?,
            session: self.session,
            folder: self.folder,
            transcript: self.transcript,
            // Whoever started then has long been answered.
            start: StartReason::Unknown,
            run_mode: RunMode::Unknown,
            is_sub_agent: false,
        })
    }
}

fn folder_path(context: &Context) -> PathBuf {
    context.home.join(FOLDER)
}

/// Keeps an event of that time for the next daemon; whether there was room.
pub fn spool_event(context: &Context, event: &HookEvent, at: Timestamp) -> io::Result<bool> {
    let folder = folder_path(context);
    let count = fs_err::read_dir(&folder).map_or(0, |listing| listing.take(MAX_EVENTS).count());
    if count >= MAX_EVENTS {
        return Ok(false);
    }
    let spooled = SpooledEvent::from_event(event, at);
    // Several of one moment have a file each.
    let path =
        |number: usize| folder.join(format!("{:015}-{:08x}-{number:04}{SUFFIX}", at.millis(), context.seed >> 96));
    let Some(path) = (0..MAX_EVENTS).map(path).find(|path| !path.exists()) else { return Ok(false) };
    files::write_cached(&path, &serde_json::to_vec(&spooled)?)?;
    Ok(true)
}

/// Takes the events that wait, with their times, the oldest first. What is not one is removed.
pub(super) fn take_spooled(context: &Context) -> Vec<(HookEvent, Timestamp)> {
    let Ok(listing) = fs_err::read_dir(folder_path(context)) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = listing.filter_map(Result::ok).map(|entry| entry.path()).collect();
    paths.retain(|path| path.to_string_lossy().ends_with(SUFFIX));
    paths.sort();
    let take = |path: PathBuf| {
        let bytes = files::read_bounded(&path, MAX_BYTES);
        // One that cannot be removed would be taken again for ever.
        files::remove_if_there(&path).ok()?;
        let spooled: SpooledEvent = serde_json::from_slice(&bytes.ok()??).ok()?;
        let at = spooled.at;
        (spooled.schema == SCHEMA).then(|| spooled.into_event()).flatten().map(|event| (event, at))
    };
    paths.into_iter().filter_map(take).collect()
}
