//! Where its requests go, and how it is told otherwise for one run.

use serde_json::{Value, json};

use super::settings::Settings;
use crate::recording::{ADDRESS_MARK, AddressForm, LaunchView, ModelService};
use crate::settings::read_json;

/// Vendors' own services, of providers that need no settings.
const KNOWN_UPSTREAMS: &[(&str, &str)] = &[
    ("anthropic", "https://api.anthropic.com"),
    ("openai", "https://api.openai.com/v1"),
    ("google", "https://generativelanguage.googleapis.com/v1beta"),
];

pub(super) fn find_services(launch: &LaunchView<'_>) -> Result<Vec<ModelService>, String> {
    let root = &launch.settings.store.root;
    let named = launch.option(&["--provider"]).map(str::to_owned);
    let in_model = || launch.option(&["--model"])?.split_once('/').map(|(provider, _)| provider.to_owned());
    let provider = named.or_else(in_model).or_else(|| Settings::load(root).default_provider);
    let provider = provider.ok_or("its settings name no provider: say which with `--provider`")?;
    let configured = read_json(&root.join("models.json"));
    let configured = configured.as_ref().and_then(|models| models.get("providers")?.get(&provider)?.get("baseUrl"));
    let known = || KNOWN_UPSTREAMS.iter().find(|(name, _)| *name == provider).map(|(_, upstream)| *upstream);
    let upstream = configured.and_then(Value::as_str).or_else(known);
    let upstream = upstream.ok_or_else(|| format!("the address of its provider `{provider}` is not in models.json"))?;
    // The name is written as JSON, which is a text in the module's language as well.
    let (name, address) = (json!(provider), json!({"baseUrl": ADDRESS_MARK}));
    let text = format!("export default function (pi) {{\n  pi.registerProvider({name}, {address});\n}}\n");
    let told = AddressForm::Module { argument: "--extension", file: "carryover-record.ts", text };
    Ok(vec![ModelService::new(&provider, upstream, vec![told])])
}
