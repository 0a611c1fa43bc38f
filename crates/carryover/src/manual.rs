//! The manual pages, from the same command line as the help.

use std::io;

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

/// One page for the program and one for each command: the file's name and what it holds.
pub(crate) fn render_pages(command: Command) -> io::Result<Vec<(String, Vec<u8>)>> {
    let source = format!("carryover {}", command.get_version().unwrap_or_default());
    let mut command = with_all_help(command).disable_help_subcommand(true).subcommand_help_heading("COMMANDS");
    command.build();
    let mut pages = Vec::new();
    render_with_commands(&command, &source, &mut pages)?;
    Ok(pages)
}

/// A manual tells of every option; the short help leaves some out.
fn with_all_help(command: Command) -> Command {
    command.mut_args(|arg| arg.hide_short_help(false)).mut_subcommands(with_all_help)
}

fn render_with_commands(command: &Command, source: &str, pages: &mut Vec<(String, Vec<u8>)>) -> io::Result<()> {
    let man = Man::new(command.clone()).source(source).manual("carryover");
    pages.push((man.get_filename(), render_page(&man, command)?));
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help") {
        render_with_commands(sub, source, pages)?;
    }
    Ok(())
}

fn render_page(man: &Man, command: &Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.get_subcommands().any(|sub| !sub.is_hide_set()) {
        man.render_subcommands_section(&mut page)?;
    }
    if let Some(more) = command.get_after_long_help().or_else(|| command.get_after_help()) {
        render_examples(&more.to_string()).to_writer(&mut page)?;
    }
    Ok(page)
}

/// What stands below the help. Lines that are further in are commands to copy, so they are not filled up.
fn render_examples(text: &str) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["EXAMPLES AND NOTES"]);
    let mut is_verbatim = false;
    for line in text.lines() {
        let is_command = line.starts_with(' ');
        if is_command != is_verbatim {
            roff.control(if is_command { "nf" } else { "fi" }, []);
            is_verbatim = is_command;
        }
        match line.trim() {
            "" => roff.control("PP", []),
            "Examples:" => &mut roff,
            _ => roff.text([roman(line)]),
        };
    }
    if is_verbatim {
        roff.control("fi", []);
    }
    roff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page_and_hidden_ones_have_none() {
        let pages = render_pages(crate::cli_command()).unwrap();
        let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
        for name in ["carryover.1", "carryover-resume.1", "carryover-config.1", "carryover-config-set.1"] {
            assert!(names.contains(&name), "{name} is not among {names:?}");
        }
        assert!(!names.contains(&"carryover-man.1") && !names.contains(&"carryover-help.1"), "{names:?}");
    }

    #[test]
    fn examples_keep_their_lines() {
        let page = render_examples("Examples:\n  carryover list\n  carryover undo\n\nExit codes: 0 fine,\n1 not.");
        insta::assert_snapshot!(page.to_roff(), @r#"
        .SH "EXAMPLES AND NOTES"
        .nf
          carryover list
          carryover undo
        .fi
        .PP
        Exit codes: 0 fine,
        1 not.
        "#);
    }
}
