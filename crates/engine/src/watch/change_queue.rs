//! Where the system leaves word of changes until the watcher has time for them.
//!
//! It holds each path once, so a burst cannot make it grow.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Changes that have come in.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) changed: BTreeSet<PathBuf>,
    /// Some changes were not told.
    pub(super) lost: bool,
    pub(super) stop: bool,
}

impl Changes {
    fn is_empty(&self) -> bool {
        self.changed.is_empty() && !self.lost && !self.stop
    }
}

#[derive(Debug, Default)]
pub(super) struct ChangeQueue {
    changes: Mutex<Changes>,
    arrived: Condvar,
}

impl ChangeQueue {
    pub(super) fn add_paths(&self, paths: Vec<PathBuf>) {
        self.update(|changes| changes.changed.extend(paths));
    }

    pub(super) fn mark_lost(&self) {
        self.update(|changes| changes.lost = true);
    }

    /// Sleeps until something comes in or the time is over, and takes it all.
    pub(super) fn wait(&self, at_most: Duration) -> Changes {
        let waited = self.arrived.wait_timeout_while(self.lock(), at_most, |changes| changes.is_empty());
        let (mut changes, _) = waited.unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *changes)
    }

    /// Whether the end was asked for, for one who is in the midst of something long.
    pub(super) fn is_stopped(&self) -> bool {
        self.lock().stop
    }

    fn update(&self, add: impl FnOnce(&mut Changes)) {
        add(&mut self.lock());
        self.arrived.notify_one();
    }

    /// The content is complete at any time, so a panic elsewhere does not spoil it.
    fn lock(&self) -> MutexGuard<'_, Changes> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends a watcher from another thread.
#[derive(Debug, Clone)]
pub struct StopHandle(pub(super) Arc<ChangeQueue>);

impl StopHandle {
    /// Lets the watcher finish what it does, write its state and return.
    pub fn stop(&self) {
        self.0.update(|changes| changes.stop = true);
    }
}
