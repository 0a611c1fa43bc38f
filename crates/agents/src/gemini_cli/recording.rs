//! Where its requests go, and how it is told otherwise for one run.

use crate::recording::{AddressForm, LaunchView, ModelService};
use crate::settings::first_setting;

/// How its user signs in, the variable that names the service for it, and the vendor's own.
const SERVICES: &[(&str, &str, &str)] = &[
    ("gemini-api-key", "GOOGLE_GEMINI_BASE_URL", "https://generativelanguage.googleapis.com"),
    ("oauth-personal", "CODE_ASSIST_ENDPOINT", "https://cloudcode-pa.googleapis.com"),
];

pub(super) fn find_services(launch: &LaunchView<'_>) -> Result<Vec<ModelService>, String> {
    let at = &launch.settings;
    let files = at.setting_files(&[".gemini/settings.json"], "settings.json");
    let selected = first_setting(&files, "/security/auth/selectedType");
    // Without a choice in its settings, an address alone would make it sign in in another way.
    let selected = selected.ok_or("its settings do not say how you sign in: start it once without `record`")?;
    let known = SERVICES.iter().find(|(kind, _, _)| *kind == selected);
    let (_, variable, vendors) = known.ok_or_else(|| format!("where `{selected}` leads cannot be set for one run"))?;
    let home = &at.env.home;
    let files = [".gemini/.env", ".env"].map(|name| [at.project.join(name), home.join(name)]).concat();
    let upstream = launch.var_or_dotenv(variable, &files).unwrap_or_else(|| (*vendors).to_owned());
    Ok(vec![ModelService::new("generate", &upstream, vec![AddressForm::Variable(variable)])])
}
