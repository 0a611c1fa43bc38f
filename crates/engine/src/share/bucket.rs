//! A place for objects outside of this machine, or one that looks like it: a folder, a bucket, a branch of a repository.
//!
//! Nothing here knows what objects hold. They are never changed once they are there: whoever writes a name first has it,
//! which is what makes several machines safe beside each other.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

/// An object that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredObject {
    /// Its name below the bucket's own prefix, with `/` between parts.
    pub key: String,
    pub bytes: u64,
}

/// Whether an object was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PutOutcome {
    Created,
    /// Somebody has written that name before; it is as they left it.
    AlreadyThere,
}

#[derive(Debug, thiserror::Error)]
pub enum BucketError {
    #[error("{place} has no object {key}")]
    NotFound { place: String, key: String },
    /// The store knows who asks, and says no.
    #[error("{place} refused: {reason}")]
    Refused { place: String, reason: String },
    #[error("{place} could not be reached: {reason}")]
    Unreachable { place: String, reason: String },
    #[error("object {key} in {place} is larger than the {limit} bytes that are expected of it")]
    TooLarge { place: String, key: String, limit: u64 },
    #[error("{place} cannot keep two writers apart, so nothing was written: {reason}")]
    Unconditional { place: String, reason: String },
    #[error("could not read or write a file of ours")]
    Local(#[from] io::Error),
}

/// Objects by name. Synchronous: whoever talks to a network does so behind it.
pub trait Bucket: Send + Sync {
    /// The address as it may be shown: without keys and passwords.
    fn place(&self) -> String;

    /// A small object as a whole; `NotFound` where there is none.
    fn get(&self, key: &str, limit: u64) -> Result<Vec<u8>, BucketError>;

    /// An object of any size, as it arrives; answers its length.
    fn fetch(&self, key: &str, into: &mut dyn Write, limit: u64) -> Result<u64, BucketError>;

    fn exists(&self, key: &str) -> Result<bool, BucketError>;

    /// The objects whose names begin with a prefix, by name.
    fn list(&self, prefix: &str) -> Result<Vec<StoredObject>, BucketError>;

    /// Writes a small object unless that name is taken: whole or not at all.
    fn put_new(&self, key: &str, bytes: &[u8]) -> Result<PutOutcome, BucketError>;

    /// The same for a file of any size, without holding it in memory.
    fn upload_new(&self, key: &str, file: &Path) -> Result<PutOutcome, BucketError>;

    /// Takes an object away; one that is not there is none to be taken.
    fn delete(&self, key: &str) -> Result<(), BucketError>;

    /// An address by which anybody can fetch an object for a while; `None` where the store has no such thing.
    fn presign(&self, key: &str, valid: Duration) -> Result<Option<String>, BucketError>;
}
