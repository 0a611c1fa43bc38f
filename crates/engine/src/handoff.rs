//! What the next agent has to know, and where it finds it.

pub(crate) mod blocks;
pub mod context_file;
mod counted;
mod distil;
pub mod history;
pub mod ignored;
pub mod project_dir;
pub mod workspace;

pub(crate) use distil::refuse_unasked;
pub use distil::{Distilled, Options, distil_session};
