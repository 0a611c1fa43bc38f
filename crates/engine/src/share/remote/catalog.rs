//! What is in a remote, from its index alone. What was read once is kept: objects never change.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carryover_agents::formats::ordered_pool::map_ordered;

use super::index::{MAX_INDEX_BYTES, PREFIX, PushedCapsule, is_index_key};
use super::{Progress, Remote, RemoteError};
use crate::own::files;
use crate::share::bucket::BucketError;

const FOLDER: &str = "index";
/// A remote with more that cannot be read was not written by us.
const MAX_UNREADABLE: usize = 100;

/// The capsules of a remote.
#[derive(Debug, Default)]
pub struct Catalog {
    /// The newest first.
    pub capsules: Vec<PushedCapsule>,
    /// Objects that stand where an index does, and are none that can be read: each with the reason.
    pub unreadable: Vec<(String, RemoteError)>,
}

impl Remote {
    /// Looks at what is there, and reads what is new of it.
    pub fn read_catalog(&self, progress: Progress<'_>) -> Result<Catalog, RemoteError> {
        let listed = self.objects.bucket.list(PREFIX)?;
        let keys: BTreeSet<String> =
            listed.into_iter().map(|object| object.key).filter(|key| is_index_key(key)).collect();
        let folder = self.folder.join(FOLDER);
        forget_gone(&folder, &keys)?;
        let total = keys.len() as u64;
        let mut waiting = keys.into_iter();
        let mut catalog = Catalog::default();
        let mut done = 0;
        let mut too_many = false;
        map_ordered(
            || waiting.next(),
            |key| {
                let read = self.read_index(&folder, &key);
                (key, read)
            },
            |(key, read)| {
                done += 1;
                progress(done, total);
                match read {
                    Ok(pushed) => catalog.capsules.push(pushed),
                    Err(error) => catalog.unreadable.push((key, error)),
                }
                too_many = catalog.unreadable.len() > MAX_UNREADABLE;
                if too_many || catalog.is_unreachable() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            },
        );
        if catalog.is_unreachable() {
            return catalog.unreadable.pop().map_or(Ok(Catalog::default()), |(_, error)| Err(error));
        }
        if too_many {
            return Err(RemoteError::TooManyUnreadable { count: catalog.unreadable.len() });
        }
        catalog.sort();
        Ok(catalog)
    }

    /// What an object of the index says, from here if it was read before.
    fn read_index(&self, folder: &Path, key: &str) -> Result<PushedCapsule, RemoteError> {
        let path = kept_path(folder, key);
        if let Some(content) = files::read_bounded(&path, MAX_INDEX_BYTES as u64)?
            && let Ok(pushed) = self.check_index(key, &content)
        {
            return Ok(pushed);
        }
        let content = self.objects.get(key, MAX_INDEX_BYTES)?;
        let pushed = self.check_index(key, &content)?;
        files::write_cached(&path, &content)?;
        Ok(pushed)
    }

    /// The name of an object says what it holds, so none can take the place of another.
    fn check_index(&self, key: &str, content: &[u8]) -> Result<PushedCapsule, RemoteError> {
        let pushed = PushedCapsule::parse(key, content)?;
        let is_it = pushed.object_key(&self.objects.compute_address(content)) == key;
        if is_it { Ok(pushed) } else { Err(RemoteError::WrongContent { object: key.to_owned() }) }
    }
}

fn kept_path(folder: &Path, key: &str) -> PathBuf {
    folder.join(key.trim_start_matches(PREFIX))
}

/// What somebody took out of the remote is gone here, too.
fn forget_gone(folder: &Path, keys: &BTreeSet<String>) -> Result<(), RemoteError> {
    let Ok(entries) = fs_err::read_dir(folder) else { return Ok(()) };
    for entry in entries.flatten() {
        let key = format!("{PREFIX}{}", entry.file_name().to_string_lossy());
        if is_index_key(&key) && !keys.contains(&key) {
            files::remove_if_there(&entry.path())?;
        }
    }
    Ok(())
}

impl Catalog {
    /// An object that cannot be had says nothing of the object, but of the way to it.
    fn is_unreachable(&self) -> bool {
        let is_bad = |error: &RemoteError| match error {
            RemoteError::Bucket(error) => !matches!(error, BucketError::NotFound { .. } | BucketError::TooLarge { .. }),
            RemoteError::Io(_) => true,
            _ => false,
        };
        self.unreadable.last().is_some_and(|(_, error)| is_bad(error))
    }

    /// The newest first; a capsule that was pushed twice at once is one.
    fn sort(&mut self) {
        self.capsules.sort_by(|a, b| {
            let rank = |pushed: &PushedCapsule| (pushed.updated_at.clone(), pushed.pushed_at.clone(), pushed.messages);
            rank(b).cmp(&rank(a)).then_with(|| a.capsule.cmp(&b.capsule))
        });
        let mut seen = BTreeSet::new();
        self.capsules.retain(|pushed| seen.insert(pushed.capsule.clone()));
    }

    pub fn find_capsule(&self, id: &str) -> Option<&PushedCapsule> {
        self.capsules.iter().find(|pushed| pushed.capsule == id)
    }

    /// The newest push of a session.
    pub fn find_session(&self, agent: &str, session_id: &str) -> Option<&PushedCapsule> {
        self.capsules.iter().find(|pushed| pushed.session_key() == (agent, session_id))
    }

    /// The capsules that some words mean: the beginning of an id, else words that all stand in what is told of one.
    pub fn find(&self, words: &str) -> Vec<&PushedCapsule> {
        const MIN_ID_CHARS: usize = 4;
        let has_id = |pushed: &&PushedCapsule| {
            words.len() >= MIN_ID_CHARS && (pushed.capsule.starts_with(words) || pushed.session_id.starts_with(words))
        };
        let by_id: Vec<&PushedCapsule> = self.capsules.iter().filter(has_id).collect();
        if !by_id.is_empty() {
            return by_id;
        }
        let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
        self.capsules.iter().filter(|pushed| pushed.matches_words(&words)).collect()
    }
}

impl PushedCapsule {
    fn matches_words(&self, words: &[String]) -> bool {
        let told = [&self.title, &self.project, &self.model].into_iter().flatten();
        let texts = told.chain([&self.agent, &self.session_id, &self.capsule]).chain(&self.prompts);
        let texts: Vec<String> = texts.map(|text| text.to_lowercase()).collect();
        words.iter().all(|word| texts.iter().any(|text| text.contains(word)))
    }
}

/// Of each session the newest push, in the order in which they come.
pub fn newest_per_session<'c>(capsules: impl IntoIterator<Item = &'c PushedCapsule>) -> Vec<&'c PushedCapsule> {
    let mut seen = BTreeSet::new();
    let mut newest = Vec::new();
    for pushed in capsules {
        if seen.insert(pushed.session_key()) {
            newest.push(pushed);
        }
    }
    newest
}
