//! Use cases played through with two made-up agents.

mod activity;
mod agents;
mod briefs;
mod copies;
mod crash;
mod editor;
mod editor_folders;
mod examining;
pub(crate) mod fake;
mod forgetting;
mod glancing;
mod importing;
mod ledger;
mod lineage;
mod listing;
mod publishing;
mod resuming;
mod searching;
mod undoing;
mod watching;
mod windows;
pub(crate) mod world;
