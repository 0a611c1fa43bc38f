//! Planning a session that the client itself imports.
//!
//! The database belongs to the client, and its tables change with every other version: what is planned is a file in the
//! client's own form for exchange, and the client's own command that takes it in. The command is not whole or nothing,
//! so nothing is left to it to refuse.

use std::path::Path;

use carryover_core::transcript::SessionId;
use serde_json::json;

use super::model;
use super::names::Names;
use super::page::Page;
use crate::formats::request::project_text;
use crate::{
    AgentError, Inverse, Op, OwnerOf, ResumeCommand, RowsOf, Run, TEMPORARY, TargetView, Version, WritePlan,
    WriteRequest,
};

/// The version that is written where no client tells its own.
const NEWEST: Version = Version(1, 18, 33);

/// The tables that hold something of a session, and the column that names it. Those that others refer to come last.
const TABLES: &[(&str, &str)] = &[
    ("part", "session_id"),
    ("message", "session_id"),
    ("todo", "session_id"),
    ("session_share", "session_id"),
    ("event", "aggregate_id"),
    ("event_sequence", "aggregate_id"),
    ("session", "id"),
];

/// The row of the project that a session is in.
const PROJECT: OwnerOf = OwnerOf { table: "project", column: "id", by: "project_id" };

/// Where the client's folders are stays as it is; what it may do by itself is turned off.
const PASSED_ON: &[&str] = &["XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"];
const TURNED_OFF: &[&str] = &[
    "OPENCODE_PURE",
    "OPENCODE_DISABLE_AUTOUPDATE",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS",
    "OPENCODE_DISABLE_LSP_DOWNLOAD",
    "OPENCODE_DISABLE_MODELS_FETCH",
    "OPENCODE_DISABLE_PROJECT_CONFIG",
];

/// Whatever it is told, the client fetches its plugin package into every configuration folder that it finds, and writes
/// into those: it is shown one of ours where the package seems to be there, and no other.
const CONFIG: &str = "config/opencode";
const INSTALLED: &str = r#"{"packages":{"":{"dependencies":{"@opencode-ai/plugin":"*"}}}}"#;

/// Plans the file and the command.
pub(super) fn plan(request: &WriteRequest<'_>, target: &TargetView<'_>) -> Result<WritePlan, AgentError> {
    let refuse = |reason: &str| AgentError::CannotHold { agent: "OpenCode", reason: reason.to_owned() };
    let project = project_text(request, "OpenCode")?;
    let missing = "OpenCode is not installed, and only its own `opencode import` can add a session";
    let program = target.program.ok_or_else(|| refuse(missing))?;
    let database = super::database(&target.store.root, target.env);
    let model = model::chosen(target.env, request.project, &database);
    let mut names = Names::new(request.seed);
    let session = names.session(target.env.now);
    let written = Page::new(request, project, &session, model, names).write(target.env.now);
    let version = target.version.unwrap_or(NEWEST).to_string();
    let export = json!({
        "info": {
            "id": session, "slug": "carried-over", "projectID": "global", "directory": project,
            "title": written.title, "version": version, "metadata": { "carryover": request.source_agent },
            "time": { "created": written.began.millis().max(0), "updated": target.env.now.millis().max(0) },
        },
        "messages": written.messages,
    });
    let run = import(program, request.project, &database, target, &session, export.to_string().into_bytes());
    let argv = ["opencode", "--session", &session].map(str::to_owned).to_vec();
    Ok(WritePlan {
        resume: ResumeCommand { argv, cwd: request.project.to_owned(), needs_cwd: true },
        file: database,
        key: Some(session.clone()),
        session: SessionId(session),
        ops: vec![Op::Run(run)],
        translated: written.translated,
        losses: written.losses,
        origins: written.origins,
    })
}

/// The client's own import, kept away from the user's configuration: no plugin has a part in it, and nothing is fetched.
fn import(
    program: &Path,
    project: &Path,
    database: &Path,
    target: &TargetView<'_>,
    session: &str,
    export: Vec<u8>,
) -> Run {
    let var = |name: &&str| target.env.var(name).map(|value| ((*name).to_owned(), value.to_owned()));
    let mut vars: Vec<(String, String)> = PASSED_ON.iter().filter_map(var).collect();
    vars.extend(TURNED_OFF.iter().map(|name| ((*name).to_owned(), "1".to_owned())));
    vars.push(("XDG_CONFIG_HOME".to_owned(), format!("{TEMPORARY}/config")));
    // By this one it finds the configuration in the user's home, and nothing else.
    vars.push(("OPENCODE_TEST_HOME".to_owned(), format!("{TEMPORARY}/home")));
    vars.push(("npm_config_offline".to_owned(), "true".to_owned()));
    vars.push((super::DATABASE.to_owned(), database.to_string_lossy().into_owned()));
    let rows = TABLES.iter().map(|(table, column)| RowsOf {
        database: database.to_owned(),
        table,
        column,
        value: session.to_owned(),
        is_session: matches!(*table, "part" | "message"),
        owner: (*table == "session").then_some(PROJECT),
    });
    Run {
        program: program.to_owned(),
        args: vec!["import".to_owned(), format!("{TEMPORARY}/session.json")],
        vars,
        cwd: Some(project.to_owned()),
        files: vec![
            ("session.json".to_owned(), export),
            (format!("{CONFIG}/package-lock.json"), INSTALLED.as_bytes().to_vec()),
            (format!("{CONFIG}/node_modules/.keep"), Vec::new()),
        ],
        required: true,
        why: "its own import takes the session in",
        inverse: Inverse { rows: rows.collect(), lines: Vec::new() },
        ..Run::default()
    }
}
