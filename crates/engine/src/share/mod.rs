//! Sharing: capsules that leave this machine, always encrypted.

pub mod bucket;
pub mod crypt;
pub mod keys;
pub mod remote;
pub mod sealed;

#[cfg(test)]
mod tests;
