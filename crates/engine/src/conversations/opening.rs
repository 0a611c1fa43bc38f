//! The words that a resumed conversation begins with: the command as it is now, then what goes on here.

use carryover_core::render::resumed_conversation;
use carryover_core::time::Timestamp;

use super::command::CurrentCommand;
use super::folder::{Conversation, FOLDER};

/// Stands before the place of the conversation, by which a session that was begun with these words is known again.
pub(super) const RESUMED_FROM: &str = "Resumed from ";

/// The opening of a conversation.
pub fn render_opening(conversation: &Conversation, command: Option<&CurrentCommand>, now: Timestamp) -> String {
    let mut out = format!("{RESUMED_FROM}{FOLDER}/{}.\n\n", conversation.name());
    if let (Some(command), Some(name)) = (command, &conversation.saved.agent_config.command) {
        out += &format!("It was begun with the command {name}, which says now:\n\n{}\n\n", command.prompt);
    }
    out + &resumed_conversation(&conversation.saved, now)
}
