//! Where a share goes: into a file, or to a place outside of this machine.

use std::path::{Path, PathBuf};
use std::time::Duration;

use carryover_core::time::Timestamp;
use carryover_engine::capsule::SealedCapsule;
use carryover_engine::context::Context;
use carryover_engine::share::bucket::{Bucket, PutOutcome};
use carryover_engine::share::crypt::Lock;
use carryover_engine::share::object_key::check_object_key;
use carryover_engine::share::sealed::{FILE_END, stage_share, write_share};

use crate::bucket::{Address, MAX_PRESIGNED, join_object, open_bucket, split_object};
use crate::error::{CommandError, ErrorKind};
use crate::process_env::resolve_path;
use crate::ui::Ui;

/// What `--dest` names, opened.
pub(super) enum Destination {
    /// A file that is to be, or a folder for it.
    Path(PathBuf),
    Place(Place),
}

/// A place, and how objects of it are told.
pub(super) struct Place {
    bucket: Box<dyn Bucket>,
    /// None where the share's own name is to be taken.
    key: Option<String>,
    /// For how long an address is signed; none where it is not.
    signed_for: Option<Duration>,
}

/// The same, now that the share has a name.
pub(super) enum SettledDestination {
    File(PathBuf),
    Object { place: Place, key: String },
}

/// A share that has arrived.
pub(super) struct SharedLink {
    pub(super) link: String,
    pub(super) file: Option<PathBuf>,
    pub(super) bytes: u64,
    pub(super) expiry: Option<ExpiryKind>,
}

/// What holds a share to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExpiryKind {
    /// The service: its address no longer opens.
    Presigned,
    /// `carryover open` alone.
    Advisory,
}

impl ExpiryKind {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Presigned => "presigned",
            Self::Advisory => "advisory",
        }
    }

    pub(super) fn describe(self) -> &'static str {
        match self {
            Self::Presigned => "the address opens until then, and so does carryover",
            Self::Advisory => "carryover keeps to it, but whoever has it and the passphrase need not",
        }
    }
}

impl Destination {
    pub(super) fn open(
        context: &Context,
        dest: Option<&str>,
        expires_at: Option<Timestamp>,
    ) -> Result<Self, CommandError> {
        let Some(dest) = dest else { return Ok(Self::Path(context.cwd.clone())) };
        if !Address::is_address(dest) {
            return Ok(Self::Path(context.cwd.join(dest)));
        }
        let (place, key) = match split_object(dest) {
            Ok((place, key)) if key.ends_with(FILE_END) => (place, Some(key.to_owned())),
            _ => (dest, None),
        };
        if let Ok(Address::Folder(path)) = Address::parse(context, dest) {
            return Ok(Self::Path(path));
        }
        let bucket = open_bucket(context, place)?;
        if let Some(key) = &key {
            check_object_key(&bucket.place(), key)?;
        }
        let signed_for = match expires_at {
            Some(at) => find_signing_time(context, bucket.as_ref(), at)?,
            None => None,
        };
        Ok(Self::Place(Place { bucket, key, signed_for }))
    }

    /// Names the file or object; what is there is not written over.
    pub(super) fn settle(self, sealed: &SealedCapsule) -> Result<SettledDestination, CommandError> {
        let name = format!("{}-{}{FILE_END}", sealed.manifest.source.agent, sealed.manifest.id);
        match self {
            Self::Path(path) => Ok(SettledDestination::File(settle_path(&path, &name)?)),
            Self::Place(place) => {
                let key = place.key.clone().unwrap_or(name);
                if place.bucket.exists(&key)? {
                    return Err(taken_error(&join_object(place.bucket.as_ref(), &key)));
                }
                Ok(SettledDestination::Object { place, key })
            }
        }
    }
}

impl SettledDestination {
    pub(super) fn send(
        self,
        ui: &Ui,
        context: &Context,
        sealed: &SealedCapsule,
        lock: &Lock,
        expires_at: Option<Timestamp>,
    ) -> Result<SharedLink, CommandError> {
        let advisory = expires_at.map(|_| ExpiryKind::Advisory);
        let (place, key) = match self {
            Self::File(path) => {
                let bytes = ui.while_doing("encrypting…", || write_share(sealed, lock, expires_at, &path))?;
                let link = path.display().to_string();
                return Ok(SharedLink { link, file: Some(path), bytes, expiry: advisory });
            }
            Self::Object { place, key } => (place, key),
        };
        let staged = ui.while_doing("encrypting…", || stage_share(context, sealed, lock, expires_at))?;
        let link = join_object(place.bucket.as_ref(), &key);
        let sent = ui.while_doing("uploading…", || place.bucket.upload_new(&key, &staged.path))?;
        if sent == PutOutcome::AlreadyThere {
            return Err(taken_error(&link));
        }
        let signed = match place.signed_for {
            Some(valid) => place.bucket.presign(&key, valid)?,
            None => None,
        };
        let expiry = if signed.is_some() { Some(ExpiryKind::Presigned) } else { advisory };
        Ok(SharedLink { link: signed.unwrap_or(link), file: None, bytes: staged.bytes, expiry })
    }
}

/// For how long an address has to be signed, where a place signs any. That it cannot be is said before anything is packed.
fn find_signing_time(
    context: &Context,
    bucket: &dyn Bucket,
    expires_at: Timestamp,
) -> Result<Option<Duration>, CommandError> {
    let millis = u64::try_from(expires_at.millis().saturating_sub(context.env.now.millis())).unwrap_or_default();
    let valid = Duration::from_secs(millis.div_ceil(1000).max(1));
    let example = format!("example{FILE_END}");
    if bucket.presign(&example, valid.min(MAX_PRESIGNED))?.is_none() {
        return Ok(None);
    }
    if valid > MAX_PRESIGNED {
        let message = format!("{} signs addresses for 7 days at most", bucket.place());
        return Err(CommandError::usage(message).with_hint("`--expires 7d` is the longest that it keeps to"));
    }
    Ok(Some(valid))
}

fn taken_error(name: &str) -> CommandError {
    CommandError::new(ErrorKind::Io, format!("{name} is there already"))
        .with_hint("remove it, or name another with `--dest`")
}

fn settle_path(path: &Path, name: &str) -> Result<PathBuf, CommandError> {
    let path = if path.is_dir() { path.join(name) } else { path.to_owned() };
    if path.symlink_metadata().is_ok() {
        return Err(taken_error(&path.display().to_string()));
    }
    match (path.parent().filter(|above| above.is_dir()), path.file_name()) {
        (Some(above), Some(name)) => Ok(resolve_path(above).join(name)),
        _ => Err(CommandError::usage(format!("the folder of {} does not exist", path.display()))),
    }
}
