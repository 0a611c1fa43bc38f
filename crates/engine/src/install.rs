//! Setting carryover up: hooks in agents' own files, the daemon as a service, and the exact inverse of both.
//!
//! `setup` does what is chosen, through `managed_file`, which plans each change of a file and does it in one step; `record`
//! remembers all of it. `json_entries` and `read_list` change texts, at parsed offsets only; `own_commands` are files
//! that are ours alone.

pub mod detection;
mod error;
pub mod hooks_state;
mod json_entries;
mod json_text;
mod managed_file;
pub mod own_commands;
mod own_file;
pub mod program;
mod read_list;
pub mod record;
pub mod service;
pub mod setup;
mod text;

pub use error::InstallError;

use crate::context::Context;

/// Whether an agent's hooks were installed by us.
pub fn is_installed(context: &Context, agent: &str) -> bool {
    let record = record::InstallRecord::load(&context.home).ok().flatten();
    record.is_some_and(|record| {
        record.files.iter().any(|file| file.owner == agent && file.kind != record::FileKind::Command)
    })
}
