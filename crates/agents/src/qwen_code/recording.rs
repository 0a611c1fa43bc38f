//! Where its requests go, and how it is told otherwise for one run.

use crate::recording::{AddressForm, LaunchView, ModelService};

/// The variable that names the service.
const BASE_URL: &str = "OPENAI_BASE_URL";

pub(super) fn find_services(launch: &LaunchView<'_>) -> Result<Vec<ModelService>, String> {
    let upstream = launch.settings.var(BASE_URL);
    // Without it, the address comes from an account, which tells it to the client alone.
    let upstream = upstream.ok_or("it can be recorded only where OPENAI_BASE_URL says where requests go")?;
    Ok(vec![ModelService::new("chat", &upstream, vec![AddressForm::Variable(BASE_URL)])])
}
