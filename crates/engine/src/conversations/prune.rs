//! Old histories, dropped: the messages go, the document and what is known of the conversation stay.

use std::collections::BTreeSet;
use std::io;

use carryover_core::time::Timestamp;

use super::folder::Conversation;
use super::store;
use super::thread::thread_name;
use crate::context::Context;

/// Old saves that have messages.
#[derive(Debug, Default)]
pub struct OldHistories<'a> {
    /// In the open: their documents tell what was said.
    pub open: Vec<&'a Conversation>,
    /// These stay: nothing but the sealed file tells it.
    pub sealed: Vec<&'a Conversation>,
}

/// The saves that have messages, and of whose conversation nothing was used since then. What is gone on with is as old as
/// its last save.
pub fn list_old(conversations: &[Conversation], before: Timestamp) -> OldHistories<'_> {
    let used = |one: &Conversation| one.last_active().is_none_or(|at| at >= before);
    let in_use: BTreeSet<String> = conversations.iter().filter(|one| used(one)).map(thread_name).collect();
    let is_old = |one: &&Conversation| (one.has_messages || one.has_sealed) && !in_use.contains(&thread_name(one));
    let (sealed, open) = conversations.iter().filter(is_old).partition(|one| one.has_sealed);
    OldHistories { open, sealed }
}

/// Drops the messages of a conversation; answers how many bytes that were.
pub fn drop_messages(context: &Context, conversation: &Conversation) -> io::Result<u64> {
    let size = size_messages(conversation);
    store::remove_file(context, conversation, &conversation.messages_file())?;
    Ok(size)
}

/// How many bytes the messages of a conversation take.
pub fn size_messages(conversation: &Conversation) -> u64 {
    fs_err::symlink_metadata(conversation.messages_file()).map_or(0, |there| there.len())
}
