//! Arguments that say what goes into a capsule.

use carryover_engine::capsule::Options;
use carryover_engine::capsule::workspace::FilesMode;
use clap::{Args, ValueEnum};

#[derive(Args)]
pub(in crate::commands) struct PackArgs {
    /// Which files come along: full, changed (since the commit) or none
    #[arg(long, value_name = "WHICH", default_value = "full", hide_possible_values = true)]
    files: FilesArg,
    /// Take the agent's own records along, for the same agent
    #[arg(long)]
    raw: bool,
    /// Take keys, tokens and passwords as they are
    ///
    /// Files that hold them are taken as well.
    #[arg(long)]
    no_redact: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum FilesArg {
    Changed,
    Full,
    None,
}

impl PackArgs {
    pub(in crate::commands) fn options(&self) -> Options {
        let files = match self.files {
            FilesArg::Changed => FilesMode::Changed,
            FilesArg::Full => FilesMode::Full,
            FilesArg::None => FilesMode::None,
        };
        Options { files, raw: self.raw, redact: !self.no_redact }
    }
}
