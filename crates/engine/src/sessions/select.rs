//! Which session the user means.

use std::path::{Path, PathBuf};

use carryover_agents::formats::jsonl;
use carryover_agents::{AGENTS, Agent, AgentError, FoundSession, Liveness, Source, Store, captured, saved};
use carryover_core::transcript::SessionId;

use crate::context::Context;
use crate::sessions::copies::{Copies, CopyState};
use crate::sessions::glance;
use crate::sessions::list::{Failure, Filter, ListedSession, Listing, agent_stores, list_among};
use crate::sessions::project;
use crate::sessions::read;
use crate::sessions::word_matcher::WordMatcher;

/// Shorter words are never taken for the beginning of an id.
const MIN_PREFIX_BYTES: usize = 4;
/// Agents are told from each other by so much of a file.
const HEAD_BYTES: u64 = 64 << 10;
const MAX_FIRST_LINE_BYTES: u64 = 16 << 20;

/// The session that was asked for on the command line.
#[derive(Clone, Default)]
pub struct Query {
    /// An id, a prefix of one, words of a title, a path, `@last`, or nothing.
    pub words: Option<String>,
    pub agent: Option<&'static dyn Agent>,
    pub project: Option<PathBuf>,
    /// Where nothing is named, the sessions of this agent come last, and so do copies that nobody has used.
    pub avoided: Option<&'static str>,
}

/// A session, and why it was picked.
pub struct Selected {
    pub session: ListedSession,
    /// For the user, where the choice was ours: "newest session of this project".
    pub why: Option<&'static str>,
    /// Stores that could not be read; where the choice was ours, it may be wrong.
    pub failures: Vec<Failure>,
}

impl Selected {
    fn new(session: ListedSession, why: Option<&'static str>) -> Self {
        Self { session, why, failures: Vec::new() }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum SelectError {
    #[error("no agent with sessions was found")]
    NoAgent,
    #[error("no session matches `{0}`")]
    NotFound(String),
    #[error("no session of this project was found")]
    NoneHere,
    /// The candidates are listed by whoever shows this.
    #[error("`{words}` fits {} sessions", candidates.len())]
    Ambiguous { words: String, candidates: Vec<ListedSession> },
    #[error("{} is not a session of any agent that carryover knows", .0.display())]
    NotRecognised(PathBuf),
    #[error("{} could be a session of {}", path.display(), agents.join(" or "))]
    SeveralAgents { path: PathBuf, agents: Vec<&'static str> },
    #[error(transparent)]
    Agent(#[from] AgentError),
}

impl std::fmt::Debug for ListedSession {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} {}", self.agent.facts().id, self.found.id)
    }
}

/// Finds the session that is meant.
pub fn select_session(context: &Context, query: &Query) -> Result<Selected, SelectError> {
    select_among(AGENTS, context, query)
}

pub(crate) fn select_among(
    agents: &[&'static dyn Agent],
    context: &Context,
    query: &Query,
) -> Result<Selected, SelectError> {
    let context = &context.with_project(query.project.as_deref());
    let words = query.words.as_deref().map(str::trim).filter(|words| !words.is_empty());
    // Words may name any session; without words only this project's count, unless no project is asked about.
    let filter =
        Filter { agent: query.agent, project: query.project.clone().filter(|_| words.is_none()), ..Filter::default() };
    let mut listing = list_among(agents, context, &filter);
    let failures = std::mem::take(&mut listing.failures);
    let selected = match words {
        None => select_newest_here(agents, context, query, listing),
        Some("@last") => select_last(context, listing, query),
        Some(words) => select_by_words(agents, context, query, &listing, words),
    };
    match selected {
        Ok(selected) => Ok(Selected { failures, ..selected }),
        Err(error) => Err(prefer_store_failure(failures, error)),
    }
}

/// A session that is not found may be in a store that could not be read: then that is the error.
fn prefer_store_failure(failures: Vec<Failure>, error: SelectError) -> SelectError {
    let is_missing = matches!(error, SelectError::NoAgent | SelectError::NotFound(_) | SelectError::NoneHere);
    match failures.into_iter().next() {
        Some((_, failure)) if is_missing => failure.into(),
        _ => error,
    }
}

fn select_by_words(
    agents: &[&'static dyn Agent],
    context: &Context,
    query: &Query,
    listing: &Listing,
    words: &str,
) -> Result<Selected, SelectError> {
    if let Some(selected) = select_by_id(listing, words)? {
        return Ok(selected);
    }
    let here = || context.project_or_cwd(query.project.as_deref()).to_owned();
    let path = as_path(words, &context.cwd, &context.env.home);
    let Some(named) = path.map(|path| select_by_path(agents, query.agent, &path, &here())) else {
        return select_by_title(context, listing, words);
    };
    let titled = select_by_title(context, listing, words);
    match named {
        Ok(session) => Ok(Selected::new(session, None)),
        // A file that merely has the name of what was worked on is not what is meant.
        Err(SelectError::NotRecognised(_) | SelectError::Agent(_))
            if !is_separated(words) && matches!(titled, Ok(_) | Err(SelectError::Ambiguous { .. })) =>
        {
            titled
        }
        Err(error) => Err(error),
    }
}

fn select_newest_here(
    agents: &[&'static dyn Agent],
    context: &Context,
    query: &Query,
    listing: Listing,
) -> Result<Selected, SelectError> {
    let here = listing.sessions.into_iter().filter(|session| session.here).collect();
    let mut here = pass_over_silent(context, here).into_iter();
    let newest = match query.avoided {
        None => here.next(),
        Some(avoided) => {
            let (others, rest): (Vec<_>, Vec<_>) = here.partition(|session| session.agent.facts().id != avoided);
            let copies = Copies::load(context);
            let is_used = |session: &ListedSession| {
                let copy = copies.origin_of(session.agent.facts().id, &session.found.id);
                copy.is_none_or(|copy| copy.look_up_state() != CopyState::Unused)
            };
            if let Some(session) = others.into_iter().find(is_used) {
                return Ok(Selected::new(session, Some("the newest session of this project in another agent")));
            }
            rest.into_iter().next()
        }
    };
    if let Some(session) = newest {
        return Ok(Selected::new(session, Some("the newest session of this project")));
    }
    let wanted = |agent: &&&dyn Agent| query.agent.is_none_or(|named| named.facts().id == agent.facts().id);
    let exists = agents.iter().filter(wanted).any(|agent| !agent_stores(*agent, context).is_empty());
    Err(if exists { SelectError::NoneHere } else { SelectError::NoAgent })
}

/// The sessions of a list, newest first, without those before the first in which something was said: a client that was just
/// started, or told to begin anew, has one already. Where nothing was said in any, all of them are left.
fn pass_over_silent(context: &Context, sessions: Vec<ListedSession>) -> Vec<ListedSession> {
    match sessions.iter().position(|session| !glance::is_silent(context, session)) {
        Some(first) => sessions.into_iter().skip(first).collect(),
        None => sessions,
    }
}

fn select_last(context: &Context, listing: Listing, query: &Query) -> Result<Selected, SelectError> {
    let mut sessions = listing.sessions;
    sessions.sort_by_key(|session| std::cmp::Reverse(session.found.updated_at));
    let newest = pass_over_silent(context, sessions).into_iter().next();
    let newest = newest.ok_or(SelectError::NoAgent)?;
    let why = if query.agent.is_some() { "the newest session of this agent" } else { "the newest session of all" };
    Ok(Selected::new(newest, Some(why)))
}

fn select_by_id(listing: &Listing, words: &str) -> Result<Option<Selected>, SelectError> {
    let exact: Vec<&ListedSession> = listing.sessions.iter().filter(|session| session.found.id.0 == words).collect();
    if !exact.is_empty() {
        return expect_one(&exact, words).map(Some);
    }
    if words.len() < MIN_PREFIX_BYTES {
        return Ok(None);
    }
    let lower = words.to_lowercase();
    let begins = |session: &&ListedSession| session.found.id.0.to_lowercase().starts_with(&lower);
    let fitting: Vec<&ListedSession> = listing.sessions.iter().filter(begins).collect();
    if fitting.is_empty() { Ok(None) } else { expect_one(&fitting, words).map(Some) }
}

fn expect_one(fitting: &[&ListedSession], words: &str) -> Result<Selected, SelectError> {
    match fitting {
        [one] => Ok(Selected::new((*one).clone(), None)),
        several => Err(SelectError::Ambiguous {
            words: words.to_owned(),
            candidates: several.iter().map(|session| (*session).clone()).collect(),
        }),
    }
}

/// The path that some words are, if they are one.
fn as_path(words: &str, cwd: &Path, home: &Path) -> Option<PathBuf> {
    let path = match words.strip_prefix("~/") {
        Some(below) => home.join(below),
        None => cwd.join(words),
    };
    let ends = [".jsonl", ".zst", ".json"].iter().any(|end| words.ends_with(end));
    (path.is_file() || ends || is_separated(words)).then_some(path)
}

/// Words with a separator are meant as a path, whether something is there or not.
fn is_separated(words: &str) -> bool {
    !words.contains(' ') && words.contains(std::path::is_separator)
}

/// The session in a file.
pub fn session_in_file(context: &Context, path: &Path) -> Result<ListedSession, SelectError> {
    select_by_path(AGENTS, None, path, context.project_or_cwd(None))
}

fn select_by_path(
    agents: &[&'static dyn Agent],
    named: Option<&'static dyn Agent>,
    path: &Path,
    here: &Path,
) -> Result<ListedSession, SelectError> {
    let head = read_head(path).map_err(AgentError::from)?;
    let wanted = agents.iter().copied().filter(|agent| named.is_none_or(|named| named.facts().id == agent.facts().id));
    // Lines of a saved conversation look like those of some agents.
    let fits = |agent: &&'static dyn Agent| !saved::is_saved(path) && agent.recognises(path, &head);
    let mut fitting: Vec<(&'static dyn Agent, Source)> =
        wanted.filter(fits).map(|agent| (agent, Source::file(path))).collect();
    let captured = if fitting.is_empty() { captured::recognise(path, &head)? } else { None };
    if let Some(reader) = captured.filter(|reader| named.is_none_or(|named| named.facts().id == reader.facts().id)) {
        return list_loose_file((reader, Source { path: path.to_owned(), key: None }), path, here);
    }
    match fitting.len() {
        0 => Err(SelectError::NotRecognised(path.to_owned())),
        1 => list_loose_file(fitting.remove(0), path, here),
        _ => Err(SelectError::SeveralAgents {
            path: path.to_owned(),
            agents: fitting.iter().map(|(agent, _)| agent.facts().id).collect(),
        }),
    }
}

/// The first bytes, as an agent's `recognise` wants them: what is inside of a compressed log, and a first line that is
/// whole, however much the user pasted into the first prompt.
fn read_head(path: &Path) -> std::io::Result<Vec<u8>> {
    let head = jsonl::read_head(path, HEAD_BYTES)?;
    if head.contains(&b'\n') || (head.len() as u64) < HEAD_BYTES {
        Ok(head)
    } else {
        jsonl::read_head(path, MAX_FIRST_LINE_BYTES)
    }
}

/// A loose file has no index beside it: what a listing would show is read from the file itself.
fn list_loose_file(
    (agent, source): (&'static dyn Agent, Source),
    path: &Path,
    here: &Path,
) -> Result<ListedSession, SelectError> {
    let beginning = read::session_start(agent, &source)?;
    let header = &beginning.header;
    let fallback = || SessionId(path.file_stem().unwrap_or_default().to_string_lossy().into_owned());
    let id = if header.session.0.is_empty() { fallback() } else { header.session.clone() };
    let project = header.project.clone();
    let here = project.as_deref().is_some_and(|project| project::ProjectMatcher::new(here).matches(project));
    let found = FoundSession {
        id,
        title: header.title.clone(),
        project,
        branch: header.branch.clone(),
        started_at: header.started_at,
        updated_at: header.updated_at,
        messages: None,
        bytes: fs_err::metadata(path).map_err(AgentError::from)?.len(),
        model: header.model.clone(),
        live: Liveness::Unknown,
        drifted: !beginning.is_known,
        source,
    };
    let root = path.parent().unwrap_or(path).to_owned();
    Ok(ListedSession { agent, store: Store { root }, found, here })
}

/// Titles that hold the words as they were typed win over sessions that have each of them somewhere. Letters that are
/// scattered over a title are no words: a session that merely resembles would be carried by mistake.
fn select_by_title(context: &Context, listing: &Listing, words: &str) -> Result<Selected, SelectError> {
    let lower = words.to_lowercase();
    let title = |session: &ListedSession| session.found.title.as_deref().unwrap_or_default().to_lowercase();
    let mut fitting: Vec<&ListedSession> =
        listing.sessions.iter().filter(|session| title(session).contains(&lower)).collect();
    if fitting.is_empty() {
        let matcher = WordMatcher::new(context, words.split_whitespace());
        fitting = listing.sessions.iter().filter(|session| matcher.matches_text(&session.found)).collect();
    }
    if !fitting.is_empty() {
        let selected = expect_one(&fitting, words)?;
        return Ok(Selected { why: Some("the session with these words"), ..selected });
    }
    if listing.sessions.is_empty() {
        return Err(SelectError::NoAgent);
    }
    Err(SelectError::NotFound(words.to_owned()))
}
