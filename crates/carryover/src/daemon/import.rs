//! `POST /sessions/import`: programs go on with a capsule, as `carryover import` does.
//!
//! A capsule is named by its path or id in a JSON body, or is the body itself. Nothing is started, and files go into an
//! empty folder or a clean checkout only.

use std::future::poll_fn;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use axum::body::{Body, HttpBody};
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use carryover_engine::capsule::import::{ImportOptions, TargetChoice, choose_target, import_capsule};
use carryover_engine::capsule::shelf::find_capsules;
use carryover_engine::capsule::{Capsule, CapsuleError};
use carryover_engine::context::Context;
use serde::Deserialize;

use super::routes::MAX_BODY_BYTES;
use super::run::Shared;
use crate::commands::import_document;
use crate::error::CommandError;

/// A longer capsule is named by its path.
const MAX_UPLOAD_BYTES: usize = 256 << 20;
const UPLOAD_TYPES: [&str; 4] =
    ["application/zstd", "application/zip", "application/octet-stream", "application/x-tar+zstd"];

/// How the capsule is gone on with; in the body, or in the address where the body is the capsule.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ImportRequest {
    path: Option<PathBuf>,
    id: Option<String>,
    target: Option<String>,
    /// The folder for its files, as a whole path.
    project: Option<PathBuf>,
    /// Whether its files are written.
    #[serde(default = "yes")]
    files: bool,
    /// What it has to fit into.
    tokens: Option<u64>,
}

fn yes() -> bool {
    true
}

/// Why a request is not done.
struct Refusal(StatusCode, String);

impl Refusal {
    fn bad(reason: &str) -> Self {
        Self(StatusCode::BAD_REQUEST, reason.to_owned())
    }
}

impl From<CapsuleError> for Refusal {
    fn from(error: CapsuleError) -> Self {
        let status = match &error {
            CapsuleError::NotClean { .. }
            | CapsuleError::OtherCommit { .. }
            | CapsuleError::Threatened { .. }
            | CapsuleError::ChangedMeanwhile(_) => StatusCode::CONFLICT,
            CapsuleError::Io(_) | CapsuleError::Agent(_) | CapsuleError::Resume(_) | CapsuleError::Git(_) => {
                StatusCode::INTERNAL_SERVER_ERROR
            }
            _ => StatusCode::UNPROCESSABLE_ENTITY,
        };
        Self(status, CommandError::from(error).to_line())
    }
}

impl From<std::io::Error> for Refusal {
    fn from(error: std::io::Error) -> Self {
        CapsuleError::from(error).into()
    }
}

pub(super) async fn import_session(
    State(shared): State<Arc<Shared>>,
    query: Query<ImportRequest>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    match take_request(&shared, query.0, &headers, body).await {
        Ok(document) => ([(header::CONTENT_TYPE, "application/json")], document).into_response(),
        Err(Refusal(status, reason)) => (status, reason).into_response(),
    }
}

async fn take_request(
    shared: &Arc<Shared>,
    query: ImportRequest,
    headers: &HeaderMap,
    body: Body,
) -> Result<String, Refusal> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let is_upload = UPLOAD_TYPES.contains(&kind);
    let context = (shared.make_context)();
    let (request, uploaded) = if is_upload {
        let mut file = tempfile::tempfile_in(&context.home)?;
        receive(body, MAX_UPLOAD_BYTES, &mut file).await?;
        (query, Some(file))
    } else {
        let mut bytes = Vec::new();
        receive(body, MAX_BODY_BYTES, &mut bytes).await?;
        let request = serde_json::from_slice(&bytes);
        (request.map_err(|_| Refusal::bad("the body is no request that is understood"))?, None)
    };
    // One at a time, for each may take all the memory that an import is allowed; the turn ends with the work, and not with
    // whoever has asked for it.
    let turn = Arc::clone(&shared.importing).lock_owned().await;
    let done = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        import(&context, &request, uploaded)
    });
    done.await.unwrap_or_else(|_| Err(Refusal(StatusCode::INTERNAL_SERVER_ERROR, "a bug of carryover".to_owned())))
}

/// Takes a body in, piece by piece and within bounds.
async fn receive(mut body: Body, limit: usize, out: &mut impl Write) -> Result<(), Refusal> {
    let mut length = 0;
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let frame = frame.map_err(|_| Refusal::bad("the body broke off"))?;
        let Ok(data) = frame.into_data() else { continue };
        length += data.len();
        if length > limit {
            return Err(Refusal(StatusCode::PAYLOAD_TOO_LARGE, "the body is too long".to_owned()));
        }
        out.write_all(&data)?;
    }
    Ok(())
}

fn import(context: &Context, request: &ImportRequest, uploaded: Option<std::fs::File>) -> Result<String, Refusal> {
    let project = request.project.as_deref().filter(|project| project.is_absolute());
    let folder = project.ok_or_else(|| Refusal::bad("`project` is missing, or no whole path"))?;
    let (path, capsule) = match uploaded {
        Some(file) => (PathBuf::from("upload"), Capsule::from_reader(file)?),
        None => open_named(context, request)?,
    };
    let target = choose_agent(context, request, &capsule)?;
    let mut verified = capsule.verify()?;
    let options = ImportOptions {
        target: target.agent,
        folder: crate::process_env::resolve_path(folder),
        files: request.files,
        force: false,
        tokens: request.tokens.or(context.config.resume.tokens),
    };
    let imported = import_capsule(context, &mut verified, &options)?;
    let document = import_document(&path, &verified, &target, &imported);
    serde_json::to_string(&document).map_err(|error| Refusal::from(std::io::Error::from(error)))
}

fn open_named(context: &Context, request: &ImportRequest) -> Result<(PathBuf, Capsule), Refusal> {
    let path: PathBuf = match (&request.path, &request.id) {
        (Some(path), None) if path.is_absolute() => path.clone(),
        (None, Some(id)) => {
            let mut found = find_capsules(context, id);
            if found.len() != 1 {
                return Err(Refusal(StatusCode::NOT_FOUND, format!("{} capsules have that id", found.len())));
            }
            found.remove(0).path
        }
        _ => return Err(Refusal::bad("one of `path`, a whole one, and `id` is needed")),
    };
    if !Path::new(&path).exists() {
        return Err(Refusal(StatusCode::NOT_FOUND, "there is no capsule at that path".to_owned()));
    }
    let capsule = Capsule::open(&path)?;
    Ok((path, capsule))
}

fn choose_agent(context: &Context, request: &ImportRequest, capsule: &Capsule) -> Result<TargetChoice, Refusal> {
    let Some(name) = &request.target else { return Ok(choose_target(context, &capsule.manifest)?) };
    let agent = carryover_agents::agent_by_name(name).ok_or_else(|| Refusal::bad("no agent has that name"))?;
    Ok(TargetChoice { agent, reason: "it was named".to_owned(), is_ambiguous: false })
}
