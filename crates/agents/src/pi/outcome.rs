//! What the client's shell adds to what a command gave back.

use carryover_core::transcript::{Outcome, Part};

use crate::formats::tree::exit_line::{EXITED, add_exit_line, last_text, strip_exit_line};

/// Whether a call was stopped by the user.
pub(super) fn is_interruption(parts: &[Part]) -> bool {
    last_text(parts).is_some_and(|text| {
        let line = text.lines().next_back().unwrap_or_default();
        matches!(line, "Command aborted" | "Operation aborted" | "No result provided")
    })
}

/// The exit code in the last line of a failed command's outcome.
pub(super) fn exit_code(parts: &[Part]) -> Option<i32> {
    last_text(parts)?.lines().next_back()?.strip_prefix(EXITED)?.parse().ok()
}

/// The line in which the client tells how a command ended.
fn spell_exit_line(code: i32) -> Vec<String> {
    vec![format!("{EXITED}{code}")]
}

/// Takes off the line that tells the exit code, which the outcome knows already.
pub(super) fn strip(outcome: &mut Outcome) {
    strip_exit_line(outcome, spell_exit_line);
}

/// The text with its exit code, as the client would have written it.
pub(super) fn with_exit_code(text: &str, code: i32) -> String {
    add_exit_line(text, &spell_exit_line(code))
}

#[cfg(test)]
mod tests {
    use carryover_core::transcript::{CallId, Status};

    use super::*;

    #[test]
    fn exit_codes_come_off_and_on() {
        for text in ["no such file", "", "a\n"] {
            let parts = vec![Part::Text(with_exit_code(text, 3))];
            assert_eq!(exit_code(&parts), Some(3));
            let call = CallId("c".into());
            let mut outcome = Outcome { call, status: Status::Failed, exit_code: Some(3), parts };
            strip(&mut outcome);
            assert_eq!(outcome.parts, [Part::Text(text.to_owned())]);
        }
        assert_eq!(with_exit_code("x\n\nCommand exited with code 3", 3), "x\n\nCommand exited with code 3");
    }
}
