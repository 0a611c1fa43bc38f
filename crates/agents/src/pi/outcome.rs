//! The lines that the client's shell adds to a command's output.

use carryover_core::transcript::{Outcome, Part};

use crate::formats::tree::exit_line::{EXIT_CODE_PREFIX, last_text, strip_exit_line};

/// Whether a call was stopped by the user.
pub(super) fn is_interruption(parts: &[Part]) -> bool {
    last_text(parts).is_some_and(|text| {
        let line = text.lines().next_back().unwrap_or_default();
        matches!(line, "Command aborted" | "Operation aborted" | "No result provided")
    })
}

/// The exit code in the last line of a failed command's outcome.
pub(super) fn find_exit_code(parts: &[Part]) -> Option<i32> {
    last_text(parts)?.lines().next_back()?.strip_prefix(EXIT_CODE_PREFIX)?.parse().ok()
}

/// The line in which the client tells how a command ended.
pub(super) fn spell_exit_lines(code: i32) -> Vec<String> {
    vec![format!("{EXIT_CODE_PREFIX}{code}")]
}

/// Takes off the line that tells the exit code, which the outcome knows already.
pub(super) fn strip_exit_code(outcome: &mut Outcome) {
    strip_exit_line(outcome, spell_exit_lines);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_code_stands_in_the_last_line() {
        let said = |text: &str| [Part::Text(text.to_owned())];
        assert_eq!(find_exit_code(&said(&format!("a\n\n{}", spell_exit_lines(3)[0]))), Some(3));
        assert_eq!(find_exit_code(&said("Command exited with code 3\nand more")), None);
        assert!(is_interruption(&said("a\n\nCommand aborted")));
    }
}
