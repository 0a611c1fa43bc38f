//! How far a journal reaches: to where its agent writes, and no further.
//!
//! A journal is a file, and what it names is removed. Somebody else may have written it, so it is believed only where it
//! names what a resume could have added: sessions in the agent's own store, and our own files in a project.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use carryover_agents::{Agent, Env, Facts, Taker, fits};

use crate::context::Context;
use crate::handoff::ignored;
use crate::handoff::project_dir;
use crate::sessions::project::resolve;
use crate::write::journal::{Journal, Lines};

/// The first path that a journal could not have from us.
pub(crate) fn beyond(agents: &[&'static dyn Agent], context: &Context, journal: &Journal) -> Option<PathBuf> {
    let reach = Reach::of(agents, context, journal);
    let mut named = reach.files_beyond(journal);
    named =
        named.or_else(|| journal.rows.iter().map(|rows| &rows.database).find(|file| !reach.is_in_store(file)).cloned());
    named = named.or_else(|| {
        journal.lines.iter().find(|lines| !reach.holds_lines(lines, journal)).map(|lines| lines.file.clone())
    });
    named = named
        .or_else(|| journal.blocks.iter().map(|block| &block.file).find(|file| !reach.is_in_project(file)).cloned());
    let ignored = journal.ignored.as_ref().filter(|left| !ignored::is_ours(left, &journal.project));
    named = named.or_else(|| ignored.map(|left| left.file.clone()));
    // Folders were made for what is in them.
    named.or_else(|| journal.folders.iter().find(|folder| !journal.is_in(folder)).cloned())
}

/// Where the agent of a journal writes.
struct Reach {
    /// Its stores.
    stores: Vec<PathBuf>,
    /// The folders in which its sessions are, and what their files are called.
    sessions: Vec<(PathBuf, &'static str)>,
    project: PathBuf,
    /// The brief in our own folder of the project, where one may have been left.
    payload: Option<PathBuf>,
}

impl Reach {
    fn of(agents: &[&'static dyn Agent], context: &Context, journal: &Journal) -> Self {
        let id = journal.target.agent.as_str();
        let agent = agents.iter().find(|agent| agent.facts().id == id);
        let (mut stores, mut sessions) = (Vec::new(), Vec::new());
        if let Some(agent) = agent {
            // Stores that the configuration names are only read.
            let projects = vec![journal.project.clone()];
            let env = Env { stores: BTreeMap::new(), projects, ..context.env.clone() };
            let usual = agent.facts().store_candidates(&env);
            sessions.extend(usual.iter().flat_map(|root| places(agent.facts(), root)));
            stores.extend(usual.iter().map(|root| real_folder(root)));
            for store in agent.stores(&env).into_iter().filter(|store| !usual.contains(&store.root)) {
                let root = real_folder(&store.root);
                // One that the user has put elsewhere holds sessions and nothing else.
                sessions.extend(last_names(agent.facts()).map(|name| (root.clone(), name)));
                stores.push(root);
            }
        }
        let project = real_folder(&journal.project);
        let payload = Taker::by_name(id).map(|_| project_dir::context_file(&project));
        Self { stores, sessions, project, payload }
    }

    fn files_beyond(&self, journal: &Journal) -> Option<PathBuf> {
        let files = || journal.files.iter().map(|left| &left.path);
        let sessions: Vec<PathBuf> =
            files().filter_map(|file| real(file).filter(|file| self.is_session(file))).collect();
        let is_ours = |file: &PathBuf| {
            real(file).is_some_and(|file| {
                self.payload.as_ref() == Some(&file) || self.is_session(&file) || self.is_beside(&file, &sessions)
            })
        };
        files().find(|file| !is_ours(file)).cloned()
    }

    fn is_session(&self, file: &Path) -> bool {
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        self.sessions.iter().any(|(folder, pattern)| file.starts_with(folder) && fits(pattern, name))
    }

    /// Some sessions have files of their own around them, in a folder that is theirs.
    fn is_beside(&self, file: &Path, sessions: &[PathBuf]) -> bool {
        let Some(folder) = file.parent() else { return false };
        let below = |(root, _): &(PathBuf, &str)| folder.starts_with(root) && folder != root;
        self.sessions.iter().any(below) && sessions.iter().any(|session| session.starts_with(folder))
    }

    fn is_in_store(&self, file: &Path) -> bool {
        let roots = || self.stores.iter().chain(self.sessions.iter().map(|(folder, _)| folder));
        real(file).is_some_and(|file| roots().any(|root| file.starts_with(root)))
    }

    /// Lines of an index go where they name the session; a lock is no more than that.
    fn holds_lines(&self, lines: &Lines, journal: &Journal) -> bool {
        let session = &journal.target.session.0;
        let names_it = !session.is_empty() && lines.containing.contains(session.as_str());
        let is_lock = |lock: &PathBuf| self.is_in_store(lock) && lock.extension().is_some_and(|end| end == "lock");
        names_it && self.is_in_store(&lines.file) && lines.lock.as_ref().is_none_or(is_lock)
    }

    /// A file of the project's, and no link to one that is not.
    fn is_in_project(&self, file: &Path) -> bool {
        real(file).is_some_and(|file| file.starts_with(&self.project) && resolve(&file).starts_with(&self.project))
    }
}

/// Where sessions are in a store: below the first folder of a track, or beside each other in the store itself. That
/// folder may be a link of the user's to a larger disk.
fn places(facts: &'static Facts, root: &Path) -> Vec<(PathBuf, &'static str)> {
    let place = |track: &&'static [&'static str]| match **track {
        [] => None,
        [name] => Some((real_folder(root), name)),
        [first, .., last] => Some((real_folder(&root.join(first)), last)),
    };
    facts.tracks.iter().filter_map(place).collect()
}

fn last_names(facts: &'static Facts) -> impl Iterator<Item = &'static str> {
    facts.tracks.iter().filter_map(|track| track.last().copied())
}

/// Where a file really is: links above it are followed, as far as they exist; none where the path leads back up.
fn real(file: &Path) -> Option<PathBuf> {
    if !file.is_absolute() || file.components().any(|part| part == Component::ParentDir) {
        return None;
    }
    let existing = file.ancestors().skip(1).find(|above| above.symlink_metadata().is_ok())?;
    let rest = file.strip_prefix(existing).ok()?;
    Some(fs_err::canonicalize(existing).ok()?.join(rest))
}

/// The same of a folder, which may be a link itself.
fn real_folder(folder: &Path) -> PathBuf {
    fs_err::canonicalize(folder).ok().or_else(|| real(folder)).unwrap_or_else(|| folder.to_owned())
}
