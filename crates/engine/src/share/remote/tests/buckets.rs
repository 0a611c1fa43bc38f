//! Buckets that go wrong, or that somebody is at.

use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::share::bucket::{Bucket, BucketError, PutOutcome, StoredObject};
use crate::share::folder_bucket::FolderBucket;

/// A folder that counts what is read and written, and takes so many objects more.
pub(super) struct CountingBucket {
    pub(super) inner: FolderBucket,
    pub(super) puts_left: AtomicUsize,
    pub(super) n_gets: AtomicUsize,
}

impl CountingBucket {
    pub(super) fn new(inner: FolderBucket, puts: usize) -> Self {
        Self { inner, puts_left: AtomicUsize::new(puts), n_gets: AtomicUsize::new(0) }
    }

    fn take_put(&self) -> Result<(), BucketError> {
        let taken = self.puts_left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        taken
            .map(drop)
            .map_err(|_| BucketError::Unreachable { place: self.place(), reason: "the line is cut".to_owned() })
    }
}

impl Bucket for CountingBucket {
    fn place(&self) -> String {
        self.inner.place()
    }

    fn get(&self, key: &str, limit: u64) -> Result<Vec<u8>, BucketError> {
        self.n_gets.fetch_add(1, Ordering::SeqCst);
        self.inner.get(key, limit)
    }

    fn fetch(&self, key: &str, into: &mut dyn Write, limit: u64) -> Result<u64, BucketError> {
        self.n_gets.fetch_add(1, Ordering::SeqCst);
        self.inner.fetch(key, into, limit)
    }

    fn exists(&self, key: &str) -> Result<bool, BucketError> {
        self.inner.exists(key)
    }

    fn list(&self, prefix: &str) -> Result<Vec<StoredObject>, BucketError> {
        self.inner.list(prefix)
    }

    fn put_new(&self, key: &str, bytes: &[u8]) -> Result<PutOutcome, BucketError> {
        self.take_put()?;
        self.inner.put_new(key, bytes)
    }

    fn upload_new(&self, key: &str, file: &Path) -> Result<PutOutcome, BucketError> {
        self.take_put()?;
        self.inner.upload_new(key, file)
    }

    fn delete(&self, key: &str) -> Result<(), BucketError> {
        self.inner.delete(key)
    }

    fn presign(&self, key: &str, valid: Duration) -> Result<Option<String>, BucketError> {
        self.inner.presign(key, valid)
    }
}

/// The same bucket for several.
impl Bucket for std::sync::Arc<CountingBucket> {
    fn place(&self) -> String {
        self.as_ref().place()
    }

    fn get(&self, key: &str, limit: u64) -> Result<Vec<u8>, BucketError> {
        self.as_ref().get(key, limit)
    }

    fn fetch(&self, key: &str, into: &mut dyn Write, limit: u64) -> Result<u64, BucketError> {
        self.as_ref().fetch(key, into, limit)
    }

    fn exists(&self, key: &str) -> Result<bool, BucketError> {
        self.as_ref().exists(key)
    }

    fn list(&self, prefix: &str) -> Result<Vec<StoredObject>, BucketError> {
        self.as_ref().list(prefix)
    }

    fn put_new(&self, key: &str, bytes: &[u8]) -> Result<PutOutcome, BucketError> {
        self.as_ref().put_new(key, bytes)
    }

    fn upload_new(&self, key: &str, file: &Path) -> Result<PutOutcome, BucketError> {
        self.as_ref().upload_new(key, file)
    }

    fn delete(&self, key: &str) -> Result<(), BucketError> {
        self.as_ref().delete(key)
    }

    fn presign(&self, key: &str, valid: Duration) -> Result<Option<String>, BucketError> {
        self.as_ref().presign(key, valid)
    }
}
