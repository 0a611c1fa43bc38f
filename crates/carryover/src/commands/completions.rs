//! `carryover completions`.

use clap::Args;
use clap_complete::Shell;

use crate::completion;
use crate::error::CommandError;
use crate::process_env;
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
    /// The shell [default: the one that $SHELL names]
    #[arg(value_name = "SHELL")]
    shell: Option<Shell>,
}

pub(crate) fn cmd_completions(ui: &mut Ui, args: &CompletionsArgs) -> Result<(), CommandError> {
    let shell = args.shell.map_or_else(find_own_shell, Ok)?;
    ui.out().write_all(&completion::registration_script(&shell.to_string())?)?;
    Ok(())
}

/// The shell that the user works in.
fn find_own_shell() -> Result<Shell, CommandError> {
    let named = process_env::read_env()?.vars.get("SHELL").and_then(Shell::from_shell_path);
    named.ok_or_else(|| {
        CommandError::usage("no shell was named, and SHELL names none that is known")
            .with_hint("name one: `carryover completions bash`, or zsh, fish, powershell, elvish")
    })
}
