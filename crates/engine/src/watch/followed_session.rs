//! One session that is known to a watcher.

use std::path::Path;

use carryover_agents::{Agent, AgentError, Bookmark, FoundSession};
use carryover_core::time::Timestamp;

use super::doing::DoingTracker;
use super::event::{Activity, Limit};
use super::limit_detector::{Cutoff, LimitDetector};
use super::watched_store::log_path;
use crate::own::files::Stamp;
use crate::sessions::standing_limit::StandingLimit;

/// By what a change of a file, or of the log beside a database, is noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamps {
    file: Option<Stamp>,
    log: Option<Stamp>,
}

impl Stamps {
    pub(super) fn from_path(path: &Path) -> Self {
        Self { file: Stamp::from_path(path).ok(), log: Stamp::from_path(&log_path(path)).ok() }
    }

    /// When it was last changed, in milliseconds; none where it is gone.
    pub(super) fn modified_ms(self) -> Option<i64> {
        self.file.map(|file| self.log.map_or(file.mtime_ms, |log| log.mtime_ms.max(file.mtime_ms)))
    }

    pub(super) fn size(self) -> u64 {
        self.file.map_or(0, |file| file.size)
    }
}

pub(super) struct FollowedSession {
    pub(super) agent: &'static dyn Agent,
    pub(super) found: FoundSession,
    pub(super) stamps: Stamps,
    /// When it was last seen to change; none while it is not in use.
    pub(super) active_at: Option<Timestamp>,
    /// It was read in its present state.
    was_read: bool,
    bookmark: Option<Bookmark>,
    cutoff: Cutoff,
    reported: Option<StandingLimit>,
    /// Something was said since.
    continued: bool,
    doing: DoingTracker,
}

impl FollowedSession {
    /// A session that was there before it was looked for: what is in it without a time is old.
    pub(super) fn from_existing(
        agent: &'static dyn Agent,
        found: FoundSession,
        stamps: Stamps,
        since: Timestamp,
    ) -> Self {
        Self::new(agent, found, stamps, Cutoff { since, from_byte: stamps.size() })
    }

    /// A session that came into being while we looked.
    pub(super) fn from_created(
        agent: &'static dyn Agent,
        found: FoundSession,
        stamps: Stamps,
        since: Timestamp,
    ) -> Self {
        Self::new(agent, found, stamps, Cutoff { since, from_byte: 0 })
    }

    fn new(agent: &'static dyn Agent, found: FoundSession, stamps: Stamps, news: Cutoff) -> Self {
        Self {
            agent,
            found,
            stamps,
            active_at: None,
            was_read: false,
            bookmark: None,
            cutoff: news,
            reported: None,
            continued: true,
            doing: DoingTracker::default(),
        }
    }

    /// Takes what is now known of it; whether there is something to read.
    pub(super) fn update(&mut self, found: FoundSession, stamps: Stamps) -> bool {
        // A file of many sessions changes for each of them.
        let is_alone = found.source.key.is_none();
        let is_recent = !self.was_read && found.updated_at.is_some_and(|at| at >= self.cutoff.since);
        let mine = is_alone || is_recent || self.active_at.is_some() || self.found.updated_at != found.updated_at;
        let changed = self.stamps != stamps || !self.was_read;
        self.found = found;
        self.stamps = stamps;
        self.was_read = true;
        mine && changed
    }

    /// Reads what is new; a limit that stands at its end is told once.
    pub(super) fn read_new(&mut self, is_stopped: &dyn Fn() -> bool) -> Result<Option<StandingLimit>, AgentError> {
        let source = &self.found.source;
        if !matches!(self.bookmark, Some(Bookmark::Appended { .. })) {
            self.doing.restart();
        }
        let from = match self.bookmark {
            Some(bookmark @ (Bookmark::Start | Bookmark::Appended { .. })) => bookmark,
            // Rows are written again while a turn goes on, so an old bookmark would mean all of them.
            Some(Bookmark::Rows { .. }) | None => self.agent.bookmark_near_end(source)?,
        };
        let project = self.found.project.as_deref();
        let mut recent = LimitDetector::new(self.agent, project, self.cutoff, &mut self.doing, is_stopped);
        self.bookmark = Some(self.agent.read_session(source, &from, &mut recent)?);
        self.continued |= recent.tracker.continued;
        let Some(standing) = recent.tracker.standing else { return Ok(None) };
        if self.was_reported(&standing) {
            return Ok(None);
        }
        self.continued = false;
        self.reported = Some(standing.clone());
        Ok(Some(standing))
    }

    /// The same limit again: read a second time, met by a retry, or not over yet.
    fn was_reported(&self, standing: &StandingLimit) -> bool {
        self.reported.as_ref().is_some_and(|told| {
            let not_over = told.resets_at.is_some() && told.resets_at == standing.resets_at;
            told.first == standing.first || not_over || !self.continued
        })
    }

    pub(super) fn to_activity(&self, now: Timestamp) -> Activity {
        Activity {
            agent: self.agent.facts().id,
            session: self.found.id.clone(),
            project: self.found.project.clone(),
            title: self.found.title.clone(),
            at: self.found.updated_at.unwrap_or(now),
            doing: self.doing.current(),
            usage: self.doing.usage.clone(),
        }
    }

    pub(super) fn to_limit(&self, standing: StandingLimit, now: Timestamp) -> Limit {
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
