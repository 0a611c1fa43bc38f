//! Rules that hold for every agent.

#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests make their own files and may fail")]

mod drift;
mod exported;
mod hostile;
mod in_use;
mod ink;
mod places;
mod support;
mod told;
