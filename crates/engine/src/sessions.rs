//! Which sessions there are, which one is meant, and what was read of it.

pub mod caller;
pub mod catalog;
pub mod copies;
pub mod drift;
pub mod glance;
mod limit_text;
pub(crate) mod lineage;
pub mod list;
pub(crate) mod project;
pub mod read;
pub mod recent;
pub(crate) mod rewritten;
pub mod select;
pub(crate) mod standing_limit;
pub mod unread;
pub(crate) mod word_matcher;
