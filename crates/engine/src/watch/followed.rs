//! One session that is known to a watcher.

use std::path::Path;

use carryover_agents::{Agent, AgentError, Bookmark, Found};
use carryover_core::time::Timestamp;

use super::event::{Activity, Limit};
use super::place::log_of;
use super::recent::{News, Recent, Standing};
use crate::own::files::Stamp;

/// By what a change of a file, or of the log beside a database, is noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamps {
    file: Option<Stamp>,
    log: Option<Stamp>,
}

impl Stamps {
    pub(super) fn of(path: &Path) -> Self {
        Self { file: Stamp::of(path).ok(), log: Stamp::of(&log_of(path)).ok() }
    }

    /// When it was last changed, in milliseconds; none where it is gone.
    pub(super) fn modified(self) -> Option<i64> {
        self.file.map(|file| self.log.map_or(file.mtime_ms, |log| log.mtime_ms.max(file.mtime_ms)))
    }

    fn size(self) -> u64 {
        self.file.map_or(0, |file| file.size)
    }
}

pub(super) struct Followed {
    pub(super) agent: &'static dyn Agent,
    pub(super) found: Found,
    pub(super) stamps: Stamps,
    /// When it was last seen to change; none while it is not in use.
    pub(super) active_at: Option<Timestamp>,
    /// It was read in its present state.
    read: bool,
    bookmark: Option<Bookmark>,
    news: News,
    told: Option<Standing>,
    /// Something was said since.
    went_on: bool,
}

impl Followed {
    /// A session that was there before it was looked for: what is in it without a time is old.
    pub(super) fn known(agent: &'static dyn Agent, found: Found, stamps: Stamps, since: Timestamp) -> Self {
        Self::new(agent, found, stamps, News { since, from: stamps.size() })
    }

    /// A session that came into being while we looked.
    pub(super) fn born(agent: &'static dyn Agent, found: Found, stamps: Stamps, since: Timestamp) -> Self {
        Self::new(agent, found, stamps, News { since, from: 0 })
    }

    fn new(agent: &'static dyn Agent, found: Found, stamps: Stamps, news: News) -> Self {
        Self { agent, found, stamps, active_at: None, read: false, bookmark: None, news, told: None, went_on: true }
    }

    /// Takes what is now known of it; whether there is something to read.
    pub(super) fn update(&mut self, found: Found, stamps: Stamps) -> bool {
        // A file of many sessions changes for each of them.
        let is_alone = found.source.key.is_none();
        let is_recent = !self.read && found.updated_at.is_some_and(|at| at >= self.news.since);
        let mine = is_alone || is_recent || self.active_at.is_some() || self.found.updated_at != found.updated_at;
        let changed = self.stamps != stamps || !self.read;
        self.found = found;
        self.stamps = stamps;
        self.read = true;
        mine && changed
    }

    /// Reads what is new; a limit that stands at its end is told once.
    pub(super) fn read(&mut self, is_stopped: &dyn Fn() -> bool) -> Result<Option<Standing>, AgentError> {
        let source = &self.found.source;
        let from = match self.bookmark {
            Some(bookmark @ (Bookmark::Start | Bookmark::Appended { .. })) => bookmark,
            // Rows are written again while a turn goes on, so an old bookmark would mean all of them.
            Some(Bookmark::Rows { .. }) | None => self.agent.near_end(source)?,
        };
        let mut recent = Recent::new(self.agent.facts().limits, self.news, is_stopped);
        self.bookmark = Some(self.agent.read(source, &from, &mut recent)?);
        self.went_on |= recent.went_on;
        let Some(standing) = recent.standing else { return Ok(None) };
        if self.was_told(&standing) {
            return Ok(None);
        }
        self.went_on = false;
        self.told = Some(standing.clone());
        Ok(Some(standing))
    }

    /// The same limit again: read a second time, met by a retry, or not over yet.
    fn was_told(&self, standing: &Standing) -> bool {
        self.told.as_ref().is_some_and(|told| {
            let not_over = told.resets_at.is_some() && told.resets_at == standing.resets_at;
            told.first == standing.first || not_over || !self.went_on
        })
    }

    pub(super) fn activity(&self, now: Timestamp) -> Activity {
        Activity {
            agent: self.agent.facts().id,
            session: self.found.id.clone(),
            project: self.found.project.clone(),
            title: self.found.title.clone(),
            at: self.found.updated_at.unwrap_or(now),
        }
    }

    pub(super) fn limit(&self, standing: Standing, now: Timestamp) -> Limit {
        Limit {
            agent: self.agent.facts().id,
            session: self.found.id.clone(),
            project: self.found.project.clone(),
            title: self.found.title.clone(),
            at: standing.first.1.unwrap_or(now),
            message: standing.message,
            resets_at: standing.resets_at,
        }
    }
}
