//! Plans a session in the client's best shape, and the client's own command that makes it known.
//!
//! Nothing that grants anything is written: no approvals, no sandbox, no model, no instructions.

use std::path::{Path, PathBuf};

use carryover_core::plain::one_line;
use carryover_core::transcript::SessionId;
use serde_json::{Value, json};

use super::call_translator::CallTranslator;
use super::config::Config;
use super::rollout_writer::{RolloutWriter, WrittenRollout};
use super::{FACTS, rollout, titles};
use crate::formats::ids::Ids;
use crate::formats::request::{project_relocation, project_text, user_prompts};
use crate::{AgentError, Inverse, SessionRows, TargetView, VendorCommand, Version, WriteOp, WritePlan, WriteRequest};

/// The version that is written where no client tells its own.
const NEWEST_VERSION: Version = Version(0, 166, 0);

/// Clients from here on page through sessions, and show commands only from display items.
const PAGINATED_FROM: Version = Version(0, 148, 0);

/// Clients from here on list what their database holds, not what the disk holds.
const LISTS_DATABASE_FROM: Version = Version(0, 147, 0);

/// Longer names are cut in every list.
const MAX_NAME_CHARS: usize = 120;

/// Plans a session.
pub(super) fn plan_session(request: &WriteRequest<'_>, target: &TargetView<'_>) -> Result<WritePlan, AgentError> {
    let refuse = |reason: &str| AgentError::CannotHold { agent: "Codex CLI", reason: reason.to_owned() };
    let project = project_text(request, "Codex CLI")?;
    if request.entries.is_empty() && request.brief.is_none() {
        return Err(refuse("there is nothing in it"));
    }
    let version = target.version.unwrap_or(NEWEST_VERSION);
    let is_paginated = version >= PAGINATED_FROM;
    let root = &target.store.root;
    let mut ids = Ids::new(request.seed);
    let session = ids.next_timed_uuid(request.started_at);
    let file = rollout::path_for(root, request.started_at, &target.env.zone, &session);
    let speech = CallTranslator { project, moves: project_relocation(request, project), version };
    let meta = make_meta(request, &session, project, version, &Config::from_store(root).provider);
    let written = RolloutWriter::new(request, speech, &session, ids, is_paginated).write_session(meta);
    Ok(plan_file(request, target, session, file, written))
}

/// Plans to put a session there and to make it known.
pub(super) fn plan_file(
    request: &WriteRequest<'_>,
    target: &TargetView<'_>,
    session: String,
    file: PathBuf,
    written: WrittenRollout,
) -> WritePlan {
    let modified = written.ended_at.unwrap_or(target.env.now);
    let mut ops = vec![WriteOp::Create { path: file.clone(), bytes: written.bytes, private: true, modified }];
    match registration_run(request, target, &session) {
        Some(run) => ops.push(WriteOp::Run(run)),
        None => ops.extend(naming_op(request, target, &session)),
    }
    WritePlan {
        resume: FACTS.resume.command(&session, request.project),
        session: SessionId(session),
        file,
        key: None,
        ops,
        translated: written.translated,
        losses: written.losses,
        origins: written.origins,
    }
}

/// The first record. The provider must be the one in use: the client hides and refuses sessions of others.
fn make_meta(request: &WriteRequest<'_>, session: &str, project: &str, version: Version, provider: &str) -> Value {
    let mut meta = json!({
        "id": session, "session_id": session, "timestamp": request.started_at.to_string(), "cwd": project,
        "originator": "carryover", "cli_version": version.to_string(), "source": "cli", "model_provider": provider,
    });
    if version >= PAGINATED_FROM {
        meta["history_mode"] = json!("paginated");
    }
    if let Some(branch) = request.branch {
        meta["git"] = json!({ "branch": branch });
    }
    meta
}

/// The client's own command that puts the session into its list: reading a session by its id does. A name that is not
/// the first prompt's is given in the same way.
fn registration_run(request: &WriteRequest<'_>, target: &TargetView<'_>, session: &str) -> Option<VendorCommand> {
    let (program, version) = (target.program?, target.version?);
    if version < LISTS_DATABASE_FROM {
        return None;
    }
    let database = find_database(&target.store.root)?;
    let client = json!({ "name": "carryover", "title": "carryover", "version": env!("CARGO_PKG_VERSION") });
    let initialize = json!({ "id": 1, "method": "initialize", "params": { "clientInfo": client } });
    let initialized = json!({ "method": "initialized" });
    let read = json!({ "id": 2, "method": "thread/read", "params": { "threadId": session } });
    let mut dialogue = vec![
        (initialize.to_string(), Some("\"id\":1".to_owned())),
        (initialized.to_string(), None),
        (read.to_string(), Some("\"id\":2".to_owned())),
    ];
    let mut inverse = Inverse::default();
    inverse.rows.push(SessionRows {
        database,
        table: "threads",
        column: "id",
        value: session.to_owned(),
        is_prefix: false,
        is_session: false,
        owner: None,
        member: None,
    });
    if let Some(name) = session_name(request).filter(|_| version >= PAGINATED_FROM) {
        let set = json!({ "id": 3, "method": "thread/name/set", "params": { "threadId": session, "name": name } });
        dialogue.push((set.to_string(), Some("\"id\":3".to_owned())));
        inverse.lines.push(titles::session_lines(&target.store.root, session));
    }
    Some(VendorCommand {
        program: program.to_owned(),
        args: vec!["app-server".to_owned()],
        vars: vec![("CODEX_HOME".to_owned(), target.store.root.to_string_lossy().into_owned())],
        dialogue,
        reason: "puts the session into the client's own list",
        inverse,
        ..VendorCommand::default()
    })
}

/// The name where no client is there to be asked, or has never been started.
fn naming_op(request: &WriteRequest<'_>, target: &TargetView<'_>, session: &str) -> Option<WriteOp> {
    if target.version.unwrap_or(NEWEST_VERSION) < PAGINATED_FROM {
        return None;
    }
    let line = titles::format_line(session, &session_name(request)?, target.env.now);
    Some(WriteOp::AppendLine { lines: titles::session_lines(&target.store.root, session), line })
}

/// The session's title, where the client would not show it anyway: by itself it shows the first prompt.
fn session_name(request: &WriteRequest<'_>) -> Option<String> {
    let title = one_line(request.title?, MAX_NAME_CHARS);
    let first = user_prompts(request).next().map(|text| one_line(&text, usize::MAX));
    let begins = first.is_some_and(|first| first.starts_with(title.trim_end_matches('…')));
    (!title.is_empty() && !begins).then_some(title)
}

/// The client's index, whose number counts up with its versions. Where there is none yet, the client has not been
/// started: it will look at the disk when it is, and started by us it would leave more than could be taken back.
fn find_database(root: &Path) -> Option<PathBuf> {
    let number = |path: &PathBuf| -> Option<u32> {
        path.file_name()?.to_str()?.strip_prefix("state_")?.strip_suffix(".sqlite")?.parse().ok()
    };
    let listing = fs_err::read_dir(root).into_iter().flatten().flatten();
    listing.map(|entry| entry.path()).filter(|path| number(path).is_some()).max_by_key(number)
}
