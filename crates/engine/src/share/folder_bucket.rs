//! Objects as files of a folder: a disk, a share of a team, a folder that something else keeps in step.
//!
//! A file is written beside its place and gets its name in one step, which fails where that name is taken. A file system
//! that knows no such step is refused.

use std::ffi::OsStr;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::bucket::{Bucket, BucketError, PutOutcome, StoredObject};
use super::object_key::{check_object_key, is_object_key};
use crate::own::files;

const COPY_BYTES: usize = 256 << 10;

/// A folder that is there already: a missing one may be a disk that is not.
pub struct FolderBucket {
    root: PathBuf,
}

impl FolderBucket {
    pub fn open(root: &Path) -> Result<Self, BucketError> {
        let bucket = Self { root: root.to_owned() };
        match fs_err::metadata(root) {
            Ok(metadata) if metadata.is_dir() => Ok(bucket),
            Ok(_) => Err(bucket.unreachable("it is no folder")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(bucket.unreachable("there is no such folder")),
            Err(error) => Err(bucket.explain_io(&error)),
        }
    }

    fn locate(&self, key: &str) -> Result<PathBuf, BucketError> {
        check_object_key(&self.place(), key)?;
        Ok(key.split('/').fold(self.root.clone(), |path, part| path.join(part)))
    }

    fn unreachable(&self, reason: &str) -> BucketError {
        BucketError::Unreachable { place: self.place(), reason: reason.to_owned() }
    }

    fn not_found(&self, key: &str) -> BucketError {
        BucketError::NotFound { place: self.place(), key: key.to_owned() }
    }

    /// An error of the folder, which is not ours.
    fn explain_io(&self, error: &io::Error) -> BucketError {
        let reason = error.to_string();
        match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                BucketError::Refused { place: self.place(), reason }
            }
            _ => BucketError::Unreachable { place: self.place(), reason },
        }
    }

    /// The same for the step that gives a file its name, where some file systems do not know it.
    fn explain_naming(&self, error: &io::Error) -> BucketError {
        match error.kind() {
            io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied => {
                let reason = format!("its file system cannot give a file a name only where that is free ({error})");
                BucketError::Unconditional { place: self.place(), reason }
            }
            _ => self.explain_io(error),
        }
    }

    /// Files hold no folder's place and no link is an object.
    fn open_file(&self, key: &str) -> Result<fs_err::File, BucketError> {
        let path = self.locate(key)?;
        if !is_regular_file(&path) {
            return Err(self.not_found(key));
        }
        fs_err::File::open(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => self.not_found(key),
            _ => self.explain_io(&error),
        })
    }

    fn write_new(&self, key: &str, source: &mut dyn Read) -> Result<PutOutcome, BucketError> {
        let path = self.locate(key)?;
        if path.symlink_metadata().is_ok() {
            return Ok(PutOutcome::AlreadyThere);
        }
        let folder = path.parent().unwrap_or(&self.root);
        let named = |error: io::Error| self.explain_io(&error);
        fs_err::create_dir_all(folder).map_err(named)?;
        let mut file = create_staged(folder).map_err(named)?;
        copy_source(source, &mut |piece| file.write_all(piece).map_err(named))?;
        file.as_file().sync_all().map_err(named)?;
        match file.persist_noclobber(&path) {
            Ok(_) => {}
            Err(failed) if failed.error.kind() == io::ErrorKind::AlreadyExists => return Ok(PutOutcome::AlreadyThere),
            Err(failed) => return Err(self.explain_naming(&failed.error)),
        }
        files::sync_folder(folder).map_err(named)?;
        Ok(PutOutcome::Created)
    }

    fn collect_objects(
        &self,
        folder: &Path,
        above: &str,
        prefix: &str,
        found: &mut Vec<StoredObject>,
    ) -> Result<(), BucketError> {
        let entries = match fs_err::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(self.explain_io(&error)),
        };
        for entry in entries {
            let entry = entry.map_err(|error| self.explain_io(&error))?;
            let Some(key) = entry.file_name().to_str().map(|name| format!("{above}{name}")) else { continue };
            // Neither ours in the making nor anything else that is no object.
            if !is_object_key(&key) {
                continue;
            }
            let Ok(metadata) = entry.path().symlink_metadata() else { continue };
            if metadata.is_dir() {
                let below = format!("{key}/");
                if below.starts_with(prefix) || prefix.starts_with(&below) {
                    self.collect_objects(&entry.path(), &below, prefix, found)?;
                }
            } else if metadata.is_file() && key.starts_with(prefix) {
                found.push(StoredObject { key, bytes: metadata.len() });
            }
        }
        Ok(())
    }
}

impl Bucket for FolderBucket {
    fn place(&self) -> String {
        self.root.display().to_string()
    }

    fn get(&self, key: &str, limit: u64) -> Result<Vec<u8>, BucketError> {
        let mut bytes = Vec::new();
        self.fetch(key, &mut bytes, limit)?;
        Ok(bytes)
    }

    fn fetch(&self, key: &str, into: &mut dyn Write, limit: u64) -> Result<u64, BucketError> {
        let mut file = self.open_file(key)?;
        let too_large = || BucketError::TooLarge { place: self.place(), key: key.to_owned(), limit };
        if file.metadata().map_err(|error| self.explain_io(&error))?.len() > limit {
            return Err(too_large());
        }
        let mut piece = vec![0; COPY_BYTES];
        let mut total = 0;
        loop {
            let length = file.read(&mut piece).map_err(|error| self.explain_io(&error))?;
            if length == 0 {
                return Ok(total);
            }
            total += length as u64;
            if total > limit {
                return Err(too_large());
            }
            into.write_all(&piece[..length])?;
        }
    }

    fn exists(&self, key: &str) -> Result<bool, BucketError> {
        Ok(is_regular_file(&self.locate(key)?))
    }

    fn list(&self, prefix: &str) -> Result<Vec<StoredObject>, BucketError> {
        let mut found = Vec::new();
        self.collect_objects(&self.root, "", prefix, &mut found)?;
        found.sort_by(|one, other| one.key.cmp(&other.key));
        Ok(found)
    }

    fn put_new(&self, key: &str, bytes: &[u8]) -> Result<PutOutcome, BucketError> {
        self.write_new(key, &mut &*bytes)
    }

    fn upload_new(&self, key: &str, file: &Path) -> Result<PutOutcome, BucketError> {
        let mut file = fs_err::File::open(file)?;
        file.rewind()?;
        self.write_new(key, &mut file)
    }

    fn delete(&self, key: &str) -> Result<(), BucketError> {
        match fs_err::remove_file(self.locate(key)?) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.explain_io(&error)),
            _ => Ok(()),
        }
    }

    fn presign(&self, _: &str, _: Duration) -> Result<Option<String>, BucketError> {
        Ok(None)
    }
}

fn is_regular_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_file())
}

/// Unlike our own files, it may be read by whomever the folder's owner lets in: what it holds is encrypted.
fn create_staged(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(OsStr::new(files::TEMP_PREFIX)).suffix(OsStr::new(files::TEMP_SUFFIX));
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}

/// Passes a source on piece by piece. What cannot be read of it is an error of ours, not of the place.
fn copy_source(
    source: &mut dyn Read,
    take: &mut dyn FnMut(&[u8]) -> Result<(), BucketError>,
) -> Result<(), BucketError> {
    let mut piece = vec![0; COPY_BYTES];
    loop {
        match source.read(&mut piece)? {
            0 => return Ok(()),
            length => take(&piece[..length])?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket() -> (tempfile::TempDir, FolderBucket) {
        let folder = tempfile::tempdir().unwrap();
        let bucket = FolderBucket::open(folder.path()).unwrap();
        (folder, bucket)
    }

    #[test]
    fn a_folder_that_is_not_there_is_not_made() {
        let (folder, _bucket) = bucket();
        let missing = folder.path().join("unmounted");
        assert!(matches!(FolderBucket::open(&missing), Err(BucketError::Unreachable { .. })));
        assert!(!missing.exists());
    }

    struct Cut;

    impl Read for Cut {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("cut"))
        }
    }

    #[test]
    fn write_that_fails_leaves_nothing_and_names_lead_nowhere_else() {
        let (folder, bucket) = bucket();
        let mut source = (&b"half"[..]).chain(Cut);
        assert!(matches!(bucket.write_new("half", &mut source), Err(BucketError::Local(_))));
        assert_eq!(fs_err::read_dir(folder.path()).unwrap().count(), 0);
        assert!(matches!(bucket.put_new("../out", b"x"), Err(BucketError::Refused { .. })));
    }

    #[cfg(unix)]
    #[test]
    fn links_are_no_objects_and_others_may_read_what_is_written() {
        use std::os::unix::fs::PermissionsExt;
        let (folder, bucket) = bucket();
        bucket.put_new("a", b"a").unwrap();
        let mode = fs_err::metadata(folder.path().join("a")).unwrap().permissions().mode();
        let elsewhere = fs_err::File::create(folder.path().join("plain")).unwrap().metadata().unwrap();
        assert_eq!(mode & 0o777, elsewhere.permissions().mode() & 0o777);
        fs_err::os::unix::fs::symlink("/etc/hostname", folder.path().join("link")).unwrap();
        fs_err::create_dir(folder.path().join("folder")).unwrap();
        assert!(!bucket.exists("link").unwrap() && !bucket.exists("folder").unwrap());
        assert!(matches!(bucket.get("link", 100), Err(BucketError::NotFound { .. })));
        assert!(!bucket.list("").unwrap().iter().any(|object| object.key == "link"));
    }
}
