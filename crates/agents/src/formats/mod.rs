//! Storage mechanics that agents share. No vendor's name occurs here.

pub mod drift;
pub mod file;
pub mod git;
pub mod ids;
pub mod inside;
pub(crate) mod introduced;
pub mod jsonl;
pub mod lanes;
pub(crate) mod patch;
pub mod process;
pub(crate) mod referenced;
pub(crate) mod refusal;
pub mod relocate;
pub mod sqlite;
pub mod text;
pub mod tree;
pub mod turns;
pub mod unopened;
