//! The model that the user has: the client takes the last prompt's when it resumes, and fails where it is not set up.

use std::path::{Path, PathBuf};

use rusqlite::OptionalExtension;
use serde::Deserialize;

use super::wire::WireModel;
use crate::Env;
use crate::formats::file::{self, MAX_SETTINGS_BYTES};
use crate::formats::jsonc::strip_comments;
use crate::formats::sqlite;

/// The client's choice where nothing is set up: its vendor's own model, which needs no key.
const FALLBACK_MODEL: (&str, &str) = ("opencode", "big-pickle");

/// Later files win over earlier ones.
const CONFIG_NAMES: &[&str] = &["config.json", "opencode.json", "opencode.jsonc"];

#[derive(Deserialize)]
struct WireConfig {
    model: Option<String>,
}

#[derive(Deserialize)]
struct WireRecent {
    recent: Vec<WireModel>,
}

#[derive(Deserialize)]
struct WirePrompt {
    model: WireModel,
}

/// The model of the next session, as the client chooses it.
pub(super) fn choose_model(env: &Env, project: &Path, database: &Path) -> WireModel {
    let configured = || config_files(env, project).iter().filter_map(|path| config_model(path)).next_back();
    let recent = || recent_model(&own_folder(env, "XDG_STATE_HOME", ".local/state"));
    let fallback = || WireModel { provider: FALLBACK_MODEL.0.to_owned(), model: FALLBACK_MODEL.1.to_owned() };
    configured().or_else(recent).or_else(|| last_used_model(database)).unwrap_or_else(fallback)
}

/// The user's settings, those that count more behind the others.
pub(super) fn read_configs(env: &Env, project: &Path) -> Vec<serde_json::Value> {
    let read = |path: &PathBuf| {
        let text = file::read_text(path, MAX_SETTINGS_BYTES).ok()?;
        serde_json::from_str(&strip_comments(&text)).ok()
    };
    config_files(env, project).iter().filter_map(read).collect()
}

/// The tokens that the user says a model takes.
pub(super) fn configured_window(env: &Env, project: &Path, model: &WireModel) -> Option<u64> {
    config_files(env, project).iter().rev().find_map(|path| {
        let text = file::read_text(path, MAX_SETTINGS_BYTES).ok()?;
        let config: serde_json::Value = serde_json::from_str(&strip_comments(&text)).ok()?;
        let models = config.get("provider")?.get(&model.provider)?.get("models")?;
        models.get(&model.model)?.pointer("/limit/context")?.as_u64().filter(|tokens| *tokens > 0)
    })
}

/// The client's own folder below one that a variable may move.
fn own_folder(env: &Env, variable: &str, usual: &str) -> PathBuf {
    env.path_var(variable).unwrap_or_else(|| env.home.join(usual)).join("opencode")
}

/// The files of settings, those that count more behind the others.
fn config_files(env: &Env, project: &Path) -> Vec<PathBuf> {
    let own = env.path_var("OPENCODE_CONFIG").into_iter();
    let folder = own_folder(env, "XDG_CONFIG_HOME", ".config");
    let global = CONFIG_NAMES.iter().map(|name| folder.join(name));
    global.chain(own).chain(CONFIG_NAMES[1..].iter().map(|name| project.join(name))).collect()
}

fn config_model(path: &Path) -> Option<WireModel> {
    let text = file::read_text(path, MAX_SETTINGS_BYTES).ok()?;
    let config: WireConfig = serde_json::from_str(&strip_comments(&text)).ok()?;
    let (provider, model) = config.model.as_deref()?.split_once('/')?;
    Some(WireModel { provider: provider.to_owned(), model: model.to_owned() })
}

fn recent_model(folder: &Path) -> Option<WireModel> {
    let text = file::read_text(&folder.join("model.json"), MAX_SETTINGS_BYTES).ok()?;
    serde_json::from_str::<WireRecent>(&text).ok()?.recent.into_iter().next()
}

/// The model of the newest prompt.
fn last_used_model(database: &Path) -> Option<WireModel> {
    let query = "SELECT data FROM message WHERE data LIKE '{\"role\":\"user\"%' ORDER BY time_created DESC LIMIT 1";
    let session = "SELECT model FROM session WHERE model IS NOT NULL ORDER BY time_updated DESC LIMIT 1";
    if !database.is_file() {
        return None;
    }
    let found = sqlite::read_database(database, &mut |connection| {
        let of = |query: &str| connection.query_row(query, [], |row| row.get::<_, String>(0)).optional();
        if sqlite::table_columns(connection, "session")?.iter().any(|column| column == "model")
            && let Some(model) = of(session)?.and_then(|text| serde_json::from_str::<WireModel>(&text).ok())
        {
            return Ok(Some(model));
        }
        Ok(of(query)?.and_then(|text| serde_json::from_str::<WirePrompt>(&text).ok()).map(|prompt| prompt.model))
    });
    found.ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_last_commas_do_no_harm() {
        let text = "{ // one\n \"model\": \"a/b//c\", /* \"model\": 1, */ \"x\": [1, 2, ],\n}";
        let config: WireConfig = serde_json::from_str(&strip_comments(text)).unwrap();
        assert_eq!(config.model.as_deref(), Some("a/b//c"));
    }
}
