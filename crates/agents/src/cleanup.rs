//! Sessions that a client deletes by itself, some days after they were last used: where its settings say when.

use std::path::Path;

use serde_json::Value;

use crate::settings::read_json;

/// By which time a client knows how old a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgeClock {
    /// The time of its file.
    FileTime,
    /// The time that it records of its last use.
    LastUse,
}

/// How a client deletes sessions at its start.
#[derive(Debug, Clone, Copy)]
pub struct Cleanup {
    /// The file in the store that holds the user's settings.
    pub settings: &'static str,
    /// Where in it the days stand, as a number or as text with a unit.
    pub age: &'static str,
    /// Where in it the clean-up is switched off.
    pub switch: Option<&'static str>,
    /// Where nothing is said.
    pub default_days: u64,
    pub clock: AgeClock,
}

impl Cleanup {
    /// After how many days sessions of a store are deleted; none where the user has switched it off.
    pub fn configured_days(&self, store: &Path) -> Option<u64> {
        let settings = read_json(&store.join(self.settings)).unwrap_or(Value::Null);
        let is_off = self.switch.and_then(|switch| settings.pointer(switch)) == Some(&Value::Bool(false));
        let days = settings.pointer(self.age).and_then(parse_days).unwrap_or(self.default_days);
        (!is_off).then_some(days)
    }
}

/// Days, as `30` or as text: hours, days, weeks or months.
fn parse_days(value: &Value) -> Option<u64> {
    let Some(text) = value.as_str() else { return value.as_u64() };
    let (number, unit) = text.trim().split_at_checked(text.trim().len().checked_sub(1)?)?;
    let number: u64 = number.parse().ok()?;
    match unit {
        "h" => Some(number / 24),
        "d" => Some(number),
        "w" => Some(number.saturating_mul(7)),
        "m" => Some(number.saturating_mul(30)),
        _ => None,
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests {
    use crate::agent_by_name;

    #[test]
    fn a_users_settings_say_when_a_client_deletes() {
        let folder = tempfile::tempdir().unwrap();
        for (agent, settings, expected) in [
            ("claude-code", "{}", Some(30)),
            ("claude-code", "no settings", Some(30)),
            ("claude-code", r#"{"cleanupPeriodDays":365}"#, Some(365)),
            ("gemini-cli", r#"{"general":{"sessionRetention":{"maxAge":"2w"}}}"#, Some(14)),
            ("gemini-cli", r#"{"general":{"sessionRetention":{"maxAge":"soon"}}}"#, Some(30)),
            ("gemini-cli", r#"{"general":{"sessionRetention":{"enabled":false}}}"#, None),
        ] {
            std::fs::write(folder.path().join("settings.json"), settings).unwrap();
            let cleanup = agent_by_name(agent).unwrap().facts().cleanup.unwrap();
            assert_eq!(cleanup.configured_days(folder.path()), expected, "{agent}: {settings}");
        }
    }
}
