//! Sessions whose records are the nodes of a tree: each names the one that it follows, and a message is one record with
//! the blocks of an API in it. More than one client keeps sessions that way; what is its own, each keeps in its folder.

pub mod blocks;
pub mod bodies;
pub mod brought;
pub mod counted;
pub mod owner;
pub mod wire;
pub mod words;
