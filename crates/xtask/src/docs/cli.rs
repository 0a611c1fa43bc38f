//! The reference of the command line, from its own help.

use std::fmt::{self, Write};

/// `docs/cli.md`.
pub(super) fn render_page() -> Result<String, fmt::Error> {
    let mut command = carryover::cli_command().term_width(100);
    command.build();
    let mut page = "# Command line\n\nWritten by `cargo xtask docs` from the program's own help.\n".to_owned();
    write_section(&mut page, "carryover", &mut command)?;
    Ok(page)
}

fn write_section(page: &mut String, name: &str, command: &mut clap::Command) -> fmt::Result {
    let help = command.render_long_help().to_string();
    let help: Vec<&str> = help.lines().map(str::trim_end).collect();
    write!(page, "\n## `{name}`\n\n```text\n{}\n```\n", help.join("\n").trim_end())?;
    let is_told = |sub: &&mut clap::Command| !sub.is_hide_set() && sub.get_name() != "help";
    for sub in command.get_subcommands_mut().filter(is_told) {
        write_section(page, &format!("{name} {}", sub.get_name()), sub)?;
    }
    Ok(())
}
