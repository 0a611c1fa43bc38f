//! The settings of `config.toml` for the next session: model and provider.

use std::path::Path;

use toml_edit::{DocumentMut, Item};

use crate::formats::file::{self, MAX_SETTINGS_BYTES};

/// The settings that decide whether a session is shown and loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Config {
    pub(super) model: Option<String>,
    pub(super) provider: String,
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
        let setting = |name: &str| {
            item_text(profile.and_then(|profile| profile.get(name))).or_else(|| item_text(document.get(name)))
        };
        Self { model: setting("model"), provider: setting("model_provider").unwrap_or_else(|| "openai".to_owned()) }
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
        };
        assert_eq!(Config::parse(""), config(None, "openai"));
        assert_eq!(Config::parse("not = [toml"), config(None, "openai"));
        let text = "model = \"a\"\nprofile = \"p\"\n[profiles.p]\nmodel_provider = \"local\"\n";
        assert_eq!(Config::parse(text), config(Some("a"), "local"));
    }
}
