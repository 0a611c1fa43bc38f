//! Work in lanes: taken up on one thread, done on two others, and handed over in its order.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// How much is under way at once: one piece in each lane, and one more that waits for it.
const WORKERS: usize = 2;
const MAX_PENDING: usize = 2 * WORKERS;

/// Calls `next` for pieces of work until it has none, and `merge` with what was done, in the same order; both on this
/// thread. A single piece is done here, too: a thread would cost more than it brings.
pub fn map_ordered<P: Send, D: Send>(
    mut next: impl FnMut() -> Option<P>,
    work: impl Fn(P) -> D + Sync,
    mut merge: impl FnMut(D) -> ControlFlow<()>,
) {
    let Some(first) = next() else { return };
    let Some(second) = next() else {
        let _ = merge(work(first));
        return;
    };
    let (pieces, waiting) = channel::<(usize, P)>();
    let waiting = Mutex::new(waiting);
    thread::scope(|scope| {
        // The lanes end when there is nobody left to send them anything.
        let pieces = pieces;
        let (finished, done) = channel::<(usize, thread::Result<D>)>();
        for _ in 0..WORKERS {
            let (finished, waiting, work) = (finished.clone(), &waiting, &work);
            scope.spawn(move || run_worker(waiting, work, &finished));
        }
        drop(finished);
        let mut next = [first, second].into_iter().chain(std::iter::from_fn(next)).enumerate();
        let mut early = BTreeMap::new();
        let mut wanted = 0;
        let mut sent = 0;
        loop {
            while sent < wanted + MAX_PENDING
                && let Some(piece) = next.next()
            {
                sent += 1;
                if pieces.send(piece).is_err() {
                    return;
                }
            }
            let Some((number, found)) = (wanted < sent).then(|| done.recv().ok()).flatten() else { return };
            // The other lane waits for pieces, and nobody would hear of a panic.
            early.insert(number, found.unwrap_or_else(|panic| resume_unwind(panic)));
            while let Some(found) = early.remove(&wanted) {
                wanted += 1;
                if merge(found).is_break() {
                    return;
                }
            }
        }
    });
}

fn run_worker<P, D>(
    waiting: &Mutex<Receiver<(usize, P)>>,
    work: &impl Fn(P) -> D,
    finished: &Sender<(usize, thread::Result<D>)>,
) {
    loop {
        let piece = match waiting.lock() {
            Ok(waiting) => waiting.recv(),
            Err(_) => return,
        };
        let Ok((number, piece)) = piece else { return };
        let result = catch_unwind(AssertUnwindSafe(|| work(piece)));
        if finished.send((number, result)).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panic_of_a_lane_ends_the_work() {
        let mut numbers = 0..100;
        let work = |number: i32| if number == 7 { panic!("seven") } else { number };
        let all = || map_ordered(|| numbers.next(), work, |_| ControlFlow::Continue(()));
        assert!(catch_unwind(AssertUnwindSafe(all)).is_err());
    }

    #[test]
    fn what_was_done_comes_in_order_and_ends_when_asked() {
        for (count, wanted) in [(0, 9), (1, 9), (2, 9), (100, 100), (100, 7)] {
            let mut numbers = 0..count;
            let mut seen = Vec::new();
            map_ordered(
                || numbers.next(),
                |number| number * 2,
                |number| {
                    seen.push(number);
                    if seen.len() < wanted { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
                },
            );
            assert_eq!(seen, (0..count).take(wanted).map(|number| number * 2).collect::<Vec<usize>>());
        }
    }
}
