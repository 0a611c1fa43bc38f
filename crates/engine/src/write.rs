//! Writing into others' stores: planned, journaled, read back, and taken back.

pub(crate) mod apply;
pub(crate) mod bounds;
pub mod closed;
pub(crate) mod disk;
pub(crate) mod journal;
mod json_member;
pub(crate) mod lines;
pub mod new_rows;
pub(crate) mod ownership;
pub(crate) mod processes;
pub(crate) mod readback;
pub(crate) mod removal;
pub(crate) mod replaced;
pub(crate) mod rows;
pub(crate) mod run;
pub mod scratch;
mod stored_json;
pub(crate) mod supersede;
pub mod undo;
pub(crate) mod undo_files;
mod undoable;
