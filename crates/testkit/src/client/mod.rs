//! Runs the real clients: pinned versions, a cleared environment, a throw-away home, a time limit.

mod dialog;
mod error;
mod headless;
mod install;
mod launch;
mod node;
pub(crate) mod runner;
mod sandbox;
mod terminal;

pub use dialog::Dialog;
pub use error::ClientError;
pub use headless::Captured;
pub use install::{Client, cache_folder};
pub use launch::{Finished, Launch, RUN_LIMIT, Running};
pub use runner::{Ask, Session};
pub use sandbox::{Provider, Sandbox, Setup};
pub use terminal::Terminal;
