//! Looking for what is wrong, without changing anything.

mod own;
mod writable;

use std::cmp::Reverse;
use std::io;
use std::path::{Path, PathBuf};

use carryover_agents::formats::file;
use carryover_agents::{AGENTS, Agent, Version};

use crate::client;
use crate::context::Context;
use crate::sessions::drift::find_drifts;
use crate::sessions::list::{Filter, ListedSession, agent_stores, list_among};
use crate::sessions::read;
use crate::sessions::unread::Unread;

/// How many sessions of each agent are read whole.
const MAX_SESSIONS_READ: usize = 3;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    Fine,
    Note,
    Warning,
    Error,
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The id of the agent that it is about; none where it is about us.
    pub agent: Option<&'static str>,
    pub severity: Severity,
    pub message: String,
    /// The remedy, an exact command where there is one.
    pub hint: Option<String>,
}

impl Finding {
    fn new(agent: Option<&'static str>, severity: Severity, message: String) -> Self {
        Self { agent, severity, message, hint: None }
    }

    fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Examines stores, clients and our own files.
pub fn examine(context: &Context) -> Vec<Finding> {
    examine_among(AGENTS, context)
}

pub(crate) fn examine_among(agents: &[&'static dyn Agent], context: &Context) -> Vec<Finding> {
    let mut findings = own::examine_files(context);
    for agent in agents {
        examine_agent(*agent, context, &mut findings);
    }
    findings
}

fn examine_agent(agent: &'static dyn Agent, context: &Context, findings: &mut Vec<Finding>) {
    let facts = agent.facts();
    let roots: Vec<PathBuf> = agent_stores(agent, context).into_iter().map(|store| store.root).collect();
    let mut tell = |severity, message| findings.push(Finding::new(Some(facts.id), severity, message));
    if let Some(client) = client::find_installed(context, agent) {
        match client.version {
            Some(version) => tell(Severity::Fine, format!("version {version}, {}", client.program.display())),
            None => tell(Severity::Note, format!("{} does not tell its version", client.program.display())),
        }
        if let Some(message) = client.version.and_then(|version| note_newer_version(version, facts.versions_seen.1)) {
            tell(Severity::Note, message);
        }
    }
    if roots.is_empty() {
        return;
    }
    let mut listing = list_among(&[agent], context, &Filter { agent: Some(agent), ..Filter::default() });
    for (_, error) in &listing.failures {
        tell(Severity::Error, format!("its sessions could not be read: {error}"));
    }
    let places = roots.iter().map(|root| root.display().to_string()).collect::<Vec<_>>().join(", ");
    tell(Severity::Fine, format!("{} in {places}", format_count(listing.sessions.len(), "session")));
    for store in agent_stores(agent, context) {
        if let Some(unreadable) = agent.unreadable_sessions(&store) {
            let count = format_count(unreadable.count, "session");
            tell(Severity::Note, format!("{count} in {} cannot be read: {}", store.root.display(), unreadable.reason));
        }
    }
    for error in roots.iter().flat_map(|root| unreadable_settings(agent, root)) {
        tell(Severity::Warning, format!("its settings are not taken into account: {error}"));
    }
    if agent.writer().is_some() {
        let closed = roots.iter().flat_map(|root| writable::closed_folders(agent, root));
        findings.extend(closed.map(|folder| not_writable(facts.id, &folder)));
    }
    for drift in find_drifts(&listing) {
        findings.push(Finding::new(Some(facts.id), Severity::Warning, drift.to_string()).with_hint(drift.advice()));
    }
    listing.sessions.sort_by_key(|session| Reverse(session.found.updated_at));
    findings.extend(listing.sessions.iter().take(MAX_SESSIONS_READ).flat_map(examine_session));
}

/// Settings in a store that are there and cannot be read.
fn unreadable_settings(agent: &dyn Agent, root: &Path) -> Vec<io::Error> {
    let paths = agent.facts().settings.iter().map(|name| root.join(name));
    let read = paths.filter_map(|path| file::read_text(&path, file::MAX_SETTINGS_BYTES).err());
    read.filter(|error| error.kind() != io::ErrorKind::NotFound).collect()
}

fn not_writable(agent: &'static str, folder: &Path) -> Finding {
    let folder = folder.display();
    let message = format!("{folder} is not writable: no session can be carried into it");
    Finding::new(Some(agent), Severity::Warning, message).with_hint(format!("chmod u+rwx '{folder}'"))
}

fn format_count(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Clients are read by the newest form that we know, which an even newer one may have left.
fn note_newer_version(version: Version, newest: &str) -> Option<String> {
    let known = Version::find_in(newest)?;
    (version > known).then(|| format!("version {version} is newer than {known}, the newest that was tried"))
}

fn examine_session(session: &ListedSession) -> Vec<Finding> {
    let agent = Some(session.agent.facts().id);
    let name = session.found.id.short();
    let transcript = match read::full_transcript(session, false) {
        Ok(transcript) => transcript,
        Err(error) => {
            let message = format!("session {name} could not be read: {error}");
            return vec![Finding::new(agent, Severity::Error, message)];
        }
    };
    let unread = Unread::from_transcript(&transcript);
    let damaged = (!unread.is_empty()).then(|| (Severity::Warning, unread.to_string()));
    // A session of which nothing is known is told with its store.
    let unknown = unread.describe_unknown().filter(|_| !session.found.drifted).map(|told| (Severity::Note, told));
    let told = damaged.into_iter().chain(unknown);
    told.map(|(severity, told)| Finding::new(agent, severity, format!("session {name}: {told}"))).collect()
}
