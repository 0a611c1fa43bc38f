//! What is being waited for, told once it takes over a second.

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Whoever waits longer wants to know what for.
const PATIENCE: Duration = Duration::from_secs(1);
/// And how far it has got.
const AGAIN: Duration = Duration::from_secs(5);

/// Does some work, and writes a line if it is not done after a second.
pub(crate) fn tell_if_slow<T>(line: &str, mut out: impl Write + Send, work: impl FnOnce() -> T) -> T {
    tell_after([PATIENCE, Duration::MAX], &|| line.to_owned(), &mut out, work)
}

/// The same for work that counts: every few seconds, how much of it is done.
pub(crate) fn tell_counting<T>(line: &str, mut out: impl Write + Send, work: impl FnOnce(&Counter) -> T) -> T {
    let counter = Counter::default();
    let describe = || counter.percent().map_or_else(|| line.to_owned(), |percent| format!("{line} {percent} %"));
    tell_after([PATIENCE, AGAIN], &describe, &mut out, || work(&counter))
}

/// How much of some work is done.
#[derive(Default)]
pub(crate) struct Counter {
    done: AtomicU64,
    total: AtomicU64,
}

impl Counter {
    pub(crate) fn set(&self, done: u64, total: u64) {
        self.done.store(done, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }

    fn percent(&self) -> Option<u64> {
        let total = Some(self.total.load(Ordering::Relaxed)).filter(|total| *total > 0)?;
        Some(self.done.load(Ordering::Relaxed).saturating_mul(100) / total)
    }
}

/// Writes a line after the first time, and again each time that the second has passed.
fn tell_after<T>(
    [patience, again]: [Duration; 2],
    line: &(dyn Fn() -> String + Sync),
    out: &mut (impl Write + Send),
    work: impl FnOnce() -> T,
) -> T {
    let (done, waiting) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut pause = patience;
            while waiting.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                // Nobody may be reading, and the work goes on.
                writeln!(out, "{}", line()).and_then(|()| out.flush()).ok();
                pause = again;
            }
        });
        // Dropped also when the work panics, so that nobody waits for the line.
        let _done = done;
        work()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_hours(1);

    /// Lets the work go on once it was told of.
    struct Told(mpsc::Sender<Vec<u8>>);

    impl Write for Told {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.send(bytes.to_vec()).ok();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn work_that_takes_longer_is_told_while_it_is_done() {
        let (sender, told) = mpsc::channel();
        let first =
            tell_after([Duration::ZERO, HOUR], &|| "reading".to_owned(), &mut Told(sender), || told.recv().unwrap());
        assert!("reading\n".as_bytes().starts_with(&first));
    }

    #[test]
    fn work_that_is_done_in_time_is_not() {
        let mut out = Vec::new();
        assert_eq!(tell_after([HOUR, HOUR], &|| "reading".to_owned(), &mut out, || 7), 7);
        assert!(out.is_empty());
    }

    #[test]
    fn work_that_counts_is_told_again_and_again_with_how_far_it_is() {
        let (sender, told) = mpsc::channel();
        let counter = Counter::default();
        assert_eq!(counter.percent(), None);
        counter.set(1, 3);
        let line = || counter.percent().map(|percent| format!("{percent} %")).unwrap_or_default();
        let lines = tell_after([Duration::ZERO; 2], &line, &mut Told(sender), || {
            let mut text = String::new();
            while text.matches('\n').count() < 2 {
                text.push_str(&String::from_utf8(told.recv().unwrap()).unwrap());
                counter.set(2, 3);
            }
            text
        });
        assert!(lines.starts_with("33 %\n") && lines.ends_with(" %\n"), "{lines}");
    }
}
