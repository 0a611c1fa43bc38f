//! Encryption: what was locked is opened by its key alone, and by nothing once a byte of it is not as it was.

use super::crypt::{CryptError, Key, Lock, MAX_WORK_FACTOR, Passphrase, decrypt_bytes};
use super::keys::{Recipient, SecretKey};
use proptest::prelude::*;

/// Little enough work for a test.
const QUICK: u8 = 4;
const LIMIT: u64 = 1 << 20;

fn passphrase(words: &str) -> Passphrase {
    Passphrase::new(words.to_owned()).unwrap()
}

fn lock(words: &str, work_factor: u8) -> Lock {
    Lock::Passphrase { passphrase: passphrase(words), work_factor }
}

fn key_pair() -> (Lock, Key) {
    let secret = SecretKey::generate();
    (Lock::Recipients(vec![secret.to_recipient()]), Key::Identities(vec![secret.to_identity()]))
}

proptest! {
    #[test]
    fn opening_gives_what_was_locked(bytes in proptest::collection::vec(any::<u8>(), 0..200_000)) {
        let (lock, key) = key_pair();
        prop_assert_eq!(decrypt_bytes(&key, &lock.encrypt_bytes(&bytes).unwrap(), LIMIT).unwrap(), bytes);
    }
}

#[test]
fn passphrase_opens_and_another_does_not() {
    let locked = lock("right", QUICK).encrypt_bytes(b"words").unwrap();
    assert_eq!(decrypt_bytes(&Key::Passphrase(passphrase("right")), &locked, LIMIT).unwrap(), b"words");
    let wrong = decrypt_bytes(&Key::Passphrase(passphrase("wrong")), &locked, LIMIT);
    assert!(matches!(wrong, Err(CryptError::WrongPassphrase)));
    assert!(matches!(decrypt_bytes(&key_pair().1, &locked, LIMIT), Err(CryptError::NeedsPassphrase)));
    assert!(Passphrase::new(String::new()).is_none());
}

#[test]
fn only_the_key_that_it_is_for_opens_it() {
    let (lock, key) = key_pair();
    let locked = lock.encrypt_bytes(b"words").unwrap();
    assert_eq!(decrypt_bytes(&key, &locked, LIMIT).unwrap(), b"words");
    assert!(matches!(decrypt_bytes(&key_pair().1, &locked, LIMIT), Err(CryptError::NoKeyFits)));
    assert!(matches!(decrypt_bytes(&Key::Passphrase(passphrase("x")), &locked, LIMIT), Err(CryptError::NeedsKey)));
}

#[test]
fn no_byte_can_be_changed_and_none_be_missing() {
    let (lock, key) = key_pair();
    let locked = lock.encrypt_bytes(&[7; 300]).unwrap();
    for at in 0..locked.len() {
        assert!(decrypt_bytes(&key, &locked[..at], LIMIT).is_err(), "cut at {at}");
        let mut changed = locked.clone();
        changed[at] ^= 1;
        assert!(decrypt_bytes(&key, &changed, LIMIT).is_err(), "changed at {at}");
    }
    assert!(matches!(decrypt_bytes(&key, b"PK\x03\x04 something else", LIMIT), Err(CryptError::NotEncrypted)));
}

#[test]
fn more_than_is_expected_is_not_taken() {
    let (lock, key) = key_pair();
    let locked = lock.encrypt_bytes(&[7; 300]).unwrap();
    assert!(matches!(decrypt_bytes(&key, &locked, 299), Err(CryptError::TooLarge(299))));
}

#[test]
fn share_that_asks_for_too_much_work_is_refused_at_once() {
    let locked = lock("right", QUICK).encrypt_bytes(b"words").unwrap();
    let text = String::from_utf8_lossy(&locked[..120]).into_owned();
    let line = text.lines().nth(1).unwrap();
    let greedy = line.replace(&format!(" {QUICK}"), &format!(" {}", MAX_WORK_FACTOR + 2));
    assert_ne!(line, greedy);
    let start = locked.windows(line.len()).position(|part| part == line.as_bytes()).unwrap();
    let hostile = [&locked[..start], greedy.as_bytes(), &locked[start + line.len()..]].concat();
    let refused = decrypt_bytes(&Key::Passphrase(passphrase("right")), &hostile, LIMIT);
    assert!(matches!(refused, Err(CryptError::TooMuchWork { asked }) if asked == MAX_WORK_FACTOR + 2));
}

#[test]
fn what_is_no_key_is_said_to_be_none() {
    for text in ["", "age1short", "ssh-ed25519 AAAA", "AGE-SECRET-KEY-1"] {
        assert!(matches!(Recipient::parse(text), Err(CryptError::NoRecipient(_))), "{text}");
    }
}
