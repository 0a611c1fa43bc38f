//! The words that a resumed conversation begins with: the command as it is now, then what goes on here.

use carryover_core::render::{MAX_OPENING_CHARS, resumed_conversation};
use carryover_core::time::Timestamp;

use super::command::CurrentCommand;
use super::folder::{Conversation, FOLDER};

/// Stands before the place of the conversation, by which a session that was begun with these words is known again.
pub(super) const RESUMED_FROM: &str = "Resumed from ";

/// The opening of a conversation.
pub fn render_opening(conversation: &Conversation, command: Option<&CurrentCommand>, now: Timestamp) -> String {
    join_opening(conversation, command.map(|command| command.prompt.clone()), now)
}

/// The same, as it may stand before a brief: of a command that is too long for that, the beginning.
pub fn render_short_opening(conversation: &Conversation, command: Option<&CurrentCommand>, now: Timestamp) -> String {
    let whole = render_opening(conversation, command, now);
    let over = whole.chars().count().saturating_sub(MAX_OPENING_CHARS);
    let Some(command) = command.filter(|_| over > 0) else { return whole };
    let note = format!("\n\n(It is cut here: the whole of it stands in {}.)", command.path.display());
    let room = command.prompt.chars().count().saturating_sub(over + note.chars().count());
    let kept: String = command.prompt.chars().take(room).collect();
    join_opening(conversation, Some(kept.trim_end().to_owned() + &note), now)
}

fn join_opening(conversation: &Conversation, prompt: Option<String>, now: Timestamp) -> String {
    let command = prompt.zip(conversation.saved.agent_config.command.as_ref());
    let command =
        command.map(|(prompt, name)| format!("It was begun with the command {name}, which says now:\n\n{prompt}\n\n"));
    let (place, command) = (conversation.name(), command.unwrap_or_default());
    format!("{RESUMED_FROM}{FOLDER}/{place}.\n\n{command}{}", resumed_conversation(&conversation.saved, now))
}
