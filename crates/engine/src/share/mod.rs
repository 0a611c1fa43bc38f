//! Sharing: capsules that leave this machine, always encrypted.

pub mod bucket;
pub mod crypt;
pub mod folder_bucket;
pub mod git_bucket;
pub mod keys;
pub mod object_key;
pub mod remote;
pub mod sealed;

#[cfg(test)]
mod tests;
