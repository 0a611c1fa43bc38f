//! Planning a session that the client itself imports.
//!
//! The database belongs to the client, and its tables change with every other version. Planned are the files of an older
//! client, in a folder of our own, and the client's own command that takes such files over into its database. The
//! command is told that the folder is where its state is, and where the database really is: what it leaves behind
//! besides the session (archives, manifests, locks) goes with the folder.

use std::path::{Path, PathBuf};

use carryover_core::transcript::SessionId;
use serde_json::{Value, json};

use super::{FACTS, discover, session_writer};
use crate::formats::ids::Ids;
use crate::formats::request::{given_title, project_text};
use crate::{
    AgentError, Inverse, SessionRows, TEMPORARY_FOLDER, TargetView, VendorCommand, Version, WriteOp, WritePlan,
    WriteRequest,
};

/// The first client that keeps sessions in a database, and takes older files over into it.
const FIRST_IMPORTING_VERSION: Version = Version(2026, 7, 2);

/// The agent that every client has.
const MAIN_AGENT: &str = "main";

/// The tables that hold something of a session by its id. Those that others refer to come last.
const TABLES_BY_ID: &[&str] = &[
    "session_transcript_active_events",
    "session_transcript_index_state",
    "session_transcript_fts_rows",
    "session_transcript_fts",
    "transcript_event_identities",
    "transcript_rewrite_watermarks",
    "trajectory_runtime_events",
    "transcript_events",
    "session_conversations",
    "session_windows",
];

/// Those that name it by its key.
const TABLES_BY_KEY: &[&str] = &["session_participants", "session_canonical_validation_pending", "session_nodes"];

/// Plans the files and the command.
pub(super) fn plan_session(request: &WriteRequest<'_>, target: &TargetView<'_>) -> Result<WritePlan, AgentError> {
    let refuse = |reason: &str| AgentError::CannotHold { agent: "OpenClaw", reason: reason.to_owned() };
    let project = project_text(request, "OpenClaw")?;
    let missing = "OpenClaw is not installed, and only its own `openclaw doctor` can add a session";
    let program = target.program.ok_or_else(|| refuse(missing))?;
    if target.version.is_some_and(|version| version < FIRST_IMPORTING_VERSION) {
        return Err(refuse("only versions from 2026.7.2 on can import a session"));
    }
    let agent = choose_agent(&target.store.root);
    let name = agent.file_name().and_then(|name| name.to_str()).unwrap_or(MAIN_AGENT).to_owned();
    let root = target.store.root.to_str().ok_or_else(|| refuse("the store's path is not UTF-8"))?;
    let mut ids = Ids::new(request.seed);
    let session = ids.next_uuid();
    let key = format!("agent:{name}:explicit:{session}");
    let written = session_writer::write_entries(request, project, &session, ids);
    let files = vec![
        ("openclaw.json".to_owned(), make_config(root, &name).to_string().into_bytes()),
        ("sessions/sessions.json".to_owned(), make_index(request, target, &session, &key).to_string().into_bytes()),
        (format!("sessions/{session}.jsonl"), written.bytes),
    ];
    let database = discover::database_path(&agent);
    let run = import_command(program, &database, files, &session, &key);
    Ok(WritePlan {
        resume: FACTS.resume.command(&key, request.project),
        file: database,
        key: Some(session.clone()),
        session: SessionId(session),
        ops: vec![WriteOp::Run(run)],
        translated: written.translated,
        losses: written.losses,
        origins: written.origins,
    })
}

/// The folder of the user's agent that the session is for: the one that is always there, or the only one that is.
fn choose_agent(root: &Path) -> PathBuf {
    let main = root.join("agents").join(MAIN_AGENT);
    let others = discover::list_agents(root);
    match others.first() {
        Some(other) if !main.is_dir() => other.clone(),
        _ => main,
    }
}

/// The configuration that the command is shown: where the database is, and whose.
fn make_config(root: &str, agent: &str) -> Value {
    let separator = if root.contains('\\') { '\\' } else { '/' };
    let store = [root, "agents", "{agentId}", "sessions", "sessions.json"].join(&separator.to_string());
    let mut config = json!({ "session": { "store": store } });
    if agent != MAIN_AGENT {
        config["agents"] = json!({ "entries": { agent: { "default": true } } });
    }
    config
}

/// The index of an older client, with this session in it.
fn make_index(request: &WriteRequest<'_>, target: &TargetView<'_>, session: &str, key: &str) -> Value {
    let now = target.env.now.millis().max(0);
    let mut entry = json!({
        "sessionId": session, "sessionFile": format!("{session}.jsonl"), "updatedAt": now,
        "sessionStartedAt": request.started_at.millis().max(0), "lastInteractionAt": now,
    });
    if let Some(title) = given_title(request) {
        entry["displayName"] = json!(title);
    }
    json!({ key: entry })
}

fn import_command(
    program: &Path,
    database: &Path,
    files: Vec<(String, Vec<u8>)>,
    session: &str,
    key: &str,
) -> VendorCommand {
    let var = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let rows = |tables: &'static [&'static str], column: &'static str, value: &str| {
        let (database, value) = (database.to_owned(), value.to_owned());
        tables.iter().map(move |table| SessionRows {
            database: database.clone(),
            table,
            column,
            value: value.clone(),
            is_prefix: false,
            is_session: *table == "transcript_events",
            owner: None,
            member: None,
        })
    };
    let rows = rows(TABLES_BY_ID, "session_id", session).chain(rows(TABLES_BY_KEY, "session_key", key));
    VendorCommand {
        program: program.to_owned(),
        args: ["doctor", "--session-sqlite", "import", "--session-sqlite-all-agents"].map(str::to_owned).to_vec(),
        vars: vec![
            var("OPENCLAW_STATE_DIR", TEMPORARY_FOLDER),
            var("OPENCLAW_CONFIG_PATH", &format!("{TEMPORARY_FOLDER}/openclaw.json")),
            var("OPENCLAW_DISABLE_UPDATE_CHECK", "1"),
            var("OPENCLAW_HIDE_BANNER", "1"),
        ],
        files,
        required: true,
        reason: "its own import takes the session in",
        inverse: Inverse { rows: rows.collect(), lines: Vec::new() },
        ..VendorCommand::default()
    }
}
