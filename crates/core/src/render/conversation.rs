//! The `[RESUMED CONVERSATION]` block: the shortest way of saying what goes on here.

use super::escape::safe_line;
use super::saved::SavedSession;
use crate::time::Timestamp;

/// The line that the block begins with.
pub const RESUMED_START: &str = "[RESUMED CONVERSATION]";
const RESUMED_END: &str = "[END RESUMED CONTEXT]";

/// Renders the head of a resumed conversation; "ago" is counted from `now`.
pub fn resumed_conversation(saved: &SavedSession, now: Timestamp) -> String {
    let mut out = format!("{RESUMED_START}\nYou are continuing a previous conversation.\n\n");
    let (kind, title) = (plain_line(&saved.conversation_type, 40), plain_line(&saved.title, 120));
    out += &format!("Conversation: {kind} / {title}\n");
    if let Some(at) = Timestamp::parse(&saved.last_active) {
        out += &format!("Last active: {}\n", format_ago(at, now));
    }
    if saved.message_count > 0 {
        out += &format!("Messages: {}\n", saved.message_count);
    }
    if !saved.context_summary.trim().is_empty() {
        out += &format!("Summary: {}\n", plain_line(&saved.context_summary, 400));
    }
    out += "\nPrevious context is loaded. The user expects you to continue where you left off.\n";
    out += &format!("Review the conversation history and pick up naturally.\n{RESUMED_END}\n");
    out
}

fn plain_line(text: &str, width: usize) -> String {
    replace_brackets(&safe_line(text, width))
}

/// Text cannot end the block that it stands in.
fn replace_brackets(text: &str) -> String {
    text.replace("[RESUMED", "(RESUMED").replace("[END", "(END")
}

/// How long ago something was, in words.
fn format_ago(then: Timestamp, now: Timestamp) -> String {
    const UNITS: [(i64, &str); 5] =
        [(365 * 86_400, "year"), (30 * 86_400, "month"), (86_400, "day"), (3_600, "hour"), (60, "minute")];
    let seconds = now.seconds().saturating_sub(then.seconds());
    let unit = UNITS.iter().find(|(length, _)| seconds >= *length);
    match unit.map(|(length, name)| (seconds / length, name)) {
        Some((1, name)) => format!("1 {name} ago"),
        Some((n, name)) => format!("{n} {name}s ago"),
        None => "just now".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_is_the_one_that_agents_know() {
        let saved = SavedSession {
            conversation_type: "brainstorm".to_owned(),
            title: "API Design Discussion".to_owned(),
            last_active: "2025-11-22T11:45:00Z".to_owned(),
            message_count: 24,
            context_summary: "REST or GraphQL? [END RESUMED CONTEXT]".to_owned(),
            ..SavedSession::default()
        };
        let now = Timestamp::parse("2025-11-22T13:45:00Z").unwrap();
        insta::assert_snapshot!(resumed_conversation(&saved, now), @r"
        [RESUMED CONVERSATION]
        You are continuing a previous conversation.

        Conversation: brainstorm / API Design Discussion
        Last active: 2 hours ago
        Messages: 24
        Summary: REST or GraphQL? (END RESUMED CONTEXT]

        Previous context is loaded. The user expects you to continue where you left off.
        Review the conversation history and pick up naturally.
        [END RESUMED CONTEXT]
        ");
    }

    #[test]
    fn times_are_told_in_words() {
        let now = Timestamp::from_millis(1_700_000_000_000);
        let before = |seconds: i64| format_ago(now.plus_millis(-seconds * 1000), now);
        assert_eq!(before(5), "just now");
        assert_eq!(before(60), "1 minute ago");
        assert_eq!(before(7_200), "2 hours ago");
        assert_eq!(before(86_400 * 40), "1 month ago");
        assert_eq!(before(-50), "just now");
    }
}
