//! Keys for the picker, while it has the screen.

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
