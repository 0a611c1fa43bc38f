//! Listing sessions from `workspace.yaml` and the two ends of their events.

use std::io;
use std::path::{Path, PathBuf};

use carryover_core::plain::one_line;
use carryover_core::transcript::SessionId;

use super::workspace::Workspace;
use super::{CopilotCli, history, record};
use crate::formats::jsonl::EndsScan;
use crate::formats::process::may_run;
use crate::formats::unopened::UnopenedFiles;
use crate::{AgentError, Discovery, FoundCallback, FoundSession, Liveness, Store};

/// How much of each end is looked at.
const END_BYTES: u64 = 20 << 10;

impl Discovery for CopilotCli {
    fn recognises(&self, _path: &Path, head: &[u8]) -> bool {
        let text = String::from_utf8_lossy(head);
        let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        // The extension in VS Code writes such events for hooks, and names the editor.
        let ours = first.contains("\"session.start\"")
            && first.contains("\"copilotVersion\"")
            && !first.contains("\"vscodeVersion\"");
        ours || history::is_history(head)
    }

    fn list_sessions(&self, store: &Store, found: FoundCallback<'_>) -> Result<(), AgentError> {
        let mut unopened = UnopenedFiles::default();
        if history::list_sessions(&store.root, &mut unopened, found).is_break() {
            return Ok(());
        }
        let sessions = store.root.join("session-state");
        for entry in unopened.ok_or_note(fs_err::read_dir(&sessions)).into_iter().flatten() {
            let Some(events) = events_path(&entry?.path()).filter(|events| unopened.can_read(events)) else { continue };
            let Some(session) = unopened.ok_or_note(scan_session(&events)).flatten() else { continue };
            if found(session).is_break() {
                return Ok(());
            }
        }
        unopened.into_result()
    }

    fn sessions_in(&self, _store: &Store, file: &Path) -> Result<Vec<FoundSession>, AgentError> {
        Ok(scan_session(file)?.into_iter().collect())
    }
}

/// The events of a session, whose folder is named by it; a file of that name holds them where there is no folder.
fn events_path(path: &Path) -> Option<PathBuf> {
    let events =
        if path.extension().is_some_and(|end| end == "jsonl") { path.to_path_buf() } else { path.join("events.jsonl") };
    session_id(&events).is_some().then_some(events)
}

/// The session that a file of this name holds; `None` where the name tells nothing.
pub(super) fn session_id(path: &Path) -> Option<SessionId> {
    let named = if path.file_name()? == "events.jsonl" { path.parent()?.file_name()? } else { path.file_stem()? };
    let named = named.to_str()?;
    uuid::Uuid::try_parse(named).ok()?;
    Some(SessionId(named.to_owned()))
}

/// Looks at the two ends of a session's events; one in which nothing was said is no session.
fn scan_session(path: &Path) -> io::Result<Option<FoundSession>> {
    let metadata = fs_err::metadata(path)?;
    let ends = EndsScan::read(path, &metadata, END_BYTES, END_BYTES, |ends, line| {
        let Some(parsed) = record::parse_record(line, 0) else { return };
        let all_new = parsed.entries.iter().all(|entry| entry.body.is_unknown());
        let is_known = parsed.more.known && parsed.rejected.is_none() && !all_new;
        ends.scan_record(is_known, &parsed.entries, parsed.facts);
    })?;
    let (Some(ends), Some(id)) = (ends, session_id(path)) else { return Ok(None) };
    let workspace = Workspace::read_beside(path).unwrap_or_default();
    let name = workspace.name.map(|name| one_line(&name, 200)).filter(|name| !name.is_empty());
    // The table's own time is the one of its last change, not of the last turn.
    let updated_at = ends.header.updated_at.max(workspace.updated_at);
    let found = ends.into_found(path, &metadata, id);
    Ok(Some(FoundSession {
        title: name.or(found.title),
        project: found.project.or(workspace.cwd),
        branch: found.branch.or(workspace.branch),
        started_at: found.started_at.or(workspace.created_at),
        updated_at: updated_at.or(found.updated_at),
        live: session_liveness(path),
        ..found
    }))
}

/// A client that has the session open keeps a file named by its process beside the events.
fn session_liveness(events: &Path) -> Liveness {
    let Some(folder) = events.parent().filter(|_| events.ends_with("events.jsonl")) else { return Liveness::Unknown };
    let Ok(listing) = fs_err::read_dir(folder) else { return Liveness::Unknown };
    let names = listing.filter_map(Result::ok).map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut processes = names.filter_map(|name| name.strip_prefix("inuse.")?.strip_suffix(".lock")?.parse().ok());
    if processes.any(may_run) { Liveness::Live } else { Liveness::NotLive }
}
