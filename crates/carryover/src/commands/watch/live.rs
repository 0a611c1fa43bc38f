//! The watcher on a screen: a thread watches, this one shows what it reports.

use std::io;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;

use carryover_core::time::Timestamp;
use carryover_engine::context::Context;
use carryover_engine::sessions::copies::Copies;
use carryover_engine::watch::{Event, Options, StopHandle, Watcher};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::board::Board;
use super::choose_target;
use super::notify::Notifier;
use super::view::{self, Surroundings};
use crate::error::CommandError;
use crate::process_env;
use crate::screen::{self, Screen, ScreenEvent, ScreenSignals};

/// Something that the loop waits for.
enum Message {
    Watch(Box<Event>),
    WatchEnded,
    Screen(ScreenEvent),
}

/// Shows what is in use until the user leaves.
pub(super) fn watch_on_screen(context: &Context, options: Options, has_colors: bool) -> Result<(), CommandError> {
    let (sender, receiver) = channel();
    let (thread, handle) = start_watcher(context, options, sender.clone())?;
    let mut screen = Screen::open(false, has_colors)?;
    screen::read_input(sender.clone(), Message::Screen)?;
    let signals = ScreenSignals::watch(sender, Message::Screen)?;
    let shown = show_events(&mut screen, context, has_colors, &receiver);
    drop(screen);
    drop(signals);
    handle.stop();
    match thread.join() {
        Ok(ended) => ended?,
        Err(panic) => std::panic::resume_unwind(panic),
    }
    Ok(shown?)
}

/// Watches in a thread until it is told to stop.
fn start_watcher(
    context: &Context,
    options: Options,
    sender: Sender<Message>,
) -> io::Result<(JoinHandle<io::Result<()>>, StopHandle)> {
    let context = context.clone();
    let (handles, handle) = channel();
    let watch = move || {
        let clock = process_env::make_clock(&context);
        let mut watcher = Watcher::open(&context, options, &clock);
        let _ = handles.send(watcher.stop_handle());
        let notice = EndNotice(sender);
        watcher.run(&mut |event| match notice.0.send(Message::Watch(Box::new(event))) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        })
    };
    let thread = std::thread::Builder::new().name("watcher".to_owned()).spawn(watch)?;
    let handle = handle.recv().map_err(io::Error::other)?;
    Ok((thread, handle))
}

/// Says that nobody watches any more, also after a panic.
struct EndNotice(Sender<Message>);

impl Drop for EndNotice {
    fn drop(&mut self) {
        // Whoever does not listen any more has left.
        let _ = self.0.send(Message::WatchEnded);
    }
}

fn show_events(
    screen: &mut Screen,
    context: &Context,
    has_colors: bool,
    receiver: &Receiver<Message>,
) -> io::Result<()> {
    let clock = process_env::make_clock(context);
    let notifier = Notifier::for_screen(context);
    let mut board = Board::default();
    let mut context = context.clone();
    loop {
        context.env.now = clock();
        remove_carried_rows(&mut board, &context);
        let surroundings = Surroundings { context: &context, has_colors };
        screen.draw(|frame| view::draw(frame, &board, &surroundings))?;
        let Some(first) = wait_for_message(receiver, &board, clock()) else { continue };
        for message in std::iter::once(first).chain(receiver.try_iter()) {
            match message {
                Message::Watch(event) => {
                    if let Event::Limit(limit) = &*event {
                        notifier.tell_limit_on(screen, &context, limit)?;
                    }
                    board.apply_event(*event, |agent| choose_target(&context, agent));
                }
                Message::Screen(event) => {
                    if handle_screen_event(screen, &mut board, &event)?.is_break() {
                        return Ok(());
                    }
                }
                Message::WatchEnded => return Ok(()),
            }
        }
    }
}

/// Takes away sessions that stopped at a limit and were carried on since; looked up only while there are some.
fn remove_carried_rows(board: &mut Board, context: &Context) {
    if board.has_ended_rows() {
        let copies = Copies::load(context);
        board.remove_carried(|activity| {
            copies.copies_of(activity.agent, &activity.session).any(|copy| copy.at >= activity.at)
        });
    }
}

/// Waits for something to happen, or for the words on the screen to become untrue.
fn wait_for_message(receiver: &Receiver<Message>, board: &Board, now: Timestamp) -> Option<Message> {
    let waited = match board.next_change(now) {
        Some(at_most) => receiver.recv_timeout(at_most),
        None => receiver.recv().map_err(RecvTimeoutError::from),
    };
    match waited {
        Ok(message) => Some(message),
        Err(RecvTimeoutError::Timeout) => None,
        Err(RecvTimeoutError::Disconnected) => Some(Message::WatchEnded),
    }
}

fn handle_screen_event(screen: &mut Screen, board: &mut Board, event: &ScreenEvent) -> io::Result<ControlFlow<()>> {
    match event {
        ScreenEvent::Key(key) => return handle_key(screen, board, *key),
        ScreenEvent::End(_) => return Ok(ControlFlow::Break(())),
        event => screen.stop_or_continue(event)?,
    }
    Ok(ControlFlow::Continue(()))
}

fn handle_key(screen: &mut Screen, board: &mut Board, key: KeyEvent) -> io::Result<ControlFlow<()>> {
    let with_control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        _ if key.kind == KeyEventKind::Release => {}
        KeyCode::Char('c') if with_control => return Ok(ControlFlow::Break(())),
        KeyCode::Char('z') if with_control => screen.suspend()?,
        KeyCode::Char('l') if with_control => screen.redraw()?,
        KeyCode::Char('q') | KeyCode::Esc => return Ok(ControlFlow::Break(())),
        KeyCode::Up | KeyCode::Char('k') => board.scroll_by(-1),
        KeyCode::Down | KeyCode::Char('j') => board.scroll_by(1),
        KeyCode::Home => board.scroll_by(isize::MIN),
        KeyCode::End => board.scroll_by(isize::MAX),
        _ => {}
    }
    Ok(ControlFlow::Continue(()))
}
