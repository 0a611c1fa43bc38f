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
use carryover_agents::{HookCall, HookKind, hooked_agents, read_call};
use carryover_engine::handoff::injection::handoff_for_start;
use carryover_engine::handoff::published::read_project_handoff;
use serde::Deserialize;

use super::run::Shared;

/// A longer body is no event.
pub(crate) const MAX_BODY_BYTES: usize = 1 << 20;
/// How long an agent that starts is let wait for its project's handoff.
const PREPARING_TIME: Duration = Duration::from_millis(400);
/// Tells in which folder a hook was called.
pub(super) const FOLDER_HEADER: &str = "x-carryover-folder";

/// The routes of the port; the socket has one more.
pub(super) fn common_routes() -> axum::Router<Arc<Shared>> {
    axum::Router::new()
        .route("/hook/{agent}/{event}", post(take_event))
        .route("/status", get(tell_status))
        .route("/handoff", get(tell_handoff))
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
}

/// The routes of the socket.
pub(super) fn socket_routes() -> axum::Router<Arc<Shared>> {
    common_routes().route("/stop", post(stop))
}

async fn take_event(
    State(shared): State<Arc<Shared>>,
    Path((agent, event)): Path<(String, String)>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let Some(facts) = hooked_agents().find(|facts| facts.id == agent || facts.aliases.contains(&agent.as_str())) else {
        return (StatusCode::NOT_FOUND, "no such agent").into_response();
    };
    let folder = headers.get(FOLDER_HEADER).and_then(|folder| folder.to_str().ok());
    let cwd = folder.map_or_else(PathBuf::new, PathBuf::from);
    let call =
        HookCall { agent: facts, event: &event, payload: &body, vars: &shared.no_vars, ancestors: &[], cwd: &cwd };
    let told = match read_call(&call) {
        Ok(told) => told,
        Err(error) => return (StatusCode::BAD_REQUEST, error.to_string()).into_response(),
    };
    if told.kind != HookKind::SessionStart {
        shared.capture.note_event(told);
        return StatusCode::NO_CONTENT.into_response();
    }
    let injection = facts.hooks.map(|hooks| hooks.injection);
    let worker = Arc::clone(&shared);
    let prepared = tokio::task::spawn_blocking(move || {
        worker.capture.prepare_project(&told, PREPARING_TIME);
        let text = handoff_for_start(&(worker.make_context)(), &told);
        worker.capture.note_event(told);
        text.ok()
    });
    // Work that panicked has no words.
    let text = prepared.await.ok().flatten();
    match text.and_then(|text| injection?.render(&event, &text)) {
        Some(words) => words.into_response(),
        None => StatusCode::NO_CONTENT.into_response(),
    }
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
