//! Writing into others' stores: planned, journaled, read back, and taken back.

pub(crate) mod apply;
pub(crate) mod bounds;
pub(crate) mod disk;
pub(crate) mod journal;
pub(crate) mod lines;
pub(crate) mod ownership;
pub(crate) mod readback;
pub(crate) mod rows;
pub(crate) mod run;
pub mod scratch;
pub(crate) mod supersede;
pub mod undo;
pub(crate) mod undo_files;
mod undoable;
