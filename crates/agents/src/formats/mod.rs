//! Storage mechanics that agents share. No vendor's name occurs here.

pub(crate) mod calls;
pub(crate) mod diff;
pub mod drift;
pub mod file;
pub mod git;
pub mod ids;
pub(crate) mod introduced;
pub mod jsonl;
pub mod lanes;
pub mod line;
pub(crate) mod losses;
pub(crate) mod messages;
pub(crate) mod own_records;
pub(crate) mod patch;
pub(crate) mod referenced;
pub(crate) mod refusal;
pub mod relocate;
pub(crate) mod request;
pub(crate) mod session_lines;
pub(crate) mod spelling;
pub mod sqlite;
pub mod text;
pub mod tree;
pub mod turns;
pub mod unopened;
pub(crate) mod user_message;
