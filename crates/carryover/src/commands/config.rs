//! `carryover config`.

use std::path::Path;

use carryover_agents::{AGENTS, Env};
use carryover_engine::context;
use carryover_engine::own::config::{self, Config};
use carryover_engine::own::permissions;
use clap::{Args, Subcommand};
use serde::Serialize;

use super::open_folder_error;
use crate::error::CommandError;
use crate::ui::{DIM, Ui};

/// Show or change the configuration
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  carryover config set resume.target codex
  carryover config get resume.tokens
  carryover config set stores.codex ~/backup/codex,/mnt/old/codex
  $EDITOR \"$(carryover config path)\"

Every key is described in docs/configuration.md.")]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Subcommand)]
enum Action {
    /// Show every key with its value
    Show,
    /// Print the value of a key
    Get {
        /// A key, such as resume.target
        key: String,
    },
    /// Set a key
    Set {
        /// A key, such as resume.target
        key: String,
        /// Its value; lists are given with commas
        value: String,
    },
    /// Take a key out, so that its default holds
    Unset {
        /// A key, such as resume.target
        key: String,
    },
    /// Print where the configuration file is
    Path,
}

/// The configuration, as `--json` tells it.
#[derive(Serialize)]
struct ConfigDocument<'a> {
    schema: &'static str,
    path: String,
    #[serde(flatten)]
    config: &'a Config,
}

/// One key, as `--json` tells it.
#[derive(Serialize)]
struct SettingDocument<'a> {
    schema: &'static str,
    key: &'a str,
    value: Option<String>,
}

/// Where the configuration is, as `--json` tells it.
#[derive(Serialize)]
struct PathDocument {
    schema: &'static str,
    path: String,
    exists: bool,
}

pub(crate) fn cmd_config(ui: &mut Ui, env: &Env, args: &ConfigArgs) -> Result<(), CommandError> {
    let home = context::own_folder(env);
    if let Err(open) = permissions::check_private(&home) {
        if matches!(args.action, Some(Action::Set { .. } | Action::Unset { .. })) {
            return Err(open_folder_error(open, env.os));
        }
        ui.warning(open)?;
    }
    match args.action.as_ref().unwrap_or(&Action::Show) {
        Action::Show => show_config(ui, env, &config::load(&home, &env.home)?),
        Action::Get { key } => show_value(ui, &config::load(&home, &env.home)?, key),
        Action::Unset { key } => unset_key(ui, &home, key),
        Action::Set { key, value } if value.is_empty() => unset_key(ui, &home, key),
        Action::Set { key, value } => {
            let value = config::format_value(&config::set(&home, key, value)?, key);
            if ui.is_json() {
                return write_value_json(ui, key, value);
            }
            Ok(ui.status(format_args!("{key} = {}", value.unwrap_or_default()))?)
        }
        Action::Path => show_path(ui, &config::file_path(&home)),
    }
}

fn unset_key(ui: &mut Ui, home: &Path, key: &str) -> Result<(), CommandError> {
    config::unset(home, key)?;
    if ui.is_json() {
        return write_value_json(ui, key, None);
    }
    Ok(ui.status(format_args!("{key} is no longer set"))?)
}

fn show_path(ui: &mut Ui, file: &Path) -> Result<(), CommandError> {
    let path = file.display().to_string();
    if ui.is_json() {
        return Ok(ui.write_json(&PathDocument { schema: "carryover.config-path/1", path, exists: file.is_file() })?);
    }
    Ok(writeln!(ui.out(), "{path}")?)
}

/// The value that a key has now; none where its default holds.
fn write_value_json(ui: &mut Ui, key: &str, value: Option<String>) -> Result<(), CommandError> {
    Ok(ui.write_json(&SettingDocument { schema: "carryover.config-value/1", key, value })?)
}

fn show_config(ui: &mut Ui, env: &Env, config: &Config) -> Result<(), CommandError> {
    let path = config::file_path(&context::own_folder(env));
    if ui.is_json() {
        let path = path.display().to_string();
        return Ok(ui.write_json(&ConfigDocument { schema: "carryover.config/1", path, config })?);
    }
    let there = if path.is_file() { "" } else { " (not there yet)" };
    ui.status(format_args!("{DIM}{}{there}{DIM:#}", path.display()))?;
    for key in config::all_keys() {
        match key.name.strip_suffix("<agent>") {
            None if key.name.contains("<name>") && !config.remotes.is_empty() => {
                for name in config.remotes.keys() {
                    let name = key.name.replace("<name>", name);
                    write_setting(ui, &name, config::format_value(config, &name), key.default)?;
                }
            }
            None => write_setting(ui, key.name, config::format_value(config, key.name), key.default)?,
            Some(_) if config.stores.is_empty() => write_setting(ui, key.name, None, key.default)?,
            Some(table) => {
                for agent in config.stores.keys() {
                    let name = format!("{table}{agent}");
                    write_setting(ui, &name, config::format_value(config, &name), key.default)?;
                }
            }
        }
    }
    Ok(())
}

fn write_setting(ui: &mut Ui, key: &str, value: Option<String>, default: &str) -> Result<(), CommandError> {
    let width = config::all_keys().iter().map(|key| key.name.len()).max().unwrap_or(0);
    match value {
        Some(value) => writeln!(ui.out(), "{key:<width$} {value}")?,
        None => writeln!(ui.out(), "{key:<width$} {DIM}({default}){DIM:#}")?,
    }
    Ok(())
}

fn show_value(ui: &mut Ui, config: &Config, key: &str) -> Result<(), CommandError> {
    let (table, agent) = key.split_once('.').unwrap_or((key, ""));
    let is_wrong = table == "stores" && !AGENTS.iter().any(|known| known.facts().id == agent);
    if is_wrong || config::find_key(key).is_none() {
        return Err(config::unknown_key(key).into());
    }
    let value = config::format_value(config, key);
    if ui.is_json() {
        return write_value_json(ui, key, value);
    }
    if let Some(value) = value {
        writeln!(ui.out(), "{value}")?;
    }
    Ok(())
}
