//! The line in which clients of trees tell how a command ended, at the end of what it gave back.

use carryover_core::transcript::{Outcome, Part};

pub(crate) const EXIT_CODE_PREFIX: &str = "Command exited with code ";

/// The last text of an outcome, whose last line tells how it ended.
pub(crate) fn last_text(parts: &[Part]) -> Option<&str> {
    parts.iter().rev().find_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        Part::Blob(_) => None,
    })
}

/// Takes off the line that tells the exit code, which the outcome knows already.
pub(crate) fn strip_exit_line(outcome: &mut Outcome, spell_lines: fn(i32) -> Vec<String>) {
    if let (Some(code), Some(Part::Text(text))) = (outcome.exit_code, outcome.parts.last_mut())
        && let Some(rest) = spell_lines(code).iter().find_map(|line| text.strip_suffix(line.as_str()))
    {
        *text = rest.strip_suffix("\n\n").unwrap_or(rest).to_owned();
    }
}

/// The text with such a line, of which a client may know several; the first is its own.
pub(crate) fn add_exit_line(text: &str, lines: &[String]) -> String {
    match (text, lines) {
        (_, lines) if lines.iter().any(|line| text.ends_with(line)) => text.to_owned(),
        ("", [line, ..]) => line.clone(),
        (_, [line, ..]) => format!("{text}\n\n{line}"),
        (_, []) => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use carryover_core::transcript::{CallId, Status};

    use super::*;

    fn exit_code_lines(code: i32) -> Vec<String> {
        vec![format!("({EXIT_CODE_PREFIX}{code})"), format!("{EXIT_CODE_PREFIX}{code}")]
    }

    #[test]
    fn exit_codes_come_off_and_on() {
        for text in ["no such file", "", "a\n"] {
            let parts = vec![Part::Text(add_exit_line(text, &exit_code_lines(3)))];
            let call = CallId("c".into());
            let mut outcome = Outcome { call, status: Status::Failed, exit_code: Some(3), parts };
            strip_exit_line(&mut outcome, exit_code_lines);
            assert_eq!(outcome.parts, [Part::Text(text.to_owned())]);
        }
        for line in exit_code_lines(3) {
            let told = format!("x\n\n{line}");
            assert_eq!(add_exit_line(&told, &exit_code_lines(3)), told);
        }
    }
}
