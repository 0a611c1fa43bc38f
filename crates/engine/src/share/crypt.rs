//! Encryption of what leaves this machine, in the format of age: any other program of that format opens it with the same
//! passphrase or key.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Cursor, Read, Write};
use std::rc::Rc;

use age::secrecy::{ExposeSecret, SecretString};
use age::{DecryptError, Decryptor, EncryptError, Encryptor};

use super::keys::{Identity, Recipient};

/// Every age file of the version that we know begins so.
pub const MAGIC: &[u8] = b"age-encryption.org/v1\n";

/// How much work it is to try a passphrase: 2 to this power, which is what age itself takes. About a second and 256 MB.
pub const WORK_FACTOR: u8 = 18;
/// The most that a file of somebody else's may ask for: four times as much.
pub const MAX_WORK_FACTOR: u8 = 20;

/// Keys that a file is encrypted for are listed at its beginning; nobody has a megabyte of them.
const MAX_HEAD_BYTES: u64 = 1 << 20;
const COPY_BYTES: usize = 64 << 10;

#[derive(Debug, thiserror::Error)]
pub enum CryptError {
    #[error("this is no encrypted share")]
    NotEncrypted,
    #[error("the passphrase does not fit")]
    WrongPassphrase,
    #[error("it is locked with a passphrase, and none was given")]
    NeedsPassphrase,
    #[error("it is encrypted for keys, not with a passphrase")]
    NeedsKey,
    #[error("it is encrypted for other keys than those that were tried")]
    NoKeyFits,
    #[error("the passphrase of the key {0} does not fit")]
    LockedKey(String),
    #[error("the key {0} has a passphrase, which was not given")]
    UnaskedKey(String),
    #[error("it ends too early: the rest is missing")]
    Truncated,
    #[error("it was changed after it had been encrypted")]
    Tampered,
    /// The last piece does not fit, which is what a file cut short and a changed one look like.
    #[error("it was cut short, or changed after it had been encrypted")]
    Damaged,
    #[error("its passphrase asks for 2^{asked} steps of work, and 2^{MAX_WORK_FACTOR} are the most that is done")]
    TooMuchWork { asked: u8 },
    #[error("it holds more than the {0} bytes that are expected of it")]
    TooLarge(u64),
    #[error("`{0}` is no key that something can be encrypted for")]
    NoRecipient(String),
    #[error("{path} is no key that something can be decrypted with: {reason}")]
    NoIdentity { path: String, reason: String },
    #[error("a key cannot be used: {0}")]
    Unusable(String),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Words that lock and unlock. They are wiped from memory, and never shown.
#[derive(Clone)]
pub struct Passphrase(pub(super) SecretString);

impl Passphrase {
    /// None, where there are no words at all.
    pub fn new(words: String) -> Option<Self> {
        let is_empty = words.is_empty();
        let words = SecretString::from(words);
        (!is_empty).then_some(Self(words))
    }

    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl std::fmt::Debug for Passphrase {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Passphrase(…)")
    }
}

/// For whom something is encrypted.
pub enum Lock {
    Passphrase { passphrase: Passphrase, work_factor: u8 },
    Recipients(Vec<Recipient>),
}

impl Lock {
    pub fn with_passphrase(passphrase: Passphrase) -> Self {
        Self::Passphrase { passphrase, work_factor: WORK_FACTOR }
    }

    fn to_encryptor(&self) -> Result<Encryptor, CryptError> {
        let made = match self {
            Self::Passphrase { passphrase, work_factor } => {
                let mut recipient = age::scrypt::Recipient::new(passphrase.0.clone());
                recipient.set_work_factor((*work_factor).clamp(1, MAX_WORK_FACTOR));
                Encryptor::with_recipients(std::iter::once(&recipient as &dyn age::Recipient))
            }
            Self::Recipients(recipients) => Encryptor::with_recipients(recipients.iter().map(Recipient::as_age)),
        };
        made.map_err(|error| match error {
            EncryptError::Io(error) => CryptError::Io(error),
            other => CryptError::Unusable(other.to_string()),
        })
    }

    /// A writer that encrypts into another. Whoever does not `finish` it leaves something that nobody opens.
    pub fn encrypt_into<W: Write>(&self, out: W) -> Result<Encrypting<W>, CryptError> {
        Ok(Encrypting(self.to_encryptor()?.wrap_output(out)?))
    }

    /// Encrypts all of a stream, and answers how long it was.
    pub fn encrypt(&self, from: &mut dyn Read, into: &mut dyn Write) -> Result<u64, CryptError> {
        let mut writer = self.encrypt_into(into)?;
        let bytes = io::copy(from, &mut writer)?;
        writer.finish()?;
        Ok(bytes)
    }

    /// Encrypts something small.
    pub fn encrypt_bytes(&self, bytes: &[u8]) -> Result<Vec<u8>, CryptError> {
        let mut encrypted = Vec::new();
        self.encrypt(&mut &*bytes, &mut encrypted)?;
        Ok(encrypted)
    }
}

/// A stream on its way into an encrypted one.
pub struct Encrypting<W: Write>(age::stream::StreamWriter<W>);

impl<W: Write> Encrypting<W> {
    pub fn finish(self) -> io::Result<W> {
        self.0.finish()
    }
}

impl<W: Write> Write for Encrypting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// What something is decrypted with.
pub enum Key {
    Passphrase(Passphrase),
    Identities(Vec<Identity>),
}

/// The beginning, which was read to be looked at, and the rest.
type WholeStream<R> = io::Chain<Cursor<Vec<u8>>, BufReader<Watched<R>>>;

/// Something encrypted, of which only the beginning was read.
pub struct Encrypted<R: Read> {
    decryptor: Decryptor<WholeStream<R>>,
    is_at_end: Rc<Cell<bool>>,
}

impl<R: Read> Encrypted<R> {
    /// Reads the beginning, which says what it takes to open it.
    pub fn read(from: R) -> Result<Self, CryptError> {
        let is_at_end = Rc::new(Cell::new(false));
        let mut from = BufReader::new(Watched { stream: from, is_at_end: Rc::clone(&is_at_end) });
        let head = read_head(&mut from)?;
        let decryptor = Decryptor::new_buffered(Cursor::new(head).chain(from)).map_err(|error| match error {
            DecryptError::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => CryptError::Truncated,
            DecryptError::Io(error) => CryptError::Io(error),
            _ => CryptError::Tampered,
        })?;
        Ok(Self { decryptor, is_at_end })
    }

    /// Whether a passphrase opens it; keys do, where not.
    pub fn is_locked_by_passphrase(&self) -> bool {
        self.decryptor.is_scrypt()
    }

    /// Decrypts all of it. Until this has returned without an error, nothing that was written may be believed or kept.
    pub fn decrypt(self, key: &Key, into: &mut dyn Write, limit: u64) -> Result<u64, CryptError> {
        let by_passphrase = self.is_locked_by_passphrase();
        let opened = match key {
            Key::Passphrase(_) if !by_passphrase => return Err(CryptError::NeedsKey),
            Key::Identities(_) if by_passphrase => return Err(CryptError::NeedsPassphrase),
            Key::Passphrase(passphrase) => {
                let mut identity = age::scrypt::Identity::new(passphrase.0.clone());
                identity.set_max_work_factor(MAX_WORK_FACTOR);
                self.decryptor.decrypt(std::iter::once(&identity as &dyn age::Identity))
            }
            Key::Identities(identities) => {
                let opened = self.decryptor.decrypt(identities.iter().map(Identity::as_age));
                if let Some(locked) = identities.iter().find_map(Identity::locked).filter(|_| opened.is_err()) {
                    return Err(locked);
                }
                opened
            }
        };
        let mut plain = opened.map_err(|error| explain_key(error, by_passphrase))?;
        copy_bounded(&mut plain, into, limit).map_err(|error| match error {
            CopyError::Read(error) => explain_stream(error, self.is_at_end.get()),
            CopyError::Write(error) => CryptError::Io(error),
            CopyError::TooLarge => CryptError::TooLarge(limit),
        })
    }
}

/// Decrypts something small.
pub fn decrypt_bytes(key: &Key, bytes: &[u8], limit: u64) -> Result<Vec<u8>, CryptError> {
    let mut plain = Vec::new();
    Encrypted::read(bytes)?.decrypt(key, &mut plain, limit)?;
    Ok(plain)
}

/// Reads the lines before the encrypted part, and not one byte more. They are text, and end in one with three dashes.
fn read_head(from: &mut impl BufRead) -> Result<Vec<u8>, CryptError> {
    let mut head = Vec::new();
    from.take(MAGIC.len() as u64).read_to_end(&mut head)?;
    if head != MAGIC {
        let is_beginning = !head.is_empty() && MAGIC.starts_with(&head);
        return Err(if is_beginning { CryptError::Truncated } else { CryptError::NotEncrypted });
    }
    loop {
        let start = head.len();
        from.take(MAX_HEAD_BYTES - start as u64).read_until(b'\n', &mut head)?;
        // At the end of the file nothing is read, and the line before still ends as it should.
        if head.len() == start || head.last() != Some(&b'\n') {
            let is_long = head.len() as u64 >= MAX_HEAD_BYTES;
            return Err(if is_long { CryptError::Tampered } else { CryptError::Truncated });
        }
        if head[start..].starts_with(b"---") {
            return Ok(head);
        }
    }
}

/// Why a key did not open it.
fn explain_key(error: DecryptError, by_passphrase: bool) -> CryptError {
    match error {
        DecryptError::NoMatchingKeys | DecryptError::DecryptionFailed if by_passphrase => CryptError::WrongPassphrase,
        DecryptError::NoMatchingKeys => CryptError::NoKeyFits,
        DecryptError::ExcessiveWork { required, .. } => CryptError::TooMuchWork { asked: required },
        DecryptError::KeyDecryptionFailed => CryptError::LockedKey("file".to_owned()),
        DecryptError::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => CryptError::Truncated,
        DecryptError::Io(error) => CryptError::Io(error),
        _ => CryptError::Tampered,
    }
}

/// Why the encrypted part could not be read on.
fn explain_stream(error: io::Error, is_at_end: bool) -> CryptError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => CryptError::Truncated,
        io::ErrorKind::InvalidData if is_at_end => CryptError::Damaged,
        io::ErrorKind::InvalidData => CryptError::Tampered,
        _ => CryptError::Io(error),
    }
}

enum CopyError {
    Read(io::Error),
    Write(io::Error),
    TooLarge,
}

/// `io::copy` does not tell on which side it failed.
fn copy_bounded(from: &mut impl Read, into: &mut dyn Write, limit: u64) -> Result<u64, CopyError> {
    let mut buffer = vec![0; COPY_BYTES];
    let mut total = 0;
    loop {
        let count = match from.read(&mut buffer) {
            Ok(0) => return into.flush().map(|()| total).map_err(CopyError::Write),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(CopyError::Read(error)),
        };
        total += count as u64;
        if total > limit {
            return Err(CopyError::TooLarge);
        }
        into.write_all(&buffer[..count]).map_err(CopyError::Write)?;
    }
}

/// A stream that remembers whether its end was seen.
pub struct Watched<R> {
    stream: R,
    is_at_end: Rc<Cell<bool>>,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(buffer)?;
        if count == 0 && !buffer.is_empty() {
            self.is_at_end.set(true);
        }
        Ok(count)
    }
}
