use super::samples::brief;
use crate::render::{ConversationOptions, resumed_conversation};

#[test]
fn a_resumed_conversation_is_told_in_five_lines() {
    let brief = brief();
    let now = brief.updated_at.unwrap().plus_millis(2 * 3_600_000);
    insta::assert_snapshot!(resumed_conversation(&brief, &ConversationOptions { kind: "plan", now }), @"
    [RESUMED CONVERSATION]
    This goes on with a conversation that was held before.

    Conversation: plan / Rate limits
    Last active: 2 hours ago (2026-11-15T11:00:00.000Z)
    Messages: 24 exchanges
    Summary: Add rate limits to the public API, 100 requests a minute per key; next: Make `router::layers` call `Limiter::take` before the handlers

    What was said before is at hand. Read it and answer as if there had been no break.
    [END RESUMED CONTEXT]
    ");
}
