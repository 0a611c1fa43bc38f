//! What a recording of a session tells of it, as long as the session has not gone on without one.

use std::io;

use carryover_core::time::Timestamp;
use carryover_core::transcript::{Body, Origin, Transcript};

use crate::context::Context;
use crate::recording::{Exchange, RecordedBoundary, Recording, list_recordings};
use crate::sessions::list::ListedSession;
use crate::sessions::read;

/// A client that was broken off had this long to write down the answer that it had.
const GRACE_MILLIS: i64 = 5_000;

/// What the newest recording of a session is good for.
pub(super) enum RecordedEnd {
    /// There is none, or no model answered in it.
    Absent,
    /// The session went on after it.
    Outdated,
    /// Bytes are missing of what came after its last request that is whole: that may have been asked under other conditions.
    Gapped,
    /// Its last request is the session's last.
    Current(Box<RecordedRequest>),
}

/// The last request of a session's own loop.
pub(super) struct RecordedRequest {
    pub(super) boundary: RecordedBoundary,
    /// Its body, as it was sent.
    pub(super) body: Vec<u8>,
}

/// Looks into the newest recording of a session.
pub(super) fn read_recorded_end(
    context: &Context,
    session: &ListedSession,
    transcript: &Transcript,
) -> io::Result<RecordedEnd> {
    find_recorded_end(&list_recordings(context)?, session, transcript)
}

/// Whether sessions were recorded to their ends, one by one.
pub fn list_recorded(context: &Context, sessions: &[ListedSession]) -> Vec<bool> {
    let recordings = list_recordings(context).unwrap_or_default();
    let is_recorded = |session: &ListedSession| {
        // Most sessions have none, and are not read for it.
        if !recordings.iter().any(|recording| belongs_to(recording, session)) {
            return false;
        }
        let Ok(transcript) = read::full_transcript(session, true) else { return false };
        let end = find_recorded_end(&recordings, session, &transcript);
        matches!(end, Ok(RecordedEnd::Current(_)))
    };
    sessions.iter().map(is_recorded).collect()
}

fn belongs_to(recording: &Recording, session: &ListedSession) -> bool {
    let is_agents = recording.manifest.agent == session.agent.facts().id;
    is_agents && recording.manifest.sessions.iter().any(|matched| matched.id == session.found.id.0)
}

fn find_recorded_end(
    recordings: &[Recording],
    session: &ListedSession,
    transcript: &Transcript,
) -> io::Result<RecordedEnd> {
    let newest = recordings.iter().find(|recording| belongs_to(recording, session));
    let Some(newest) = newest else { return Ok(RecordedEnd::Absent) };
    let Some(boundary) = RecordedBoundary::read(newest)? else { return Ok(RecordedEnd::Absent) };
    let exchanges = newest.exchanges()?;
    if exchanges.iter().any(|exchange| exchange.has_gaps && exchange.number > boundary.exchange) {
        return Ok(RecordedEnd::Gapped);
    }
    let ends = newest.manifest.ended_at.or_else(|| last_end(&exchanges));
    let last_turn = last_turn(transcript).or(session.found.updated_at);
    if last_turn.zip(ends).is_some_and(|(turn, end)| turn > end) {
        return Ok(RecordedEnd::Outdated);
    }
    let Some(exchange) = exchanges.iter().find(|exchange| exchange.number == boundary.exchange) else {
        return Ok(RecordedEnd::Absent);
    };
    let body = newest.with_exchange(exchange).decoded_request()?;
    Ok(RecordedEnd::Current(Box::new(RecordedRequest { boundary, body })))
}

fn last_end(exchanges: &[Exchange]) -> Option<Timestamp> {
    exchanges.iter().map(|exchange| exchange.ended_at).max().map(|end| end.plus_millis(GRACE_MILLIS))
}

/// When the model last spoke; what the client notes after its end is no turn.
fn last_turn(transcript: &Transcript) -> Option<Timestamp> {
    let is_models = |body: &Body| matches!(body, Body::Reply(_) | Body::Call(_) | Body::Reasoning(_));
    let told = transcript.entries.iter().filter(|entry| !entry.side && entry.origin == Origin::Agent);
    told.filter(|entry| is_models(&entry.body)).filter_map(|entry| entry.at).max()
}
