//! Use cases: find a session, carry it over, take it back.
//!
//! Rule of this crate: it owns our own files and applies plans; it is synchronous, never prints, and takes the
//! environment and the clock as parameters.

mod apply;
mod assemble;
mod blob;
mod blocks;
mod bounds;
mod cache;
pub mod client;
pub mod closed;
pub mod config;
pub mod context;
mod counted;
mod digest;
mod disk;
pub mod doctor;
pub mod drift;
mod file;
pub mod handoff;
pub mod history;
pub mod ignored;
mod journal;
pub mod kept;
pub mod leave;
mod lineage;
mod lines;
mod project;
pub mod read;
mod readback;
pub mod resume;
mod rows;
mod run;
pub mod scratch;
pub mod select;
pub mod session;
pub mod undo;
pub mod unread;
pub mod watch;
pub mod workspace;

pub use cache::remember_messages;

#[cfg(test)]
mod tests;
