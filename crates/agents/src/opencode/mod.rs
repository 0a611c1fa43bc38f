//! `OpenCode`.
//!
//! Sessions are rows of one database; a message is a record, and its parts are what it says. Nothing is ever taken out
//! of them by a compaction: what the model sees is decided at every turn. What the client writes, and what makes it load
//! a foreign session, is in `README.md` beside this file.

mod commands;
mod dialect;
mod diff;
mod discover;
mod export;
mod failure;
mod folder_storage;
mod hooks;
mod id_generator;
mod memory;
mod message_state;
mod model;
mod native;
mod own_session;
mod part_buffer;
mod parts;
mod read;
mod record;
mod recording;
mod rows;
mod session_writer;
mod stored_session;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests;
mod text_origin;
mod usage;
mod wire;
mod write;

use std::path::{Path, PathBuf};

use crate::{
    Agent, CommandFiles, CommandForm, Env, Facts, LimitForm, ModelWindow, PathBase, PathRule, ResumeForm, SettingsView,
    Store, Writer,
};

/// The client as of 1.18, and its older stores.
pub(crate) struct OpenCode;

static FACTS: Facts = Facts {
    id: "opencode",
    name: "OpenCode",
    binaries: &["opencode"],
    start: &["opencode", "--prompt", "{prompt}"],
    resume: ResumeForm::in_project(&["opencode", "--session", "{id}"]),
    packages: &["opencode-ai"],
    stores: &[
        PathRule { on: &[], base: PathBase::Variable("XDG_DATA_HOME"), path: &["opencode"] },
        PathRule { on: &[], base: PathBase::Home, path: &[".local", "share", "opencode"] },
    ],
    session_patterns: &[&["*.db"], &["storage", "session", "*", "*.json"]],
    limits: LimitForm::Recorded,
    memory: memory::MEMORY,
    versions_seen: ("1.18.33", "1.18.33"),
    windows: &[
        ModelWindow { prefix: "claude-", tokens: 200_000 },
        ModelWindow { prefix: "gpt-5", tokens: 272_000 },
        ModelWindow { prefix: "gpt-6", tokens: 272_000 },
        ModelWindow { prefix: "gemini-", tokens: 1_048_576 },
    ],
    windows_checked_on: "2026-11-15",
    hooks: Some(&hooks::HOOKS),
    recording: Some(recording::find_services),
    commands: Some(&CommandFiles {
        folders: &[
            PathRule { on: &[], base: PathBase::Project, path: &[".opencode", "commands"] },
            PathRule { on: &[], base: PathBase::Project, path: &[".opencode", "command"] },
            PathRule { on: &[], base: PathBase::Variable("XDG_CONFIG_HOME"), path: &["opencode", "commands"] },
            PathRule { on: &[], base: PathBase::Variable("XDG_CONFIG_HOME"), path: &["opencode", "command"] },
            PathRule { on: &[], base: PathBase::Home, path: &[".config", "opencode", "commands"] },
            PathRule { on: &[], base: PathBase::Home, path: &[".config", "opencode", "command"] },
        ],
        own_folders: &[
            PathRule { on: &[], base: PathBase::Variable("XDG_CONFIG_HOME"), path: &["opencode", "commands"] },
            PathRule { on: &[], base: PathBase::Home, path: &[".config", "opencode", "commands"] },
        ],
        form: CommandForm::Markdown,
        are_calls_written_down: false,
    }),
    // Set by our plugin: OpenCode itself tells nothing.
    session_variables: &["CARRYOVER_OPENCODE_SESSION"],
    tool_servers: &[
        PathRule { on: &[], base: PathBase::Project, path: &["opencode.json"] },
        PathRule { on: &[], base: PathBase::Project, path: &["opencode.jsonc"] },
        PathRule { on: &[], base: PathBase::Variable("XDG_CONFIG_HOME"), path: &["opencode", "opencode.json"] },
        PathRule { on: &[], base: PathBase::Home, path: &[".config", "opencode", "opencode.json"] },
        PathRule { on: &[], base: PathBase::Home, path: &[".config", "opencode", "opencode.jsonc"] },
    ],
    usual_modes: &["build"],
    ..Facts::USUAL
};

/// The variable that names the database itself.
const DATABASE_VAR: &str = "OPENCODE_DB";

impl Agent for OpenCode {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn stores(&self, env: &Env) -> Vec<Store> {
        // A path of its own stands before the usual place; a bare name is one more file in that.
        let own = env.path_var(DATABASE_VAR).filter(|path| path.is_absolute() && path.is_file());
        let usual = FACTS.store_candidates(env).into_iter().filter(|root| root.is_dir());
        own.into_iter().chain(usual).map(|root| Store { root }).collect()
    }

    fn current_model(&self, at: &SettingsView<'_>) -> Option<String> {
        Some(model::choose_model(at.env, at.project, &database_path(&at.store.root, at.env)).model)
    }

    fn configured_window(&self, at: &SettingsView<'_>, _model: Option<&str>) -> Option<u64> {
        let model = model::choose_model(at.env, at.project, &database_path(&at.store.root, at.env));
        model::configured_window(at.env, at.project, &model)
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }
}

/// The database of a store that the client would open.
fn database_path(root: &Path, env: &Env) -> PathBuf {
    if root.is_file() {
        return root.to_owned();
    }
    match env.path_var(DATABASE_VAR) {
        Some(path) if path.is_absolute() => path,
        Some(name) => root.join(name),
        None => usual_database(root),
    }
}

/// The usual database; where there is none but one of another release channel, that one.
fn usual_database(root: &Path) -> PathBuf {
    let usual = root.join("opencode.db");
    if root.is_file() {
        return root.to_owned();
    }
    if usual.is_file() {
        return usual;
    }
    let others = discover::list_databases(root).unwrap_or_default();
    if let [only] = others.as_slice() { only.clone() } else { usual }
}
