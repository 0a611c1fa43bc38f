//! `carryover record list` and `carryover record show`.

use carryover_core::redact::redact_text;
use carryover_engine::context::Context;
use carryover_engine::recording::{MatchedSession, RecordedBoundary, Recording, find_recording, list_recordings};
use clap::Args;
use serde::Serialize;

use super::count_exchanges;
use crate::error::{CommandError, ErrorKind};
use crate::quantity::{format_bytes, format_count};
use crate::relative_time::format_ago;
use crate::ui::{BOLD, DIM, Ui};

#[derive(Args)]
pub(super) struct ListArgs {
    /// How many to show
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    limit: usize,
}

#[derive(Args)]
pub(super) struct ShowArgs {
    /// The recording's id or the beginning of one, or that of its session; the newest where none is given
    #[arg(value_name = "RECORDING")]
    recording: Option<String>,
}

/// Recordings, as `--json` tells them.
#[derive(Serialize)]
struct ListDocument {
    schema: &'static str,
    recordings: Vec<RecordingRow>,
    total: usize,
}

/// One recording with its boundary, as `--json` tells it.
#[derive(Serialize)]
struct ShowDocument {
    schema: &'static str,
    recording: RecordingRow,
    boundary: Option<RecordedBoundary>,
}

#[derive(Serialize)]
struct RecordingRow {
    id: String,
    agent: String,
    client_version: Option<String>,
    project: String,
    argv: Vec<String>,
    upstreams: Vec<String>,
    started_at: String,
    ended_at: Option<String>,
    exit_code: Option<i32>,
    exchanges: usize,
    bytes: u64,
    sessions: Vec<MatchedSession>,
    path: String,
}

impl RecordingRow {
    fn new(recording: &Recording) -> Result<Self, CommandError> {
        let manifest = recording.manifest.clone();
        Ok(Self {
            exchanges: recording.exchanges()?.len(),
            bytes: recording.disk_bytes(),
            path: recording.folder.display().to_string(),
            id: manifest.id,
            agent: manifest.agent,
            client_version: manifest.client_version,
            project: manifest.project.display().to_string(),
            argv: manifest.argv,
            upstreams: manifest.services.into_iter().map(|service| service.upstream).collect(),
            started_at: manifest.started_at.to_string(),
            ended_at: manifest.ended_at.map(|at| at.to_string()),
            exit_code: manifest.exit_code,
            sessions: manifest.sessions,
        })
    }
}

pub(super) fn cmd_list(ui: &mut Ui, context: &Context, args: &ListArgs) -> Result<(), CommandError> {
    let found = list_recordings(context)?;
    let total = found.len();
    let rows = found.iter().take(args.limit).map(RecordingRow::new).collect::<Result<Vec<_>, _>>()?;
    if ui.is_json() {
        return Ok(ui.write_json(&ListDocument { schema: "carryover.recordings/1", recordings: rows, total })?);
    }
    if rows.is_empty() {
        return Ok(ui.status("nothing was recorded yet")?);
    }
    for (row, recording) in rows.iter().zip(&found) {
        let age = format_ago(recording.manifest.started_at, context.env.now);
        let (exchanges, size) = (count_exchanges(row.exchanges), format_bytes(row.bytes));
        let line = format!("{BOLD}{}{BOLD:#}  {}  {age}  {exchanges}  {size}", row.id, row.agent);
        ui.write_row(format_args!("{line}  {DIM}{}{DIM:#}", row.project))?;
    }
    if rows.len() < total {
        ui.status(format_args!("{} of {total}", rows.len()))?;
    }
    Ok(())
}

pub(super) fn cmd_show(ui: &mut Ui, context: &Context, args: &ShowArgs) -> Result<(), CommandError> {
    let recording = choose_recording(context, args.recording.as_deref())?;
    let row = RecordingRow::new(&recording)?;
    let boundary = RecordedBoundary::read(&recording)?.map(mask_boundary);
    if ui.is_json() {
        let document = ShowDocument { schema: "carryover.recorded-boundary/1", recording: row, boundary };
        return Ok(ui.write_json(&document)?);
    }
    let exchanges = count_exchanges(row.exchanges);
    ui.write_row(format_args!("{BOLD}{}{BOLD:#}  {}  {exchanges}", row.id, row.agent))?;
    ui.write_row(format_args!("command    {}", row.argv.join(" ")))?;
    ui.write_row(format_args!("project    {}", row.project))?;
    for session in &row.sessions {
        ui.write_row(format_args!("session    {} {DIM}({}){DIM:#}", session.id, session.by.name()))?;
    }
    match boundary {
        Some(boundary) => write_boundary(ui, &boundary),
        None => Ok(ui.status("no request to a model was answered")?),
    }
}

fn write_boundary(ui: &mut Ui, boundary: &RecordedBoundary) -> Result<(), CommandError> {
    ui.write_row(format_args!("service    {}", boundary.upstream))?;
    ui.write_row(format_args!("model      {}", boundary.model.as_deref().unwrap_or("not named")))?;
    let chars: usize = boundary.system_prompt.iter().map(|text| text.chars().count()).sum();
    let messages = format_count(boundary.messages, "message", "messages");
    ui.write_row(format_args!("prompt     {chars} characters before a conversation of {messages}"))?;
    let tools: Vec<&str> = boundary.tools.iter().map(|tool| tool.name.as_str()).collect();
    ui.write_row(format_args!("tools      {} {DIM}{}{DIM:#}", tools.len(), tools.join(" ")))?;
    for (name, value) in &boundary.sampling {
        let value: String = value.to_string().chars().take(120).collect();
        ui.write_row(format_args!("sampling   {name} {DIM}{value}{DIM:#}"))?;
    }
    Ok(())
}

/// A prompt may hold what files of instructions hold.
fn mask_boundary(mut boundary: RecordedBoundary) -> RecordedBoundary {
    for text in &mut boundary.system_prompt {
        *text = redact_text(text).into_owned();
    }
    boundary
}

/// The recording that is meant; several that fit are never guessed among.
fn choose_recording(context: &Context, name: Option<&str>) -> Result<Recording, CommandError> {
    let missing = || CommandError::new(ErrorKind::NotFound, "there is no such recording");
    let Some(name) = name else {
        return list_recordings(context)?.into_iter().next().ok_or_else(missing);
    };
    let mut found = find_recording(context, name)?;
    match found.len() {
        0 => Err(missing().with_hint("`carryover record list` shows all")),
        1 => Ok(found.remove(0)),
        _ => {
            let ids = found.iter().map(|recording| format!("  {}", recording.manifest.id));
            Err(CommandError::new(ErrorKind::NotFound, format!("`{name}` means several")).with_details(ids))
        }
    }
}
