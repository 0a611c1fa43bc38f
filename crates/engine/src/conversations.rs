//! Conversations that are kept in a project: `conversations/<date>/<nnn>-<type>-<topic>/`, with a document for people and
//! `.session/` for the next agent. Everything here works with the document alone.

pub mod command;
pub mod commit;
pub mod find;
mod folder;
mod kind;
pub mod opening;
pub mod prune;
pub mod save;
pub mod sealing;
pub mod status;
mod store;
pub mod suggestion;
pub mod thread;

pub use folder::{Conversation, FOLDER, Listing, conversation_root, list_conversations};
pub use store::read_messages;
