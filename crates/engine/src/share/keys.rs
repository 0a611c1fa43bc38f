//! Keys of people and of remotes: age's own, and those of ssh.

use std::io::BufReader;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use age::secrecy::{ExposeSecret, SecretString};
use carryover_agents::formats::file;

use super::crypt::{CryptError, Passphrase};

/// Key files are a few lines.
const MAX_KEY_BYTES: u64 = 1 << 20;

/// Asks for the passphrase of the key in a file; none where nobody can be asked.
pub type AskPassphrase = Arc<dyn Fn(&str) -> Option<Passphrase> + Send + Sync>;

/// A key that something is encrypted for.
pub struct Recipient {
    key: Box<dyn age::Recipient + Send + Sync>,
    /// The public key as it was given.
    pub text: String,
}

impl std::fmt::Debug for Recipient {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Recipient({})", self.text)
    }
}

impl Recipient {
    /// Takes `age1…`, `ssh-ed25519 …` or `ssh-rsa …`.
    pub fn parse(text: &str) -> Result<Self, CryptError> {
        let text = text.trim();
        let key: Box<dyn age::Recipient + Send + Sync> = if text.starts_with("ssh-") {
            let key: Result<age::ssh::Recipient, _> = text.parse();
            Box::new(key.map_err(|_| CryptError::NoRecipient(shorten(text)))?)
        } else {
            let key: Result<age::x25519::Recipient, _> = text.parse();
            Box::new(key.map_err(|_| CryptError::NoRecipient(shorten(text)))?)
        };
        Ok(Self { key, text: text.to_owned() })
    }

    /// Takes the public keys in a file, one a line.
    pub fn read_file(path: &Path) -> Result<Vec<Self>, CryptError> {
        let bytes = file::read_bytes(path, MAX_KEY_BYTES)?;
        let none = || CryptError::NoRecipient(path.display().to_string());
        let text = std::str::from_utf8(&bytes).map_err(|_| none())?;
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        // A private key that was named by mistake is not repeated in an error.
        let keys: Result<Vec<Self>, CryptError> = lines.map(|line| Self::parse(line).map_err(|_| none())).collect();
        keys.and_then(|keys| if keys.is_empty() { Err(none()) } else { Ok(keys) })
    }

    pub(super) fn as_age(&self) -> &dyn age::Recipient {
        self.key.as_ref()
    }
}

/// The beginning of a key, which is enough to know it by.
fn shorten(text: &str) -> String {
    carryover_core::plain::one_line(text, 60)
}

/// A key that something is decrypted with.
pub struct Identity {
    key: Box<dyn age::Identity + Send + Sync>,
    /// Set by a key whose own passphrase did not fit.
    locked: Option<LockNote>,
}

impl Identity {
    /// Reads a file of age's keys, or a private key of ssh.
    pub fn read_file(path: &Path, ask: &AskPassphrase) -> Result<Vec<Self>, CryptError> {
        let name = path.display().to_string();
        let bytes = file::read_bytes(path, MAX_KEY_BYTES)?;
        let no_identity = |reason: &str| CryptError::NoIdentity { path: name.clone(), reason: reason.to_owned() };
        if bytes.starts_with(b"-----BEGIN") {
            return read_ssh(&bytes, &name, ask).map(|key| vec![key]);
        }
        if bytes.starts_with(super::crypt::MAGIC) {
            return Err(no_identity("it is encrypted itself; decrypt it first"));
        }
        let file =
            age::IdentityFile::from_buffer(bytes.as_slice()).map_err(|_| no_identity("its lines are no keys"))?;
        let keys = file.into_identities().map_err(|_| no_identity("its lines are no keys"))?;
        if keys.is_empty() {
            return Err(no_identity("it is empty"));
        }
        Ok(keys.into_iter().map(|key| Self { key, locked: None }).collect())
    }

    pub(super) fn as_age(&self) -> &dyn age::Identity {
        self.key.as_ref()
    }

    /// Why it could not be unlocked, where it could not.
    pub(super) fn locked(&self) -> Option<CryptError> {
        let (name, was_asked) = self.locked.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        Some(if was_asked { CryptError::LockedKey(name) } else { CryptError::UnaskedKey(name) })
    }
}

fn read_ssh(bytes: &[u8], name: &str, ask: &AskPassphrase) -> Result<Identity, CryptError> {
    let no_identity = |reason: &str| CryptError::NoIdentity { path: name.to_owned(), reason: reason.to_owned() };
    let key = age::ssh::Identity::from_buffer(BufReader::new(bytes), Some(name.to_owned()))
        .map_err(|_| no_identity("it is damaged"))?;
    match key {
        age::ssh::Identity::Unsupported(_) => Err(no_identity("only ed25519 and RSA keys of OpenSSH are known")),
        age::ssh::Identity::Encrypted(key) => {
            let locked = Arc::new(Mutex::new(None));
            let ask = Arc::clone(ask);
            let key = LockedSshKey { key, name: name.to_owned(), ask, answer: OnceLock::new(), locked: locked.clone() };
            Ok(Identity { key: Box::new(key), locked: Some(locked) })
        }
        key @ age::ssh::Identity::Unencrypted(_) => Ok(Identity { key: Box::new(key), locked: None }),
    }
}

/// The name of a key that stayed locked, and whether somebody gave words for it.
type LockNote = Arc<Mutex<Option<(String, bool)>>>;

/// A key of ssh with a passphrase, which is asked for once, and only if the share is for keys of that kind.
struct LockedSshKey {
    key: age::ssh::EncryptedKey,
    name: String,
    ask: AskPassphrase,
    answer: OnceLock<Option<Passphrase>>,
    locked: LockNote,
}

impl age::Identity for LockedSshKey {
    fn unwrap_stanza(
        &self,
        stanza: &age_core::format::Stanza,
    ) -> Option<Result<age_core::format::FileKey, age::DecryptError>> {
        if !stanza.tag.starts_with("ssh-") {
            return None;
        }
        let note_locked = |was_asked: bool| {
            *self.locked.lock().unwrap_or_else(PoisonError::into_inner) = Some((self.name.clone(), was_asked));
        };
        let Some(passphrase) = self.answer.get_or_init(|| (self.ask)(&self.name)).clone() else {
            note_locked(false);
            return None;
        };
        match self.key.decrypt(passphrase.0) {
            Ok(key) => age::Identity::unwrap_stanza(&age::ssh::Identity::from(key), stanza),
            Err(error) => {
                note_locked(true);
                Some(Err(error))
            }
        }
    }
}

/// A key of our own making, for a place that several machines share.
#[derive(Clone)]
pub struct SecretKey(age::x25519::Identity);

impl SecretKey {
    pub fn generate() -> Self {
        Self(age::x25519::Identity::generate())
    }

    pub fn parse(text: &str) -> Option<Self> {
        text.trim().parse().ok().map(Self)
    }

    /// As text, to be encrypted.
    pub fn expose(&self) -> SecretString {
        self.0.to_string()
    }

    /// Bytes that only holders of this key can derive, for one purpose each.
    pub fn derive(&self, purpose: &str) -> [u8; 32] {
        age_core::primitives::hkdf(purpose.as_bytes(), b"carryover", self.expose().expose_secret().as_bytes())
    }

    pub fn to_recipient(&self) -> Recipient {
        let public = self.0.to_public();
        Recipient { text: public.to_string(), key: Box::new(public) }
    }

    pub fn to_identity(&self) -> Identity {
        Identity { key: Box::new(self.0.clone()), locked: None }
    }
}
