//! Use cases played through with two made-up agents.

mod agents;
mod briefs;
mod crash;
mod examining;
mod fake;
mod forgetting;
mod importing;
mod ledger;
mod lineage;
mod listing;
mod resuming;
mod searching;
mod undoing;
mod watching;
pub(crate) mod world;
