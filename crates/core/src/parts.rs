//! Work on many things at once: a long story is told by all processors, a short one is not worth starting them.

use std::num::NonZero;
use std::thread;

/// As many things at least are done by one thread.
const ENOUGH: usize = 512;

/// Does two things at once where there are so many things to look at that it is worth it.
pub(crate) fn both<A: Send, B>(things: usize, one: impl FnOnce() -> A + Send, other: impl FnOnce() -> B) -> (A, B) {
    if things < ENOUGH {
        return (one(), other());
    }
    thread::scope(|scope| {
        let one = scope.spawn(one);
        let other = other();
        (joined(one), other)
    })
}

fn joined<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Does the same to each thing.
pub(crate) fn each<T: Send>(things: &mut [T], work: impl Fn(&mut T) + Sync) {
    let size = things.len().div_ceil(threads(things.len())).max(1);
    thread::scope(|scope| {
        let mut parts = things.chunks_mut(size);
        let first = parts.next().unwrap_or_default();
        for part in parts {
            scope.spawn(|| part.iter_mut().for_each(&work));
        }
        first.iter_mut().for_each(&work);
    });
}

/// How many threads are worth it for so many things.
fn threads(things: usize) -> usize {
    thread::available_parallelism().map_or(1, NonZero::get).min(things.div_ceil(ENOUGH)).max(1)
}

/// What comes of the parts of many things, in their order; each is told where it begins.
pub(crate) fn in_parts<'a, T: Sync, R: Send>(things: &'a [T], work: impl Fn(usize, &'a [T]) -> R + Sync) -> Vec<R> {
    let size = things.len().div_ceil(threads(things.len())).max(1);
    thread::scope(|scope| {
        let (work, mut parts) = (&work, things.chunks(size).enumerate());
        let first = parts.next();
        let others: Vec<_> = parts.map(|(at, part)| scope.spawn(move || work(at * size, part))).collect();
        let first = first.map(|(_, part)| work(0, part));
        first.into_iter().chain(others.into_iter().map(joined)).collect()
    })
}
