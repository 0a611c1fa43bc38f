//! Where its requests go, and how it is told otherwise for one run.

use crate::recording::{AddressForm, LaunchView, ModelService};

/// The variable that names a provider of the user's own.
const BASE_URL: &str = "COPILOT_PROVIDER_BASE_URL";

pub(super) fn find_services(launch: &LaunchView<'_>) -> Result<Vec<ModelService>, String> {
    let upstream = launch.settings.var(BASE_URL);
    let upstream = upstream.ok_or("it can be recorded only where COPILOT_PROVIDER_BASE_URL names a provider")?;
    Ok(vec![ModelService::new("provider", &upstream, vec![AddressForm::Variable(BASE_URL)])])
}
