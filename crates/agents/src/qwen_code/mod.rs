//! Qwen Code.
//!
//! A session is one file of records that name their parent; the last record is the leaf. What the client writes and
//! what makes it load a foreign session is in `README.md` beside this file.

mod answer;
mod dialect;
mod discover;
mod hooks;
mod memory;
mod outcome;
mod parts;
mod prompt;
mod read;
mod record;
mod recording;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests;
mod usage;
mod wire;
mod write;
#[cfg(test)]
mod write_tests;

use std::path::PathBuf;

use serde_json::Value;

use crate::settings::{find_model_window, first_setting, read_json};
use crate::{
    Agent, Facts, LimitForm, ModelWindow, PathBase, PathRule, ResumeForm, RuleFiles, RuleForm, SettingsView, Writer,
};

/// Qwen Code, 0.15 to 0.24.
pub(crate) struct QwenCode;

/// The client's own figures for the windows of models, from the table of tokens in 0.24.4; `default_window` is its
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
    resume: ResumeForm::in_project(&["qwen", "--resume", "{id}"]),
    packages: &["@qwen-code/qwen-code"],
    stores: &[
        PathRule { on: &[], base: PathBase::Variable("QWEN_RUNTIME_DIR"), path: &[] },
        PathRule { on: &[], base: PathBase::Variable("QWEN_HOME"), path: &[] },
        PathRule { on: &[], base: PathBase::Home, path: &[".qwen"] },
    ],
    session_patterns: &[&["projects", "*", "chats", "*.jsonl"]],
    limits: LimitForm::TextOnly,
    memory: memory::MEMORY,
    versions_seen: ("0.15.10", "0.24.4"),
    windows: WINDOWS,
    windows_checked_on: "2026-11-15",
    default_window: 200_000,
    hooks: Some(&hooks::HOOKS),
    recording: Some(recording::find_services),
    permission_rules: &[RuleFiles {
        places: &[
            PathRule { on: &[], base: PathBase::Project, path: &[".qwen", "settings.json"] },
            PathRule { on: &[], base: PathBase::Variable("QWEN_HOME"), path: &["settings.json"] },
            PathRule { on: &[], base: PathBase::Home, path: &[".qwen", "settings.json"] },
        ],
        form: RuleForm::Lists(&[
            "/permissions/allow",
            "/permissions/ask",
            "/permissions/deny",
            "/tools/allowed",
            "/tools/exclude",
        ]),
    }],
    ..Facts::USUAL
};

impl Agent for QwenCode {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn current_model(&self, at: &SettingsView<'_>) -> Option<String> {
        at.var("OPENAI_MODEL").or_else(|| first_setting(&setting_files(at), "/model/name"))
    }

    fn configured_window(&self, at: &SettingsView<'_>, model: Option<&str>) -> Option<u64> {
        setting_files(at).iter().filter_map(|file| read_json(file)).find_map(|settings| {
            // What is said of the model itself counts before what is said of all.
            let providers = settings.get("modelProviders").and_then(Value::as_object);
            let models = providers.into_iter().flat_map(|all| all.values()).filter_map(Value::as_array).flatten();
            let own = find_model_window(models, model.unwrap_or_default(), &["/generationConfig/contextWindowSize"]);
            own.or_else(|| settings.pointer("/model/generationConfig/contextWindowSize")?.as_u64())
        })
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(&write::plan_session)
    }
}

fn setting_files(at: &SettingsView<'_>) -> Vec<PathBuf> {
    at.setting_files(&[".qwen/settings.json"], "settings.json")
}
