//! What is otherwise here than where the session was.

use std::collections::BTreeSet;
use std::path::Path;

use carryover_agents::{Agent, SettingsView, Version};

use super::VerifiedCapsule;
use super::boundary::digest_instructions;
use super::import::WorkspaceOutcome;
use super::workspace::{LeftOut, WorkspaceDrift, head_commit};
use crate::carry::resume::Report;
use crate::client;
use crate::context::Context;
use crate::conversations::command::missing_servers;
use crate::handoff::workspace::find_repository;

/// So many paths that differ are named.
const MAX_NAMED: usize = 10;

/// Where a capsule is opened into.
pub(super) struct Receiver<'a> {
    pub(super) context: &'a Context,
    pub(super) project: &'a Path,
    pub(super) target: &'static dyn Agent,
}

impl Receiver<'_> {
    /// Tells what differs: files, commit, instructions, client, model, servers of tools.
    pub(super) fn find_drift(&self, capsule: &VerifiedCapsule, workspace: &WorkspaceOutcome) -> Vec<String> {
        let mut drift = Vec::new();
        drift.extend(file_drift(workspace));
        drift.extend(tell_left_out(&capsule.workspace.left_out));
        drift.extend(self.commit_drift(capsule));
        drift.extend(self.instruction_drift(capsule));
        if self.target.facts().id == capsule.manifest.source.agent {
            drift.extend(self.client_drift(capsule));
            drift.extend(self.model_drift(capsule));
        }
        drift.extend(self.tool_drift(capsule));
        drift
    }

    fn commit_drift(&self, capsule: &VerifiedCapsule) -> Option<String> {
        let then = capsule.workspace.commit.as_deref()?;
        let short = |commit: &str| commit.get(..12).unwrap_or(commit).to_owned();
        let now = match head_commit(self.context, self.project) {
            Some(now) if now == then => return None,
            Some(now) => format!("is at {}", short(&now)),
            None if find_repository(self.project).is_some() => "is in a repository that tells no commit".to_owned(),
            None => "is in no repository".to_owned(),
        };
        Some(format!("the session was at commit {}, and this folder {now}", short(then)))
    }

    fn instruction_drift(&self, capsule: &VerifiedCapsule) -> Vec<String> {
        let Some(agent) = carryover_agents::agent_by_name(&capsule.manifest.source.agent) else { return Vec::new() };
        let here = digest_instructions(agent, self.project);
        let told = capsule.boundary.instruction_files.value.as_deref().unwrap_or_default();
        let changed = told.iter().filter(|file| !here.contains(file));
        changed.map(|file| format!("{} is not as it was when the session was told by it", file.path)).collect()
    }

    /// Another version of the same client may ask its model otherwise.
    fn client_drift(&self, capsule: &VerifiedCapsule) -> Option<String> {
        let then = Version::find_in(capsule.manifest.source.client_version.as_deref()?)?;
        let now = client::find_installed(self.context, self.target)?.version?;
        let name = self.target.facts().name;
        (then != now).then(|| format!("the session was held in {name} {then}, and {now} is installed"))
    }

    fn model_drift(&self, capsule: &VerifiedCapsule) -> Option<String> {
        let then = capsule.boundary.model.value.as_deref()?;
        let store = self.target.stores(&self.context.env).into_iter().next()?;
        let at = SettingsView { env: &self.context.env, store: &store, project: self.project };
        let now = self.target.current_model(&at)?;
        // Settings may name a family, or say how long the window is.
        let family = now.split('[').next().unwrap_or_default();
        let told = || format!("the session went on with {then}, and the settings here name {now}");
        (!then.contains(family)).then(told)
    }

    fn tool_drift(&self, capsule: &VerifiedCapsule) -> Option<String> {
        let boundary = &capsule.boundary;
        let offered = boundary.tools.value.iter().flatten().map(|tool| tool.name.clone());
        let used = boundary.tools_used.value.iter().flatten().map(|(name, _)| name.clone());
        let tools: Vec<String> = offered.chain(used).collect::<BTreeSet<_>>().into_iter().collect();
        missing_servers(self.context, self.project, &tools, self.target.facts())
    }
}

fn file_drift(workspace: &WorkspaceOutcome) -> Option<String> {
    match workspace {
        WorkspaceOutcome::Left(drift) => tell_drift(drift),
        _ => None,
    }
}

/// Names the first files that the capsule does not have, with the reason.
fn tell_left_out(left_out: &[LeftOut]) -> Vec<String> {
    let tell = |LeftOut { path, reason }: &LeftOut| {
        let path = if path == "." { String::new() } else { format!("{path} ") };
        format!("not in the capsule: {path}{reason}")
    };
    let more = left_out.len().saturating_sub(MAX_NAMED);
    let more = (more > 0).then(|| format!("not in the capsule: {more} more files; `capsule inspect` names them"));
    left_out.iter().take(MAX_NAMED).map(tell).chain(more).collect()
}

/// Names the first paths that are otherwise in a folder.
fn tell_drift(drift: &WorkspaceDrift) -> Option<String> {
    let named: Vec<String> =
        drift.list().take(MAX_NAMED).map(|(path, how)| format!("{path} {}", how.describe())).collect();
    let files = match drift.count() {
        0 => return None,
        1 => "one of the capsule's files is".to_owned(),
        count => format!("{count} of the capsule's files are"),
    };
    let more = drift.count() - named.len();
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    Some(format!("{files} otherwise in this folder: {}{more}", named.join("; ")))
}

/// The mode that the session was in, unless it is told as left behind already, or is the usual one.
pub(super) fn mode_drift(capsule: &VerifiedCapsule, report: &Report) -> Option<String> {
    let mode = capsule.boundary.permission_mode.value.as_deref()?;
    let source = carryover_agents::agent_by_name(&capsule.manifest.source.agent)?;
    let is_told = report.lost.iter().any(|loss| loss.what == "permission mode");
    let is_usual = source.facts().usual_modes.contains(&mode);
    let told = || format!("the session was in the mode {mode}; here it goes on in the one that the client begins with");
    (!is_told && !is_usual).then(told)
}
