//! The daemon: it watches the stores, takes what hooks tell, keeps the ledger and publishes handoffs.
//!
//! What it does is the engine's `capture`; here is how it runs, and how it is talked to. Our own program uses a socket in our
//! folder, which only its owner can open; beside it a port on loopback answers other programs that show the token.

mod background;
pub(crate) mod client;
mod guard;
mod import;
mod listener;
mod log;
mod place;
mod port_owner;
mod routes;
mod run;
mod status;

pub(crate) use background::{Stopped, start, start_in_background, stop, stop_another_program, wait_for_answer};
pub(crate) use guard::is_same_secret;
pub(crate) use log::last_lines;
pub(crate) use routes::MAX_BODY_BYTES;
pub(crate) use run::{RunFor, run_daemon};
pub(crate) use status::StatusDocument;
