//! Where its requests go, and how it is told otherwise for one run.

use serde_json::json;

use crate::recording::{ADDRESS_MARK, AddressForm, LaunchView, ModelService};
use crate::settings::first_setting;

/// The variable that names the service.
const BASE_URL: &str = "ANTHROPIC_BASE_URL";

/// The vendor's own service.
const DEFAULT_UPSTREAM: &str = "https://api.anthropic.com";

/// Variables that lead requests to a cloud's service, which signs them for its own host.
const CLOUDS: &[&str] = &["CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"];

pub(super) fn find_services(launch: &LaunchView<'_>) -> Result<Vec<ModelService>, String> {
    let at = &launch.settings;
    let files = at.setting_files(&[".claude/settings.local.json", ".claude/settings.json"], "settings.json");
    let in_settings = |name: &str| first_setting(&files, &format!("/env/{name}"));
    if let Some(cloud) = CLOUDS.iter().find(|name| at.var(name).or_else(|| in_settings(name)).is_some()) {
        return Err(format!("{cloud} is set, and requests to a cloud are signed for its own host"));
    }
    let mut told = vec![AddressForm::Variable(BASE_URL)];
    let configured = in_settings(BASE_URL);
    if configured.is_some() {
        // What a file of settings says of a variable counts before the variable, and this before the file.
        let settings = json!({"env": {BASE_URL: ADDRESS_MARK}}).to_string();
        told.push(AddressForm::Arguments(vec!["--settings".to_owned(), settings]));
    }
    let upstream = configured.or_else(|| at.var(BASE_URL)).unwrap_or_else(|| DEFAULT_UPSTREAM.to_owned());
    Ok(vec![ModelService::new("messages", &upstream, told)])
}
