//! Keys for the picker, while it has the screen.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use ratatui::crossterm::event;
use ratatui::layout::Size;

use super::Message;
use super::update::Event;

/// How often the thread that reads keys looks whether it is over.
const INPUT_INTERVAL: Duration = Duration::from_millis(40);

/// How long the end waits for that thread. On a terminal that is gone, it reads nothing for ever, and never looks.
const END_LIMIT: Duration = Duration::from_millis(400);

/// Something that came from the terminal.
pub(super) enum Input {
    Event(Event),
    /// What is on the screen may be anything.
    Redraw,
}

/// A thread that ends with this.
pub(super) struct InputThread {
    is_over: Arc<AtomicBool>,
    /// Closed when the thread ends.
    ended: Receiver<()>,
}

/// Reads keys in a thread until what it gives is dropped: whoever has the terminal next gets all further ones.
pub(super) fn read_input(sender: Sender<Message>) -> io::Result<InputThread> {
    let is_over = Arc::new(AtomicBool::new(false));
    let over = Arc::clone(&is_over);
    let (ending, ended) = mpsc::channel();
    let read = move || {
        let _ending: Sender<()> = ending;
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
    std::thread::Builder::new().name("keys".to_owned()).spawn(read)?;
    Ok(InputThread { is_over, ended })
}

impl Drop for InputThread {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // Nothing is ever sent: it is closed, or the time is over.
        self.ended.recv_timeout(END_LIMIT).ok();
    }
}
