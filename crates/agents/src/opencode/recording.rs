//! Where its requests go, and how it is told otherwise for one run.

use std::collections::BTreeMap;

use serde_json::Value;

use super::model;
use crate::recording::{AddressForm, LaunchView, ModelService};

/// Settings for one run, in JSON; they count before all files.
const INLINE_CONFIG: &str = "OPENCODE_CONFIG_CONTENT";

/// Vendors' own services, of providers that need no settings.
const KNOWN_UPSTREAMS: &[(&str, &str)] = &[
    ("anthropic", "https://api.anthropic.com/v1"),
    ("openai", "https://api.openai.com/v1"),
    ("google", "https://generativelanguage.googleapis.com/v1beta"),
    ("openrouter", "https://openrouter.ai/api/v1"),
    ("opencode", "https://opencode.ai/zen/v1"),
];

/// The providers that the settings give an address, and the one of the model in use: naming another would put its
/// models on offer.
pub(super) fn find_services(launch: &LaunchView<'_>) -> Result<Vec<ModelService>, String> {
    let at = &launch.settings;
    let mut upstreams = BTreeMap::new();
    let inline = at.env.var(INLINE_CONFIG).and_then(|text| serde_json::from_str(text).ok());
    for config in model::read_configs(at.env, at.project).into_iter().chain(inline) {
        upstreams.extend(list_addresses(&config));
    }
    let in_args = launch.option(&["-m", "--model"]).and_then(|model| model.split_once('/'));
    let chosen = || model::choose_model(at.env, at.project, &super::database_path(&at.store.root, at.env)).provider;
    let provider = in_args.map_or_else(chosen, |(provider, _)| provider.to_owned());
    let known = KNOWN_UPSTREAMS.iter().find(|(name, _)| *name == provider);
    if let Some((_, upstream)) = known {
        upstreams.entry(provider).or_insert_with(|| (*upstream).to_owned());
    } else if !upstreams.contains_key(&provider) {
        return Err(format!("the address of its provider `{provider}` is not known"));
    }
    let to_service = |(name, upstream): (String, String)| {
        let path = ["provider", &name, "options", "baseURL"].map(str::to_owned).to_vec();
        ModelService::new(&name, &upstream, vec![AddressForm::JsonVariable { name: INLINE_CONFIG, path }])
    };
    Ok(upstreams.into_iter().map(to_service).collect())
}

/// The providers in a file of settings that have an address. One that holds a variable's name is the client's to fill in.
fn list_addresses(config: &Value) -> Vec<(String, String)> {
    let providers = config.get("provider").and_then(Value::as_object).into_iter().flatten();
    let address = |(name, provider): (&String, &Value)| {
        let address = provider.pointer("/options/baseURL")?.as_str()?;
        (!address.contains('{')).then(|| (name.clone(), address.to_owned()))
    };
    providers.filter_map(address).collect()
}
