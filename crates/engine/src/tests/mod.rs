//! Use cases played through with two made-up agents.

mod agents;
mod briefs;
mod copies;
mod crash;
mod examining;
mod fake;
mod glancing;
mod importing;
mod lineage;
mod listing;
mod resuming;
mod undoing;
mod watching;
mod windows;
pub(crate) mod world;
