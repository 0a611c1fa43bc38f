//! Capsules: a session with its boundary and its workspace, as one file or one folder that another machine can open.
//!
//! `seal` makes one of a session, `open` looks into one. Nothing in a capsule is believed: it is verified as a whole before
//! a byte of it is unpacked, and checked once more while it is.

pub mod boundary;
mod container;
mod counting;
mod digest;
mod drift;
mod error;
pub mod fidelity;
pub mod import;
mod limits;
pub mod manifest;
pub(crate) mod masks;
mod member_path;
mod metered;
mod open;
mod prompts;
mod raw_records;
pub mod recorded;
mod seal;
pub mod shelf;
pub(crate) mod staging;
mod tar_walk;
mod transcript;
pub mod workspace;

pub(crate) use container::Content;
pub use container::{PackedForm, ReadSeek};
pub use error::CapsuleError;
pub use limits::MAX_RATIO;
pub(crate) use limits::{MAX_DOCUMENT_BYTES as MAX_MANIFEST_BYTES, MAX_TOTAL_BYTES as MAX_CAPSULE_BYTES};
pub use open::{Capsule, VerifiedCapsule};
pub use seal::{Draft, Masked, Options, SealedCapsule, draft_capsule, seal};

#[cfg(test)]
mod tests;
