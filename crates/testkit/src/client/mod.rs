//! Runs the real clients: pinned versions, a cleared environment, a throw-away home, a time limit.

mod deletion;
mod dialog;
mod error;
mod headless;
mod install;
mod interface;
mod judge;
mod launch;
mod node;
pub(crate) mod runner;
mod sandbox;
mod terminal;

pub use deletion::Deletion;
pub use dialog::Dialog;
pub use error::ClientError;
pub use headless::CapturedRequests;
pub use install::{Client, cache_folder, find_or_install_packages};
pub use judge::{InstalledJudge, ShownItem, ShownKind, StoreJudge};
pub use launch::{FinishedRun, Launch, RUN_LIMIT, RunningProgram};
pub use runner::{PromptRequest, SessionChoice};
pub use sandbox::{Provider, Sandbox, Setup};
pub use terminal::Terminal;
