//! The transcripts that the extension writes for hooks: events as those of Copilot CLI. They are a second telling of a
//! session, and count where the first is gone.

use std::path::{Path, PathBuf};

use carryover_core::transcript::{Entry, EntryKey, Fact, Header};

use super::workspace::Workspace;
use crate::copilot_cli::CopilotCli;
use crate::formats::jsonl;
use crate::{AgentError, Bookmark, Discovery as _, FoundSession, Reader as _, Sink, Source, Store};

/// How much of a file is looked at to know it.
const HEAD_BYTES: u64 = 1_024;

/// Whether a file is such a transcript: by its folder, or by what is in it.
pub(super) fn is_transcript(path: &Path) -> bool {
    let is_there = path.parent().is_some_and(|folder| folder.ends_with("transcripts"));
    is_there || jsonl::read_head(path, HEAD_BYTES).is_ok_and(|head| is_ours(&String::from_utf8_lossy(&head)))
}

/// Whether a loose file is one, by its first event: only the editor's names the editor.
pub(super) fn is_ours(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    first.contains("\"session.start\"") && first.contains("\"vscodeVersion\"")
}

/// The files that tell the same session better, the best one first.
pub(super) fn better_files(transcript: &Path) -> Vec<PathBuf> {
    let workspace = transcript.ancestors().nth(3).unwrap_or_else(|| Path::new(""));
    let name = transcript.file_stem().unwrap_or_default().to_string_lossy();
    ["jsonl", "json"].map(|end| workspace.join("chatSessions").join(format!("{name}.{end}"))).to_vec()
}

/// Looks at the two ends of a transcript.
pub(super) fn scan_session(store: &Store, path: &Path) -> Result<Option<FoundSession>, AgentError> {
    let mut found = CopilotCli.sessions_in(store, path)?;
    for session in &mut found {
        session.project = Workspace::of_session(path, None).project.or(session.project.take());
    }
    Ok(found.pop())
}

pub(super) fn read_session(source: &Source, from: &Bookmark, sink: &mut dyn Sink) -> Result<Bookmark, AgentError> {
    if let Some(project) = Workspace::of_session(&source.path, None).project {
        // The verdict of a sink that wants no more is met again at the first entry.
        let _ = sink.learn(Fact::Project(project));
    }
    CopilotCli.read_session(source, from, sink)
}

pub(super) fn reload_entries(header: &Header, key: EntryKey) -> Result<Vec<Entry>, AgentError> {
    CopilotCli.reload_entries(header, key)
}
