//! *Continue in…*: where a session can go on, how much of the window it takes there, and what it would lose.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::super::cells::{fit, fit_left, fit_right, put, wrap};
use super::super::model::{Offer, Way};
use super::super::palette::{BOLD, DIM, SELECTED};
use super::super::state::{Offers, State};
use crate::quantity;

const NAME_COLUMNS: usize = 18;

/// From so many columns on, tokens are told beside the bar.
const TOKENS_FROM_COLUMNS: usize = 84;

/// The lines below that tell everything of the selected offer.
const DETAIL_LINES: u16 = 6;

pub(super) fn draw(buffer: &mut Buffer, area: Rect, state: &State, offers: &Offers) {
    let palette = state.setup.palette;
    let row = state.find_row(&offers.session);
    let title = row.and_then(|row| row.title.as_deref().or(row.first_prompt.as_deref())).unwrap_or("this session");
    let verb = if offers.fork { "Copy" } else { "Continue" };
    let room = usize::from(area.width).saturating_sub(verb.len() + 9);
    let heading = format!("{verb} “{}” in…", fit(title, room.saturating_sub(4)));
    put(buffer, area, area.left() + 1, area.top(), &heading, BOLD);
    let below = Rect { y: area.y + 1.min(area.height), height: area.height.saturating_sub(1), ..area };
    match &offers.answer {
        None => {
            put(buffer, below, below.left() + 2, below.top(), "reading the session…", DIM);
        }
        Some(Err(error)) => {
            let lines = wrap(error, usize::from(area.width).saturating_sub(4), 6);
            for (y, line) in (below.top()..).zip(lines) {
                put(buffer, below, below.left() + 2, y, &line, palette.bad());
            }
        }
        Some(Ok(list)) => draw_offers(buffer, below, state, list, offers.selected),
    }
}

/// A line of the list.
enum OfferLine<'a> {
    NotInstalled,
    Offer(usize, &'a Offer),
}

fn draw_offers(buffer: &mut Buffer, area: Rect, state: &State, offers: &[Offer], selected: usize) {
    let details = if area.height > 2 * DETAIL_LINES { DETAIL_LINES } else { area.height.min(4) / 2 };
    let list = Rect { height: area.height - details, ..area };
    let mut lines = Vec::new();
    let mut was_installed = true;
    for (index, offer) in offers.iter().enumerate() {
        if was_installed && !offer.is_installed && index > 0 {
            lines.push(OfferLine::NotInstalled);
        }
        was_installed = offer.is_installed;
        lines.push(OfferLine::Offer(index, offer));
    }
    let at = lines.iter().position(|line| matches!(line, OfferLine::Offer(index, _) if *index == selected));
    let top = (at.unwrap_or(0) + 1).saturating_sub(usize::from(list.height));
    for (y, line) in (list.top()..list.bottom()).zip(lines.iter().skip(top)) {
        match line {
            OfferLine::NotInstalled => {
                put(buffer, list, list.left() + 1, y, "not installed here", DIM);
            }
            OfferLine::Offer(index, offer) => {
                draw_offer(buffer, Rect { y, height: 1, ..list }, state, offer, *index == selected);
            }
        }
    }
    if let Some(offer) = offers.get(selected) {
        let below = Rect { y: list.bottom(), height: details, ..area };
        draw_details(buffer, below, state, offer);
    }
}

fn draw_offer(buffer: &mut Buffer, area: Rect, state: &State, offer: &Offer, is_selected: bool) {
    let palette = state.setup.palette;
    let style = |style: Style| if is_selected { SELECTED } else { style };
    if is_selected {
        buffer.set_style(area.intersection(buffer.area), SELECTED);
    }
    let (y, width) = (area.top(), usize::from(area.width));
    let marker = if is_selected { "❯ " } else { "  " };
    let x = put(buffer, area, area.left(), y, marker, style(Style::new()));
    if let Way::EarlierCopy(_) = offer.way {
        let name = fit(&format!("Continue the copy in {}", offer.name), width.saturating_sub(2));
        let x = put(buffer, area, x, y, &format!("{name}  "), style(palette.good()));
        let room = usize::from(area.right().saturating_sub(x));
        put(buffer, area, x, y, &fit(first_note(offer), room), style(DIM));
        return;
    }
    let x = put(buffer, area, x, y, &fit_left(offer.name, NAME_COLUMNS), style(Style::new()));
    let fill = format_fill(offer, width >= TOKENS_FROM_COLUMNS);
    let x = put(buffer, area, x, y, &format!(" {fill}  "), style(palette.accent()));
    let room = usize::from(area.right().saturating_sub(x));
    let is_doubtful = offer.estimate.as_ref().is_some_and(|estimate| estimate.is_doubtful);
    let look = if is_doubtful { palette.doubtful() } else { DIM };
    put(buffer, area, x, y, &fit(first_note(offer), room), style(look));
}

fn first_note(offer: &Offer) -> &str {
    let estimated = offer.estimate.as_ref().map(|estimate| estimate.notes.first().map_or("", String::as_str));
    let waiting = || if matches!(offer.way, Way::Carry | Way::Words) { "…" } else { "" };
    offer.note.as_deref().or(estimated).unwrap_or_else(waiting)
}

/// The bar of the window with its percent, and the tokens where there is room.
fn format_fill(offer: &Offer, with_tokens: bool) -> String {
    let blank = if with_tokens { 33 } else { 17 };
    let Some((tokens, window)) = offer.estimate.as_ref().and_then(|estimate| estimate.fill) else {
        return " ".repeat(blank);
    };
    let bar = quantity::format_bar(tokens, window);
    let percent = quantity::format_percent(tokens, window).replace("under ", "<");
    let percent = fit_right(&format!("{percent} %"), 6);
    if !with_tokens {
        return format!("{bar} {percent}");
    }
    let tokens = format!("{} of {}", quantity::format_tokens(tokens), quantity::format_tokens(window));
    format!("{bar} {percent}  {}", fit_left(&tokens, 14))
}

/// All that is to be known of the selected offer.
fn draw_details(buffer: &mut Buffer, area: Rect, state: &State, offer: &Offer) {
    if area.height == 0 {
        return;
    }
    put(buffer, area, area.left(), area.top(), &"─".repeat(usize::from(area.width)), DIM);
    let room = usize::from(area.width).saturating_sub(2);
    let what = match &offer.way {
        Way::EarlierCopy(copy) => format!("goes on in the copy {} that was made before", fit(&copy.id, 13)),
        Way::OwnClient => "goes on in the session itself: nothing is copied".to_owned(),
        Way::Carry => "writes a new session that its own resume loads".to_owned(),
        Way::Words => "hands over words: it takes no sessions".to_owned(),
    };
    let does = match (state.setup.launch, offer.is_installed) {
        (true, true) => format!("Enter {what}, and starts {}", offer.name),
        (false, true) => format!("Enter {what}, and prints the command"),
        (_, false) => format!("Enter {what}, and prints the command: {} is not installed", offer.name),
    };
    let notes = offer.estimate.iter().flat_map(|estimate| &estimate.notes);
    let texts = std::iter::once(does.as_str()).chain(offer.note.as_deref()).chain(notes.map(String::as_str));
    let lines = texts.flat_map(|text| wrap(text, room, 3));
    for (y, line) in (area.top() + 1..area.bottom()).zip(lines) {
        put(buffer, area, area.left() + 1, y, &line, DIM);
    }
}
