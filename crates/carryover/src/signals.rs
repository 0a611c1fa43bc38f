//! Ctrl-C and its like, for commands that run until they are told to end.

use std::io;
#[cfg(unix)]
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// How long somebody who is asked to end may take.
#[cfg(unix)]
const GRACE_PERIOD: std::time::Duration = std::time::Duration::from_secs(3);

/// Calls somebody when this process is asked to end, as long as it lives.
pub(crate) struct Signals {
    close: Box<dyn Fn()>,
    thread: Option<JoinHandle<()>>,
}

#[cfg(unix)]
impl Signals {
    pub(crate) fn on_end(end: impl Fn() + Send + 'static) -> io::Result<Self> {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
        let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        let handle = signals.handle();
        let wait = move || {
            let mut asked = false;
            for signal in signals.forever() {
                end();
                if asked {
                    // Asked twice, we do not take our time.
                    end_at_once(signal);
                }
                asked = true;
                // Whoever is in the midst of a long read has a moment to see that it is over.
                std::thread::spawn(move || {
                    std::thread::sleep(GRACE_PERIOD);
                    end_at_once(signal);
                });
            }
        };
        let thread = std::thread::Builder::new().name("signals".to_owned()).spawn(wait)?;
        Ok(Self { close: Box::new(move || handle.close()), thread: Some(thread) })
    }
}

/// Lets a write that is longer than the user allows fail with an error that names its file, where the system would end
/// us without a word. What we start gets the system's way again.
#[cfg(unix)]
pub(crate) fn survive_long_writes() {
    let told = std::sync::Arc::default();
    // Where that cannot be done, it is as it was.
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, told).ok();
}

#[cfg(not(unix))]
pub(crate) fn survive_long_writes() {}

/// Lets a child that has the terminal answer Ctrl-C; we end when it ends.
#[cfg(unix)]
pub(crate) fn leave_interrupts_to_child() -> impl Drop {
    struct Left(Option<signal_hook::SigId>);
    impl Drop for Left {
        fn drop(&mut self) {
            self.0.take().map(signal_hook::low_level::unregister);
        }
    }
    // Where that cannot be done, Ctrl-C ends us as ever.
    Left(signal_hook::flag::register(signal_hook::consts::SIGINT, std::sync::Arc::default()).ok())
}

#[cfg(not(unix))]
pub(crate) fn leave_interrupts_to_child() {}

/// Signals that ask this process to end, held back until somebody takes them.
#[cfg(unix)]
pub(crate) struct HeldSignals(signal_hook::iterator::Signals);

#[cfg(unix)]
impl HeldSignals {
    pub(crate) fn hold() -> io::Result<Self> {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
        signal_hook::iterator::Signals::new([SIGHUP, SIGTERM, SIGINT, SIGQUIT]).map(Self)
    }

    /// Calls somebody with each, until what is given back is dropped; with those that are typed only where that is wanted.
    /// From then on they end this process as ever.
    pub(crate) fn pass_on(mut self, typed_ones_too: bool, pass: impl Fn(i32) + Send + 'static) -> io::Result<Passing> {
        use signal_hook::consts::{SIGINT, SIGQUIT};
        let passing = Passing(std::sync::Arc::default());
        let is_over = std::sync::Arc::clone(&passing.0);
        let wait = move || {
            for signal in self.0.forever() {
                if is_over.load(Ordering::Relaxed) {
                    end_at_once(signal);
                } else if typed_ones_too || ![SIGINT, SIGQUIT].contains(&signal) {
                    pass(signal);
                }
            }
        };
        std::thread::Builder::new().name("signals".to_owned()).spawn(wait)?;
        Ok(passing)
    }
}

/// Signals are passed on as long as it lives.
#[cfg(unix)]
pub(crate) struct Passing(std::sync::Arc<AtomicBool>);

#[cfg(unix)]
impl Drop for Passing {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Ends this process as the signal would have. Where that fails, the first way still ends.
#[cfg(unix)]
fn end_at_once(signal: i32) {
    let _: io::Result<()> = signal_hook::low_level::emulate_default_handler(signal);
}

/// Elsewhere a signal cannot be waited for, so it is asked for now and then.
#[cfg(not(unix))]
impl Signals {
    pub(crate) fn on_end(end: impl Fn() + Send + 'static) -> io::Result<Self> {
        use std::sync::Arc;
        use std::sync::atomic::{AtomicBool, Ordering};
        use std::time::Duration;
        let (asked, closed) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            signal_hook::flag::register(signal, Arc::clone(&asked))?;
        }
        let over = Arc::clone(&closed);
        let wait = move || {
            while !over.load(Ordering::Relaxed) {
                if asked.load(Ordering::Relaxed) {
                    return end();
                }
                std::thread::sleep(Duration::from_millis(200));
            }
        };
        let thread = std::thread::Builder::new().name("signals".to_owned()).spawn(wait)?;
        Ok(Self { close: Box::new(move || closed.store(true, Ordering::Relaxed)), thread: Some(thread) })
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        (self.close)();
        if let Some(thread) = self.thread.take() {
            // A panic in it has nothing to say that was not said.
            let _: std::thread::Result<()> = thread.join();
        }
    }
}
