//! Calls of hooks that found no daemon: one small file each, which the next daemon takes.
//!
//! Nothing depends on them but how soon something is noticed: what was said is in the agents' own stores. So they are
//! bounded, and where there are too many, one more is let go.

use std::io;
use std::path::PathBuf;

use carryover_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::own::files;

const SCHEMA: &str = "carryover.spool/1";
const FOLDER: &str = "spool";
const SUFFIX: &str = ".json";
/// More calls than this are not kept.
const MAX_CALLS: usize = 1_000;
/// One call is no longer than what the daemon takes, written as JSON text.
const MAX_BYTES: u64 = 8 << 20;

/// One call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpooledCall {
    schema: String,
    pub agent: String,
    pub event: String,
    pub payload: String,
    pub cwd: PathBuf,
    pub at: Timestamp,
}

impl SpooledCall {
    pub fn new(agent: &str, event: &str, payload: &[u8], cwd: &std::path::Path, at: Timestamp) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            agent: agent.to_owned(),
            event: event.to_owned(),
            payload: String::from_utf8_lossy(payload).into_owned(),
            cwd: cwd.to_owned(),
            at,
        }
    }
}

fn folder_path(context: &Context) -> PathBuf {
    context.home.join(FOLDER)
}

/// Keeps a call for the next daemon; whether there was room.
pub fn spool_call(context: &Context, call: &SpooledCall) -> io::Result<bool> {
    let folder = folder_path(context);
    let count = fs_err::read_dir(&folder).map_or(0, |listing| listing.take(MAX_CALLS).count());
    if count >= MAX_CALLS {
        return Ok(false);
    }
    let name = format!("{:015}-{:08x}{SUFFIX}", call.at.millis(), context.seed >> 96);
    files::write_cached(&folder.join(name), &serde_json::to_vec(call)?)?;
    Ok(true)
}

/// Takes the calls that wait, the oldest first. What is not one is removed.
pub fn take_spooled(context: &Context) -> Vec<SpooledCall> {
    let Ok(listing) = fs_err::read_dir(folder_path(context)) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = listing.filter_map(Result::ok).map(|entry| entry.path()).collect();
    paths.retain(|path| path.to_string_lossy().ends_with(SUFFIX));
    paths.sort();
    let take = |path: PathBuf| {
        let bytes = files::read_bounded(&path, MAX_BYTES);
        // One that cannot be removed would be taken again for ever.
        files::remove_if_there(&path).ok()?;
        let call: SpooledCall = serde_json::from_slice(&bytes.ok()??).ok()?;
        (call.schema == SCHEMA).then_some(call)
    };
    paths.into_iter().filter_map(take).collect()
}
