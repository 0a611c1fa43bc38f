//! Objects as files on a branch of a git remote, for teams that have nothing else.
//!
//! They are put together in a bare repository of our own below our own folder; no clone of the user's is touched and no
//! work tree is made. Each write is a commit on top of what the remote has, pushed without force: a remote that has moved
//! on refuses it, and it is tried again on top of that. What was deleted stays in the branch's history.

mod push_answer;
mod runner;
#[cfg(test)]
mod tests;
mod tree;

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use self::push_answer::PushAnswer;
use self::runner::{GitError, GitRunner, Input};
use self::tree::{TreeChange, TreeEntry, parse_entries};
use super::bucket::{Bucket, BucketError, PutOutcome, StoredObject};
use super::object_key::{check_object_key, is_object_key};
use crate::client::find_program;
use crate::context::Context;
use crate::own::{files, sha256};

const BRANCH: &str = "refs/heads/carryover";
/// Where the branch is kept in our repository.
const SEEN: &str = "refs/carryover/seen";
/// In our own folder: a repository per remote.
const FOLDER: &str = "git";
const MAX_PUSHES: u32 = 12;
/// What was seen so lately is built upon: a push shows whether it still holds.
const RECENT: Duration = Duration::from_mins(1);

/// The branch `carryover` of a remote.
pub struct GitBucket {
    remote: String,
    runner: GitRunner,
    folder: PathBuf,
    state: Mutex<State>,
}

/// What the remote had when it was last asked.
#[derive(Default)]
struct State {
    /// The commit; none where there is no branch.
    tip: Option<String>,
    asked: Option<Instant>,
}

impl GitBucket {
    /// The remote is asked when something is wanted of it.
    pub fn open(context: &Context, remote: &str) -> Result<Self, BucketError> {
        let name = &sha256::hex_sha256(remote.as_bytes())[..20];
        let folder = context.home.join(FOLDER).join(name);
        let program = find_program(context, "git").ok_or_else(|| BucketError::Unreachable {
            place: format!("git+{remote}"),
            reason: "there is no git on this machine".to_owned(),
        })?;
        let runner = GitRunner::new(program, folder.clone(), &context.env);
        Ok(Self { remote: remote.to_owned(), runner, folder, state: Mutex::default() })
    }

    fn explain(&self, error: GitError) -> BucketError {
        let place = self.place();
        match error {
            GitError::Io(error) => BucketError::Local(error),
            GitError::Failed { reason, is_refusal: true } => BucketError::Refused { place, reason },
            GitError::Failed { reason, .. } => BucketError::Unreachable { place, reason },
        }
    }

    /// Holds our repository for one step, against others of us.
    fn enter(&self) -> Result<Held<'_>, BucketError> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        files::create_private_folder(&self.folder)?;
        let lock =
            fs_err::OpenOptions::new().write(true).create(true).truncate(false).open(self.folder.join("lock"))?;
        lock.file().lock()?;
        if !self.folder.join("HEAD").exists() {
            self.runner.run(&["init", "--bare", "--quiet", "--template="]).map_err(|error| self.explain(error))?;
        }
        Ok(Held { bucket: self, state, _lock: lock })
    }

    fn find_entry(&self, held: &Held<'_>, key: &str) -> Result<Option<TreeEntry>, BucketError> {
        let Some(tip) = &held.state.tip else { return Ok(None) };
        let listed = self.runner.run(&["ls-tree", "-l", "-z", "--full-tree", tip, "--", key]);
        let mut entries = parse_entries(&listed.map_err(|error| self.explain(error))?);
        Ok(entries.pop().filter(|entry| entry.key == key))
    }

    /// An entry as it is now: one that was seen is there still, since objects do not change.
    fn look_up(&self, held: &mut Held<'_>, key: &str) -> Result<Option<TreeEntry>, BucketError> {
        if held.state.asked.is_some()
            && let Some(found) = self.find_entry(held, key)?
        {
            return Ok(Some(found));
        }
        held.refresh(Duration::ZERO)?;
        self.find_entry(held, key)
    }

    /// Commits a change on top of what the remote has, as often as somebody else is quicker.
    fn push_change(&self, key: &str, change: &TreeChange<'_>) -> Result<PutOutcome, BucketError> {
        check_object_key(&self.place(), key)?;
        for attempt in 0..MAX_PUSHES {
            let mut held = self.enter()?;
            held.refresh(if attempt == 0 { RECENT } else { Duration::ZERO })?;
            if self.find_entry(&held, key)?.is_some() == change.is_addition() {
                return Ok(PutOutcome::AlreadyThere);
            }
            let commit = held.write_commit(key, change).map_err(|error| self.explain(error))?;
            match self.runner.push(&self.remote, &commit, BRANCH).map_err(|error| self.explain(error))? {
                PushAnswer::Taken => {
                    let kept = self.runner.run(&["update-ref", SEEN, &commit]);
                    kept.map_err(|error| self.explain(error))?;
                    held.state.tip = Some(commit);
                    held.state.asked = Some(Instant::now());
                    return Ok(PutOutcome::Created);
                }
                PushAnswer::MovedOn => {}
                PushAnswer::Refused(reason) => return Err(BucketError::Refused { place: self.place(), reason }),
            }
            drop(held);
            std::thread::sleep(wait_before_retry(attempt));
        }
        let reason = format!("others wrote to it {MAX_PUSHES} times while {key} was being pushed");
        Err(BucketError::Unreachable { place: self.place(), reason })
    }
}

/// Longer each time, and differently long for everybody.
fn wait_before_retry(attempt: u32) -> Duration {
    let spread = RandomState::new().build_hasher().finish() % 256;
    Duration::from_millis((20 << attempt.min(6)) * (128 + spread) / 256)
}

/// Our repository, for the time of one step.
struct Held<'a> {
    bucket: &'a GitBucket,
    state: MutexGuard<'a, State>,
    _lock: fs_err::File,
}

impl Held<'_> {
    /// Asks the remote for its branch, unless that was done just now.
    fn refresh(&mut self, max_age: Duration) -> Result<(), BucketError> {
        if self.state.asked.is_some_and(|asked| asked.elapsed() < max_age) {
            return Ok(());
        }
        self.state.tip = self.fetch_branch().map_err(|error| self.bucket.explain(error))?;
        self.state.asked = Some(Instant::now());
        Ok(())
    }

    fn fetch_branch(&self) -> Result<Option<String>, GitError> {
        let GitBucket { runner, remote, .. } = self.bucket;
        let Some(tip) = runner.ask_remote(remote, BRANCH)? else { return Ok(None) };
        let seen = runner.run_line(&["rev-parse", "--verify", "--quiet", SEEN]);
        if seen.is_ok_and(|seen| seen == tip) {
            return Ok(Some(tip));
        }
        runner.fetch(remote, &format!("+{BRANCH}:{SEEN}"))?;
        Ok(Some(runner.run_line(&["rev-parse", "--verify", &format!("{SEEN}^{{commit}}")])?))
    }

    fn write_commit(&self, key: &str, change: &TreeChange<'_>) -> Result<String, GitError> {
        let runner = &self.bucket.runner;
        let index = tempfile::Builder::new().prefix("index-").tempdir_in(&self.bucket.folder)?;
        let index = index.path().join("index");
        if let Some(tip) = &self.state.tip {
            runner.run_with_index(&index, &["read-tree", tip], Input::None)?;
        }
        let line = match change {
            TreeChange::Add(source) => format!("100644 {}\t{key}\0", runner.write_blob(source)?),
            TreeChange::Remove => format!("0 {}\t{key}\0", "0".repeat(40)),
        };
        runner.run_with_index(&index, &["update-index", "-z", "--index-info"], Input::Bytes(line.as_bytes()))?;
        let tree = runner.line_with_index(&index, &["write-tree"])?;
        let mut args = vec!["commit-tree", &tree, "-m", change.message()];
        if let Some(tip) = &self.state.tip {
            args.extend(["-p", tip]);
        }
        runner.run_line(&args)
    }
}

impl Bucket for GitBucket {
    fn place(&self) -> String {
        format!("git+{}", self.remote)
    }

    fn get(&self, key: &str, limit: u64) -> Result<Vec<u8>, BucketError> {
        let mut bytes = Vec::new();
        self.fetch(key, &mut bytes, limit)?;
        Ok(bytes)
    }

    fn fetch(&self, key: &str, into: &mut dyn Write, limit: u64) -> Result<u64, BucketError> {
        let place = self.place();
        check_object_key(&place, key)?;
        let mut held = self.enter()?;
        let Some(entry) = self.look_up(&mut held, key)? else {
            return Err(BucketError::NotFound { place, key: key.to_owned() });
        };
        if entry.bytes > limit {
            return Err(BucketError::TooLarge { place, key: key.to_owned(), limit });
        }
        self.runner.copy_blob(&entry.id, into).map_err(|error| self.explain(error))
    }

    fn exists(&self, key: &str) -> Result<bool, BucketError> {
        check_object_key(&self.place(), key)?;
        let mut held = self.enter()?;
        Ok(self.look_up(&mut held, key)?.is_some())
    }

    fn list(&self, prefix: &str) -> Result<Vec<StoredObject>, BucketError> {
        let mut held = self.enter()?;
        held.refresh(Duration::ZERO)?;
        let Some(tip) = &held.state.tip else { return Ok(Vec::new()) };
        let listed = self.runner.run(&["ls-tree", "-r", "-l", "-z", "--full-tree", tip]);
        let entries = parse_entries(&listed.map_err(|error| self.explain(error))?);
        let is_meant = |entry: &TreeEntry| entry.key.starts_with(prefix) && is_object_key(&entry.key);
        let objects = entries.into_iter().filter(is_meant);
        let mut objects: Vec<_> = objects.map(|entry| StoredObject { key: entry.key, bytes: entry.bytes }).collect();
        objects.sort_by(|one, other| one.key.cmp(&other.key));
        Ok(objects)
    }

    fn put_new(&self, key: &str, bytes: &[u8]) -> Result<PutOutcome, BucketError> {
        self.push_change(key, &TreeChange::Add(Input::Bytes(bytes)))
    }

    fn upload_new(&self, key: &str, file: &Path) -> Result<PutOutcome, BucketError> {
        self.push_change(key, &TreeChange::Add(Input::File(file)))
    }

    fn delete(&self, key: &str) -> Result<(), BucketError> {
        self.push_change(key, &TreeChange::Remove).map(|_| ())
    }

    fn presign(&self, _: &str, _: Duration) -> Result<Option<String>, BucketError> {
        Ok(None)
    }
}
