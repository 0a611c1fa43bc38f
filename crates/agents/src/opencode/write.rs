//! Planning a session that the client itself imports.
//!
//! The database belongs to the client, and its tables change with every other version: what is planned is a file in the
//! client's own form for exchange, and the client's own command that takes it in. The command is not whole or nothing,
//! so nothing is left to it to refuse.

use std::path::Path;

use carryover_core::transcript::SessionId;
use serde_json::{Value, json};

use super::FACTS;
use super::id_generator::IdGenerator;
use super::model;
use super::session_writer::SessionWriter;
use crate::formats::request::project_text;
use crate::{
    AgentError, Inverse, OwnerRow, SessionRows, TEMPORARY_FOLDER, TargetView, VendorCommand, Version, WriteOp,
    WritePlan, WriteRequest,
};

/// The version that is written where no client tells its own.
const NEWEST_VERSION: Version = Version(1, 18, 33);

/// The tables that hold something of a session, and the column that names it. Those that others refer to come last.
const SESSION_TABLES: &[(&str, &str)] = &[
    ("part", "session_id"),
    ("message", "session_id"),
    ("todo", "session_id"),
    ("session_share", "session_id"),
    ("event", "aggregate_id"),
    ("event_sequence", "aggregate_id"),
    ("session", "id"),
];

/// The row of the project that a session is in.
const PROJECT_ROW: OwnerRow = OwnerRow { table: "project", column: "id", referring_column: "project_id" };

/// Where the client's folders are stays as it is; what it may do by itself is turned off.
const PASSED_VARS: &[&str] = &["XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"];
const DISABLING_VARS: &[&str] = &[
    "OPENCODE_PURE",
    "OPENCODE_DISABLE_AUTOUPDATE",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS",
    "OPENCODE_DISABLE_LSP_DOWNLOAD",
    "OPENCODE_DISABLE_MODELS_FETCH",
    "OPENCODE_DISABLE_PROJECT_CONFIG",
];

/// Whatever it is told, the client fetches its plugin package into every configuration folder that it finds, and writes
/// into those: it is shown one of ours where the package seems to be there, and no other.
const CONFIG_FOLDER: &str = "config/opencode";
const PLUGIN_LOCK: &str = r#"{"packages":{"":{"dependencies":{"@opencode-ai/plugin":"*"}}}}"#;

/// Plans the file and the command. `denials` are rules of the session's own for what is not to be done in it.
pub(super) fn plan_session(
    request: &WriteRequest<'_>,
    target: &TargetView<'_>,
    denials: &[Value],
) -> Result<WritePlan, AgentError> {
    let refuse = |reason: &str| AgentError::CannotHold { agent: "OpenCode", reason: reason.to_owned() };
    let project = project_text(request, "OpenCode")?;
    let missing = "OpenCode is not installed, and only its own `opencode import` can add a session";
    let program = target.program.ok_or_else(|| refuse(missing))?;
    let database = super::database_path(&target.store.root, target.env);
    let model = model::choose_model(target.env, request.project, &database);
    let mut names = IdGenerator::new(request.seed);
    let session = request.sub_agent.map_or_else(|| names.session_id(target.env.now), |link| link.id.0.clone());
    let written = SessionWriter::new(request, project, &session, model, names).write_entries(target.env.now);
    let version = target.version.unwrap_or(NEWEST_VERSION).to_string();
    let mut export = json!({
        "info": {
            "id": session, "slug": "carried-over", "projectID": "global", "directory": project,
            "title": written.title, "version": version, "metadata": { "carryover": request.source_agent },
            "time": { "created": written.started_at.millis().max(0), "updated": target.env.now.millis().max(0) },
        },
        "messages": written.messages,
    });
    if !denials.is_empty() {
        export["info"]["permission"] = json!(denials);
    }
    if let Some(link) = request.sub_agent {
        export["info"]["parentID"] = json!(link.parent.0);
    }
    let run = import_command(program, request.project, &database, target, &session, export.to_string().into_bytes());
    Ok(WritePlan {
        resume: FACTS.resume.command(&session, request.project),
        file: database,
        key: Some(session.clone()),
        session: SessionId(session),
        ops: vec![WriteOp::Run(run)],
        translated: written.translated,
        losses: written.losses,
        origins: written.origins,
    })
}

/// The client's own import, kept away from the user's configuration: no plugin has a part in it, and nothing is fetched.
fn import_command(
    program: &Path,
    project: &Path,
    database: &Path,
    target: &TargetView<'_>,
    session: &str,
    export: Vec<u8>,
) -> VendorCommand {
    let var = |name: &&str| target.env.var(name).map(|value| ((*name).to_owned(), value.to_owned()));
    let mut vars: Vec<(String, String)> = PASSED_VARS.iter().filter_map(var).collect();
    vars.extend(DISABLING_VARS.iter().map(|name| ((*name).to_owned(), "1".to_owned())));
    vars.push(("XDG_CONFIG_HOME".to_owned(), format!("{TEMPORARY_FOLDER}/config")));
    // By this one it finds the configuration in the user's home, and nothing else.
    vars.push(("OPENCODE_TEST_HOME".to_owned(), format!("{TEMPORARY_FOLDER}/home")));
    vars.push(("npm_config_offline".to_owned(), "true".to_owned()));
    vars.push((super::DATABASE_VAR.to_owned(), database.to_string_lossy().into_owned()));
    let rows = SESSION_TABLES.iter().map(|(table, column)| SessionRows {
        database: database.to_owned(),
        table,
        column,
        value: session.to_owned(),
        is_prefix: false,
        is_session: matches!(*table, "part" | "message"),
        owner: (*table == "session").then_some(PROJECT_ROW),
        member: None,
    });
    VendorCommand {
        program: program.to_owned(),
        args: vec!["import".to_owned(), format!("{TEMPORARY_FOLDER}/session.json")],
        vars,
        cwd: Some(project.to_owned()),
        files: vec![
            ("session.json".to_owned(), export),
            (format!("{CONFIG_FOLDER}/package-lock.json"), PLUGIN_LOCK.as_bytes().to_vec()),
            (format!("{CONFIG_FOLDER}/node_modules/.keep"), Vec::new()),
        ],
        required: true,
        reason: "its own import takes the session in",
        inverse: Inverse { rows: rows.collect(), lines: Vec::new() },
        ..VendorCommand::default()
    }
}
