//! Work on a second thread, whose results come in the order of what it was given.

use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, channel};

/// How many pieces go to the other thread at a time: waking it costs more than a small piece.
const BATCH: usize = 16;

/// How many batches may be under way: enough that neither thread waits, and few enough to be held in memory.
const UNDER_WAY: usize = 2;

/// Below this, a second thread costs more than it brings.
const WORTH_A_THREAD: usize = 32;

/// Maps pieces of work on a second thread while the next ones are made here, and takes the results here.
///
/// The first error ends it. So does `take`, which may have been given fewer results than pieces were made.
pub fn map<I: Send, O: Send, E>(
    pieces: impl ExactSizeIterator<Item = Result<I, E>>,
    work: impl Fn(I) -> O + Send,
    mut take: impl FnMut(O) -> ControlFlow<()>,
) -> Result<(), E> {
    if pieces.len() < WORTH_A_THREAD {
        for piece in pieces {
            if take(work(piece?)).is_break() {
                break;
            }
        }
        return Ok(());
    }
    std::thread::scope(|scope| {
        let (sender, given) = channel::<Vec<I>>();
        let (answers, results) = channel::<Vec<O>>();
        scope.spawn(move || {
            for batch in given {
                if answers.send(batch.into_iter().map(&work).collect()).is_err() {
                    return;
                }
            }
        });
        let (mut under_way, mut batch) = (0, Vec::with_capacity(BATCH));
        let mut left = pieces.len();
        for piece in pieces {
            batch.push(piece?);
            left -= 1;
            if batch.len() < BATCH && left > 0 {
                continue;
            }
            // A second thread that is gone has panicked, which the scope tells.
            if sender.send(std::mem::replace(&mut batch, Vec::with_capacity(BATCH))).is_err() {
                return Ok(());
            }
            under_way += 1;
            if drain(&results, &mut under_way, UNDER_WAY, &mut take).is_break() {
                return Ok(());
            }
        }
        drop(sender);
        // The verdict of one who wants no more is of no use at the end.
        let _ = drain(&results, &mut under_way, 0, &mut take);
        Ok(())
    })
}

/// Takes results until no more than so many are still to come.
fn drain<O>(
    results: &Receiver<Vec<O>>,
    under_way: &mut usize,
    until: usize,
    take: &mut impl FnMut(O) -> ControlFlow<()>,
) -> ControlFlow<()> {
    while *under_way > until {
        let Ok(result) = results.recv() else { return ControlFlow::Break(()) };
        *under_way -= 1;
        result.into_iter().try_for_each(&mut *take)?;
    }
    ControlFlow::Continue(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doubled(count: u32, fails_at: u32, enough: usize) -> (Vec<u32>, Result<(), &'static str>) {
        let mut taken = Vec::new();
        let pieces: Vec<_> = (0..count).map(|n| if n == fails_at { Err("no") } else { Ok(n) }).collect();
        let result = map(
            pieces.into_iter(),
            |n| n * 2,
            |n| {
                taken.push(n);
                if taken.len() < enough { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            },
        );
        (taken, result)
    }

    #[test]
    fn results_come_in_order_and_all_of_them() {
        for count in [0, 1, 31, 32, 33, 1_000] {
            let expected = (0..count).map(|n| n * 2).collect::<Vec<_>>();
            assert_eq!(doubled(count, u32::MAX, usize::MAX), (expected, Ok(())));
        }
    }

    #[test]
    fn an_error_and_a_verdict_end_it() {
        for count in [20, 1_000] {
            assert_eq!(doubled(count, 10, usize::MAX).1, Err("no"));
            assert_eq!(doubled(count, u32::MAX, 5).0, [0, 2, 4, 6, 8]);
        }
    }
}
