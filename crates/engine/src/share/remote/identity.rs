//! The key of a remote: made by whoever comes first, locked with a passphrase, and never replaced. Each machine keeps it
//! unlocked, for its owner alone, so that nobody is asked at every push.

use age::secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};

use super::{RemoteError, folder_of};
use crate::context::Context;
use crate::own::{files, private, sha256::hex_sha256};
use crate::share::bucket::{Bucket, BucketError, PutOutcome};
use crate::share::crypt::{Key, Lock, Passphrase, decrypt_bytes};
use crate::share::keys::SecretKey;

const OBJECT: &str = "identity.age";
/// A key, locked, is a few hundred bytes.
const MAX_LOCKED_BYTES: u64 = 16 << 10;
const MAX_KEY_BYTES: u64 = 4 << 10;

/// In the remote's folder.
const FILE: &str = "key.json";
const SCHEMA: &str = "carryover.remote-key/1";

/// Whose key a remote has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddOutcome {
    /// It had none, and has ours now.
    Begun,
    /// It had one, and the passphrase fits.
    Joined,
}

/// The key, as it is kept here.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptKey {
    schema: String,
    secret: String,
    /// Of the locked key in the remote, by which a place is known again.
    locked_sha256: String,
}

/// The locked key of a place; none where there is no remote yet.
pub fn find_locked(bucket: &dyn Bucket) -> Result<Option<Vec<u8>>, RemoteError> {
    match bucket.get(OBJECT, MAX_LOCKED_BYTES) {
        Ok(locked) => Ok(Some(locked)),
        Err(BucketError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Makes the key of a remote, or unlocks the one that is there, and keeps it here. Where anything fails, nothing is kept.
pub fn add_remote(
    context: &Context,
    name: &str,
    bucket: &dyn Bucket,
    passphrase: &Passphrase,
    work_factor: u8,
) -> Result<AddOutcome, RemoteError> {
    let (outcome, secret, locked) = match find_locked(bucket)? {
        Some(locked) => (AddOutcome::Joined, unlock(bucket, passphrase, &locked)?, locked),
        None => begin(bucket, passphrase, work_factor)?,
    };
    keep_key(context, name, &secret, &locked)?;
    Ok(outcome)
}

/// Makes a key; where somebody else was quicker, theirs holds.
fn begin(
    bucket: &dyn Bucket,
    passphrase: &Passphrase,
    work_factor: u8,
) -> Result<(AddOutcome, SecretKey, Vec<u8>), RemoteError> {
    let secret = SecretKey::generate();
    let lock = Lock::Passphrase { passphrase: passphrase.clone(), work_factor };
    let locked = lock.encrypt_bytes(format!("{}\n", secret.expose().expose_secret()).as_bytes())?;
    if bucket.put_new(OBJECT, &locked)? == PutOutcome::Created {
        return Ok((AddOutcome::Begun, secret, locked));
    }
    let locked = bucket.get(OBJECT, MAX_LOCKED_BYTES)?;
    Ok((AddOutcome::Joined, unlock(bucket, passphrase, &locked)?, locked))
}

fn unlock(bucket: &dyn Bucket, passphrase: &Passphrase, locked: &[u8]) -> Result<SecretKey, RemoteError> {
    let key = decrypt_bytes(&Key::Passphrase(passphrase.clone()), locked, MAX_KEY_BYTES)?;
    let secret = String::from_utf8(key).ok().and_then(|text| SecretKey::parse(&text));
    secret.ok_or_else(|| RemoteError::NoIdentity { place: bucket.place() })
}

fn keep_key(context: &Context, name: &str, secret: &SecretKey, locked: &[u8]) -> Result<(), RemoteError> {
    let folder = folder_of(context, name);
    // A remote of that name may have been another one, and its index is then not this one's.
    forget_remote(context, name)?;
    let kept = KeptKey {
        schema: SCHEMA.to_owned(),
        secret: secret.expose().expose_secret().to_owned(),
        locked_sha256: hex_sha256(locked),
    };
    let bytes = serde_json::to_vec_pretty(&kept).map_err(std::io::Error::from)?;
    Ok(private::write_file(&folder.join(FILE), &bytes)?)
}

/// Whether the key of a remote is on this machine.
pub fn has_key(context: &Context, name: &str) -> bool {
    folder_of(context, name).join(FILE).is_file()
}

/// Removes what is kept here of a remote: its key, and what was read of its index.
pub fn forget_remote(context: &Context, name: &str) -> std::io::Result<()> {
    match fs_err::remove_dir_all(folder_of(context, name)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The key that is kept here, if the place is still the one that it was kept for: an address may have become another place's,
/// and a disk may not be there.
pub(super) fn read_kept(context: &Context, name: &str, bucket: &dyn Bucket) -> Result<SecretKey, RemoteError> {
    let no_key = || RemoteError::NoKey(name.to_owned());
    let bytes = files::read_bounded(&folder_of(context, name).join(FILE), MAX_LOCKED_BYTES)?.ok_or_else(no_key)?;
    let kept: KeptKey = serde_json::from_slice(&bytes).map_err(|_| no_key())?;
    let secret = SecretKey::parse(&kept.secret).ok_or_else(no_key)?;
    let place = || bucket.place();
    match find_locked(bucket)? {
        None => Err(RemoteError::Gone { name: name.to_owned(), place: place() }),
        Some(locked) if hex_sha256(&locked) != kept.locked_sha256 => {
            Err(RemoteError::OtherKey { name: name.to_owned(), place: place() })
        }
        Some(_) => Ok(secret),
    }
}
