//! The terminal as a screen: taken over for a view, and given back as it was, however that ends.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;

use carryover_engine::context::Context;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::event::{self, DisableBracketedPaste, EnableBracketedPaste, KeyEvent};
use ratatui::crossterm::execute;
use ratatui::crossterm::style::force_color_output;
use ratatui::crossterm::terminal::{
    self, DisableLineWrap, EnableLineWrap, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode,
    enable_raw_mode,
};
use ratatui::layout::{Rect, Size};
use ratatui::{Frame, Terminal};

/// Whether there is a terminal that can show a screen, with somebody before it.
pub(crate) fn is_usable(context: &Context) -> bool {
    let can_move = context.env.var("TERM").is_none_or(|term| term != "dumb");
    io::stdin().is_terminal() && io::stdout().is_terminal() && can_move
}

/// The terminal while a view has it. Dropped, also by a panic, it is as it was.
pub(crate) struct Screen {
    terminal: Terminal<CrosstermBackend<Box<dyn Write>>>,
    is_taken: bool,
}

impl Screen {
    pub(crate) fn open(on_stderr: bool, has_colors: bool) -> io::Result<Self> {
        let stream: Box<dyn Write> = if on_stderr { Box::new(io::stderr()) } else { Box::new(io::stdout()) };
        force_color_output(has_colors);
        let backend = CrosstermBackend::new(Box::new(io::BufWriter::new(stream)) as Box<dyn Write>);
        let mut screen = Self { terminal: Terminal::new(backend)?, is_taken: false };
        screen.take()?;
        Ok(screen)
    }

    fn take(&mut self) -> io::Result<()> {
        enable_raw_mode()?;
        self.is_taken = true;
        // A character that is wider here than we think must not move the lines below.
        execute!(self.terminal.backend_mut(), EnterAlternateScreen, DisableLineWrap, EnableBracketedPaste, Hide)
    }

    /// Gives the terminal back. Where that fails there is nobody to tell.
    pub(crate) fn leave(&mut self) {
        if !std::mem::take(&mut self.is_taken) {
            return;
        }
        let backend = self.terminal.backend_mut();
        let _: io::Result<()> = execute!(backend, Show, DisableBracketedPaste, EnableLineWrap, LeaveAlternateScreen);
        let _: io::Result<()> = disable_raw_mode();
    }

    /// Gives the terminal to the shell and stops; takes it again once this process goes on.
    pub(crate) fn suspend(&mut self) -> io::Result<()> {
        self.leave();
        stop_process()?;
        self.come_back()
    }

    /// Does what a signal asks for that does not end this process.
    pub(crate) fn stop_or_continue(&mut self, event: &ScreenEvent) -> io::Result<()> {
        match event {
            ScreenEvent::Stop => self.suspend(),
            ScreenEvent::Continued => self.come_back(),
            ScreenEvent::Key(_) | ScreenEvent::Changed | ScreenEvent::End(_) => Ok(()),
        }
    }

    /// Takes the terminal again after this process was stopped.
    fn come_back(&mut self) -> io::Result<()> {
        let _: io::Result<()> = disable_raw_mode();
        self.take()?;
        self.redraw()
    }

    pub(crate) fn size() -> io::Result<Size> {
        let (width, height) = terminal::size()?;
        Ok(Size { width, height })
    }

    /// Draws a frame; what is the same as in the last one is not written again.
    pub(crate) fn draw(&mut self, render: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(render).map(drop)
    }

    /// Forgets what is on the screen, so that the next frame is drawn whole. `Terminal::clear` would ask where the cursor
    /// is, and whoever reads keys at the same time takes the answer.
    pub(crate) fn redraw(&mut self) -> io::Result<()> {
        let size = Self::size()?;
        self.terminal.resize(Rect::new(0, 0, size.width, size.height))
    }

    /// Writes a sequence that moves nothing on the screen, such as a bell.
    pub(crate) fn send_sequence(&mut self, sequence: &str) -> io::Result<()> {
        let backend = self.terminal.backend_mut();
        backend.write_all(sequence.as_bytes())?;
        Write::flush(backend)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Something that came from the terminal or the system.
pub(crate) enum ScreenEvent {
    Key(KeyEvent),
    /// The size or the focus has changed: the next frame will show it.
    Changed,
    /// This process shall end, by this signal.
    End(i32),
    /// This process shall stop.
    Stop,
    /// This process goes on after it was stopped.
    Continued,
}

/// Reads keys in a thread that waits for the terminal alone, as long as this process lives: for a view that is the last
/// thing that the process does.
pub(crate) fn read_input<M: Send + 'static>(sender: Sender<M>, wrap: fn(ScreenEvent) -> M) -> io::Result<()> {
    let read = move || {
        // A terminal that is gone ends us by a signal of its own.
        while let Ok(input) = event::read() {
            let input = match input {
                event::Event::Key(key) => ScreenEvent::Key(key),
                _ => ScreenEvent::Changed,
            };
            if sender.send(wrap(input)).is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new().name("keys".to_owned()).spawn(read).map(drop)
}

/// Sends word of signals as long as it lives; then they do what they always do.
pub(crate) struct ScreenSignals {
    close: Box<dyn Fn()>,
    is_over: Arc<AtomicBool>,
}

impl ScreenSignals {
    #[cfg(unix)]
    pub(crate) fn watch<M: Send + 'static>(sender: Sender<M>, wrap: fn(ScreenEvent) -> M) -> io::Result<Self> {
        use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP};
        let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGCONT])?;
        let handle = signals.handle();
        let is_over = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGTSTP] {
            signal_hook::flag::register_conditional_default(signal, Arc::clone(&is_over))?;
        }
        let watch = move || {
            for signal in signals.forever() {
                let event = match signal {
                    SIGCONT => ScreenEvent::Continued,
                    SIGTSTP => ScreenEvent::Stop,
                    signal => ScreenEvent::End(signal),
                };
                if sender.send(wrap(event)).is_err() {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("signals".to_owned()).spawn(watch)?;
        Ok(Self { close: Box::new(move || handle.close()), is_over })
    }

    /// Elsewhere Ctrl-C comes as a key.
    #[cfg(not(unix))]
    #[expect(clippy::unnecessary_wraps, reason = "other systems can fail")]
    pub(crate) fn watch<M: Send + 'static>(_sender: Sender<M>, _wrap: fn(ScreenEvent) -> M) -> io::Result<Self> {
        Ok(Self { close: Box::new(|| {}), is_over: Arc::default() })
    }
}

impl Drop for ScreenSignals {
    fn drop(&mut self) {
        (self.close)();
        self.is_over.store(true, Ordering::Relaxed);
    }
}

/// Ends this process as the signal would have. Where that fails, the usual way still ends.
#[cfg(unix)]
pub(crate) fn end_by_signal(signal: i32) {
    let _: io::Result<()> = signal_hook::low_level::emulate_default_handler(signal);
}

#[cfg(not(unix))]
pub(crate) fn end_by_signal(_signal: i32) {}

#[cfg(unix)]
fn stop_process() -> io::Result<()> {
    signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGTSTP)
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "other systems can fail")]
fn stop_process() -> io::Result<()> {
    Ok(())
}
