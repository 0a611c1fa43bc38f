//! The `[RESUMED CONVERSATION]` block: the shortest way of saying what goes on here.

use super::escape::{format_item, safe_line};
use crate::distill::Brief;
use crate::time::Timestamp;

#[derive(Debug, Clone, Copy)]
pub struct ConversationOptions<'a> {
    /// The kind of the conversation (`plan`, `debug`), where that is known; else the agent's name.
    pub kind: &'a str,
    /// From when "ago" is counted.
    pub now: Timestamp,
}

/// Renders the head of a resumed conversation.
pub fn resumed_conversation(brief: &Brief, options: &ConversationOptions<'_>) -> String {
    let request = brief.task.request.as_ref();
    let title = brief.title.as_deref().or(request.map(|request| request.text.as_str())).unwrap_or("untitled");
    let mut out = String::from("[RESUMED CONVERSATION]\nThis goes on with a conversation that was held before.\n\n");
    out += &format!("Conversation: {} / {}\n", plain_line(options.kind, 40), plain_line(title, 120));
    if let Some(at) = brief.updated_at {
        out += &format!("Last active: {} ({at})\n", format_ago(at, options.now));
    }
    out += &format!("Messages: {} {}\n", brief.messages, if brief.messages == 1 { "exchange" } else { "exchanges" });
    if let Some(request) = request {
        out += &format!("Summary: the user asked {}\n", replace_brackets(&format_item(request, 300)));
    }
    out +=
        "\nWhat was said before is at hand. Read it and answer as if there had been no break.\n[END RESUMED CONTEXT]\n";
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
