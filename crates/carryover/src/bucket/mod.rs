//! Places outside of this machine, behind the engine's synchronous `Bucket`.

mod address;
#[cfg(test)]
mod checks;
mod download;
mod http;
mod object_bucket;
mod probe;
mod services;
mod store_error;
#[cfg(test)]
mod tests;
mod timed_body;

use carryover_engine::context::Context;
use carryover_engine::share::bucket::{Bucket, BucketError};
use carryover_engine::share::folder_bucket::FolderBucket;
use carryover_engine::share::git_bucket::GitBucket;

pub(crate) use self::address::{Address, AddressError, hide_secrets, join_object, split_object};
pub(crate) use self::download::download_link;
pub(crate) use self::object_bucket::MAX_PRESIGNED;
pub use self::probe::open_place;

/// Why a place could not be opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenBucketError {
    #[error(transparent)]
    Address(#[from] AddressError),
    #[error(transparent)]
    Bucket(#[from] BucketError),
    #[error("{place} needs {variables}, and the environment has none")]
    NoCredentials { place: String, variables: &'static str, hint: &'static str },
    #[error("{place} cannot be used with the settings of the environment: {reason}")]
    Settings { place: String, reason: String },
}

/// Opens the place at an address. Only a folder is looked at; a service is asked when something is wanted of it.
pub(crate) fn open_bucket(context: &Context, address: &str) -> Result<Box<dyn Bucket>, OpenBucketError> {
    match Address::parse(context, address)? {
        Address::Folder(path) => Ok(Box::new(FolderBucket::open(&path)?)),
        Address::Service(address) => Ok(Box::new(services::open_service(context, &address)?)),
        Address::Git(remote) => Ok(Box::new(GitBucket::open(context, &remote)?)),
    }
}
