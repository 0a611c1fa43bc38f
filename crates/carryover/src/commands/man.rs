//! `carryover man`.

use std::path::PathBuf;

use clap::Args;

use crate::error::{CommandError, ErrorKind};
use crate::manual;
use crate::ui::Ui;

/// Print the manual page, or write all of them into a folder
#[derive(Args)]
#[command(
    hide = true,
    after_long_help = "\
Examples:
  carryover man | man -l -
  carryover man ~/.local/share/man/man1"
)]
pub(crate) struct ManArgs {
    /// The folder for carryover.1, carryover-resume.1 and the others
    #[arg(value_name = "FOLDER", value_hint = clap::ValueHint::DirPath)]
    folder: Option<PathBuf>,
}

pub(crate) fn cmd_man(ui: &mut Ui, args: &ManArgs) -> Result<(), CommandError> {
    let pages = manual::render_pages(crate::cli_command())?;
    let Some(folder) = &args.folder else {
        // The program's own page is the first.
        let page = pages.into_iter().next().map(|(_, page)| page).unwrap_or_default();
        return Ok(ui.out().write_all(&page)?);
    };
    let failed = |error| CommandError::new(ErrorKind::Io, error);
    fs_err::create_dir_all(folder).map_err(failed)?;
    for (name, page) in &pages {
        fs_err::write(folder.join(name), page).map_err(failed)?;
    }
    Ok(ui.status(format_args!("wrote {} pages to {}", pages.len(), folder.display()))?)
}
