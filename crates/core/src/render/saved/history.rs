//! The history of a saved conversation in words: what is older in one line each, or as the agent's own account of it, and
//! the last messages whole.

use super::messages::{SavedMessage, SavedRole};
use crate::distill::clip_middle;
use crate::render::escape::{inline_code, quote_inline, safe_line};
use crate::tokens::estimate;

/// How much of it there is room for.
#[derive(Debug, Clone, Copy)]
pub struct HistoryBudget {
    /// Messages that are told whole.
    pub recent: usize,
    pub tokens: u64,
}

/// Of what came back from a call that is told whole.
const MAX_OUTPUT_CHARS: usize = 2_000;
const LINE_CHARS: usize = 240;

/// Renders the history within a budget; answers how many messages there was no room for. `agent_name` is who spoke.
pub fn render_history(messages: &[SavedMessage], agent_name: &str, budget: HistoryBudget) -> (String, usize) {
    let summary = messages.iter().rposition(SavedMessage::is_summary);
    let after = summary.map_or(0, |at| at + 1);
    let mut out = String::from("## History\n");
    if let Some(summary) = summary.and_then(|at| messages.get(at)) {
        out += &format!("\nThe agent's own account of what was before:\n\n{}\n", quote_block(&summary.content));
    }
    let rest = messages.get(after..).unwrap_or_default();
    let mut left = budget.tokens.saturating_sub(estimate(&out));
    let whole = take_fitting(rest, budget.recent, &mut left, |message| tell_whole(message, agent_name));
    let older = &rest[..rest.len() - whole.len()];
    let lines = take_fitting(older, usize::MAX, &mut left, |message| tell_line(message, agent_name));
    let dropped = older.len() - lines.len();
    if dropped > 0 {
        out += &format!("\n[{dropped} older messages are left out]\n");
    }
    if !lines.is_empty() {
        out += &format!("\n### Before, in one line each\n\n{}", lines.concat());
    }
    if !whole.is_empty() {
        out += &format!("\n### The last messages\n{}", whole.concat());
    }
    (out, dropped)
}

/// The last messages that there is room for, in their order.
fn take_fitting(
    messages: &[SavedMessage],
    at_most: usize,
    left: &mut u64,
    tell: impl Fn(&SavedMessage) -> String,
) -> Vec<String> {
    let mut told = Vec::new();
    for message in messages.iter().rev().take(at_most) {
        let text = tell(message);
        let Some(rest) = left.checked_sub(estimate(&text)) else { break };
        *left = rest;
        told.push(text);
    }
    told.reverse();
    told
}

/// Who speaks in a message.
pub(super) fn speaker<'a>(message: &SavedMessage, agent_name: &'a str) -> &'a str {
    match message.role {
        SavedRole::User => "User",
        SavedRole::Assistant => agent_name,
        SavedRole::Tool => "Tool",
        SavedRole::System => "Note",
    }
}

fn tell_line(message: &SavedMessage, agent_name: &str) -> String {
    let name = safe_line(speaker(message, agent_name), 60);
    match message.role {
        SavedRole::Tool => format!("- {name}: {}\n", inline_code(message.subject(), LINE_CHARS)),
        _ => format!("- {name}: {}\n", quote_inline(&message.content, LINE_CHARS)),
    }
}

fn tell_whole(message: &SavedMessage, agent_name: &str) -> String {
    let name = safe_line(speaker(message, agent_name), 60);
    match message.role {
        SavedRole::Tool => {
            let output = clip_middle(message.output(), MAX_OUTPUT_CHARS);
            let output = if output.trim().is_empty() { String::new() } else { format!("\n{}\n", quote_block(&output)) };
            format!("\n**{name}** {}\n{output}", inline_code(message.subject(), LINE_CHARS))
        }
        _ => format!("\n**{name}**\n\n{}\n", quote_block(&message.content)),
    }
}

/// Lines that cannot end their own quoting.
pub(super) fn quote_block(text: &str) -> String {
    let text = crate::plain::strip_hidden(text.trim_end());
    text.lines().map(|line| format!("> {line}").trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(role: &str, content: &str) -> SavedMessage {
        SavedMessage::parse(&serde_json::json!({ "role": role, "content": content }).to_string()).unwrap()
    }

    fn talk() -> Vec<SavedMessage> {
        let (user, agent) = (|text: &str| message("user", text), |text: &str| message("assistant", text));
        vec![user("first"), agent("answer\nof two lines"), user("second"), agent("the last word")]
    }

    #[test]
    fn the_last_messages_are_whole_and_the_others_are_lines() {
        let (text, dropped) = render_history(&talk(), "An Agent", HistoryBudget { recent: 2, tokens: 10_000 });
        insta::assert_snapshot!(text, @r#"
        ## History

        ### Before, in one line each

        - User: "first"
        - An Agent: "answer ⏎ of two lines"

        ### The last messages

        **User**

        > second

        **An Agent**

        > the last word
        "#);
        assert_eq!(dropped, 0);
    }

    #[test]
    fn the_agents_own_account_stands_for_what_was_before_it() {
        let mut messages = talk();
        messages[1].event.summary = true;
        let (text, _) = render_history(&messages, "An Agent", HistoryBudget { recent: 10, tokens: 10_000 });
        assert!(text.contains("own account") && text.contains("> of two lines") && !text.contains("first"), "{text}");
    }

    #[test]
    fn a_budget_is_kept_from_the_end() {
        let messages: Vec<SavedMessage> =
            (0..200).map(|n| message("user", &format!("{n}: {}", "word ".repeat(40)))).collect();
        for tokens in [100, 1_000, 3_000] {
            let (text, dropped) = render_history(&messages, "A", HistoryBudget { recent: 20, tokens });
            assert!(estimate(&text) <= tokens + 40, "{} > {tokens}", estimate(&text));
            assert!(dropped > 0 && text.contains("older messages are left out"));
            assert!(tokens == 100 || text.contains("> 199: word"), "{text}");
        }
    }
}
