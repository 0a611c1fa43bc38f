//! From an event to the next state, and to what is to be done about it. Nothing here touches the world.

use std::collections::BTreeSet;

use carryover_core::plain::one_line;
use carryover_core::time::Timestamp;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::Size;

use super::model::{Offer, OfferEstimate, PickerOutcome, Preview, Row, RowKey, Way};
use super::state::{Answer, Mode, Offers, State};

/// The most characters that a filter has.
const MAX_FILTER_CHARS: usize = 200;

/// Something that happened.
#[derive(Debug)]
pub(crate) enum Event {
    Key(KeyEvent),
    Paste(String),
    Resized(Size),
    Clock(Timestamp),
    Rows(Vec<Row>),
    /// The listing is complete: these are all there are.
    Listed {
        found: BTreeSet<RowKey>,
        warnings: Vec<String>,
    },
    Previewed(RowKey, Answer<Preview>),
    Offered {
        session: RowKey,
        fork: bool,
        answer: Answer<Vec<Offer>>,
    },
    Estimated {
        session: RowKey,
        fork: bool,
        target: &'static str,
        estimate: OfferEstimate,
    },
    /// Sessions in whose text the words were found.
    FoundInText {
        words: String,
        sessions: Vec<RowKey>,
    },
}

/// Something to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Effect {
    ReadPreview(RowKey),
    MakeOffers { session: RowKey, fork: bool },
    SearchText(String),
    Suspend,
    Redraw,
    End(PickerOutcome),
}

/// Takes in an event.
pub(crate) fn update(state: &mut State, event: Event) -> Vec<Effect> {
    let was_selected = state.selected_row().map(|row| row.key.clone());
    let was_known = was_selected.as_ref().is_some_and(|key| state.preview_of(key).is_some());
    let mut effects = match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => press_key(state, key),
        Event::Key(_) => Vec::new(),
        Event::Paste(text) => paste(state, &text),
        Event::Resized(size) => {
            state.setup.size = size;
            state.keep_in_view();
            Vec::new()
        }
        Event::Clock(now) => {
            state.setup.env.now = now;
            Vec::new()
        }
        Event::Rows(rows) => {
            state.add_rows(rows);
            Vec::new()
        }
        Event::Listed { found, warnings } => {
            state.keep_rows(&found);
            state.is_listing = false;
            state.warnings = warnings;
            Vec::new()
        }
        Event::Previewed(key, answer) => {
            state.keep_preview(key, answer);
            Vec::new()
        }
        Event::Offered { session, fork, answer } => {
            take_offers(state, &session, fork, answer);
            Vec::new()
        }
        Event::Estimated { session, fork, target, estimate } => {
            take_estimate(state, &session, fork, target, &estimate);
            Vec::new()
        }
        Event::FoundInText { words, sessions } => {
            state.add_text_matches(&words, sessions);
            Vec::new()
        }
    };
    let selected = state.selected_row().map(|row| row.key.clone());
    let is_lost = was_known && selected.as_ref().is_some_and(|key| state.preview_of(key).is_none());
    if let Some(key) = selected.filter(|key| state.preview_of(key).is_none())
        && (Some(&key) != was_selected.as_ref() || is_lost)
    {
        effects.push(Effect::ReadPreview(key));
    }
    effects
}

fn take_offers(state: &mut State, session: &RowKey, fork: bool, answer: Answer<Vec<Offer>>) {
    if let Mode::Offers(offers) = &mut state.mode
        && offers.session == *session
        && offers.fork == fork
    {
        let last = answer.as_ref().map_or(0, |offers| offers.len().saturating_sub(1));
        offers.selected = offers.selected.min(last);
        offers.answer = Some(answer);
    }
}

fn take_estimate(state: &mut State, session: &RowKey, fork: bool, target: &str, estimate: &OfferEstimate) {
    let Mode::Offers(offers) = &mut state.mode else { return };
    if offers.session != *session || offers.fork != fork {
        return;
    }
    let list = offers.answer.iter_mut().filter_map(|answer| answer.as_mut().ok()).flatten();
    for offer in list.filter(|offer| offer.target == target && !matches!(offer.way, Way::EarlierCopy(_))) {
        offer.estimate = Some(estimate.clone());
    }
}

fn paste(state: &mut State, text: &str) -> Vec<Effect> {
    if !matches!(state.mode, Mode::List) {
        return Vec::new();
    }
    let text = one_line(text, MAX_FILTER_CHARS);
    change_filter(state, |filter| filter.push_str(&text))
}

fn press_key(state: &mut State, key: KeyEvent) -> Vec<Effect> {
    if let (KeyCode::Char(letter), true) = (key.code, key.modifiers.contains(KeyModifiers::CONTROL)) {
        match letter.to_ascii_lowercase() {
            'c' => return vec![Effect::End(PickerOutcome::Leave)],
            'z' => return vec![Effect::Suspend],
            'l' => return vec![Effect::Redraw],
            _ => {}
        }
    }
    match &state.mode {
        Mode::List => press_in_list(state, key),
        Mode::Offers(_) => press_in_offers(state, key),
        Mode::Help { back } => {
            state.mode = (**back).clone();
            Vec::new()
        }
        Mode::Message(_) => {
            state.mode = Mode::List;
            Vec::new()
        }
        Mode::Confirm { outcome, .. } => match key.code {
            KeyCode::Enter | KeyCode::Char('y') => vec![Effect::End(outcome.clone())],
            _ => {
                state.mode = Mode::List;
                Vec::new()
            }
        },
    }
}

/// Steps that a key moves a selection by, in a list of so many lines.
fn movement(key: KeyEvent, page: usize) -> Option<isize> {
    let page = isize::try_from(page.saturating_sub(1).max(1)).unwrap_or(isize::MAX);
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    Some(match key.code {
        KeyCode::Up => -1,
        KeyCode::Down => 1,
        KeyCode::PageUp => -page,
        KeyCode::PageDown => page,
        KeyCode::Home => isize::MIN,
        KeyCode::End => isize::MAX,
        KeyCode::Char('p') if is_control => -1,
        KeyCode::Char('n') if is_control => 1,
        _ => return None,
    })
}

fn press_in_list(state: &mut State, key: KeyEvent) -> Vec<Effect> {
    let is_shifted = key.modifiers.contains(KeyModifiers::SHIFT);
    match key.code {
        KeyCode::Up if is_shifted || state.is_preview_whole => return scroll_preview(state, -1),
        KeyCode::Down if is_shifted || state.is_preview_whole => return scroll_preview(state, 1),
        KeyCode::PageUp if is_shifted || state.is_preview_whole => return scroll_preview(state, -10),
        KeyCode::PageDown if is_shifted || state.is_preview_whole => return scroll_preview(state, 10),
        _ => {}
    }
    if let Some(steps) = movement(key, usize::from(state.panes().list.height)) {
        state.move_selection(steps);
        return Vec::new();
    }
    match key.code {
        KeyCode::Char(letter) if key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) => {
            press_control(state, letter.to_ascii_lowercase())
        }
        KeyCode::Char('?') if state.filter.is_empty() => open_help(state),
        KeyCode::Char(letter) => change_filter(state, |filter| filter.push(letter)),
        KeyCode::Backspace => change_filter(state, drop_letter),
        KeyCode::Enter => open_offers(state, false),
        KeyCode::F(1) => open_help(state),
        KeyCode::Tab => toggle_preview(state),
        KeyCode::Esc if state.is_preview_whole => toggle_preview(state),
        KeyCode::Esc if !state.filter.is_empty() => change_filter(state, String::clear),
        KeyCode::Esc => vec![Effect::End(PickerOutcome::Leave)],
        _ => Vec::new(),
    }
}

fn open_help(state: &mut State) -> Vec<Effect> {
    let back = Box::new(std::mem::replace(&mut state.mode, Mode::List));
    state.mode = Mode::Help { back };
    Vec::new()
}

fn toggle_preview(state: &mut State) -> Vec<Effect> {
    state.is_preview_whole = !state.is_preview_whole;
    state.preview_top = 0;
    state.keep_in_view();
    Vec::new()
}

fn scroll_preview(state: &mut State, steps: isize) -> Vec<Effect> {
    let last = super::view::last_preview_top(state);
    state.preview_top = state.preview_top.saturating_add_signed(steps).min(last);
    Vec::new()
}

fn change_filter(state: &mut State, change: impl FnOnce(&mut String)) -> Vec<Effect> {
    let mut filter = state.filter.clone();
    change(&mut filter);
    if filter.chars().count() > MAX_FILTER_CHARS || filter == state.filter {
        return Vec::new();
    }
    state.is_preview_whole = false;
    let effect = Effect::SearchText(filter.clone());
    let is_empty = filter.trim().is_empty();
    state.set_filter(filter);
    if is_empty { Vec::new() } else { vec![effect] }
}

fn drop_letter(filter: &mut String) {
    filter.pop();
}

/// Letters type, so what acts is held with Control.
fn press_control(state: &mut State, letter: char) -> Vec<Effect> {
    let session = state.selected_row().map(|row| row.key.clone());
    match (letter, session) {
        ('h', _) => change_filter(state, drop_letter),
        ('u', _) => change_filter(state, String::clear),
        ('w', _) => change_filter(state, |filter| {
            let kept = filter.trim_end().rfind(char::is_whitespace).map_or(0, |at| at + 1);
            filter.truncate(kept);
        }),
        // What Return sends on some lines.
        ('j', _) => open_offers(state, false),
        ('f', Some(_)) => open_offers(state, true),
        ('o', Some(session)) => vec![Effect::End(PickerOutcome::Handoff { session, target: None, launch: false })],
        ('s', Some(session)) => vec![Effect::End(PickerOutcome::Show { session })],
        ('t', Some(_)) => ask_undo(state),
        _ => Vec::new(),
    }
}

fn ask_undo(state: &mut State) -> Vec<Effect> {
    let undo = state.selected_row().and_then(|row| row.lineage.undo.clone());
    state.mode = match undo {
        Some((id, what)) => {
            Mode::Confirm { question: format!("take back {what}?"), outcome: PickerOutcome::Undo { id } }
        }
        None => Mode::Message("nothing to take back: this session was not carried over".to_owned()),
    };
    Vec::new()
}

fn open_offers(state: &mut State, fork: bool) -> Vec<Effect> {
    let Some(session) = state.selected_row().map(|row| row.key.clone()) else { return Vec::new() };
    state.is_preview_whole = false;
    state.mode = Mode::Offers(Offers { session: session.clone(), fork, answer: None, selected: 0 });
    vec![Effect::MakeOffers { session, fork }]
}

fn press_in_offers(state: &mut State, key: KeyEvent) -> Vec<Effect> {
    let page = usize::from(state.panes().list.height);
    let launch = state.setup.launch;
    let Mode::Offers(offers) = &mut state.mode else { return Vec::new() };
    let count = offers.answer.as_ref().and_then(|answer| answer.as_ref().ok()).map_or(0, Vec::len);
    if let Some(steps) = movement(key, page) {
        offers.selected = offers.selected.saturating_add_signed(steps).min(count.saturating_sub(1));
        return Vec::new();
    }
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Enter => choose_offer(offers, launch),
        KeyCode::Char('j') if is_control => choose_offer(offers, launch),
        KeyCode::Char('f') if is_control => {
            let fork = !offers.fork;
            let session = offers.session.clone();
            state.mode = Mode::Offers(Offers { session: session.clone(), fork, answer: None, selected: 0 });
            vec![Effect::MakeOffers { session, fork }]
        }
        KeyCode::Char('o') if is_control => hand_over(offers, launch),
        KeyCode::Esc | KeyCode::Left | KeyCode::Backspace => {
            state.mode = Mode::List;
            Vec::new()
        }
        KeyCode::F(1) | KeyCode::Char('?') => open_help(state),
        _ => Vec::new(),
    }
}

fn selected_offer(offers: &Offers) -> Option<&Offer> {
    offers.answer.as_ref()?.as_ref().ok()?.get(offers.selected)
}

fn choose_offer(offers: &Offers, launch: bool) -> Vec<Effect> {
    let Some(offer) = selected_offer(offers) else { return Vec::new() };
    let (session, fork) = match &offer.way {
        Way::EarlierCopy(copy) => (copy.clone(), false),
        Way::OwnClient => (offers.session.clone(), false),
        Way::Carry | Way::Words => (offers.session.clone(), offers.fork),
    };
    // A client that is not there cannot be started; what was written waits for it.
    let launch = launch && offer.is_installed;
    vec![Effect::End(PickerOutcome::Resume { session, target: offer.target, fork, launch })]
}

fn hand_over(offers: &Offers, launch: bool) -> Vec<Effect> {
    let Some(offer) = selected_offer(offers) else { return Vec::new() };
    let (session, target) = (offers.session.clone(), Some(offer.target));
    vec![Effect::End(PickerOutcome::Handoff { session, target, launch: launch && offer.is_installed })]
}
