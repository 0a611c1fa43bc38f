//! Where its requests go, and how it is told otherwise for one run.

use crate::recording::{ADDRESS_MARK, AddressForm, LaunchView, ModelService};

#[expect(clippy::unnecessary_wraps, reason = "other agents may have to refuse")]
pub(super) fn find_services(launch: &LaunchView<'_>) -> Result<Vec<ModelService>, String> {
    Ok(vec![find_chat_service(launch), find_messages_service(launch)])
}

fn find_chat_service(launch: &LaunchView<'_>) -> ModelService {
    const OPTION: &str = "--openai-api-base";
    let in_args = launch.option(&[OPTION]).map(str::to_owned);
    let set = || find_variable(launch, &["AIDER_OPENAI_API_BASE", "OPENAI_API_BASE"]);
    let upstream = in_args.or_else(|| find_setting(launch, "openai-api-base")).or_else(set);
    let upstream = upstream.unwrap_or_else(|| "https://api.openai.com/v1".to_owned());
    let told = AddressForm::Arguments(vec![format!("{OPTION}={ADDRESS_MARK}")]);
    ModelService::new("openai", &upstream, vec![told])
}

fn find_messages_service(launch: &LaunchView<'_>) -> ModelService {
    const BASE_URL: &str = "ANTHROPIC_API_BASE";
    let upstream = find_variable(launch, &[BASE_URL, "ANTHROPIC_BASE_URL"]);
    let upstream = upstream.unwrap_or_else(|| "https://api.anthropic.com".to_owned());
    ModelService::new("anthropic", &upstream, vec![AddressForm::Variable(BASE_URL)])
}

/// A setting in the files that it reads, the project's first.
fn find_setting(launch: &LaunchView<'_>, key: &str) -> Option<String> {
    let folders = [launch.settings.project, &launch.settings.env.home];
    folders.iter().find_map(|folder| super::configured_value(&folder.join(".aider.conf.yml"), key))
}

fn find_variable(launch: &LaunchView<'_>, names: &[&str]) -> Option<String> {
    let files = [launch.settings.project, &launch.settings.env.home].map(|folder| folder.join(".env"));
    names.iter().find_map(|name| launch.var_or_dotenv(name, &files))
}
