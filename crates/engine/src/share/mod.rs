//! Sharing: capsules that leave this machine, always encrypted.

pub mod bucket;
