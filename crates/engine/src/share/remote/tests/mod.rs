//! Remotes in folders, ones that fail, and ones that somebody has been at.

mod buckets;
mod hostile;
mod round_trip;

use std::path::PathBuf;

use super::{AddOutcome, Catalog, Pushed, Remote, add_remote, open_remote};
use crate::capsule::workspace::FilesMode;
use crate::capsule::{Options, SealedCapsule, seal};
use crate::share::bucket::Bucket;
use crate::share::crypt::{Lock, Passphrase};
use crate::share::folder_bucket::FolderBucket;
use crate::tests::fake::ALPHA;
use crate::tests::world::World;

/// Little enough work for a test.
const QUICK: u8 = 4;
const NAME: &str = "origin";
/// Where cuts are depends on the key, so what is counted has one that stands still. It is nobody's.
pub(super) const FIXED_KEY: &str =
    concat!("AGE-SECRET-KEY-", "1QVQUD6QU4XF8LXAVVN60NLWCXDSV9EAUV9GL695R73K7D4PVT22S690SCA");

fn passphrase(words: &str) -> Passphrase {
    Passphrase::new(words.to_owned()).unwrap()
}

fn folder_bucket(world: &World) -> FolderBucket {
    fs_err::create_dir_all(remote_folder(world)).unwrap();
    FolderBucket::open(&remote_folder(world)).unwrap()
}

fn remote_folder(world: &World) -> PathBuf {
    world.path("remote")
}

/// A machine of its own, to which the same remote was added.
fn add(world: &World, bucket: Box<dyn Bucket>) -> (AddOutcome, Remote) {
    let outcome = add_remote(&world.context, NAME, bucket.as_ref(), &passphrase("words"), QUICK).unwrap();
    (outcome, open_remote(&world.context, NAME, bucket).unwrap())
}

fn remote_of(world: &World) -> Remote {
    let bucket = folder_bucket(world);
    let lock = Lock::Passphrase { passphrase: passphrase("words"), work_factor: QUICK };
    bucket.put_new("identity.age", &lock.encrypt_bytes(FIXED_KEY.as_bytes()).unwrap()).unwrap();
    add(world, Box::new(bucket)).1
}

/// A session of some length, with files.
fn write_session(world: &World, id: &str, n_prompts: usize) -> PathBuf {
    let lines: Vec<String> =
        (0..n_prompts).map(|at| prompt_line(&format!("{id} number {at} {}", filler(at)))).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let head = r#","title":"Fix the parser""#;
    world.write_session(&ALPHA, id, head, &lines)
}

fn prompt_line(text: &str) -> String {
    serde_json::json!({ "t": "prompt", "s": text }).to_string()
}

/// A text that packs badly, and is another one for every number.
fn filler(number: usize) -> String {
    (0..20).map(|at| crate::own::sha256::hex_sha256(format!("{number} {at}").as_bytes())).collect()
}

fn seal_session(world: &World, id: &str) -> SealedCapsule {
    let options = Options { files: FilesMode::Full, raw: false, redact: false };
    seal(&world.context, &world.select_session(id), &options).unwrap()
}

fn read_catalog(remote: &Remote) -> Catalog {
    remote.read_catalog(&|_, _| {}).unwrap()
}

fn push(world: &World, remote: &Remote, id: &str) -> Pushed {
    let sealed = seal_session(world, id);
    remote.push(&world.context, &read_catalog(remote), &sealed, &|_, _| {}).unwrap()
}
