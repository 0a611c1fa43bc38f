//! Work on many things at once: a long story is told by all processors, a short one is not worth waking them.

use std::num::NonZero;
use std::sync::LazyLock;
use std::thread;

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// The threads that work together. They stay: a new one may wait for a processor longer than its work takes. The first
/// one that needs them, which is the first of the program, is one of them.
static POOL: LazyLock<Option<ThreadPool>> = LazyLock::new(|| {
    let is_alone = processors() < 2;
    if is_alone { None } else { ThreadPoolBuilder::new().use_current_thread().build().ok() }
});

/// Starts the threads, for one who will have work for them: they are slow to start.
pub fn start() {
    LazyLock::force(&POOL);
}

/// Does two things at once, where that is worth it.
pub fn both<A: Send, B: Send>(
    is_worth_it: bool,
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B + Send,
) -> (A, B) {
    match POOL.as_ref().filter(|_| is_worth_it) {
        Some(pool) => pool.join(one, other),
        None => (one(), other()),
    }
}

/// Does the same to each thing; so many at least are worth a thread.
pub(crate) fn each<T: Send>(things: &mut [T], enough: usize, work: impl Fn(&mut T) + Sync + Send) {
    match pool_for(things.len(), enough) {
        Some(pool) => pool.install(|| things.par_iter_mut().with_min_len(enough).for_each(work)),
        None => things.iter_mut().for_each(work),
    }
}

/// What each thing comes to, in their order; so many at least are worth a thread.
pub(crate) fn mapped<T: Sync, R: Send>(things: &[T], enough: usize, map: impl Fn(&T) -> R + Sync + Send) -> Vec<R> {
    match pool_for(things.len(), enough) {
        // Small pieces: nobody knows how long another thread has something else to do.
        Some(pool) => pool.install(|| things.par_iter().with_max_len(enough).map(map).collect()),
        None => things.iter().map(map).collect(),
    }
}

fn pool_for(things: usize, enough: usize) -> Option<&'static ThreadPool> {
    (things >= 2 * enough).then(|| POOL.as_ref()).flatten()
}

fn processors() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

#[cfg(test)]
mod tests {
    use super::{both, each, mapped};

    #[test]
    fn what_is_done_in_parts_is_done_in_order() {
        let things: Vec<usize> = (0..10_000).collect();
        for enough in [1, 100, 100_000] {
            let doubled: Vec<usize> = things.iter().map(|thing| thing * 2).collect();
            assert_eq!(mapped(&things, enough, |thing| thing * 2), doubled);
            let mut things = things.clone();
            each(&mut things, enough, |thing| *thing *= 2);
            assert_eq!(things, doubled);
        }
    }

    #[test]
    fn two_things_are_done_from_any_thread() {
        for is_worth_it in [true, false] {
            let done = std::thread::spawn(move || both(is_worth_it, || 1, || both(is_worth_it, || 2, || 3)));
            assert_eq!(done.join().ok(), Some((1, (2, 3))));
            assert_eq!(both(is_worth_it, || 1, || 2), (1, 2));
        }
    }
}
