//! `config.toml`: read, checked, written with its comments kept.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The configuration, with its defaults.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Agents to look at; empty means all.
    pub agents: Vec<String>,
    /// More places to look for stores, by agent id.
    pub stores: BTreeMap<String, Vec<PathBuf>>,
    pub resume: ResumeConfig,
}

/// Defaults of `resume`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ResumeConfig {
    /// The agent to go on in, where the command names none.
    pub target: Option<String>,
    /// The token budget, where the command names none.
    pub tokens: Option<u64>,
}
