//! `carryover completions`.

use clap::Args;
use clap_complete::Shell;

use crate::completion;
use crate::error::CommandError;
use crate::ui::Ui;

/// Print a completion script for a shell
///
/// The script asks carryover itself, so sessions, resumes to take back and settings complete as well, and it need not be
/// made again with a new version.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  carryover completions bash > ~/.local/share/bash-completion/completions/carryover
  carryover completions zsh > ~/.zfunc/_carryover
  carryover completions fish > ~/.config/fish/completions/carryover.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

pub(crate) fn cmd_completions(ui: &mut Ui, args: &CompletionsArgs) -> Result<(), CommandError> {
    ui.out().write_all(&completion::registration_script(&args.shell.to_string())?)?;
    Ok(())
}
