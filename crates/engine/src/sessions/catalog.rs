//! `catalog.jsonl`: the last listing of everything, so that the next one can be shown before any store is looked at.
//!
//! A line is a session as JSON. Whether it belongs to the present project is found anew; whether it is open now is not
//! known. Losing the file costs time only.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use carryover_agents::{AGENTS, Agent, FoundSession, Liveness, Source, Store};
use carryover_core::plain::one_line;
use carryover_core::time::Timestamp;
use carryover_core::transcript::SessionId;
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::own::files;
use crate::sessions::list::{self, Filter, ListedSession, Listing};
use crate::sessions::project::ProjectMatcher;

const HEAD_LINE: &str = "carryover.catalog/1\n";
const MAX_ROWS: usize = 50_000;
const MAX_BYTES: usize = 64 << 20;
/// No listing shows more of a title.
const TITLE_CHARS: usize = 300;

#[derive(Serialize, Deserialize)]
struct Row<'a> {
    agent: Cow<'a, str>,
    store: Cow<'a, Path>,
    path: Cow<'a, Path>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<Cow<'a, str>>,
    id: Cow<'a, str>,
    title: Option<Cow<'a, str>>,
    project: Option<Cow<'a, Path>>,
    branch: Option<Cow<'a, str>>,
    started_at: Option<Timestamp>,
    updated_at: Option<Timestamp>,
    messages: Option<u64>,
    bytes: u64,
    model: Option<Cow<'a, str>>,
    drifted: bool,
}

/// The last listing, in a listing's order for the present folder; none where none is remembered.
pub fn load_listing(context: &Context) -> Option<Listing> {
    load_among(AGENTS, context)
}

pub(crate) fn load_among(agents: &[&'static dyn Agent], context: &Context) -> Option<Listing> {
    let bytes = files::read_bounded(&catalog_path(context), MAX_BYTES as u64).ok()??;
    let text = std::str::from_utf8(&bytes).ok()?.strip_prefix(HEAD_LINE)?;
    let mut here = ProjectMatcher::new(&context.cwd);
    let wanted: Vec<&'static dyn Agent> =
        agents.iter().copied().filter(|agent| list::is_wanted(*agent, context, &Filter::default())).collect();
    let rows = text.lines().filter_map(|line| serde_json::from_str::<Row<'_>>(line).ok());
    let mut sessions: Vec<ListedSession> = rows.filter_map(|row| row.into_session(&wanted, &mut here)).collect();
    list::sort_sessions(&mut sessions);
    let drifted = sessions.iter().filter(|session| session.found.drifted).cloned().collect();
    Some(Listing { sessions, failures: Vec::new(), drifted })
}

/// Keeps a listing of everything for the next start; nothing is written where it is the same as the last one.
pub fn save_listing(context: &Context, listing: &Listing) -> io::Result<()> {
    let mut newest_first: Vec<&ListedSession> = listing.sessions.iter().collect();
    // Not in the order of the folder that it was found in, which would make it another one in every folder.
    newest_first.sort_by_key(|session| std::cmp::Reverse(session.found.updated_at));
    let mut bytes = HEAD_LINE.as_bytes().to_vec();
    for session in newest_first.into_iter().take(MAX_ROWS) {
        // A path that is no text has no row.
        let Ok(line) = serde_json::to_vec(&Row::from_session(session)) else { continue };
        if bytes.len() + line.len() >= MAX_BYTES {
            break;
        }
        bytes.extend_from_slice(&line);
        bytes.push(b'\n');
    }
    let path = catalog_path(context);
    match files::read_bounded(&path, MAX_BYTES as u64) {
        Ok(Some(before)) if before == bytes => Ok(()),
        _ => files::write_cached(&path, &bytes),
    }
}

/// Drops the listing, with the titles in it; the next one is made from the stores.
pub(crate) fn discard_listing(context: &Context) -> io::Result<()> {
    files::remove_if_there(&catalog_path(context))
}

fn catalog_path(context: &Context) -> PathBuf {
    context.home.join("catalog.jsonl")
}

impl<'a> Row<'a> {
    fn from_session(session: &'a ListedSession) -> Self {
        let found = &session.found;
        let text = |text: &'a Option<String>| text.as_deref().map(Cow::Borrowed);
        Self {
            agent: session.agent.facts().id.into(),
            store: session.store.root.as_path().into(),
            path: found.source.path.as_path().into(),
            key: text(&found.source.key),
            id: found.id.0.as_str().into(),
            title: found.title.as_deref().map(|title| one_line(title, TITLE_CHARS).into()),
            project: found.project.as_deref().map(Cow::Borrowed),
            branch: text(&found.branch),
            started_at: found.started_at,
            updated_at: found.updated_at,
            messages: found.messages,
            bytes: found.bytes,
            model: text(&found.model),
            drifted: found.drifted,
        }
    }

    /// The session, where its agent is one of those that are wanted.
    fn into_session(self, wanted: &[&'static dyn Agent], here: &mut ProjectMatcher) -> Option<ListedSession> {
        let agent = wanted.iter().find(|agent| agent.facts().id == self.agent)?;
        let here = self.project.as_deref().is_some_and(|project| here.matches(project));
        let text = |text: Option<Cow<'_, str>>| text.map(Cow::into_owned);
        let found = FoundSession {
            source: Source { path: self.path.into_owned(), key: text(self.key) },
            id: SessionId(self.id.into_owned()),
            title: text(self.title),
            project: self.project.map(Cow::into_owned),
            branch: text(self.branch),
            started_at: self.started_at,
            updated_at: self.updated_at,
            messages: self.messages,
            bytes: self.bytes,
            model: text(self.model),
            live: Liveness::Unknown,
            drifted: self.drifted,
        };
        Some(ListedSession { agent: *agent, store: Store { root: self.store.into_owned() }, found, here })
    }
}
