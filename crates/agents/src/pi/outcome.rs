//! What the client's shell adds to what a command gave back.

use carryover_core::transcript::{Outcome, Part};

const EXITED: &str = "Command exited with code ";

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

/// Takes off the line that tells the exit code, which the outcome knows already.
pub(super) fn strip(outcome: &mut Outcome) {
    if let (Some(code), Some(Part::Text(text))) = (outcome.exit_code, outcome.parts.last_mut())
        && let Some(rest) = text.strip_suffix(&format!("{EXITED}{code}"))
    {
        *text = rest.strip_suffix("\n\n").unwrap_or(rest).to_owned();
    }
}

/// The text with its exit code, as the client would have written it.
pub(super) fn with_exit_code(text: &str, code: i32) -> String {
    let line = format!("{EXITED}{code}");
    match text {
        _ if text.ends_with(&line) => text.to_owned(),
        "" => line,
        _ => format!("{text}\n\n{line}"),
    }
}

fn last_text(parts: &[Part]) -> Option<&str> {
    parts.iter().rev().find_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        Part::Blob(_) => None,
    })
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
