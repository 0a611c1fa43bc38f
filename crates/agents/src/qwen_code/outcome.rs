//! The text that the client puts around outcomes: a command's exit code, a user's consent or its absence.

use carryover_core::transcript::{Outcome, Part};

const EXIT_CODE_PREFIX: &str = "Exit Code: ";

/// The exit code in one of the last lines of a command's outcome.
pub(super) fn find_exit_code(parts: &[Part]) -> Option<i32> {
    let Some(Part::Text(text)) = parts.first() else { return None };
    text.lines().rev().take(4).find_map(|line| line.strip_prefix(EXIT_CODE_PREFIX)?.trim().parse().ok())
}

/// Whether the user did not answer.
pub(super) fn is_declined(tool: &str, parts: &[Part]) -> bool {
    tool == "ask_user_question" && starts_with_text(parts, "User declined to answer")
}

/// Whether a question was not put, or a plan not approved; the client calls both a success.
pub(super) fn is_refused(tool: &str, parts: &[Part]) -> bool {
    match tool {
        "ask_user_question" => !starts_with_text(parts, ANSWERS_PREFIX),
        "exit_plan_mode" => !starts_with_text(parts, "User approved"),
        _ => false,
    }
}

/// Behind this stand the answers of the user, each with the heading of its question.
pub(super) const ANSWERS_PREFIX: &str = "User has provided the following answers:";

fn starts_with_text(parts: &[Part], start: &str) -> bool {
    matches!(parts.first(), Some(Part::Text(text)) if text.starts_with(start))
}

/// Takes off the command, the folder and the exit code around an outcome.
pub(super) fn strip_wrapping(outcome: &mut Outcome) {
    if let (Some(code), Some(Part::Text(text))) = (outcome.exit_code, outcome.parts.first_mut()) {
        *text = match unwrap_output(text) {
            Some(output) => output,
            None => text
                .strip_suffix(&format!("{EXIT_CODE_PREFIX}{code}"))
                .unwrap_or(text)
                .trim_end_matches('\n')
                .to_owned(),
        };
    }
}

/// The text behind `Output:` and `Error:`.
fn unwrap_output(text: &str) -> Option<String> {
    let rest = text.strip_prefix("Command: ")?;
    let start = rest.find("\nOutput: ")? + "\nOutput: ".len();
    let end = rest.rfind("\nError: ").filter(|end| *end >= start)?;
    let error = rest[end..].strip_prefix("\nError: ")?.lines().next().unwrap_or_default();
    let parts = [&rest[start..end], error];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !matches!(*part, "" | "(empty)" | "(none)")).collect();
    Some(parts.join("\n"))
}

/// The text with its exit code, in words of the client's.
pub(super) fn with_exit_code(text: &str, code: i32) -> String {
    let line = format!("{EXIT_CODE_PREFIX}{code}");
    match text {
        _ if text.contains(&line) => text.to_owned(),
        "" => line,
        _ => format!("{text}\n{line}"),
    }
}

#[cfg(test)]
mod tests {
    use carryover_core::transcript::{CallId, Status};

    use super::*;

    fn check(text: &str, bared: &str) {
        let parts = vec![Part::Text(text.to_owned())];
        assert_eq!(find_exit_code(&parts), Some(3));
        let mut outcome = Outcome { call: CallId("c".into()), status: Status::Failed, exit_code: Some(3), parts };
        strip_wrapping(&mut outcome);
        assert_eq!(outcome.parts, [Part::Text(bared.to_owned())]);
    }

    #[test]
    fn the_users_consent_is_told_from_its_absence() {
        let said = |text: &str| [Part::Text(text.to_owned())];
        assert!(!is_refused("exit_plan_mode", &said("User approved. You can now start coding.")));
        assert!(is_refused("exit_plan_mode", &said("Plan execution was not approved. Remaining in plan mode.")));
        assert!(!is_refused("ask_user_question", &said("User has provided the following answers:\n\n**A**: b")));
        assert!(is_declined("ask_user_question", &said("User declined to answer the questions.")));
        assert!(!is_refused("read_file", &said("x")));
    }

    #[test]
    fn the_clients_wrapping_comes_off() {
        let wrapped = |output: &str, error: &str| {
            format!(
                "Command: x\nDirectory: (root)\nOutput: {output}\nError: {error}\nExit Code: 3\nSignal: (none)\n\
                 Process Group PGID: (none)"
            )
        };
        check(&wrapped("a\nb", "(none)"), "a\nb");
        check(&wrapped("(empty)", "no such file"), "no such file");
        check(&with_exit_code("a", 3), "a");
        check(&with_exit_code("", 3), "");
    }
}
