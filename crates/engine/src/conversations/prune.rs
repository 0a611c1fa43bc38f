//! Old histories, dropped: the messages go, the document and what is known of the conversation stay.

use std::io;

use carryover_core::time::Timestamp;

use super::folder::Conversation;
use super::store;
use crate::context::Context;

/// The conversations whose messages would be dropped: they have some, and were last used before then.
pub fn list_prunable(conversations: &[Conversation], before: Timestamp) -> Vec<&Conversation> {
    let is_old = |one: &&Conversation| one.has_messages && one.last_active().is_some_and(|at| at < before);
    conversations.iter().filter(is_old).collect()
}

/// Drops the messages of a conversation; answers how many bytes that were.
pub fn drop_messages(context: &Context, conversation: &Conversation) -> io::Result<u64> {
    let path = conversation.messages_file();
    let size = fs_err::symlink_metadata(&path)?.len();
    store::remove_file(context, conversation, &path)?;
    Ok(size)
}
