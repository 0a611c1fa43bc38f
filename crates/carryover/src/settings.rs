//! The settings in force, and where each comes from.

use carryover_agents::{AGENTS, Facts, PathBase};
use carryover_engine::context::Context;
use carryover_engine::own::config;
use serde::Serialize;

/// One setting, as `--json` tells it.
#[derive(Serialize)]
pub(crate) struct Setting {
    pub(crate) key: String,
    pub(crate) value: String,
    /// `default`, `config.toml` or `environment`.
    pub(crate) source: &'static str,
    /// The variable, where it is the environment.
    pub(crate) variable: Option<&'static str>,
}

impl Setting {
    fn new(key: impl Into<String>, value: impl Into<String>, source: &'static str) -> Self {
        Self { key: key.into(), value: value.into(), source, variable: None }
    }

    fn from_variable(key: impl Into<String>, value: impl Into<String>, variable: &'static str) -> Self {
        Self { variable: Some(variable), ..Self::new(key, value, "environment") }
    }
}

/// Every key of the configuration, and what the environment alone sets: our own folder, the pager, and where agents
/// keep their sessions.
pub(crate) fn collect_settings(context: &Context) -> Vec<Setting> {
    let mut settings = vec![own_folder(context)];
    for key in config::all_keys() {
        match key.name.strip_suffix("<agent>") {
            None if key.name.contains("<name>") => settings.extend(remotes(context, key.name)),
            Some(table) => settings.extend(AGENTS.iter().flat_map(|agent| stores(context, table, agent.facts()))),
            None => settings.push(match config::format_value(&context.config, key.name) {
                Some(value) => Setting::new(key.name, value, "config.toml"),
                None => Setting::new(key.name, key.default, "default"),
            }),
        }
    }
    settings.push(pager(context));
    settings
}

fn own_folder(context: &Context) -> Setting {
    let folder = context.home.display().to_string();
    match context.env.path_var("CARRYOVER_HOME") {
        Some(_) => Setting::from_variable("home", folder, "CARRYOVER_HOME"),
        None => Setting::new("home", folder, "default"),
    }
}

/// Where an agent's sessions are looked for, as far as that is not where they usually are.
fn stores(context: &Context, table: &str, facts: &Facts) -> Vec<Setting> {
    let key = format!("{table}{}", facts.id);
    let moved = facts.stores.iter().find_map(|rule| match rule.base {
        PathBase::Variable(name) => Some((name, context.env.path_var(name)?)),
        _ => None,
    });
    let moved = moved.map(|(name, folder)| Setting::from_variable(&key, folder.display().to_string(), name));
    let more = config::format_value(&context.config, &key).map(|value| Setting::new(&key, value, "config.toml"));
    moved.into_iter().chain(more).collect()
}

/// The remotes; where there are none, there is nothing to tell.
fn remotes<'c>(context: &'c Context, key: &'c str) -> impl Iterator<Item = Setting> + 'c {
    let remotes = context.config.remotes.iter();
    remotes.map(move |(name, remote)| Setting::new(key.replace("<name>", name), &remote.url, "config.toml"))
}

fn pager(context: &Context) -> Setting {
    let named = |name: &'static str| Some(Setting::from_variable("pager", context.env.vars.get(name)?, name));
    let by_user = ["CARRYOVER_PAGER", "PAGER"].into_iter().find_map(named);
    by_user.unwrap_or_else(|| Setting::new("pager", "less", "default"))
}
