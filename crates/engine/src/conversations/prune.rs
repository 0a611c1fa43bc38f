//! Old histories, dropped: the messages go, the document and what is known of the conversation stay.

use std::io;
use std::path::PathBuf;

use carryover_core::time::Timestamp;

use super::folder::Conversation;
use super::store;
use crate::context::Context;

/// The conversations whose messages would be dropped: they have some, and were last used before then.
pub fn list_prunable(conversations: &[Conversation], before: Timestamp) -> Vec<&Conversation> {
    let is_old =
        |one: &&Conversation| (one.has_messages || one.has_sealed) && one.last_active().is_some_and(|at| at < before);
    conversations.iter().filter(is_old).collect()
}

/// Drops the messages of a conversation; answers how many bytes that were.
pub fn drop_messages(context: &Context, conversation: &Conversation) -> io::Result<u64> {
    let size = size_messages(conversation);
    for path in list_message_files(conversation) {
        store::remove_file(context, conversation, &path)?;
    }
    Ok(size)
}

/// How many bytes the messages of a conversation take.
pub fn size_messages(conversation: &Conversation) -> u64 {
    let sizes = list_message_files(conversation).into_iter();
    sizes.filter_map(|path| fs_err::symlink_metadata(path).ok()).map(|there| there.len()).sum()
}

fn list_message_files(conversation: &Conversation) -> Vec<PathBuf> {
    let open = conversation.has_messages.then(|| conversation.messages_file());
    open.into_iter().chain(conversation.has_sealed.then(|| conversation.sealed_file())).collect()
}
