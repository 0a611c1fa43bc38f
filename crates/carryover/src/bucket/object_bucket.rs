//! Objects in a service, over a runtime of our own: the engine knows nothing of either.
//!
//! A small object is written by one request that fails where its name is taken. A large one is uploaded in parts, of which
//! nothing is seen before the last step. Where the service offers it, that step fails where the name is taken (S3 and what
//! is like it); else the parts make an object of another name, which is copied where the name is free (GCS, Azure). That a
//! service keeps to the condition is tried out before anything is written, since one that does not know it takes the
//! object and says nothing.

use std::io::{Read, Write};
use std::path::Path as FilePath;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use carryover_engine::share::bucket::{Bucket, BucketError, PutOutcome, StoredObject};
use carryover_engine::share::object_key::{check_object_key, is_object_key};
use futures_util::StreamExt;
use hyper::Method;
use object_store::path::Path;
use object_store::signer::Signer;
use object_store::{
    Error as StoreError, MultipartUpload, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload,
};
use tokio::runtime::Runtime;
use uuid::Uuid;

use super::store_error::{explain_error, is_taken};

/// Up to here, an object goes in one request; beyond, in parts of this size, which are held one at a time.
const PART_BYTES: u64 = 16 << 20;
/// What is held in memory at most where a service takes no parts under a condition.
const MAX_WHOLE_BYTES: u64 = 64 << 20;
/// The longest that services sign an address for.
pub(crate) const MAX_PRESIGNED: Duration = Duration::from_hours(7 * 24);
/// No name of an object begins so, and none below it is listed.
const OWN_FOLDER: &str = ".carryover";
const PROBE: &[u8] = b"carryover writes this to see that a name can be taken once\n";

/// How a large object gets its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LargeUpload {
    /// By the last step of its upload.
    ConditionalParts,
    /// By a copy.
    ConditionalCopy,
}

/// The service and how it is spoken to.
pub(super) struct ObjectStoreParts {
    pub(super) store: Arc<dyn ObjectStore>,
    /// None where the credentials are of a kind that cannot sign.
    pub(super) signer: Option<Arc<dyn Signer>>,
    pub(super) prefix: Path,
    /// The address without anything secret.
    pub(super) place: String,
    pub(super) large: LargeUpload,
}

/// What was found out about the service.
#[derive(Default)]
struct Findings {
    keeps_condition: bool,
    keeps_condition_for_parts: Option<bool>,
}

pub(super) struct ObjectBucket {
    parts: ObjectStoreParts,
    runtime: Runtime,
    findings: Mutex<Findings>,
}

impl ObjectBucket {
    pub(super) fn new(parts: ObjectStoreParts) -> Result<Self, BucketError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(Self { parts, runtime, findings: Mutex::default() })
    }

    fn locate(&self, key: &str) -> Result<Path, BucketError> {
        check_object_key(&self.parts.place, key)?;
        Ok(self.below_prefix(key))
    }

    fn below_prefix(&self, key: &str) -> Path {
        self.parts.prefix.parts().chain(Path::from(key).parts()).collect()
    }

    fn explain(&self, key: &str, error: &StoreError) -> BucketError {
        explain_error(&self.parts.place, key, error)
    }

    fn unconditional(&self, reason: &str) -> BucketError {
        BucketError::Unconditional { place: self.parts.place.clone(), reason: reason.to_owned() }
    }

    /// Writes where the name is free. False is that somebody has it.
    async fn create(&self, path: &Path, bytes: PutPayload) -> Result<bool, StoreError> {
        match self.parts.store.put_opts(path, bytes, PutOptions::from(PutMode::Create)).await {
            Ok(_) => Ok(true),
            Err(error) if is_taken(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The same for an object of ours, of which the service may have said that it is being written right now.
    async fn create_settled(&self, key: &str, path: &Path, bytes: PutPayload) -> Result<PutOutcome, BucketError> {
        for _ in 0..2 {
            if self.create(path, bytes.clone()).await.map_err(|error| self.explain(key, &error))? {
                return Ok(PutOutcome::Created);
            }
            if self.is_there(key, path).await? {
                return Ok(PutOutcome::AlreadyThere);
            }
        }
        let reason = format!("{key} is being written and deleted at the same time");
        Err(BucketError::Unreachable { place: self.parts.place.clone(), reason })
    }

    async fn is_there(&self, key: &str, path: &Path) -> Result<bool, BucketError> {
        match self.parts.store.head(path).await {
            Ok(_) => Ok(true),
            Err(StoreError::NotFound { .. }) => Ok(false),
            Err(error) => Err(self.explain(key, &error)),
        }
    }

    /// Takes a name twice, once for each place: the second must be refused.
    async fn check_condition(&self) -> Result<(), BucketError> {
        if self.lock_findings().keeps_condition {
            return Ok(());
        }
        let path = self.below_prefix(OWN_FOLDER).join("once");
        let explain = |error: StoreError| match error {
            StoreError::NotImplemented { .. } | StoreError::NotSupported { .. } => self.no_condition(),
            error => self.explain("once", &error),
        };
        let is_first = self.create(&path, PutPayload::from_static(PROBE)).await.map_err(explain)?;
        if is_first && self.create(&path, PutPayload::from_static(PROBE)).await.map_err(explain)? {
            return Err(self.no_condition());
        }
        self.lock_findings().keeps_condition = true;
        Ok(())
    }

    fn no_condition(&self) -> BucketError {
        self.unconditional("the service writes over an object although it is told not to (If-None-Match)")
    }

    /// The same for the last step of an upload in parts, onto the object that the check before has left.
    async fn check_condition_for_parts(&self) -> Result<bool, BucketError> {
        if let Some(keeps) = self.lock_findings().keeps_condition_for_parts {
            return Ok(keeps);
        }
        let path = self.below_prefix(OWN_FOLDER).join("once");
        let explain = |error: StoreError| self.explain("once", &error);
        let mut upload = self.parts.store.put_multipart(&path).await.map_err(explain)?;
        upload.put_part(PutPayload::from_static(PROBE)).await.map_err(explain)?;
        let keeps = match upload.complete().await {
            Ok(_) => false,
            Err(error) => {
                upload.abort().await.ok();
                if !is_taken(&error) {
                    return Err(self.explain("once", &error));
                }
                true
            }
        };
        self.lock_findings().keeps_condition_for_parts = Some(keeps);
        Ok(keeps)
    }

    fn lock_findings(&self) -> std::sync::MutexGuard<'_, Findings> {
        self.findings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn write_new(&self, key: &str, bytes: Vec<u8>) -> Result<PutOutcome, BucketError> {
        let path = self.locate(key)?;
        self.check_condition().await?;
        self.create_settled(key, &path, PutPayload::from(bytes)).await
    }

    async fn upload_large(&self, key: &str, file: &mut fs_err::File, length: u64) -> Result<PutOutcome, BucketError> {
        let path = self.locate(key)?;
        self.check_condition().await?;
        // Nothing is sent for a name that is taken already.
        if self.is_there(key, &path).await? {
            return Ok(PutOutcome::AlreadyThere);
        }
        if self.parts.large == LargeUpload::ConditionalCopy {
            return self.upload_and_copy(key, &path, file).await;
        }
        if self.check_condition_for_parts().await? {
            return self.upload_parts(key, &path, file).await;
        }
        if length > MAX_WHOLE_BYTES {
            return Err(self.unconditional("the service takes no large upload on the condition that its name is free"));
        }
        self.create_settled(key, &path, PutPayload::from(read_all(file)?)).await
    }

    async fn upload_parts(&self, key: &str, path: &Path, file: &mut fs_err::File) -> Result<PutOutcome, BucketError> {
        let begun = self.parts.store.put_multipart(path).await;
        let mut upload = begun.map_err(|error| self.explain(key, &error))?;
        let done = async {
            self.send_parts(key, upload.as_mut(), file).await?;
            match upload.complete().await {
                Ok(_) => Ok(PutOutcome::Created),
                Err(error) if is_taken(&error) => Ok(PutOutcome::AlreadyThere),
                Err(error) => Err(self.explain(key, &error)),
            }
        };
        let done = done.await;
        if !matches!(done, Ok(PutOutcome::Created)) {
            // As well as it goes: what stays is seen by nobody.
            upload.abort().await.ok();
        }
        done
    }

    async fn send_parts(
        &self,
        key: &str,
        upload: &mut dyn MultipartUpload,
        file: &mut fs_err::File,
    ) -> Result<(), BucketError> {
        loop {
            let mut part = Vec::new();
            file.take(PART_BYTES).read_to_end(&mut part)?;
            if part.is_empty() {
                return Ok(());
            }
            upload.put_part(PutPayload::from(part)).await.map_err(|error| self.explain(key, &error))?;
        }
    }

    async fn upload_and_copy(
        &self,
        key: &str,
        path: &Path,
        file: &mut fs_err::File,
    ) -> Result<PutOutcome, BucketError> {
        let aside = self.below_prefix(OWN_FOLDER).join(format!("upload-{}", Uuid::new_v4().simple()));
        let done = async {
            // Its name is nobody else's, so that nothing can be there.
            self.upload_parts(key, &aside, file).await?;
            match self.parts.store.copy_if_not_exists(&aside, path).await {
                Ok(()) => Ok(PutOutcome::Created),
                Err(error) if is_taken(&error) => Ok(PutOutcome::AlreadyThere),
                Err(error) => Err(self.explain(key, &error)),
            }
        };
        let done = done.await;
        self.parts.store.delete(&aside).await.ok();
        done
    }

    async fn fetch_object(&self, key: &str, into: &mut dyn Write, limit: u64) -> Result<u64, BucketError> {
        let path = self.locate(key)?;
        let found = self.parts.store.get(&path).await.map_err(|error| self.explain(key, &error))?;
        let too_large = || BucketError::TooLarge { place: self.parts.place.clone(), key: key.to_owned(), limit };
        let told = found.meta.size;
        if told > limit {
            return Err(too_large());
        }
        let mut pieces = found.into_stream();
        let mut total = 0;
        while let Some(piece) = pieces.next().await {
            let piece = piece.map_err(|error| self.explain(key, &error))?;
            total += piece.len() as u64;
            if total > limit {
                return Err(too_large());
            }
            into.write_all(&piece)?;
        }
        if total == told {
            return Ok(total);
        }
        let reason = format!("{key} broke off after {total} of {told} bytes");
        Err(BucketError::Unreachable { place: self.parts.place.clone(), reason })
    }

    async fn list_objects(&self, prefix: &str) -> Result<Vec<StoredObject>, BucketError> {
        // Services list what is below a folder; the rest of a prefix is compared here.
        let folder = prefix.rsplit_once('/').map_or("", |(folder, _)| folder);
        let below = self.below_prefix(folder);
        let below = (!below.as_ref().is_empty()).then_some(&below);
        let mut found = Vec::new();
        let mut listed = self.parts.store.list(below);
        while let Some(object) = listed.next().await {
            let object = object.map_err(|error| self.explain(prefix, &error))?;
            let Some(parts) = object.location.prefix_match(&self.parts.prefix) else { continue };
            let key = parts.map(|part| part.as_ref().to_owned()).collect::<Vec<_>>().join("/");
            if is_object_key(&key) && key.starts_with(prefix) {
                found.push(StoredObject { key, bytes: object.size });
            }
        }
        found.sort_by(|one, other| one.key.cmp(&other.key));
        Ok(found)
    }
}

fn read_all(file: &mut fs_err::File) -> Result<Vec<u8>, BucketError> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

impl Bucket for ObjectBucket {
    fn place(&self) -> String {
        self.parts.place.clone()
    }

    fn get(&self, key: &str, limit: u64) -> Result<Vec<u8>, BucketError> {
        let mut bytes = Vec::new();
        self.fetch(key, &mut bytes, limit)?;
        Ok(bytes)
    }

    fn fetch(&self, key: &str, into: &mut dyn Write, limit: u64) -> Result<u64, BucketError> {
        self.runtime.block_on(self.fetch_object(key, into, limit))
    }

    fn exists(&self, key: &str) -> Result<bool, BucketError> {
        let path = self.locate(key)?;
        self.runtime.block_on(self.is_there(key, &path))
    }

    fn list(&self, prefix: &str) -> Result<Vec<StoredObject>, BucketError> {
        self.runtime.block_on(self.list_objects(prefix))
    }

    fn put_new(&self, key: &str, bytes: &[u8]) -> Result<PutOutcome, BucketError> {
        self.runtime.block_on(self.write_new(key, bytes.to_vec()))
    }

    fn upload_new(&self, key: &str, file: &FilePath) -> Result<PutOutcome, BucketError> {
        let mut file = fs_err::File::open(file)?;
        let length = file.metadata()?.len();
        if length <= PART_BYTES {
            let bytes = read_all(&mut file)?;
            return self.runtime.block_on(self.write_new(key, bytes));
        }
        self.runtime.block_on(self.upload_large(key, &mut file, length))
    }

    fn delete(&self, key: &str) -> Result<(), BucketError> {
        let path = self.locate(key)?;
        match self.runtime.block_on(self.parts.store.delete(&path)) {
            Ok(()) | Err(StoreError::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.explain(key, &error)),
        }
    }

    fn presign(&self, key: &str, valid: Duration) -> Result<Option<String>, BucketError> {
        let path = self.locate(key)?;
        let Some(signer) = &self.parts.signer else { return Ok(None) };
        if valid > MAX_PRESIGNED {
            let reason = "an address can be signed for 7 days at most".to_owned();
            return Err(BucketError::Refused { place: self.parts.place.clone(), reason });
        }
        let answer = self.runtime.block_on(signer.signed_url(Method::GET, &path, valid));
        Ok(Some(answer.map_err(|error| self.explain(key, &error))?.to_string()))
    }
}
