//! Where its requests go, and how it is told otherwise for one run.

use toml_edit::{DocumentMut, Item};

use crate::formats::file::{self, MAX_SETTINGS_BYTES};
use crate::recording::{ADDRESS_MARK, AddressForm, LaunchView, ModelService};

/// The vendor's service for keys.
const KEY_UPSTREAM: &str = "https://api.openai.com/v1";

/// Requests of a user who has signed in with an account have this header, and go elsewhere.
const ACCOUNT_UPSTREAM: (&str, &str) = ("chatgpt-account-id", "https://chatgpt.com/backend-api/codex");

/// The provider that needs no settings.
const BUILT_IN: &str = "openai";

pub(super) fn find_services(launch: &LaunchView<'_>) -> Result<Vec<ModelService>, String> {
    let path = launch.settings.store.root.join("config.toml");
    let text = file::read_text(&path, MAX_SETTINGS_BYTES).unwrap_or_default();
    let config = text.parse::<DocumentMut>().unwrap_or_default();
    let provider = find_provider(launch, &config);
    if provider == BUILT_IN {
        let told = vec![override_argument("openai_base_url")];
        let Some(upstream) = config.get("openai_base_url").and_then(Item::as_str) else {
            let by_header = Some(ACCOUNT_UPSTREAM);
            return Ok(vec![ModelService { by_header, ..ModelService::new(BUILT_IN, KEY_UPSTREAM, told) }]);
        };
        return Ok(vec![ModelService::new(BUILT_IN, upstream, told)]);
    }
    let is_plain = provider.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter));
    let entry = config.get("model_providers").and_then(|providers| providers.get(&provider));
    match entry.and_then(|entry| entry.get("base_url")).and_then(Item::as_str) {
        Some(upstream) if is_plain => {
            let told = vec![override_argument(&format!("model_providers.{provider}.base_url"))];
            Ok(vec![ModelService::new(&provider, upstream, told)])
        }
        _ => Err(format!("the address of its provider `{provider}` is not in {}", path.display())),
    }
}

/// The provider of the next session: an argument counts before a profile, and that before the file.
fn find_provider(launch: &LaunchView<'_>, config: &DocumentMut) -> String {
    let in_args = launch.option_values(&["-c", "--config"]).into_iter().rev().find_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        (name.trim() == "model_provider").then(|| value.trim().trim_matches('"').to_owned())
    });
    let text = |item: Option<&Item>| item.and_then(Item::as_str).map(str::to_owned);
    let profile = launch.option(&["-p", "--profile"]).map(str::to_owned).or_else(|| text(config.get("profile")));
    let in_profile = profile.and_then(|name| text(config.get("profiles")?.get(&name)?.get("model_provider")));
    in_args.or(in_profile).or_else(|| text(config.get("model_provider"))).unwrap_or_else(|| BUILT_IN.to_owned())
}

fn override_argument(key: &str) -> AddressForm {
    AddressForm::Arguments(vec!["-c".to_owned(), format!("{key}=\"{ADDRESS_MARK}\"")])
}
