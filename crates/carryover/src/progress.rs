//! What is being waited for, told once it takes over a second.

use std::io::Write;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Whoever waits longer wants to know what for.
const PATIENCE: Duration = Duration::from_secs(1);

/// Does some work, and writes a line if it is not done after a second.
pub(crate) fn tell_if_slow<T>(line: &str, mut out: impl Write + Send, work: impl FnOnce() -> T) -> T {
    tell_after(PATIENCE, line, &mut out, work)
}

fn tell_after<T>(patience: Duration, line: &str, out: &mut (impl Write + Send), work: impl FnOnce() -> T) -> T {
    let (done, waiting) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            if waiting.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
                // Nobody may be reading, and the work goes on.
                writeln!(out, "{line}").and_then(|()| out.flush()).ok();
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
        let first = tell_after(Duration::ZERO, "reading", &mut Told(sender), || told.recv().unwrap());
        assert!("reading\n".as_bytes().starts_with(&first));
    }

    #[test]
    fn work_that_is_done_in_time_is_not() {
        let mut out = Vec::new();
        assert_eq!(tell_after(Duration::from_hours(1), "reading", &mut out, || 7), 7);
        assert!(out.is_empty());
    }
}
