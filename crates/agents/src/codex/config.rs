//! The settings of `config.toml` for the next session: model and provider.

use std::path::Path;

use toml_edit::{DocumentMut, Item};

use crate::formats::file::{self, MAX_SETTINGS_BYTES};

/// The settings that decide whether a session is shown and loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Config {
    pub(super) model: Option<String>,
    pub(super) provider: String,
    /// When the user is asked.
    pub(super) approval: String,
    /// The tokens that the user says the model takes.
    pub(super) window: Option<u64>,
}

impl Config {
    /// Reads a store's configuration; one that is missing or broken means the client's defaults.
    pub(super) fn from_store(root: &Path) -> Self {
        let text = file::read_text(&root.join("config.toml"), MAX_SETTINGS_BYTES).unwrap_or_default();
        Self::parse(&text)
    }

    fn parse(text: &str) -> Self {
        let document = text.parse::<DocumentMut>().unwrap_or_default();
        let profile = item_text(document.get("profile"));
        let profile = profile.and_then(|name| document.get("profiles")?.get(&name));
        let item = |name: &str| profile.and_then(|profile| profile.get(name)).or_else(|| document.get(name));
        let tokens = |item: &Item| u64::try_from(item.as_integer()?).ok().filter(|tokens| *tokens > 0);
        Self {
            model: item_text(item("model")),
            provider: item_text(item("model_provider")).unwrap_or_else(|| "openai".to_owned()),
            approval: item_text(item("approval_policy")).unwrap_or_else(|| "on-request".to_owned()),
            window: item("model_context_window").and_then(tokens),
        }
    }
}

fn item_text(item: Option<&Item>) -> Option<String> {
    item.and_then(Item::as_str).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_overrides_the_file() {
        let config = |model: Option<&str>, provider: &str| Config {
            model: model.map(str::to_owned),
            provider: provider.to_owned(),
            approval: "on-request".to_owned(),
            window: None,
        };
        assert_eq!(Config::parse(""), config(None, "openai"));
        assert_eq!(Config::parse("not = [toml"), config(None, "openai"));
        let text = "model = \"a\"\nprofile = \"p\"\n[profiles.p]\nmodel_provider = \"local\"\n";
        assert_eq!(Config::parse(text), config(Some("a"), "local"));
        assert_eq!(Config::parse("approval_policy = \"never\"").approval, "never");
        let window = |text: &str| Config::parse(text).window;
        assert_eq!([window("model_context_window = 5"), window("model_context_window = -5")], [Some(5), None]);
    }
}
