//! What the daemon answers.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use carryover_agents::{Facts, HookCall, HookEvent, HookKind, RunMode, hooked_agents, read_call};
use carryover_engine::handoff::injection::handoff_for_start;
use carryover_engine::handoff::published::read_project_handoff;
use serde::Deserialize;

use super::client::decode_folder;
use super::import::import_session;
use super::run::Shared;

/// A longer body is no event.
pub(crate) const MAX_BODY_BYTES: usize = 1 << 20;
/// How long an agent that starts is let wait for its project's handoff.
const PREPARING_TIME: Duration = Duration::from_millis(300);
/// Tells in which folder a hook was called; see `encode_folder`.
pub(super) const FOLDER_HEADER: &str = "x-carryover-folder";

/// The routes of the port.
pub(super) fn port_routes() -> axum::Router<Arc<Shared>> {
    common_routes().route("/hook/{agent}/{event}", post(answer_event)).layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
}

/// The routes of the socket. Our own hook makes its words itself: it knows how its agent was started.
pub(super) fn socket_routes() -> axum::Router<Arc<Shared>> {
    common_routes()
        .route("/hook/{agent}/{event}", post(take_event))
        .route("/stop", post(stop))
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
}

fn common_routes() -> axum::Router<Arc<Shared>> {
    axum::Router::new()
        .route("/status", get(tell_status))
        .route("/handoff", get(tell_handoff))
        .route("/sessions/import", post(import_session))
}

/// Takes an event without a word.
async fn take_event(
    State(shared): State<Arc<Shared>>,
    Path((agent, event)): Path<(String, String)>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let (_, told) = match read_event(&shared, &agent, &event, &headers, &body) {
        Ok(told) => told,
        Err(refusal) => return refusal,
    };
    if told.kind == HookKind::SessionStart {
        let worker = Arc::clone(&shared);
        let event = told.clone();
        // Work that panicked has prepared nothing.
        tokio::task::spawn_blocking(move || worker.capture.prepare_project(&event, PREPARING_TIME)).await.ok();
    }
    shared.capture.note_event(told);
    StatusCode::NO_CONTENT.into_response()
}

/// Takes an event, and answers a start with the words for its agent.
async fn answer_event(
    State(shared): State<Arc<Shared>>,
    Path((agent, event)): Path<(String, String)>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let (facts, told) = match read_event(&shared, &agent, &event, &headers, &body) {
        Ok(told) => told,
        Err(refusal) => return refusal,
    };
    if told.kind != HookKind::SessionStart {
        shared.capture.note_event(told);
        return StatusCode::NO_CONTENT.into_response();
    }
    let injection = facts.hooks.map(|hooks| hooks.injection);
    let worker = Arc::clone(&shared);
    let prepared = tokio::task::spawn_blocking(move || {
        worker.capture.prepare_project(&told, PREPARING_TIME);
        let may_answer = !is_perhaps_headless(facts, &told);
        let text = may_answer.then(|| handoff_for_start(&(worker.make_context)(), &told).ok()).flatten();
        worker.capture.note_event(told);
        text
    });
    // Work that panicked has no words.
    let text = prepared.await.ok().flatten();
    match text.and_then(|text| injection?.render(&event, &text)) {
        Some(words) => words.into_response(),
        None => StatusCode::NO_CONTENT.into_response(),
    }
}

#[expect(clippy::result_large_err, reason = "it is answered at once")]
fn read_event(
    shared: &Shared,
    agent: &str,
    event: &str,
    headers: &HeaderMap,
    payload: &[u8],
) -> Result<(&'static Facts, HookEvent), Response> {
    let Some(facts) = hooked_agents().find(|facts| facts.id == agent || facts.aliases.contains(&agent)) else {
        return Err((StatusCode::NOT_FOUND, "no such agent").into_response());
    };
    let folder = headers.get(FOLDER_HEADER).and_then(|folder| folder.to_str().ok());
    let cwd = folder.and_then(decode_folder).unwrap_or_default();
    let call = HookCall { agent: facts, event, payload, vars: &shared.no_vars, ancestors: &[], cwd: &cwd };
    let told = read_call(&call).map_err(|error| (StatusCode::BAD_REQUEST, error.to_string()).into_response())?;
    Ok((facts, told))
}

/// Whether nobody may be there to answer: what tells it is seen beside the agent only, and not from here.
fn is_perhaps_headless(facts: &Facts, told: &HookEvent) -> bool {
    let has_marks = facts.hooks.is_some_and(|hooks| {
        let marks = &hooks.headless;
        marks.variable.is_some() || !marks.arguments.is_empty()
    });
    has_marks && told.run_mode == RunMode::Unknown
}

async fn tell_status(State(shared): State<Arc<Shared>>) -> Response {
    Json(shared.status()).into_response()
}

#[derive(Deserialize)]
struct HandoffQuery {
    project: PathBuf,
}

async fn tell_handoff(State(shared): State<Arc<Shared>>, Query(query): Query<HandoffQuery>) -> Response {
    match read_project_handoff(&(shared.make_context)(), &query.project) {
        Some(text) => ([("content-type", "text/markdown; charset=utf-8")], text).into_response(),
        None => (StatusCode::NOT_FOUND, "no handoff was published there").into_response(),
    }
}

async fn stop(State(shared): State<Arc<Shared>>) -> Response {
    shared.request_end();
    StatusCode::NO_CONTENT.into_response()
}
