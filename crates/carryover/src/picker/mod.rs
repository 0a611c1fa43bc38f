//! `carryover` alone, on a terminal: choose a session, see what it is about, go on with it in any agent.
//!
//! The picker is a view. What it shows comes from the engine (`worker`, `adapter`); what was decided is done by the
//! ordinary command, after the screen is as it was before. `state`, `update` and `view` are pure: an event gives the next
//! state and effects, and a state gives a frame.

mod adapter;
pub(crate) mod cells;
mod filter;
mod keys;
mod layout;
mod ledger_text;
mod lister;
mod model;
mod palette;
mod probe;
mod state;
mod times;
mod update;
mod view;
mod worker;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};

use carryover_core::time::Timestamp;
use carryover_engine::context::Context;

use crate::error::CommandError;
use crate::process_env::make_clock;
use crate::screen::{self, Screen, ScreenEvent, ScreenSignals};
use keys::Input;
use palette::Palette;
use state::{Setup, State};
use update::{Effect, Event, update};
use worker::Worker;

pub(crate) use ledger_text::LedgerText;
pub(crate) use model::{PickerOutcome, RowKey};
pub use probe::PickerProbe;

/// Finds sessions by all of their text, beside what the rows tell.
pub(crate) trait FullText: Send + Sync {
    /// The sessions in which these words are.
    fn find_sessions(&self, words: &str) -> Vec<RowKey>;
}

/// How the picker is opened.
pub(crate) struct PickerOptions {
    pub(crate) has_colors: bool,
    /// Clients are started; else their commands are printed.
    pub(crate) launch: bool,
    /// Standard output is for the command that is printed.
    pub(crate) on_stderr: bool,
    pub(crate) full_text: Option<Box<dyn FullText>>,
}

/// Something that the loop waits for.
enum Message {
    Input(Input),
    Work(Event),
    Signal(ScreenEvent),
}

/// Shows the picker until something is decided.
pub(crate) fn pick(context: &Context, options: PickerOptions) -> Result<PickerOutcome, CommandError> {
    let (sender, receiver) = mpsc::channel();
    let context = Arc::new(context.clone());
    let clock = make_clock(&context);
    let mut screen = Screen::open(options.on_stderr, options.has_colors)?;
    let mut state = State::new(Setup {
        project: crate::session_row::abbreviate_home(&context, &context.cwd),
        palette: Palette { has_colors: options.has_colors },
        launch: options.launch,
        env: context.env.clone(),
        size: Screen::size()?,
    });
    let worker = Worker::start(Arc::clone(&context), sender.clone(), options.full_text);
    // What is remembered is on the screen before anything else is looked at.
    let effects = update(&mut state, Event::Rows(worker.remembered_rows()));
    screen.draw(|frame| view::draw(frame, &state))?;
    run_effects(effects, &worker);
    worker.start_listing();
    let _input = keys::read_input(sender.clone())?;
    let _signals = ScreenSignals::watch(sender, Message::Signal)?;
    let outcome = run_loop(&mut screen, &mut state, &worker, &receiver, &clock);
    drop(screen);
    outcome
}

fn run_loop(
    screen: &mut Screen,
    state: &mut State,
    worker: &Worker,
    receiver: &Receiver<Message>,
    clock: &impl Fn() -> Timestamp,
) -> Result<PickerOutcome, CommandError> {
    loop {
        let size = Screen::size()?;
        if size != state.setup.size {
            update(state, Event::Resized(size));
        }
        screen.draw(|frame| view::draw(frame, state))?;
        // The senders live as long as this loop, so there is always somebody to wait for.
        let Ok(first) = receiver.recv() else { return Ok(PickerOutcome::Leave) };
        update(state, Event::Clock(clock()));
        for message in std::iter::once(first).chain(receiver.try_iter()) {
            let event = match message {
                Message::Input(Input::Redraw) => {
                    screen.redraw()?;
                    continue;
                }
                Message::Input(Input::Event(event)) | Message::Work(event) => event,
                Message::Signal(ScreenEvent::End(signal)) => {
                    screen.leave();
                    screen::end_by_signal(signal);
                    return Ok(PickerOutcome::Leave);
                }
                Message::Signal(signal) => {
                    screen.stop_or_continue(&signal)?;
                    continue;
                }
            };
            for effect in run_effects(update(state, event), worker) {
                match effect {
                    Effect::End(outcome) => return Ok(outcome),
                    Effect::Suspend => screen.suspend()?,
                    _ => screen.redraw()?,
                }
            }
        }
    }
}

/// Gives the worker what is its to do, and answers the rest.
fn run_effects(effects: Vec<Effect>, worker: &Worker) -> Vec<Effect> {
    let mut left = Vec::new();
    for effect in effects {
        match effect {
            Effect::ReadPreview(session) => worker.read_preview(session),
            Effect::MakeOffers { session, fork } => worker.make_offers(session, fork),
            Effect::SearchText(words) => worker.search_text(words),
            effect => left.push(effect),
        }
    }
    left
}
