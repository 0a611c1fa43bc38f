//! The user's pager, for text that does not fit on the terminal.
//!
//! It is started by its path, without a shell, and gets the text on its standard input: no word of a session is ever a
//! word of a command.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use carryover_engine::client::find_program;
use carryover_engine::context::Context;

/// What `less` does where the user has not told it: quit if all fits, let colours through, leave the text on the screen.
const LESS_OPTIONS: &str = "FRX";

/// A program that shows text page by page.
pub(crate) struct Pager {
    program: PathBuf,
    arguments: Vec<String>,
    /// `LESS` is set to ours, for the user has set none.
    sets_less: bool,
    /// Colours are no noise to it.
    pub(crate) takes_colours: bool,
}

impl Pager {
    /// The one that the user names in `CARRYOVER_PAGER` or `PAGER`, else `less`. An empty name, and `cat`, mean none.
    pub(crate) fn choose(context: &Context) -> Option<Self> {
        let named = ["CARRYOVER_PAGER", "PAGER"].into_iter().find_map(|name| context.env.vars.get(name));
        let (name, arguments) = split_command(named.map_or("less", String::as_str))?;
        if name == "cat" {
            return None;
        }
        let program = if is_path(&name) { PathBuf::from(&name) } else { find_program(context, &name)? };
        let is_less = program.file_stem().is_some_and(|stem| stem == "less");
        let options = context.env.vars.get("LESS");
        let shows_escapes = is_less && options.is_some_and(|options| !options.contains(['R', 'r']));
        let takes_colours =
            !shows_escapes || arguments.iter().any(|word| word.starts_with('-') && word.contains(['R', 'r']));
        Some(Self { program, arguments, sets_less: options.is_none(), takes_colours })
    }

    /// Starts it, waiting for text on its standard input.
    pub(crate) fn start(&self) -> io::Result<Child> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).stdin(Stdio::piped());
        if self.sets_less {
            command.env("LESS", LESS_OPTIONS);
        }
        command.spawn()
    }
}

/// A path is meant as it stands; a name is looked for in the folders of programs.
fn is_path(name: &str) -> bool {
    Path::new(name).components().count() > 1
}

/// A program and its arguments, as in `less -S`; a path with spaces is one word where there is such a file.
fn split_command(text: &str) -> Option<(String, Vec<String>)> {
    if is_path(text) && Path::new(text).is_file() {
        return Some((text.to_owned(), Vec::new()));
    }
    let mut words = text.split_whitespace().map(str::to_owned);
    Some((words.next()?, words.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_split_at_spaces_and_none_is_none() {
        assert_eq!(split_command("less -S  -R"), Some(("less".to_owned(), vec!["-S".to_owned(), "-R".to_owned()])));
        assert_eq!(split_command("  "), None);
    }
}
