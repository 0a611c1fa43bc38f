//! The brief for the next agent, and where it finds it.

pub(crate) mod blocks;
pub mod context_file;
mod distil;
pub mod gitignore;
pub mod history;
pub mod injection;
pub(crate) mod pointer;
pub mod project_dir;
pub mod publish;
pub mod published;
pub mod standing_pointers;
mod token_counts;
pub mod workspace;

pub(crate) use distil::refuse_unasked;
pub use distil::{DistilledSession, Options, distil_session, read_state};
