//! Use cases: find a session, carry it over, take it back.
//!
//! Rule of this crate: it owns our own files and applies plans; it is synchronous, never prints, and takes the
//! environment and the clock as parameters.

pub mod capsule;
pub mod capture;
pub mod carry;
pub mod client;
pub mod context;
pub mod conversations;
pub mod doctor;
pub mod handoff;
pub mod install;
pub mod ledger;
pub mod memory;
pub mod own;
pub mod recording;
pub mod sessions;
pub mod share;
pub mod watch;
pub mod write;

pub use sessions::glance::remember_messages;

#[cfg(test)]
mod tests;
