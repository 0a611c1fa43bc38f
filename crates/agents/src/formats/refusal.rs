//! The words by which clients tell the model, in a tool's place, that the user said no.

use carryover_core::transcript::{Outcome, Refusal, text_cow};

/// Clients' words for a call that was turned down, in small letters.
const REFUSAL_PHRASES: &[&str] = &[
    "doesn't want to proceed",
    "does not want to proceed",
    "doesn't want to take this action",
    "rejected by user",
    "user rejected",
    "denied by the user",
    "user denied",
    "user declined",
    "declined by user",
    "rejected by the user",
    "cancelled by user",
    "canceled by user",
];

/// Stands before the user's own words, where a client asks for them.
const FEEDBACK_MARKS: &[&str] = &["the user said:\n", "user feedback: "];

/// A refusal as most clients word it.
pub(crate) fn find_common_refusal(outcome: &Outcome) -> Option<Refusal> {
    if !outcome.status.is_failure() {
        return None;
    }
    let text = text_cow(&outcome.parts);
    let head = text[..text.floor_char_boundary(400)].to_lowercase();
    if !REFUSAL_PHRASES.iter().any(|words| head.contains(words)) {
        return None;
    }
    let said = FEEDBACK_MARKS.iter().find_map(|mark| text.split_once(mark)).map(|(_, said)| said.trim().to_owned());
    Some(Refusal { words: said.filter(|said| !said.is_empty()) })
}

#[cfg(test)]
mod tests {
    use carryover_core::transcript::{CallId, Part};

    use carryover_core::transcript::Status;

    use super::*;

    fn outcome(status: Status, text: &str) -> Outcome {
        Outcome { call: CallId("a".into()), status, exit_code: None, parts: vec![Part::Text(text.to_owned())] }
    }

    #[test]
    fn what_the_user_said_with_a_no_is_kept() {
        let text =
            "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nuse make";
        let refusal = find_common_refusal(&outcome(Status::Interrupted, text));
        assert_eq!(refusal, Some(Refusal { words: Some("use make".to_owned()) }));
        assert_eq!(find_common_refusal(&outcome(Status::Failed, "exit code 1")), None);
        assert_eq!(find_common_refusal(&outcome(Status::Done, "the log says: user rejected")), None);
    }
}
