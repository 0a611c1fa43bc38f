//! Use cases: find a session, carry it over, take it back.
//!
//! Rule of this crate: it owns our own files and applies plans; it is synchronous, never prints, and takes the
//! environment and the clock as parameters.

mod cache;
pub mod client;
pub mod config;
pub mod context;
mod digest;
mod file;
mod project;
pub mod read;
pub mod resume;
pub mod select;
pub mod session;
pub mod undo;

pub use cache::remember_messages;
