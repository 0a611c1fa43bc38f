//! How a call ended, and what the client's shell adds to what a command gave back.

use carryover_core::transcript::{Outcome, Part, Status};

use super::read::MISSING_RESULT;
use super::wire::WireDetails;
use crate::formats::tree::exit_line::{EXIT_CODE_PREFIX, last_text, strip_exit_line};

/// How a call ended.
pub(super) struct CallEnding {
    pub status: Status,
    pub exit_code: Option<i32>,
}

impl CallEnding {
    /// A command that fails is no error to the client; its code stands beside what it gave back, and at its end.
    pub(super) fn from_details(details: &WireDetails, is_error: bool, parts: &[Part]) -> Self {
        let exit_code = details.exit_code.filter(|code| *code != 0).or_else(|| find_exit_code(parts));
        let killed = details.exit_signal.is_some() || matches!(details.status.as_deref(), Some("killed" | "aborted"));
        let repaired = details.openclaw_synthetic_missing_tool_result == Some(true) || is_no_result(parts);
        let failed = is_error || details.status.as_deref() == Some("failed") || exit_code.is_some();
        let status = match (killed || repaired, failed) {
            (true, _) => Status::Interrupted,
            (false, true) => Status::Failed,
            (false, false) => Status::Done,
        };
        Self { status, exit_code }
    }
}

fn is_no_result(parts: &[Part]) -> bool {
    last_text(parts) == Some(MISSING_RESULT)
}

/// The lines in which the client tells how a command ended: the one that it writes, and the one of other clients.
pub(super) fn spell_exit_lines(code: i32) -> Vec<String> {
    vec![format!("({EXIT_CODE_PREFIX}{code})"), format!("{EXIT_CODE_PREFIX}{code}")]
}

/// The exit code in the last line of a failed command's outcome.
fn find_exit_code(parts: &[Part]) -> Option<i32> {
    let line = last_text(parts)?.lines().next_back()?;
    let line = line.strip_prefix('(').and_then(|line| line.strip_suffix(')')).unwrap_or(line);
    line.strip_prefix(EXIT_CODE_PREFIX)?.parse().ok().filter(|code| *code != 0)
}

/// Takes off the line that tells the exit code, which the outcome knows already.
pub(super) fn strip_exit_code(outcome: &mut Outcome) {
    strip_exit_line(outcome, spell_exit_lines);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_failed_by_the_code_in_its_last_line() {
        for line in spell_exit_lines(3) {
            let ended = CallEnding::from_details(&WireDetails::default(), false, &[Part::Text(format!("a\n\n{line}"))]);
            assert_eq!((ended.exit_code, ended.status), (Some(3), Status::Failed));
        }
    }
}
