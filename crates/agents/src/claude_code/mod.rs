//! Claude Code.
//!
//! A session is one file of records that name their parent; the last leaf decides the branch. What the client writes
//! and what makes it load a foreign session is in `README.md` beside this file.

mod answers;
mod attachment;
mod blocks;
mod boilerplate;
mod command;
mod dialect;
mod discover;
mod heard;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod heard_tests;
mod kept_files;
mod past;
mod queue;
mod read;
mod record;
mod slug;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests;
mod usage;
mod wire;
mod write;
#[cfg(test)]
mod write_tests;

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::path::Path;

use carryover_core::transcript::{Action, Answer, Body, Call, Entry, EntryKey, Header, Outcome, Permission};

use crate::formats::jsonl;
use crate::{
    Agent, AgentError, Base, Bookmark, Facts, FileState, Found, Limits, ModelWindow, PathRule, Sink, Source, Store,
    TargetView, WritePlan, WriteRequest, Writer,
};

/// Claude Code, 1.0 to 2.1.
pub(crate) struct ClaudeCode;

static FACTS: Facts = Facts {
    id: "claude-code",
    name: "Claude Code",
    aliases: &["claude", "cc"],
    binaries: &["claude"],
    start: &["claude", "{prompt}"],
    packages: &["@anthropic-ai/claude-code"],
    stores: &[
        PathRule { on: &[], base: Base::Variable("CLAUDE_CONFIG_DIR"), path: &[] },
        PathRule { on: &[], base: Base::Home, path: &[".claude"] },
    ],
    tracks: &[&["projects", "*", "*.jsonl"]],
    limits: Limits::Worded,
    keeps_plan_mode: true,
    settings: &[],
    instruction_files: &["CLAUDE.md"],
    versions_seen: ("1.0.128", "2.1.325"),
    windows: &[ModelWindow { prefix: "claude-", tokens: 200_000 }],
    windows_as_of: "2026-11-15",
    default_window: 200_000,
    resume_budget: 120_000,
};

impl Agent for ClaudeCode {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn recognise(&self, path: &Path, head: &[u8]) -> Option<Source> {
        let text = String::from_utf8_lossy(head);
        // Others have taken over the envelope, but not what is in it.
        let foreign = [r#""systemPayload":"#, r#""role":"user","parts":"#, r#""role":"model","parts":"#];
        if text.lines().take(20).any(|line| foreign.iter().any(|field| line.contains(field))) {
            return None;
        }
        let ours = text.lines().take(20).any(|line| {
            line.starts_with('{')
                && line.contains("\"sessionId\"")
                && (line.contains("\"parentUuid\"") || line.contains("\"leafUuid\""))
        });
        let bare = text.lines().take(3).any(|line| line.contains("\"parentUuid\"") && line.contains("\"uuid\""));
        (ours || bare).then(|| Source { path: path.to_path_buf(), key: None })
    }

    fn discover(&self, store: &Store, found: &mut dyn FnMut(Found) -> ControlFlow<()>) -> Result<(), AgentError> {
        discover::discover(store, found)
    }

    fn sessions_in(&self, store: &Store, file: &Path) -> Result<Vec<Found>, AgentError> {
        Ok(discover::session_in(store, file)?.into_iter().collect())
    }

    fn near_end(&self, source: &Source) -> Result<Bookmark, AgentError> {
        let offset = jsonl::near_end(&source.path)?;
        Ok(Bookmark::Appended { offset, head: jsonl::head_digest(&source.path, offset)? })
    }

    fn read(&self, source: &Source, from: &Bookmark, sink: &mut dyn Sink) -> Result<Bookmark, AgentError> {
        read::read(source, from, sink)
    }

    fn reload(&self, header: &Header, key: EntryKey) -> Result<Vec<Entry>, AgentError> {
        read::reload(header, key)
    }

    fn record(&self, header: &Header, key: EntryKey) -> Result<String, AgentError> {
        read::raw(header, key)
    }

    fn file_states(&self, header: &Header, key: EntryKey) -> Vec<FileState> {
        kept_files::states(header, key)
    }

    fn is_unknown(&self, body: &Body) -> bool {
        matches!(body, Body::Opaque(Cow::Owned(kind)) if !discover::is_known_kind(kind))
    }

    fn action(&self, call: &Call, outcome: Option<&str>) -> Action {
        dialect::action(call, outcome)
    }

    fn answers(&self, call: &Call, outcome: &str) -> Vec<Answer> {
        answers::answers(call, outcome)
    }

    fn strip(&self, outcome: &mut Outcome) {
        boilerplate::strip(outcome);
    }

    fn current_model(&self, store: &Store) -> Option<String> {
        #[derive(serde::Deserialize)]
        struct Settings {
            model: Option<String>,
        }
        let text = fs_err::read_to_string(store.root.join("settings.json")).ok()?;
        serde_json::from_str::<Settings>(&text).ok()?.model
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }
}

impl Writer for ClaudeCode {
    fn plan(&self, request: &WriteRequest<'_>, target: &TargetView<'_>) -> Result<WritePlan, AgentError> {
        write::plan(request, target)
    }
}

/// What a permission mode allows.
fn permission(mode: &str) -> Permission {
    match mode {
        "plan" => Permission::Plan,
        "acceptEdits" => Permission::AcceptEdits,
        "bypassPermissions" | "auto" | "dontAsk" => Permission::Everything,
        _ => Permission::Ask,
    }
}
