//! `carryover man`.

use std::path::PathBuf;

use clap::Args;

use crate::error::{CommandError, ErrorKind};
use crate::manual;
use crate::ui::Ui;

/// Print a manual page, or write all of them into a folder
#[derive(Args)]
#[command(
    hide = true,
    after_long_help = "\
Examples:
  carryover man | man -l -
  carryover man resume | man -l -
  carryover man --to ~/.local/share/man/man1"
)]
pub(crate) struct ManArgs {
    /// The command whose page it is [default: the program's own]
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
    /// Write carryover.1, carryover-resume.1 and all others into this folder
    #[arg(long, value_name = "FOLDER", value_hint = clap::ValueHint::DirPath, conflicts_with = "command")]
    to: Option<PathBuf>,
}

pub(crate) fn cmd_man(ui: &mut Ui, args: &ManArgs) -> Result<(), CommandError> {
    let pages = manual::render_pages(crate::cli_command())?;
    let Some(folder) = &args.to else { return print_page(ui, &pages, &args.command) };
    let failed = |error| CommandError::new(ErrorKind::Io, error);
    fs_err::create_dir_all(folder).map_err(failed)?;
    for (name, page) in &pages {
        fs_err::write(folder.join(name), page).map_err(failed)?;
    }
    Ok(ui.status(format_args!("wrote {} pages to {}", pages.len(), folder.display()))?)
}

fn print_page(ui: &mut Ui, pages: &[(String, Vec<u8>)], command: &[String]) -> Result<(), CommandError> {
    let words = std::iter::once("carryover").chain(command.iter().map(String::as_str));
    let name = format!("{}.1", words.collect::<Vec<_>>().join("-"));
    match pages.iter().find(|(page, _)| *page == name) {
        Some((_, page)) => Ok(ui.out().write_all(page)?),
        None => Err(CommandError::usage(format!("there is no page for `{}`", command.join(" ")))
            .with_hint("`carryover --help` lists the commands; `--to FOLDER` writes every page into a folder")),
    }
}
