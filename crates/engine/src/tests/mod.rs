//! Use cases played through with two made-up agents.

mod agents;
mod briefs;
mod crash;
mod examining;
mod fake;
mod importing;
mod ledger;
mod lineage;
mod listing;
mod resuming;
mod undoing;
mod watching;
pub(crate) mod world;
