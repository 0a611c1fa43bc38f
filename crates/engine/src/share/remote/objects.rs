//! Objects of a remote: encrypted, named by their content, checked when they come back.

use super::RemoteError;
use super::address::{AddressKey, is_address};
use super::cutter::{CutTable, MAX_PIECE_BYTES};
use super::envelope::{self, max_sealed_bytes};
use crate::share::bucket::{Bucket, BucketError, PutOutcome};
use crate::share::crypt::{CryptError, Key, Lock, decrypt_bytes};
use crate::share::keys::SecretKey;

const PIECES: &str = "objects/";
/// What encryption adds to so few bytes: a head, and some for each 64 KB.
const MAX_OVERHEAD_BYTES: u64 = 64 << 10;

/// The bucket of a remote, with what is derived from its key.
pub(super) struct Objects {
    pub(super) bucket: Box<dyn Bucket>,
    pub(super) cuts: CutTable,
    addresses: AddressKey,
    lock: Lock,
    key: Key,
}

impl Objects {
    pub(super) fn new(bucket: Box<dyn Bucket>, secret: &SecretKey) -> Self {
        Self {
            bucket,
            cuts: CutTable::from_secret(secret),
            addresses: AddressKey::from_secret(secret),
            lock: Lock::Recipients(vec![secret.to_recipient()]),
            key: Key::Identities(vec![secret.to_identity()]),
        }
    }

    pub(super) fn place(&self) -> String {
        self.bucket.place()
    }

    pub(super) fn compute_address(&self, content: &[u8]) -> String {
        self.addresses.compute_address(content)
    }

    /// Writes a piece, unless it is there; answers its address, and whether it was sent.
    pub(super) fn put_piece(&self, content: &[u8]) -> Result<(String, bool), RemoteError> {
        let address = self.compute_address(content);
        let key = piece_key(&address);
        if self.bucket.exists(&key)? {
            return Ok((address, false));
        }
        let outcome = self.put(&key, content)?;
        Ok((address, outcome == PutOutcome::Created))
    }

    /// Reads a piece that is to be so long.
    pub(super) fn get_piece(&self, address: &str, bytes: u64) -> Result<Vec<u8>, RemoteError> {
        let key = piece_key(address);
        let content = self.get(&key, MAX_PIECE_BYTES)?;
        let is_it = content.len() as u64 == bytes && self.compute_address(&content) == address;
        if is_it { Ok(content) } else { Err(RemoteError::WrongContent { object: key }) }
    }

    /// Encrypts and writes an object.
    pub(super) fn put(&self, key: &str, content: &[u8]) -> Result<PutOutcome, RemoteError> {
        let sealed = self.lock.encrypt_bytes(&envelope::wrap(content)?)?;
        Ok(self.bucket.put_new(key, &sealed)?)
    }

    /// Reads and decrypts an object. Nothing says yet that its content is the one that belongs there.
    pub(super) fn get(&self, key: &str, max_content: usize) -> Result<Vec<u8>, RemoteError> {
        let limit = max_sealed_bytes(max_content);
        let sealed = self.bucket.get(key, limit + MAX_OVERHEAD_BYTES)?;
        let unopened = |source| RemoteError::Unopened { object: key.to_owned(), source };
        let envelope = decrypt_bytes(&self.key, &sealed, limit).map_err(unopened)?;
        envelope::unwrap(&envelope, max_content).map_err(|_| unopened(CryptError::Tampered))
    }

    /// The same for an object of which a capsule is made.
    pub(super) fn get_piece_of(&self, capsule: &str, address: &str, bytes: u64) -> Result<Vec<u8>, RemoteError> {
        self.get_piece(address, bytes).map_err(|error| match error {
            RemoteError::Bucket(BucketError::NotFound { key, .. }) => {
                RemoteError::Missing { object: key, capsule: capsule.to_owned() }
            }
            other => other,
        })
    }
}

/// Spread over folders: some file systems are slow where one holds very many.
fn piece_key(address: &str) -> String {
    debug_assert!(is_address(address));
    format!("{PIECES}{}/{address}", &address[..2])
}
