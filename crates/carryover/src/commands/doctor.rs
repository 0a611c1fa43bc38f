//! `carryover doctor`.

use carryover_engine::context::Context;
use carryover_engine::doctor::{self, Finding, Severity};
use clap::Args;
use serde::Serialize;

use crate::error::{CommandError, ErrorKind, NO_AGENT_HINTS};
use crate::ui::{BAD, DIM, DOUBTFUL, GOOD, Paint, Ui};

/// Look for what is wrong, and change nothing
///
/// Examines the configuration, carryover's own files, each agent's client and store, and reads the newest sessions whole.
#[derive(Args)]
pub(crate) struct DoctorArgs {}

/// The findings, as `--json` tells them.
#[derive(Serialize)]
struct DoctorDocument<'a> {
    schema: &'static str,
    version: &'static str,
    findings: Vec<FindingRow<'a>>,
}

#[derive(Serialize)]
struct FindingRow<'a> {
    agent: Option<&'static str>,
    severity: &'static str,
    message: &'a str,
    hint: Option<&'a str>,
}

pub(crate) fn cmd_doctor(ui: &mut Ui, context: &Context, _args: &DoctorArgs) -> Result<(), CommandError> {
    let findings = doctor::examine(context);
    if ui.is_json() {
        let findings = findings.iter().map(finding_row).collect();
        let version = env!("CARGO_PKG_VERSION");
        ui.write_json(&DoctorDocument { schema: "carryover.doctor/1", version, findings })?;
    } else {
        for finding in &findings {
            write_finding(ui, finding)?;
        }
    }
    if findings.iter().any(|finding| finding.severity == Severity::Error) {
        return Err(CommandError::new(ErrorKind::Io, "something is wrong; it is told above"));
    }
    if findings.iter().all(|finding| finding.agent.is_none()) {
        let missing = CommandError::new(ErrorKind::NoAgent, "no agent was found");
        return Err(NO_AGENT_HINTS.into_iter().fold(missing, CommandError::with_hint));
    }
    Ok(())
}

fn finding_row(finding: &Finding) -> FindingRow<'_> {
    FindingRow {
        agent: finding.agent,
        severity: severity_word(finding.severity).0,
        message: &finding.message,
        hint: finding.hint.as_deref(),
    }
}

fn write_finding(ui: &mut Ui, finding: &Finding) -> Result<(), CommandError> {
    let (word, style) = severity_word(finding.severity);
    let about = finding.agent.unwrap_or("carryover");
    ui.write_row(format_args!("{style}{word:<7}{style:#}  {about:<11}  {}", finding.message))?;
    if let Some(hint) = &finding.hint {
        ui.write_row(format_args!("{:<22}{DIM}{}{DIM:#}", "", hint))?;
    }
    Ok(())
}

fn severity_word(severity: Severity) -> (&'static str, Paint) {
    match severity {
        Severity::Fine => ("fine", GOOD),
        Severity::Note => ("note", DIM),
        Severity::Warning => ("warning", DOUBTFUL),
        Severity::Error => ("error", BAD),
    }
}
