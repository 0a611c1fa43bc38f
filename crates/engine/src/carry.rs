//! One session, carried into another agent.

pub(crate) mod assemble;
mod blob;
pub mod canonical;
mod complete;
mod fit;
pub mod offers;
pub mod own;
mod report;
pub mod resume;
