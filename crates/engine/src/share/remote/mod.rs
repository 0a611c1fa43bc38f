//! Remotes: places that carry capsules between machines and people, and can read none of them.
//!
//! A remote is a bucket with three kinds of objects. `identity.age` is the key of the remote, locked with a passphrase.
//! `objects/` holds pieces of capsules, each under a keyed hash of its content: whoever has the key knows what is there
//! already, and nobody else can tell what it is. `index/` has an object per push, which tells what a capsule is and of which pieces
//! it is made. All of it is encrypted for the key, written once, and neither changed nor deleted.

mod address;
mod catalog;
mod cutter;
mod envelope;
mod error;
mod exchange;
mod identity;
mod index;
mod objects;
mod pull;
mod push;

use std::path::PathBuf;

use crate::context::Context;
use crate::share::bucket::Bucket;

pub use catalog::{Catalog, newest_per_session};
pub use error::RemoteError;
pub use exchange::{Outgoing, choose_incoming, choose_outgoing, has_grown, project_name};
pub use identity::{AddOutcome, add_remote, find_locked, forget_remote, has_key};
pub use index::PushedCapsule;
pub use pull::Pulled;
pub use push::Pushed;

use objects::Objects;

/// In our own folder: a folder for each remote.
const FOLDER: &str = "remotes";
const MAX_NAME_CHARS: usize = 40;

/// Told while bytes are moved: how many of how many were done.
pub type Progress<'p> = &'p (dyn Fn(u64, u64) + Sync);

/// A remote that was added on this machine, and that is still the one that was added.
pub struct Remote {
    pub name: String,
    objects: Objects,
    folder: PathBuf,
}

impl Remote {
    /// The place as it may be shown.
    pub fn place(&self) -> String {
        self.objects.place()
    }
}

/// The name is a folder's and a key's in the settings.
pub fn is_remote_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    name.len() <= MAX_NAME_CHARS
        && name.chars().all(is_plain)
        && name.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
}

/// The folder of a remote in our own.
fn folder_of(context: &Context, name: &str) -> PathBuf {
    context.home.join(FOLDER).join(name)
}

/// Opens a remote that was added before. Its key is here, so nobody is asked.
pub fn open_remote(context: &Context, name: &str, bucket: Box<dyn Bucket>) -> Result<Remote, RemoteError> {
    let secret = identity::read_kept(context, name, bucket.as_ref())?;
    let folder = folder_of(context, name);
    Ok(Remote { name: name.to_owned(), objects: Objects::new(bucket, &secret), folder })
}

#[cfg(test)]
mod tests;
