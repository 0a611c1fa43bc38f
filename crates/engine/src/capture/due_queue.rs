//! Work that is due at some time, each thing once: what comes twice is done once, as early as it was first wanted.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Work by name.
pub(super) struct DueQueue<K, V> {
    state: Mutex<State<K, V>>,
    changed: Condvar,
}

struct State<K, V> {
    jobs: BTreeMap<K, (Instant, V)>,
    is_stopped: bool,
}

impl<K: Ord + Clone, V> DueQueue<K, V> {
    pub(super) fn new() -> Self {
        Self { state: Mutex::new(State { jobs: BTreeMap::new(), is_stopped: false }), changed: Condvar::new() }
    }

    /// Adds work; where there is some of that name, the newer takes its place and the earlier time stays.
    pub(super) fn add(&self, key: K, job: V, due: Instant) {
        let mut state = self.lock();
        let due = state.jobs.get(&key).map_or(due, |(earlier, _)| due.min(*earlier));
        state.jobs.insert(key, (due, job));
        drop(state);
        self.changed.notify_all();
    }

    /// Puts work back that could not be done yet; newer work of that name stays as it is.
    pub(super) fn put_back(&self, key: K, job: V, due: Instant) {
        self.lock().jobs.entry(key).or_insert((due, job));
        self.changed.notify_all();
    }

    /// Lets the first of some work go, in the order of names, until so much of it is left.
    pub(super) fn limit_where(&self, at_most: usize, is_meant: impl Fn(&K, &V) -> bool) {
        let mut state = self.lock();
        let count = state.jobs.iter().filter(|(key, (_, job))| is_meant(key, job)).count();
        let surplus = count.saturating_sub(at_most);
        state.jobs.extract_if(.., |key, (_, job)| is_meant(key, job)).take(surplus).for_each(drop);
    }

    /// Waits for the next work that is due; `None` once the end was asked for.
    pub(super) fn next(&self) -> Option<(K, V)> {
        let mut state = self.lock();
        loop {
            if state.is_stopped {
                return None;
            }
            let now = Instant::now();
            let first = state.jobs.iter().min_by_key(|(_, (due, _))| *due).map(|(key, (due, _))| (key.clone(), *due));
            state = match first {
                Some((key, due)) if due <= now => {
                    return state.jobs.remove(&key).map(|(_, job)| (key, job));
                }
                Some((_, due)) => self.wait(state, Some(due - now)),
                None => self.wait(state, None),
            };
        }
    }

    /// Takes all work that is wanted, whenever it is due.
    pub(super) fn take_where(&self, is_wanted: impl Fn(&K, &V) -> bool) -> Vec<(K, V)> {
        let mut state = self.lock();
        let taken = state.jobs.extract_if(.., |key, (_, job)| is_wanted(key, job));
        taken.map(|(key, (_, job))| (key, job)).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.lock().jobs.len()
    }

    pub(super) fn stop(&self) {
        self.lock().is_stopped = true;
        self.changed.notify_all();
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.lock().is_stopped
    }

    fn wait<'s>(&self, state: MutexGuard<'s, State<K, V>>, at_most: Option<Duration>) -> MutexGuard<'s, State<K, V>> {
        match at_most {
            Some(at_most) => self
                .changed
                .wait_timeout(state, at_most)
                .map_or_else(|poisoned| poisoned.into_inner().0, |(state, _)| state),
            None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
        }
    }

    /// The content is complete at any time, so a panic elsewhere does not spoil it.
    fn lock(&self) -> MutexGuard<'_, State<K, V>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_twice_is_done_once_with_the_newest_word_at_the_earliest_time() {
        let queue = DueQueue::new();
        let now = Instant::now();
        queue.add("a", 1, now);
        queue.add("a", 2, now + Duration::from_mins(1));
        queue.add("b", 3, now + Duration::from_mins(1));
        assert_eq!(queue.next(), Some(("a", 2)));
        assert_eq!(queue.take_where(|key, _| *key == "b"), [("b", 3)]);
        assert_eq!(queue.len(), 0);
        queue.stop();
        assert_eq!(queue.next(), None);
    }

    #[test]
    fn what_is_put_back_does_not_take_the_place_of_what_came_meanwhile() {
        let queue = DueQueue::new();
        let now = Instant::now();
        queue.add("a", 2, now);
        queue.put_back("a", 1, now);
        queue.put_back("b", 1, now + Duration::from_mins(1));
        assert_eq!(queue.next(), Some(("a", 2)));
        assert_eq!(queue.len(), 1);
    }

    #[test]
    fn of_too_much_work_the_first_goes() {
        let queue = DueQueue::new();
        for number in 0..5 {
            queue.add(number, (), Instant::now());
        }
        queue.limit_where(2, |number, ()| *number != 4);
        assert_eq!(queue.take_where(|_, ()| true), [(2, ()), (3, ()), (4, ())]);
    }
}
