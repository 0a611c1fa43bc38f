//! The checklist on a screen, until it is answered.

use std::io;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use carryover_agents::Facts;
use ratatui::crossterm::event;

use super::checklist::{Checklist, Step};
use crate::error::CommandError;
use crate::screen::{self, Screen, ScreenEvent, ScreenSignals};

/// How often signals are looked for between keys.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// Asks which agents are wanted. Keys are read in this thread: what is typed after the answer is the shell's.
pub(super) fn ask_agents(mut checklist: Checklist, has_colors: bool) -> Result<Vec<&'static Facts>, CommandError> {
    let mut screen = Screen::open(true, has_colors)?;
    let (sender, receiver) = channel();
    let signals = ScreenSignals::watch(sender, |event| event)?;
    let answer = wait_for_answer(&mut screen, &mut checklist, &receiver);
    drop(screen);
    drop(signals);
    match answer? {
        Answer::Chosen => Ok(checklist.checked()),
        Answer::Left => Err(CommandError::left()),
        Answer::Signal(signal) => {
            screen::end_by_signal(signal);
            Err(CommandError::left())
        }
    }
}

enum Answer {
    Chosen,
    Left,
    Signal(i32),
}

fn wait_for_answer(
    screen: &mut Screen,
    checklist: &mut Checklist,
    receiver: &Receiver<ScreenEvent>,
) -> io::Result<Answer> {
    loop {
        screen.draw(|frame| checklist.draw(frame))?;
        while !event::poll(SIGNAL_INTERVAL)? {
            match receiver.try_recv() {
                Ok(ScreenEvent::End(signal)) => return Ok(Answer::Signal(signal)),
                Ok(event) => screen.stop_or_continue(&event)?,
                Err(_) => {}
            }
        }
        let event::Event::Key(key) = event::read()? else { continue };
        match checklist.update(key) {
            Step::Stay => {}
            Step::Done => return Ok(Answer::Chosen),
            Step::Leave => return Ok(Answer::Left),
            Step::Suspend => screen.suspend()?,
            Step::Redraw => screen.redraw()?,
        }
    }
}
