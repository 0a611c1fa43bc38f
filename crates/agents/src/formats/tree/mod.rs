//! Sessions whose records are the nodes of a tree: each names the one that it follows, and a message is one record with
//! the blocks of an API in it. More than one client keeps sessions that way; what is its own, each keeps in its folder.

pub(crate) mod blocks;
pub mod bodies;
pub(crate) mod conditions;
pub(crate) mod dialect;
pub(crate) mod exit_line;
pub mod injected_text;
pub mod owner;
pub(crate) mod session_writer;
pub mod usage;
pub mod wire;
pub mod words;
