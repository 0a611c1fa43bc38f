//! The surroundings in which agents are looked for, built once in `main` and made up in tests.

use std::collections::BTreeMap;
use std::path::PathBuf;

use carryover_core::time::Timestamp;

/// The operating systems whose paths differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Os {
    Linux,
    MacOs,
    Windows,
}

/// Home, variables, operating system, clock.
#[derive(Debug, Clone)]
pub struct Env {
    pub home: PathBuf,
    pub vars: BTreeMap<String, String>,
    pub os: Os,
    pub now: Timestamp,
    /// Some clients name folders by local time.
    pub zone: jiff::tz::TimeZone,
    /// Store paths from the configuration file, by agent id; they are looked at besides the usual ones.
    pub stores: BTreeMap<String, Vec<PathBuf>>,
    /// Folders that are worked in: the working directory, the project that was asked about, and those that sessions of
    /// other agents name. Some agents keep their sessions there and nowhere else.
    pub projects: Vec<PathBuf>,
}

impl Env {
    /// A variable that is set and not empty.
    pub fn var(&self, name: &str) -> Option<&str> {
        self.vars.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// A variable that holds a path; `~` means home.
    pub fn path_var(&self, name: &str) -> Option<PathBuf> {
        let value = self.var(name)?;
        match value.strip_prefix("~/") {
            Some(rest) => Some(self.home.join(rest)),
            None => Some(PathBuf::from(value)),
        }
    }
}
