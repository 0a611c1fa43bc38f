//! Recordings: what an agent and its model services said to each other, as it was said.
//!
//! A run of `carryover record` is a folder of its own: `recording.json` tells whose it is, `exchanges.jsonl` has a line for
//! each request and its answer, without keys, and `bodies/` has what was in them. From it the boundary of a session is
//! exact: system prompt, tools, sampling.

mod archive;
mod body;
pub mod boundary;
mod clean;
mod exchange;
mod manifest;
mod recorder;
mod removal;
mod request_form;
mod session_match;

use std::path::PathBuf;

pub use archive::{RecordedExchange, Recording, find_recording, list_recordings};
pub use boundary::{RecordedBoundary, RecordedTool};
pub use clean::strip_arguments;
pub use exchange::{Ending, Exchange, Header, RequestHead, ResponseHead};
pub use manifest::{Manifest, MatchReason, MatchedSession, Service};
pub use recorder::{Clock, ExchangeTap, Recorder, RecorderHandle, RecorderSummary};
pub(crate) use removal::{forget_recordings, forget_session_recordings, remove_expired};
pub use request_form::RequestForm;

use crate::context::Context;

/// Where recordings are, each in a folder that is named by its id.
pub fn folder(context: &Context) -> PathBuf {
    context.home.join("recordings")
}

#[cfg(test)]
mod tests;
