//! Errors of capsules, and of all that leaves this machine or comes from elsewhere.

use carryover_engine::capsule::CapsuleError;
use carryover_engine::conversations::sealing::SealError;
use carryover_engine::share::bucket::BucketError;
use carryover_engine::share::crypt::CryptError;
use carryover_engine::share::remote::RemoteError;
use carryover_engine::share::sealed::ShareError;

use super::{CommandError, ErrorKind};
use crate::bucket::{AddressError, OpenBucketError};
use crate::passphrase;

impl From<CapsuleError> for CommandError {
    fn from(error: CapsuleError) -> Self {
        let details = match &error {
            CapsuleError::NotClean { in_the_way, .. } => name_first(in_the_way),
            _ => Vec::new(),
        };
        let hint = match error {
            CapsuleError::Resume(error) => return error.into(),
            CapsuleError::Agent(error) => return error.into(),
            CapsuleError::Io(error) => return error.into(),
            CapsuleError::Newer { .. } => "update carryover",
            CapsuleError::NotClean { .. } => {
                "name an empty folder with `--project`; `--no-files` leaves this one as it is, `--force` writes over it"
            }
            CapsuleError::OtherCommit { .. } => {
                "check that commit out in `--project FOLDER`, or have the capsule exported with `--files full`"
            }
            CapsuleError::NoTarget(_) => "name one with `--target AGENT`",
            CapsuleError::Threatened { .. } => {
                "name an empty folder with `--project`; `--no-files` leaves this one as it is, `--force` writes over them, and \
                 `undo --files` brings them back"
            }
            CapsuleError::Changed(_) | CapsuleError::ChangedMeanwhile(_) => "run it again once nobody writes there",
            CapsuleError::Unasked { .. } => {
                "see that `git status` works there, or leave the files out with `--files none`"
            }
            CapsuleError::Exists(_) => "remove it, or name another",
            CapsuleError::Damaged { .. } => "nothing was unpacked; have it sent again",
            CapsuleError::Refused { .. } | CapsuleError::Bomb { .. } => {
                "nothing was unpacked; do not trust where it came from"
            }
            CapsuleError::NoCapsule(_) | CapsuleError::InTheWay { .. } | CapsuleError::Git(_) => {
                return Self::new(ErrorKind::Io, error);
            }
        };
        let kind = if matches!(error, CapsuleError::NoTarget(_)) { ErrorKind::NoAgent } else { ErrorKind::Io };
        Self::new(kind, error).with_hint(hint).with_details(details)
    }
}

/// The first of some lines, and how many more there are.
fn name_first(lines: &[String]) -> Vec<String> {
    const MAX_NAMED: usize = 8;
    let more = lines.len().saturating_sub(MAX_NAMED);
    let named = lines.iter().take(MAX_NAMED).map(|line| carryover_core::plain::one_line(line, 200));
    named.chain((more > 0).then(|| format!("and {more} more"))).collect()
}

impl From<ShareError> for CommandError {
    fn from(error: ShareError) -> Self {
        let hint = match error {
            ShareError::Capsule(error) => return error.into(),
            ShareError::Io(error) | ShareError::Crypt(CryptError::Io(error)) => return error.into(),
            ShareError::Crypt(error) => return error.into(),
            ShareError::Expired(_) => "nothing was written; ask for a new one",
            ShareError::Newer(_) => "update carryover",
            ShareError::NoShare => "nothing was written; have it sent again",
        };
        Self::new(ErrorKind::Io, error).with_hint(hint)
    }
}

impl From<CryptError> for CommandError {
    fn from(error: CryptError) -> Self {
        let hint = match &error {
            CryptError::Io(_) | CryptError::Unusable(_) => return Self::new(ErrorKind::Io, error),
            CryptError::NotEncrypted => "`carryover import FILE` goes on with a capsule that is not encrypted",
            CryptError::WrongPassphrase | CryptError::LockedKey(_) => "nothing was written; try it again",
            CryptError::UnaskedKey(_) => {
                "nothing was written; run it in a terminal, or name a file with the passphrase by `--passphrase-file`"
            }
            CryptError::NeedsPassphrase => passphrase::HOW_TO_GIVE,
            CryptError::NeedsKey => "name your key: `--identity ~/.ssh/id_ed25519`",
            CryptError::NoKeyFits => "nothing was written; name another key with `--identity`",
            CryptError::Truncated | CryptError::Tampered | CryptError::Damaged | CryptError::TooLarge(_) => {
                "nothing was written; have it sent again"
            }
            CryptError::TooMuchWork { .. } => "nothing was written; do not trust where it came from",
            CryptError::NoRecipient(_) => "a key begins with age1, ssh-ed25519 or ssh-rsa, or is a file of such lines",
            CryptError::NoIdentity { .. } => "name a private key of ssh, or a file that `age-keygen` made",
        };
        let kind = if matches!(error, CryptError::NoRecipient(_)) { ErrorKind::Usage } else { ErrorKind::Io };
        Self::new(kind, error).with_hint(hint)
    }
}

impl CommandError {
    /// An address that names no place.
    pub(crate) fn from_address(error: AddressError) -> Self {
        Self::usage(error).with_hint("a place is a folder, s3://BUCKET, gs://BUCKET, az://CONTAINER or git+ADDRESS")
    }
}

impl From<OpenBucketError> for CommandError {
    fn from(error: OpenBucketError) -> Self {
        match error {
            OpenBucketError::Bucket(error) => error.into(),
            OpenBucketError::Address(error) => Self::from_address(error),
            OpenBucketError::NoCredentials { hint, .. } => Self::new(ErrorKind::Io, error).with_hint(hint),
            OpenBucketError::Settings { .. } => {
                Self::new(ErrorKind::Io, error).with_hint("see docs/capsules.md for the variables that are read")
            }
        }
    }
}

impl From<RemoteError> for CommandError {
    fn from(error: RemoteError) -> Self {
        let hint = match error {
            RemoteError::Bucket(error) => return error.into(),
            RemoteError::Crypt(error) => return error.into(),
            RemoteError::Capsule(error) => return error.into(),
            RemoteError::Io(error) => return error.into(),
            RemoteError::NoKey(ref name) => {
                format!("`carryover remote add {name} URL` fetches it, with the passphrase")
            }
            RemoteError::Gone { ref name, .. } => {
                format!("nothing was written; see that it is the right place, or `carryover remote remove {name}`")
            }
            RemoteError::OtherKey { ref name, .. } => {
                format!(
                    "nothing was written; `carryover remote remove {name}`, then add it anew if you trust the place"
                )
            }
            RemoteError::NoIdentity { .. } => "nothing was written; name another place".to_owned(),
            RemoteError::Newer { .. } => "update carryover".to_owned(),
            RemoteError::Missing { .. } => {
                "nothing of it was written; `carryover push SESSION` where the session is sends what is missing".to_owned()
            }
            RemoteError::Unopened { .. } | RemoteError::WrongContent { .. } => {
                "nothing of it was written; delete that object in its place, then `carryover push SESSION` where the session is \
                 sends it again"
                    .to_owned()
            }
            RemoteError::Refused { .. } | RemoteError::TooManyUnreadable { .. } => {
                "nothing was written; do not trust that place".to_owned()
            }
        };
        Self::new(ErrorKind::Io, error).with_hint(hint)
    }
}

impl From<SealError> for CommandError {
    fn from(error: SealError) -> Self {
        let hint = match &error {
            SealError::Open { source: CryptError::WrongPassphrase | CryptError::LockedKey(_), .. } => {
                "nothing was written; try it again"
            }
            SealError::Open { source: CryptError::NeedsPassphrase | CryptError::UnaskedKey(_), .. } => {
                "name a file with it by `--passphrase-file`, or set CARRYOVER_PASSPHRASE"
            }
            SealError::Open { source: CryptError::NeedsKey, .. } => "name your key: `--identity ~/.ssh/id_ed25519`",
            SealError::Open { source: CryptError::NoKeyFits, .. } => {
                "nothing was written; name another key with `--identity`"
            }
            SealError::Open { .. } | SealError::NotSealed(_) | SealError::NoConversation(_) => {
                "nothing was written; `git log -- conversations` tells whether git has it as it was"
            }
            SealError::Seal(_) => "nothing was written; name other keys with `--recipient`",
            SealError::Saved(_) | SealError::Io(_) => "nothing was written",
        };
        Self::new(ErrorKind::Io, error).with_hint(hint)
    }
}

impl From<BucketError> for CommandError {
    fn from(error: BucketError) -> Self {
        let hint = match &error {
            BucketError::Local(_) => return Self::new(ErrorKind::Io, error),
            BucketError::NotFound { .. } => "nothing was written; it may have been deleted, or have another name",
            BucketError::Refused { .. } => "nothing was written; see that you may read and write there",
            BucketError::Unreachable { .. } => "see that it is there and that you are connected, then run it again",
            BucketError::TooLarge { .. } => "nothing was written; do not trust where it came from",
            BucketError::Unconditional { .. } => "name another place, which holds files or objects apart by name",
        };
        let kind = if matches!(error, BucketError::NotFound { .. }) { ErrorKind::NotFound } else { ErrorKind::Io };
        Self::new(kind, error).with_hint(hint)
    }
}
