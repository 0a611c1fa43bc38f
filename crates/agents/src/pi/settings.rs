//! The client's settings, and where they put its sessions.

use std::path::{Path, PathBuf};

use crate::formats::file::{self, MAX_SETTINGS_BYTES};
use crate::{Env, Store};

/// The variable that names a folder for the sessions of all projects.
const FOLDER_VARIABLE: &str = "PI_CODING_AGENT_SESSION_DIR";

#[derive(serde::Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Settings {
    /// The model that a new session would use.
    pub default_provider: Option<String>,
    pub default_model: Option<String>,
    session_dir: Option<String>,
}

impl Settings {
    /// Those of the user; what cannot be read says nothing.
    pub(super) fn load(root: &Path) -> Self {
        let text = file::read_text(&root.join("settings.json"), MAX_SETTINGS_BYTES).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }
}

/// The folder that holds the sessions of all projects, where the user has named one: the variable counts before the
/// setting. Without one, every project has a folder of its own.
pub(super) fn shared_folder(env: &Env, root: &Path) -> Option<PathBuf> {
    let named = env.path_var(FOLDER_VARIABLE).or_else(|| {
        let named = Settings::load(root).session_dir?;
        Some(named.strip_prefix("~/").map_or_else(|| PathBuf::from(&named), |rest| env.home.join(rest)))
    });
    // One that begins where the client happens to be started is another for every project.
    named.filter(|folder| folder.is_absolute())
}

/// The usual places, and the folder that the user has named; that one holds sessions and nothing else.
pub(super) fn list_stores(usual: Vec<PathBuf>, env: &Env) -> Vec<Store> {
    let shared = usual.iter().find_map(|root| shared_folder(env, root));
    let shared = shared.filter(|folder| !usual.iter().any(|root| folder.starts_with(root.join("sessions"))));
    usual.into_iter().chain(shared).filter(|root| root.is_dir()).map(|root| Store { root }).collect()
}
