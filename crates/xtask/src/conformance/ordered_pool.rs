//! Several at a time: clients mostly wait.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Does some work on every item, so many at a time; the answers come in the order of the items.
pub(super) fn map_ordered<T: Sync, A: Send>(jobs: usize, items: &[T], work: impl Fn(&T) -> A + Sync) -> Vec<A> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, A)>> = Mutex::new(Vec::new());
    let take = || {
        loop {
            let index = next.fetch_add(1, Ordering::SeqCst);
            let Some(item) = items.get(index) else { return };
            let answer = work(item);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((index, answer));
        }
    };
    thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(take);
        }
    });
    let mut answers = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    answers.sort_by_key(|(index, _)| *index);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn answers_come_in_the_order_of_the_items() {
        let items: Vec<usize> = (0..50).collect();
        assert_eq!(
            super::map_ordered(4, &items, |item| item * 2),
            items.iter().map(|item| item * 2).collect::<Vec<_>>()
        );
    }
}
