//! Old histories, dropped: the messages go, the document and what is known of the conversation stay.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use carryover_core::time::Timestamp;

use super::folder::Conversation;
use super::store;
use super::thread::thread_name;
use crate::context::Context;

/// The saves whose messages would be dropped: they have some, and nothing of the conversation was used since then. What
/// is gone on with is as old as its last save.
pub fn list_prunable(conversations: &[Conversation], before: Timestamp) -> Vec<&Conversation> {
    let used = |one: &Conversation| one.last_active().is_none_or(|at| at >= before);
    let in_use: BTreeSet<String> = conversations.iter().filter(|one| used(one)).map(thread_name).collect();
    let is_old = |one: &&Conversation| (one.has_messages || one.has_sealed) && !in_use.contains(&thread_name(one));
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
