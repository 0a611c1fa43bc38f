//! Places outside of this machine, behind the engine's synchronous `Bucket`.

mod address;
#[cfg(test)]
mod checks;
#[cfg(test)]
mod tests;

use carryover_engine::context::Context;
use carryover_engine::share::bucket::{Bucket, BucketError};
use carryover_engine::share::folder_bucket::FolderBucket;

use self::address::Address;
pub(crate) use self::address::{AddressError, hide_query};

/// Why a place could not be opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenBucketError {
    #[error(transparent)]
    Address(#[from] AddressError),
    #[error(transparent)]
    Bucket(#[from] BucketError),
}

/// Opens the place at an address. Only a folder is looked at; a service is asked when something is wanted of it.
pub(crate) fn open_bucket(context: &Context, address: &str) -> Result<Box<dyn Bucket>, OpenBucketError> {
    match Address::parse(context, address)? {
        Address::Folder(path) => Ok(Box::new(FolderBucket::open(&path)?)),
    }
}
