//! The words that a resumed conversation begins with: the command as it is now, then what goes on here.

use carryover_core::render::resumed_conversation;
use carryover_core::time::Timestamp;

use super::command::CurrentCommand;
use super::folder::{Conversation, FOLDER};

/// Stands before the place of the conversation, by which a session that was begun with these words is known again.
pub(super) const RESUMED_FROM: &str = "Resumed from ";

/// The opening of a conversation.
pub fn render_opening(conversation: &Conversation, command: Option<&CurrentCommand>, now: Timestamp) -> String {
    let command = command.zip(conversation.saved.agent_config.command.as_ref()).map(|(command, name)| {
        format!("It was begun with the command {name}, which says now:\n\n{}\n\n", command.prompt)
    });
    let (place, command) = (conversation.name(), command.unwrap_or_default());
    format!("{RESUMED_FROM}{FOLDER}/{place}.\n\n{command}{}", resumed_conversation(&conversation.saved, now))
}
