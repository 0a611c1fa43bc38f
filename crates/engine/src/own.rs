//! Our own folder: settings, what is remembered, and how our files are written.

pub(crate) mod cache;
pub mod config;
pub(crate) mod files;
pub(crate) mod fingerprint;
pub mod permissions;
pub mod private;
pub mod project_settings;
