//! How far a journal reaches: to where its agent writes, and no further.
//!
//! A journal is a file, and what it names is removed. Somebody else may have written it, so it is believed only where it
//! names what a resume could have added: the session that it speaks of, in the agent's own store, and our own files in a
//! project. A session is the one that it speaks of if it has that id, and still begins with what was written.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use carryover_agents::{Agent, AgentError, Env, Facts, Source, Store, Target, matches_pattern};
use carryover_core::transcript::SessionId;

use crate::context::Context;
use crate::conversations;
use crate::handoff::gitignore;
use crate::handoff::project_dir;
use crate::own::files;
use crate::own::fingerprint::Fingerprint;
use crate::sessions::project::resolve_path;
use crate::sessions::read;
use crate::write::journal::{Journal, Lines, Rows, SAVED_CONVERSATION, WrittenFile};

/// Ids of sessions are at least as long where a file is named by them.
const MIN_ID_BYTES: usize = 32;
/// Sub-agents of sub-agents are followed so far.
const MAX_SUB_AGENT_DEPTH: usize = 8;

/// The first path that a journal could not have from us.
pub(crate) fn find_path_outside(
    agents: &[&'static dyn Agent],
    context: &Context,
    journal: &Journal,
) -> Option<PathBuf> {
    let reach = WriteScope::for_journal(agents, context, journal);
    let mut named = reach.find_file_outside(journal);
    named = named.or_else(|| {
        journal.rows.iter().find(|rows| !reach.holds_rows(rows, journal)).map(|rows| rows.database.clone())
    });
    named = named.or_else(|| {
        journal.lines.iter().find(|lines| !reach.holds_lines(lines, journal)).map(|lines| lines.file.clone())
    });
    named = named
        .or_else(|| journal.blocks.iter().map(|block| &block.file).find(|file| !reach.is_in_project(file)).cloned());
    let line = reach.agent.and_then(<dyn Agent>::ignore_line);
    let ignored = journal.ignored.as_ref().filter(|left| !gitignore::is_ours(left, &journal.project, line));
    named = named.or_else(|| ignored.map(|left| left.file.clone()));
    // Folders were made for what is in them.
    named.or_else(|| journal.folders.iter().find(|folder| !journal.has_files_in(folder)).cloned())
}

/// The first file that is where sessions are, and is not the one that the journal speaks of.
pub(crate) fn find_foreign_file(
    agents: &[&'static dyn Agent],
    context: &Context,
    journal: &Journal,
) -> Option<PathBuf> {
    let reach = WriteScope::for_journal(agents, context, journal);
    let is_session = |left: &&WrittenFile| real_path(&left.path).is_some_and(|file| reach.is_session(&file));
    // One that is gone is nobody's.
    let there = journal.files.iter().filter(|left| left.path.symlink_metadata().is_ok());
    let mut sessions = there.filter(is_session);
    sessions
        .find(|left| !reach.holds_session(&left.path, journal) || !keeps_written_start(left))
        .map(|left| left.path.clone())
}

/// Whether a file still begins with what was written: clients go on at its end.
fn keeps_written_start(left: &WrittenFile) -> bool {
    Fingerprint::from_file(&left.path, Some(left.size)).is_ok_and(|now| now == (left.size, left.digest))
}

/// Where the agent of a journal writes.
struct WriteScope {
    agent: Option<&'static dyn Agent>,
    /// Its stores.
    stores: Vec<PathBuf>,
    /// The folders in which its sessions are, and what their files are called.
    sessions: Vec<(PathBuf, &'static str)>,
    /// Folders in which sessions have others of their own, named by their ids.
    session_folders: Vec<PathBuf>,
    project: PathBuf,
    /// The brief in our own folder of the project, where one may have been left.
    brief_file: Option<PathBuf>,
    /// The conversation in the project, where it was saved.
    conversation: Option<PathBuf>,
}

impl WriteScope {
    fn for_journal(agents: &[&'static dyn Agent], context: &Context, journal: &Journal) -> Self {
        let id = journal.target.agent.as_str();
        let agent = agents.iter().find(|agent| agent.facts().id == id).copied();
        let (mut stores, mut sessions) = (Vec::new(), Vec::new());
        let mut beside = Vec::new();
        if let Some(agent) = agent {
            // Stores that the configuration names are only read.
            let projects = vec![journal.project.clone()];
            let env = Env { stores: BTreeMap::new(), projects, ..context.env.clone() };
            let usual = agent.facts().store_candidates(&env);
            sessions.extend(usual.iter().flat_map(|root| session_folders(agent.facts(), root)));
            stores.extend(usual.iter().map(|root| real_folder_path(root)));
            for store in agent.stores(&env).into_iter().filter(|store| !usual.contains(&store.root)) {
                let root = real_folder_path(&store.root);
                // One that the user has put elsewhere holds sessions and nothing else.
                sessions.extend(last_names(agent.facts()).map(|name| (root.clone(), name)));
                stores.push(root);
            }
            let names = agent.facts().session_folders;
            beside.extend(stores.iter().flat_map(|root| names.iter().map(|name| real_folder_path(&root.join(name)))));
        }
        let project = real_folder_path(&journal.project);
        let payload = Target::by_name(id).map(|_| project_dir::context_path(&project));
        // A number and a name behind a date: one folder, and none above it.
        let conversation = (id == SAVED_CONVERSATION && is_folder_below(&journal.target.session.0))
            .then(|| project.join(conversations::FOLDER).join(&journal.target.session.0));
        Self { agent, stores, sessions, session_folders: beside, project, brief_file: payload, conversation }
    }

    fn find_file_outside(&self, journal: &Journal) -> Option<PathBuf> {
        let replaced = || journal.replaced.iter().map(|before| &before.path);
        let files = || journal.files.iter().map(|left| &left.path).chain(replaced());
        let sessions: Vec<PathBuf> =
            files().filter_map(|file| real_path(file).filter(|file| self.is_session(file))).collect();
        let is_ours = |file: &PathBuf| {
            real_path(file).is_some_and(|file| {
                self.brief_file.as_ref() == Some(&file)
                    || self.conversation.as_ref().is_some_and(|folder| file.starts_with(folder))
                    || self.is_session(&file)
                    || self.is_companion(&file, &sessions, journal)
            })
        };
        let is_kept = |file: &PathBuf| {
            real_path(file).is_some_and(|file| self.conversation.iter().any(|folder| file.starts_with(folder)))
        };
        // Files that are put back are those of a conversation, and of nobody else.
        files().find(|file| !is_ours(file)).or_else(|| replaced().find(|file| !is_kept(file))).cloned()
    }

    fn is_session(&self, file: &Path) -> bool {
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        self.sessions.iter().any(|(folder, pattern)| file.starts_with(folder) && matches_pattern(pattern, name))
    }

    /// Some sessions have files of their own around them, in a folder that is named by their id, and some share a file
    /// that names their project.
    fn is_companion(&self, file: &Path, sessions: &[PathBuf], journal: &Journal) -> bool {
        let Some(folder) = file.parent() else { return false };
        let below = |(root, _): &(PathBuf, &str)| folder.starts_with(root) && folder != root;
        if self.is_in_own_folder(file, journal) {
            return true;
        }
        let is_around = self.sessions.iter().any(below) && sessions.iter().any(|session| session.starts_with(folder));
        let is_own = || is_session_id(folder.file_name(), journal);
        let project = journal.project.as_os_str().as_encoded_bytes();
        let names_project = || {
            let text = files::read_bounded(file, project.len() as u64);
            text.is_ok_and(|text| text.is_none_or(|text| text == project))
        };
        is_around && (is_own() || names_project())
    }

    /// Whether a file is in a folder, where sessions are, that is named by the session's id.
    fn is_in_own_folder(&self, file: &Path, journal: &Journal) -> bool {
        let is_own = |folder: &&Path| is_session_id(folder.file_name(), journal);
        let own = file.ancestors().skip(1).find(is_own);
        let is_beside = |own: &Path| self.session_folders.iter().any(|folder| own.parent() == Some(folder));
        own.is_some_and(|own| {
            is_beside(own) || self.sessions.iter().any(|(root, _)| own.starts_with(root) && own != root)
        })
    }

    /// Whether a file holds the session that a journal speaks of: by its name, or by what its agent reads in it.
    fn holds_session(&self, file: &Path, journal: &Journal) -> bool {
        let session = &journal.target.session;
        let name = file.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        let is_named = session.0.len() >= MIN_ID_BYTES && name.contains(&session.0);
        if is_named || is_session_id(file.parent().and_then(Path::file_name), journal) {
            return true;
        }
        if real_path(file).is_some_and(|file| self.is_in_own_folder(&file, journal)) {
            return true;
        }
        let Some(agent) = self.agent else { return false };
        // The conversations of sub-agents go with the session whose they are.
        let start = read::session_start(agent, &Source::file(file));
        if start.is_ok_and(|start| start.header.parent.as_ref() == Some(session)) {
            return true;
        }
        let found = |root: &PathBuf| agent.sessions_in(&Store { root: root.clone() }, file).unwrap_or_default();
        self.stores.iter().take(1).flat_map(found).any(|found| found.id == *session)
    }

    fn is_in_store(&self, file: &Path) -> bool {
        let roots = || self.stores.iter().chain(self.sessions.iter().map(|(folder, _)| folder));
        real_path(file).is_some_and(|file| roots().any(|root| file.starts_with(root)))
    }

    /// Rows go where they name the session, or a sub-agent of it.
    fn holds_rows(&self, rows: &Rows, journal: &Journal) -> bool {
        let session = &journal.target.session;
        let names_it = || match &rows.member {
            // What is shared goes only where the session is the last that refers to it.
            Some(member) => member.referrer.as_ref().map_or(&member.name, |referrer| &referrer.name) == &session.0,
            // All that begins with it goes: it has to be the whole name of one that no other begins with.
            None if rows.is_prefix => session.0.len() >= MIN_ID_BYTES && rows.value.ends_with(&format!("{session}:")),
            None => rows.value.contains(session.0.as_str()) || self.is_below(rows, session),
        };
        !session.0.is_empty() && self.is_in_store(&rows.database) && names_it()
    }

    /// Whether rows are of a conversation that a session has started, or that its sub-agents have. Where nothing bears that
    /// name, nothing is taken.
    fn is_below(&self, rows: &Rows, session: &SessionId) -> bool {
        let Some(agent) = self.agent else { return false };
        let mut name = rows.value.clone();
        for depth in 0..MAX_SUB_AGENT_DEPTH {
            match read::session_start(agent, &Source::file(&rows.database.join(&name))) {
                Ok(start) => match start.header.parent {
                    Some(parent) if parent == *session => return true,
                    Some(parent) => name = parent.0,
                    None => return false,
                },
                Err(error) => return depth == 0 && matches!(error, AgentError::NotASession { .. }),
            }
        }
        false
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
        real_path(file)
            .is_some_and(|file| file.starts_with(&self.project) && resolve_path(&file).starts_with(&self.project))
    }
}

/// Whether a name is that of a folder in a folder, without a way back.
fn is_folder_below(name: &str) -> bool {
    let parts: Vec<Component<'_>> = Path::new(name).components().collect();
    parts.len() == 2 && parts.iter().all(|part| matches!(part, Component::Normal(_)))
}

/// Whether a name is the id of a journal's session.
fn is_session_id(name: Option<&OsStr>, journal: &Journal) -> bool {
    let session = &journal.target.session.0;
    session.len() >= MIN_ID_BYTES && name.is_some_and(|name| name == session.as_str())
}

/// Where sessions are in a store: below the first folder of a track, or beside each other in the store itself. That
/// folder may be a link of the user's to a larger disk.
fn session_folders(facts: &'static Facts, root: &Path) -> Vec<(PathBuf, &'static str)> {
    let place = |track: &&'static [&'static str]| match **track {
        [] => None,
        [name] => Some((real_folder_path(root), name)),
        [first, .., last] => Some((real_folder_path(&root.join(first)), last)),
    };
    facts.session_patterns.iter().filter_map(place).collect()
}

fn last_names(facts: &'static Facts) -> impl Iterator<Item = &'static str> {
    facts.session_patterns.iter().filter_map(|track| track.last().copied())
}

/// Where a file really is: links above it are followed, as far as they exist; none where the path leads back up.
fn real_path(file: &Path) -> Option<PathBuf> {
    if !file.is_absolute() || file.components().any(|part| part == Component::ParentDir) {
        return None;
    }
    let existing = file.ancestors().skip(1).find(|above| above.symlink_metadata().is_ok())?;
    let rest = file.strip_prefix(existing).ok()?;
    Some(fs_err::canonicalize(existing).ok()?.join(rest))
}

/// The same of a folder, which may be a link itself.
fn real_folder_path(folder: &Path) -> PathBuf {
    fs_err::canonicalize(folder).ok().or_else(|| real_path(folder)).unwrap_or_else(|| folder.to_owned())
}
