//! Work on a list by several threads, taken in the order of the list.

use std::sync::mpsc::sync_channel;
use std::thread;

/// So many results of each thread wait to be taken.
const DEPTH: usize = 4;

/// Does something for each of a list, on so many threads that run a few ahead, and hands over what comes of it in order.
pub(super) fn work_ahead<T: Sync, R: Send, E>(
    n_threads: usize,
    list: &[T],
    work: impl Fn(&T) -> R + Sync,
    mut take: impl FnMut(&T, R) -> Result<(), E>,
) -> Result<(), E> {
    let (n_threads, work) = (n_threads.max(1), &work);
    thread::scope(|scope| {
        let start_lane = |lane: usize| {
            let (sender, receiver) = sync_channel(DEPTH);
            scope.spawn(move || {
                let mut results = list.iter().skip(lane).step_by(n_threads).map(work);
                // Nobody takes the next where the last was an error.
                while results.next().is_some_and(|result| sender.send(result).is_ok()) {}
            });
            receiver
        };
        let lanes: Vec<_> = (0..n_threads).map(start_lane).collect();
        for (item, lane) in list.iter().zip(lanes.iter().cycle()) {
            // A lane ends early only by a panic, which the scope hands on.
            let Ok(result) = lane.recv() else { break };
            take(item, result)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_list_and_an_error_ends_the_work() {
        let list: Vec<u32> = (0..1_000).collect();
        for n_threads in [0, 1, 3] {
            let mut taken = Vec::new();
            let done: Result<(), ()> = work_ahead(
                n_threads,
                &list,
                |item| item * 2,
                |item, double| {
                    assert_eq!(item * 2, double);
                    taken.push(*item);
                    Ok(())
                },
            );
            assert!(done.is_ok() && taken == list);
            let stopped =
                work_ahead(n_threads, &list, |item| *item, |_, item| if item < 40 { Ok(()) } else { Err(item) });
            assert_eq!(stopped, Err(40));
        }
    }
}
