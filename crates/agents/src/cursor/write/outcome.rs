//! The exit code of a command, in the text that a model is told: what is kept for display tells it to nobody else.

use carryover_core::transcript::{Outcome, Part};

/// The text with the code before it.
pub(in crate::cursor) fn with_exit_code(text: &str, code: i32) -> String {
    format!("Exit code: {code}\n\n{text}")
}

/// Takes the code off again, where the outcome tells the same.
pub(in crate::cursor) fn strip_exit_code(outcome: &mut Outcome) {
    let Some(code) = outcome.exit_code else { return };
    if let Some(Part::Text(text)) = outcome.parts.first_mut()
        && let Some(rest) = text.strip_prefix(&with_exit_code("", code))
    {
        *text = rest.to_owned();
    }
}
