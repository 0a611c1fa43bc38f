//! The editor's conversations: `state.vscdb` in the storage that all its windows share, and in that of each window.

mod blocks;
mod bubble;
mod chat;
mod composer;
mod heads;
mod images;
mod tool_call;
mod values;
mod workspaces;

pub(super) use blocks::BubbleBlock;
pub(super) use bubble::read_bubble;
pub(super) use chat::{read_chat_bubble, read_typed_prompt};
pub(super) use composer::{open_session, read_status};
pub(super) use heads::{INDEX_TABLE, SHARED_INDEX_KEY, SessionScope, find_held, list_sessions};
pub(super) use tool_call::{ARGUMENT_FIELDS, REJECTED_WORDS, call_name};
pub(super) use values::{Table, read_text};
pub(super) use workspaces::{Workspace, list_projects, list_workspaces};
