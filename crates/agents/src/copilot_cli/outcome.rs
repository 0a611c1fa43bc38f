//! Outcomes of calls: how they ended, and the line that the client puts behind what a shell printed.

use carryover_core::transcript::{CallId, Outcome, Part, Status};

use super::assets::LocatedLine;
use super::wire::WireComplete;

/// Error codes of calls that somebody stopped.
const STOP_CODES: &[&str] = &["aborted", "cancelled", "denied", "interrupted", "rejected"];

pub(super) fn from_complete(complete: &WireComplete<'_>, ground: &LocatedLine<'_>) -> Outcome {
    let told = complete.result.as_ref().and_then(|result| exit_code_in_text(&result.content));
    let exit_code = complete.shell_execution.as_ref().and_then(|shell| shell.exit_code).or(told);
    let refused = complete.result.as_ref().is_some_and(|result| is_refusal(&result.content));
    let mut parts = Vec::new();
    if let Some(result) = &complete.result {
        parts.push(Part::Text(result.content.to_string()));
        parts.extend(
            result.binary_results_for_llm.iter().filter_map(|bytes| ground.read_blob(bytes, None)).map(Part::Blob),
        );
    } else if let Some(error) = &complete.error {
        parts.push(Part::Text(error.message.to_string()));
    }
    let code = complete.error.as_ref().and_then(|error| error.code.as_deref());
    let status = match code {
        Some(code) if STOP_CODES.contains(&code) => Status::Interrupted,
        // A command that ends with an error is a success to this client.
        _ if complete.success && !refused && exit_code.is_none_or(|code| code == 0) => Status::Done,
        _ => Status::Failed,
    };
    Outcome { call: CallId((&*complete.tool_call_id).into()), status, exit_code, parts }
}

/// The exit code in the last line of what a shell printed; the versions before 1.0.102 tell it nowhere else.
pub(super) fn exit_code_in_text(text: &str) -> Option<i32> {
    let line = text.rsplit('\n').next()?.strip_prefix('<')?.strip_suffix('>')?;
    let code = match line.strip_prefix("exited with exit code ") {
        Some(code) => code,
        None => line.strip_prefix("shellId: ")?.split_once(" completed with exit code ")?.1,
    };
    code.parse().ok()
}

/// A plan that the user did not approve is a success to this client.
fn is_refusal(text: &str) -> bool {
    ["Plan not approved", "Plan rejected", "User rejected the plan", "The user rejected the plan"]
        .iter()
        .any(|start| text.starts_with(start))
}

/// The line behind what a shell printed.
pub(super) fn exit_line(shell: usize, code: i32) -> String {
    format!("<shellId: {shell} completed with exit code {code}>")
}

/// Takes off the line that tells the exit code, which the outcome knows already.
pub(super) fn strip_exit_line(outcome: &mut Outcome) {
    if let (Some(code), Some(Part::Text(text))) = (outcome.exit_code, outcome.parts.first_mut()) {
        let line = text.rsplit('\n').next().unwrap_or_default();
        if exit_code_in_text(line) == Some(code) {
            text.truncate(text.len() - line.len());
            if text.ends_with('\n') {
                text.pop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_code_is_told_in_the_last_line() {
        assert_eq!(exit_code_in_text("[]\n<exited with exit code 255>"), Some(255));
        assert_eq!(exit_code_in_text("<shellId: 3 completed with exit code 0>"), Some(0));
        assert_eq!(exit_code_in_text("<exited with exit code 1>\nand more"), None);
        assert_eq!(exit_code_in_text("<shellId: 3 is running>"), None);
    }

    #[test]
    fn the_line_behind_a_shells_output_comes_off() {
        let outcome = |text: &str, exit_code| Outcome {
            call: CallId("c".into()),
            status: Status::Done,
            exit_code,
            parts: vec![Part::Text(text.into())],
        };
        let check = |text, code, expected: &str| {
            let mut outcome = outcome(text, code);
            strip_exit_line(&mut outcome);
            assert_eq!(outcome.parts, [Part::Text(expected.into())]);
        };
        check("a\nb\n<shellId: 0 completed with exit code 3>", Some(3), "a\nb");
        check("<shellId: 12 completed with exit code 0>", Some(0), "");
        check("a\n<shellId: 0 completed with exit code 3>", None, "a\n<shellId: 0 completed with exit code 3>");
        check("a\n<exited with exit code 1>", Some(1), "a");
        check("a", Some(0), "a");
    }
}
