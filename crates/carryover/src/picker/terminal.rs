//! Keys and signals for the picker, while it has the screen.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;
use std::time::Duration;

use ratatui::crossterm::event;
use ratatui::layout::Size;

use super::Message;
use super::update::Event;

/// How long the end may wait for the thread that reads keys.
const INPUT_INTERVAL: Duration = Duration::from_millis(40);

/// Something that came from the terminal.
pub(super) enum Input {
    Event(Event),
    /// What is on the screen may be anything.
    Redraw,
}

/// Something that came from the system.
pub(super) enum Signal {
    End(i32),
    Stop,
    Continued,
}

/// A thread that ends with this.
pub(super) struct InputThread {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Reads keys in a thread until what it gives is dropped: whoever has the terminal next gets all further ones.
pub(super) fn read_input(sender: Sender<Message>) -> io::Result<InputThread> {
    let is_over = Arc::new(AtomicBool::new(false));
    let over = Arc::clone(&is_over);
    let read = move || {
        while !over.load(Ordering::Relaxed) {
            let input = match event::poll(INPUT_INTERVAL) {
                Ok(false) => continue,
                Ok(true) => event::read(),
                Err(error) => Err(error),
            };
            // A terminal that is gone ends us by a signal of its own.
            let Ok(input) = input else { return };
            let input = match input {
                event::Event::Key(key) => Input::Event(Event::Key(key)),
                event::Event::Paste(text) => Input::Event(Event::Paste(text)),
                event::Event::Resize(width, height) => Input::Event(Event::Resized(Size { width, height })),
                _ => Input::Redraw,
            };
            if sender.send(Message::Input(input)).is_err() {
                return;
            }
        }
    };
    let thread = std::thread::Builder::new().name("keys".to_owned()).spawn(read)?;
    Ok(InputThread { is_over, thread: Some(thread) })
}

impl Drop for InputThread {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A panic in it has nothing to say that was not said.
            let _: std::thread::Result<()> = thread.join();
        }
    }
}

/// Watches for signals as long as it lives; then they do what they always do.
pub(super) struct SignalThread {
    close: Box<dyn Fn()>,
    is_over: Arc<AtomicBool>,
}

#[cfg(unix)]
pub(super) fn watch_signals(sender: Sender<Message>) -> io::Result<SignalThread> {
    use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP};
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGCONT])?;
    let handle = signals.handle();
    let is_over = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGTSTP] {
        signal_hook::flag::register_conditional_default(signal, Arc::clone(&is_over))?;
    }
    let watch = move || {
        for signal in signals.forever() {
            let signal = match signal {
                SIGCONT => Signal::Continued,
                SIGTSTP => Signal::Stop,
                signal => Signal::End(signal),
            };
            if sender.send(Message::Signal(signal)).is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(watch)?;
    Ok(SignalThread { close: Box::new(move || handle.close()), is_over })
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "other systems can fail")]
pub(super) fn watch_signals(_sender: Sender<Message>) -> io::Result<SignalThread> {
    Ok(SignalThread { close: Box::new(|| {}), is_over: Arc::default() })
}

impl Drop for SignalThread {
    fn drop(&mut self) {
        (self.close)();
        self.is_over.store(true, Ordering::Relaxed);
    }
}

/// Ends this process as the signal would have. Where that fails, the usual way still ends.
#[cfg(unix)]
pub(super) fn end_by_signal(signal: i32) {
    let _: io::Result<()> = signal_hook::low_level::emulate_default_handler(signal);
}

#[cfg(not(unix))]
pub(super) fn end_by_signal(_signal: i32) {}
