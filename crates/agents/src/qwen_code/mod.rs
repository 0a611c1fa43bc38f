//! Qwen Code.
//!
//! A session is one file of records that name their parent; the last record is the leaf. What the client writes and
//! what makes it load a foreign session is in `README.md` beside this file.

mod answer;
mod dialect;
mod discover;
mod outcome;
mod parts;
mod prompt;
mod read;
mod record;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests;
mod usage;
mod wire;
mod write;
#[cfg(test)]
mod write_tests;

use std::ops::ControlFlow;
use std::path::Path;

use carryover_core::transcript::{Action, Answer, Call, Entry, EntryKey, Header, Outcome};

use crate::formats::jsonl;
use crate::{
    Agent, AgentError, Base, Bookmark, Facts, Found, Limits, ModelWindow, PathRule, Sink, Source, Store, TargetView,
    WritePlan, WriteRequest, Writer,
};

/// Qwen Code, 0.15 to 0.24.
pub(crate) struct QwenCode;

/// What the client itself takes for the windows of models, from the table of tokens in 0.24.4; `default_window` is its
/// default.
const WINDOWS: &[ModelWindow] = &[
    ModelWindow { prefix: "qwen3-coder-plus", tokens: 1_000_000 },
    ModelWindow { prefix: "qwen3-coder-flash", tokens: 1_000_000 },
    ModelWindow { prefix: "qwen3.", tokens: 1_000_000 },
    ModelWindow { prefix: "qwen-plus-latest", tokens: 1_000_000 },
    ModelWindow { prefix: "qwen-flash-latest", tokens: 1_000_000 },
    ModelWindow { prefix: "coder-model", tokens: 1_000_000 },
    ModelWindow { prefix: "qwen", tokens: 262_144 },
    ModelWindow { prefix: "gemini-", tokens: 1_000_000 },
    ModelWindow { prefix: "gpt-5", tokens: 272_000 },
    ModelWindow { prefix: "gpt-", tokens: 131_072 },
    ModelWindow { prefix: "claude-opus-4-6", tokens: 1_000_000 },
    ModelWindow { prefix: "claude-opus-4-7", tokens: 1_000_000 },
    ModelWindow { prefix: "claude-opus-4-8", tokens: 1_000_000 },
    ModelWindow { prefix: "claude-opus-5", tokens: 1_000_000 },
    ModelWindow { prefix: "deepseek-v4", tokens: 1_000_000 },
    ModelWindow { prefix: "deepseek-flash", tokens: 1_000_000 },
    ModelWindow { prefix: "deepseek", tokens: 131_072 },
    ModelWindow { prefix: "glm-", tokens: 202_752 },
    ModelWindow { prefix: "glm-5.", tokens: 1_000_000 },
    ModelWindow { prefix: "glm-5.0", tokens: 202_752 },
    ModelWindow { prefix: "glm-5.1", tokens: 202_752 },
    ModelWindow { prefix: "glm-6", tokens: 1_000_000 },
    ModelWindow { prefix: "minimax-m3", tokens: 1_000_000 },
    ModelWindow { prefix: "minimax-m2.5", tokens: 196_608 },
    ModelWindow { prefix: "kimi-k3", tokens: 1_000_000 },
    ModelWindow { prefix: "kimi-", tokens: 262_144 },
    ModelWindow { prefix: "seed-oss", tokens: 524_288 },
];

static FACTS: Facts = Facts {
    id: "qwen-code",
    name: "Qwen Code",
    aliases: &["qwen"],
    binaries: &["qwen"],
    start: &["qwen", "-i", "{prompt}"],
    packages: &["@qwen-code/qwen-code"],
    stores: &[
        PathRule { on: &[], base: Base::Variable("QWEN_RUNTIME_DIR"), path: &[] },
        PathRule { on: &[], base: Base::Variable("QWEN_HOME"), path: &[] },
        PathRule { on: &[], base: Base::Home, path: &[".qwen"] },
    ],
    tracks: &[&["projects", "*", "chats", "*.jsonl"]],
    limits: Limits::Worded,
    keeps_plan_mode: false,
    settings: &[],
    instruction_files: &["QWEN.md", "AGENTS.md"],
    versions_seen: ("0.15.10", "0.24.4"),
    windows: WINDOWS,
    windows_as_of: "2026-11-15",
    default_window: 200_000,
    resume_budget: crate::UNKNOWN_RESUME_BUDGET,
};

impl Agent for QwenCode {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn recognise(&self, path: &Path, head: &[u8]) -> Option<Source> {
        discover::is_session(head).then(|| Source { path: path.to_path_buf(), key: None })
    }

    fn discover(&self, store: &Store, found: &mut dyn FnMut(Found) -> ControlFlow<()>) -> Result<(), AgentError> {
        discover::discover(store, found)
    }

    fn sessions_in(&self, _store: &Store, file: &Path) -> Result<Vec<Found>, AgentError> {
        Ok(discover::session_in(file)?.into_iter().collect())
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

    fn action(&self, call: &Call, outcome: Option<&str>) -> Action {
        dialect::action(call, outcome)
    }

    fn answers(&self, call: &Call, outcome: &str) -> Vec<Answer> {
        answer::answers(call, outcome)
    }

    fn strip(&self, outcome: &mut Outcome) {
        outcome::strip(outcome);
    }

    fn current_model(&self, store: &Store) -> Option<String> {
        #[derive(serde::Deserialize)]
        struct WireSettings {
            model: Option<WireModel>,
        }
        #[derive(serde::Deserialize)]
        struct WireModel {
            name: Option<String>,
        }
        let text = fs_err::read_to_string(store.root.join("settings.json")).ok()?;
        serde_json::from_str::<WireSettings>(&text).ok()?.model?.name
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }
}

impl Writer for QwenCode {
    fn plan(&self, request: &WriteRequest<'_>, target: &TargetView<'_>) -> Result<WritePlan, AgentError> {
        write::plan(request, target)
    }
}
