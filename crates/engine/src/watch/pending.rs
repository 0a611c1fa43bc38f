//! Files that changed and are left alone for a moment, so that a burst of writes is read once.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A file, and which of the watched stores it is in.
pub(super) type ChangedFile = (usize, PathBuf);

#[derive(Debug, Default)]
pub(super) struct Pending {
    due: BTreeMap<ChangedFile, Instant>,
}

impl Pending {
    /// The earliest moment stays: a file that is written to all the time is read all the same.
    pub(super) fn add(&mut self, changed: ChangedFile, now: Instant, delay: Duration) {
        let due = now + delay;
        self.due.entry(changed).and_modify(|known| *known = due.min(*known)).or_insert(due);
    }

    /// When the next file is due.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.due.values().min().copied()
    }

    /// Takes the files that are due.
    pub(super) fn take_due(&mut self, now: Instant) -> Vec<ChangedFile> {
        self.due.extract_if(.., |_, due| *due <= now).map(|(changed, _)| changed).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_due_once_and_in_time() {
        let mut pending = Pending::default();
        let start = Instant::now();
        let second = Duration::from_secs(1);
        for step in 0..10 {
            pending.add((0, "a".into()), start + second / 4 * step, second * 2);
        }
        pending.add((0, "b".into()), start + second, second * 2);
        assert_eq!(pending.next_due(), Some(start + second * 2));
        assert_eq!(pending.take_due(start + second), []);
        assert_eq!(pending.take_due(start + second * 2), [(0, PathBuf::from("a"))]);
        assert_eq!(pending.take_due(start + second * 9), [(0, PathBuf::from("b"))]);
        assert_eq!(pending.next_due(), None);
    }
}
