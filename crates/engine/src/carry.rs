//! One session, carried into another agent.

pub(crate) mod assemble;
mod blob;
mod fit;
mod report;
pub mod resume;
