//! The clipboard: through the system's own programs, which keep what they are given after we have ended; over SSH, and
//! where there is none, through the terminal. A machine without either is no error.

use std::io::{self, Write};
use std::process::{Command, Stdio};

use base64::Engine;
use carryover_agents::Os;
use carryover_engine::client::find_program;
use carryover_engine::context::Context;

/// Terminals cut or refuse longer ones.
const MAX_TERMINAL_BYTES: usize = 74_994;

/// How a text got to the clipboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Copied {
    ByProgram,
    /// Asked for by an escape sequence (OSC 52), which the terminal may not know.
    ByTerminal,
}

/// Programs that take a text on their standard input, with what must be set for them to work.
const LINUX_PROGRAMS: &[(&str, &[&str], Option<&str>)] = &[
    ("wl-copy", &[], Some("WAYLAND_DISPLAY")),
    ("xclip", &["-selection", "clipboard"], Some("DISPLAY")),
    ("xsel", &["--clipboard", "--input"], Some("DISPLAY")),
    ("termux-clipboard-set", &[], None),
];

/// Copies a text; none where there is no clipboard.
pub(crate) fn copy_text(context: &Context, text: &str) -> Option<Copied> {
    let is_set = |name: &str| context.env.var(name).is_some_and(|value| !value.is_empty());
    // The programs over there would fill the clipboard over there.
    let remote = is_set("SSH_TTY") || is_set("SSH_CONNECTION");
    if !remote && copy_by_program(context, text) {
        return Some(Copied::ByProgram);
    }
    let by_terminal = text.len() <= MAX_TERMINAL_BYTES && copy_by_terminal(text).is_ok();
    by_terminal.then_some(Copied::ByTerminal)
}

fn copy_by_program(context: &Context, text: &str) -> bool {
    let is_set = |name: &str| context.env.var(name).is_some_and(|value| !value.is_empty());
    let own: &[(&str, &[&str], Option<&str>)] = match context.env.os {
        Os::MacOs => &[("pbcopy", &[], None)],
        Os::Windows => &[("clip", &[], None)],
        Os::Linux => LINUX_PROGRAMS,
    };
    let usable = own.iter().filter(|(_, _, needs)| needs.is_none_or(is_set));
    usable.into_iter().any(|(name, args, _)| {
        find_program(context, name).is_some_and(|program| feed_program(Command::new(program).args(*args), text).is_ok())
    })
}

/// Hands a text to a program and waits until it has taken it.
fn feed_program(command: &mut Command, text: &str) -> io::Result<()> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(text.as_bytes())?;
    }
    if child.wait()?.success() { Ok(()) } else { Err(io::Error::other("it failed")) }
}

/// Asks the terminal, if there is one, whatever the standard streams are connected to.
fn copy_by_terminal(text: &str) -> io::Result<()> {
    let mut terminal = std::fs::OpenOptions::new().write(true).open("/dev/tty")?;
    terminal.write_all(osc52_sequence(text).as_bytes())?;
    terminal.flush()
}

fn osc52_sequence(text: &str) -> String {
    format!("\u{1b}]52;c;{}\u{7}", base64::engine::general_purpose::STANDARD.encode(text))
}

#[cfg(test)]
mod tests {
    use super::osc52_sequence;

    #[test]
    fn terminals_are_asked_in_base64() {
        assert_eq!(osc52_sequence("go on\u{7}"), "\u{1b}]52;c;Z28gb24H\u{7}");
    }
}
