//! One session, carried into another agent.

pub(crate) mod assemble;
mod blob;
pub mod canonical;
mod complete;
pub mod earlier;
mod fit;
pub mod offers;
pub mod own;
mod report;
pub mod resume;
mod window;
