//! Checks that every place must pass, whatever it is.

use std::time::Duration;

use carryover_engine::share::bucket::{Bucket, BucketError, PutOutcome, StoredObject};

/// Objects are written once, found by name and prefix, and read as they were written.
pub(crate) fn check_bucket(bucket: &dyn Bucket) {
    assert_eq!(bucket.list("").unwrap(), []);
    assert!(!bucket.exists("a/one").unwrap());
    assert!(matches!(bucket.get("a/one", 10), Err(BucketError::NotFound { key, .. }) if key == "a/one"));

    assert_eq!(bucket.put_new("a/one", b"first").unwrap(), PutOutcome::Created);
    assert_eq!(bucket.put_new("a/one", b"second").unwrap(), PutOutcome::AlreadyThere);
    assert_eq!(bucket.get("a/one", 5).unwrap(), b"first");
    assert!(matches!(bucket.get("a/one", 4), Err(BucketError::TooLarge { limit: 4, .. })));
    assert!(bucket.exists("a/one").unwrap() && !bucket.exists("a/on").unwrap());
    assert_eq!(bucket.put_new("empty", b"").unwrap(), PutOutcome::Created);
    assert_eq!(bucket.get("empty", 0).unwrap(), b"");

    let file = tempfile::NamedTempFile::new().unwrap();
    let bytes: Vec<u8> = (0..3_000_000_u32).map(|number| number.to_le_bytes()[0]).collect();
    std::io::Write::write_all(&mut file.as_file(), &bytes).unwrap();
    assert_eq!(bucket.upload_new("a/large.bin", file.path()).unwrap(), PutOutcome::Created);
    assert_eq!(bucket.upload_new("a/large.bin", file.path()).unwrap(), PutOutcome::AlreadyThere);
    let mut read = Vec::new();
    assert_eq!(bucket.fetch("a/large.bin", &mut read, 3_000_000).unwrap(), 3_000_000);
    assert!(read == bytes);

    bucket.put_new("ab", b"12").unwrap();
    let list = |prefix: &str| bucket.list(prefix).unwrap();
    let object = |key: &str, bytes| StoredObject { key: key.to_owned(), bytes };
    assert_eq!(list("a/"), [object("a/large.bin", 3_000_000), object("a/one", 5)]);
    assert_eq!(list("a/o"), [object("a/one", 5)]);
    assert_eq!(list("a"), [object("a/large.bin", 3_000_000), object("a/one", 5), object("ab", 2)]);
    assert_eq!(list("none"), []);
    assert_eq!(list("").len(), 4);

    bucket.delete("a/one").unwrap();
    bucket.delete("a/one").unwrap();
    assert!(!bucket.exists("a/one").unwrap());
    assert_eq!(list("a/"), [object("a/large.bin", 3_000_000)]);
    assert!(matches!(bucket.presign("../a", Duration::from_mins(1)), Ok(None) | Err(_)));
}

/// Of those who write a name at once, one has it, and what is read is what that one wrote.
pub(crate) fn check_race(bucket: &dyn Bucket, rounds: usize) {
    for round in 0..rounds {
        let key = format!("race/{round}");
        let outcomes = std::thread::scope(|scope| {
            let writers = [b"one", b"two"].map(|bytes| {
                let key = &key;
                scope.spawn(move || (bytes, bucket.put_new(key, bytes).unwrap()))
            });
            writers.map(|writer| writer.join().unwrap())
        });
        let winners: Vec<_> = outcomes.iter().filter(|(_, outcome)| *outcome == PutOutcome::Created).collect();
        assert_eq!(winners.len(), 1, "{outcomes:?}");
        assert_eq!(bucket.get(&key, 10).unwrap(), winners[0].0);
    }
}
