//! Why a remote could not be used.

use std::io;

use crate::capsule::CapsuleError;
use crate::share::bucket::BucketError;
use crate::share::crypt::CryptError;

#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    #[error("remote {0} has no key on this machine")]
    NoKey(String),
    #[error("{place} holds no remote any more: its key is gone from there")]
    Gone { name: String, place: String },
    /// Somebody has begun another remote in the same place.
    #[error("{place} has another key than when {name} was added")]
    OtherKey { name: String, place: String },
    #[error("what {place} has as its key is none")]
    NoIdentity { place: String },
    #[error("object {object} cannot be opened")]
    Unopened {
        object: String,
        #[source]
        source: CryptError,
    },
    /// Its content is not the one that its name was made of.
    #[error("object {object} is not what its name says")]
    WrongContent { object: String },
    #[error("object {object} is of a newer carryover ({schema})")]
    Newer { object: String, schema: String },
    #[error("object {object} is refused: {reason}")]
    Refused { object: String, reason: &'static str },
    #[error("{count} objects in the index cannot be read, and no more are tried")]
    TooManyUnreadable { count: usize },
    #[error("object {object} is missing: capsule {capsule} cannot be put together")]
    Missing { object: String, capsule: String },
    #[error(transparent)]
    Bucket(BucketError),
    #[error(transparent)]
    Crypt(#[from] CryptError),
    #[error(transparent)]
    Capsule(#[from] CapsuleError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<BucketError> for RemoteError {
    fn from(error: BucketError) -> Self {
        match error {
            BucketError::Local(error) => Self::Io(error),
            other => Self::Bucket(other),
        }
    }
}
