//! What agents send with an event: JSON on standard input, with few names for the same things.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use carryover_core::transcript::SessionId;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{CallerMark, CallerProcess, HookEvent, HookKind, HookSet, RunMode, StartReason};
use crate::{Facts, hooked_agents};

/// A call of a hook.
pub struct HookCall<'a> {
    /// The agent whose hook was called.
    pub agent: &'static Facts,
    /// The event by the agent's own name.
    pub event: &'a str,
    /// What it sent.
    pub payload: &'a [u8],
    pub vars: &'a BTreeMap<String, String>,
    /// The processes above the call, the nearest first.
    pub ancestors: &'a [CallerProcess],
    /// Where the call was made.
    pub cwd: &'a Path,
}

#[derive(Debug, thiserror::Error)]
pub enum HookError {
    #[error("{0} has no hooks")]
    NoHooks(&'static str),
    #[error("{agent} has no event `{event}`")]
    UnknownEvent { agent: &'static str, event: String },
    #[error("what {agent} sent is not JSON")]
    NotJson {
        agent: &'static str,
        #[source]
        source: serde_json::Error,
    },
}

/// What is in a payload, whoever sent it; some have one thing under two names.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WirePayload {
    session_id: Option<String>,
    #[serde(rename = "sessionId")]
    session_id_in_camel_case: Option<String>,
    conversation_id: Option<String>,
    trajectory_id: Option<String>,
    transcript_path: Option<String>,
    #[serde(rename = "transcriptPath")]
    transcript_path_in_camel_case: Option<String>,
    tool_info: Option<WireToolInfo>,
    cwd: Option<String>,
    workspace_roots: Option<Vec<String>>,
    source: Option<String>,
    /// Set in sub-agents alone.
    agent_id: Option<String>,
    #[serde(rename = "agentId")]
    agent_id_in_camel_case: Option<String>,
    is_background_agent: Option<bool>,
    /// Told by plugins of ours.
    is_headless: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireToolInfo {
    transcript_path: Option<String>,
    cwd: Option<String>,
}

impl WirePayload {
    fn session(&self) -> Option<SessionId> {
        let names = [&self.session_id, &self.session_id_in_camel_case, &self.conversation_id, &self.trajectory_id];
        first_text(names).map(|id| SessionId(id.to_owned()))
    }

    fn transcript(&self) -> Option<PathBuf> {
        let inner = self.tool_info.as_ref().and_then(|info| info.transcript_path.clone());
        first_text([&self.transcript_path, &self.transcript_path_in_camel_case, &inner]).map(PathBuf::from)
    }

    fn folder(&self) -> Option<PathBuf> {
        let root = self.workspace_roots.as_ref().and_then(|roots| roots.first().cloned());
        let inner = self.tool_info.as_ref().and_then(|info| info.cwd.clone());
        first_text([&self.cwd, &root, &inner]).map(PathBuf::from)
    }

    fn is_sub_agent(&self) -> bool {
        first_text([&self.agent_id, &self.agent_id_in_camel_case]).is_some() || self.is_background_agent == Some(true)
    }

    fn run_mode(&self) -> Option<RunMode> {
        self.is_headless.map(|is_headless| if is_headless { RunMode::Headless } else { RunMode::Interactive })
    }
}

fn first_text<const N: usize>(texts: [&Option<String>; N]) -> Option<&str> {
    texts.into_iter().filter_map(Option::as_deref).find(|text| !text.is_empty())
}

/// Reads a call.
pub fn read_call(call: &HookCall<'_>) -> Result<HookEvent, HookError> {
    let called = call.agent;
    let hooks = called.hooks.ok_or(HookError::NoHooks(called.id))?;
    let unknown = || HookError::UnknownEvent { agent: called.id, event: call.event.to_owned() };
    let binding = hooks.binding(call.event).ok_or_else(unknown)?;
    let not_json = |source| HookError::NotJson { agent: called.id, source };
    // An agent that sends nothing tells all the same that something happened.
    let bytes = if call.payload.trim_ascii().is_empty() { b"{}" } else { call.payload };
    let keys: BTreeMap<String, &RawValue> = serde_json::from_slice(bytes).map_err(not_json)?;
    let payload: WirePayload = serde_json::from_slice(bytes).map_err(not_json)?;
    let transcript = payload.transcript();
    let (owner, hooks) = find_owner(called, hooks, &keys, transcript.as_deref());
    Ok(HookEvent {
        agent: owner.id,
        is_through_another: owner.id != called.id && !shares_file(hooks, called),
        kind: binding.kind,
        session: payload.session(),
        folder: payload.folder().or_else(|| Some(call.cwd.to_owned())),
        transcript,
        start: start_reason(hooks, binding.kind, payload.source.as_deref()),
        run_mode: payload
            .run_mode()
            .unwrap_or_else(|| hooks.headless.run_mode(owner.binaries, call.vars, call.ancestors)),
        is_sub_agent: payload.is_sub_agent(),
    })
}

/// What the user said, where an event tells it. It is no part of the event: what is kept of events holds no words.
pub fn prompt_text(payload: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct WirePrompt {
        prompt: String,
    }
    serde_json::from_slice::<WirePrompt>(payload).ok().map(|told| told.prompt)
}

/// Whose event it is: some agents run the hooks of others.
fn find_owner(
    called: &'static Facts,
    hooks: &'static HookSet,
    keys: &BTreeMap<String, &RawValue>,
    transcript: Option<&Path>,
) -> (&'static Facts, &'static HookSet) {
    let is_marked = |mark: &CallerMark| match mark {
        CallerMark::PayloadKey(key) => keys.contains_key(*key),
        CallerMark::SharedFile { with, key } => called.id == *with && keys.contains_key(*key),
        CallerMark::TranscriptPart(part) => transcript.is_some_and(|path| path.to_string_lossy().contains(part)),
    };
    let others = hooked_agents().filter(|facts| facts.id != called.id);
    let mut marked = others.filter_map(|facts| Some((facts, facts.hooks?)));
    marked.find(|(_, hooks)| hooks.marks.iter().any(is_marked)).unwrap_or((called, hooks))
}

/// Whether an agent's own hooks are in one file with those of another.
fn shares_file(hooks: &HookSet, other: &Facts) -> bool {
    hooks.marks.iter().any(|mark| matches!(mark, CallerMark::SharedFile { with, .. } if *with == other.id))
}

fn start_reason(hooks: &HookSet, kind: HookKind, source: Option<&str>) -> StartReason {
    if kind != HookKind::SessionStart {
        return StartReason::Unknown;
    }
    let known = hooks.start_reasons.iter().find(|(word, _)| Some(*word) == source);
    known.map_or(hooks.unnamed_start, |(_, reason)| *reason)
}
