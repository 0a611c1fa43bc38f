//! The editor's conversations: `state.vscdb` in the storage that all its windows share, and in that of each window.

mod bubble;
mod chat;
mod composer;
mod heads;
mod images;
mod tool_call;
mod values;
mod workspaces;

pub(super) use bubble::read_bubble;
pub(super) use chat::{read_chat_bubble, read_typed_prompt};
pub(super) use composer::{open_session, read_status};
pub(super) use heads::{SessionScope, find_held, list_sessions};
pub(super) use tool_call::REJECTED_WORDS;
pub(super) use workspaces::list_projects;
