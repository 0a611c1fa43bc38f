//! *Continue in…*: where a session can go on, how much of the window it takes there, and what it would lose.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::super::cells::{fit, fit_left, fit_right, put, put_right, wrap};
use super::super::model::{Offer, Way};
use super::super::palette::{BOLD, DIM, SELECTED};
use super::super::state::{Offers, State};
use crate::quantity;

const NAME_COLUMNS: usize = 18;

/// From so many columns on, there is a bar beside the percent.
const BAR_FROM_COLUMNS: usize = 70;

/// From so many columns on, tokens are told beside the bar.
const TOKENS_FROM_COLUMNS: usize = 84;

/// The lines below that tell everything of the selected offer; more of them where the list leaves room.
const MIN_DETAIL_LINES: u16 = 6;
const MAX_DETAIL_LINES: u16 = 10;

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
    Heading(&'static str),
    Offer(usize, &'a Offer),
}

/// The heading of an offer's group; those that can be started have none.
fn group_heading(offer: &Offer) -> Option<&'static str> {
    match offer {
        Offer { is_installed: true, .. } => None,
        Offer { is_editor: true, .. } => Some("editors"),
        _ => Some("not installed here"),
    }
}

/// The offers, with a heading above each group.
fn offer_lines(offers: &[Offer]) -> Vec<OfferLine<'_>> {
    let mut lines = Vec::new();
    let mut group = None;
    for (index, offer) in offers.iter().enumerate() {
        let heading = group_heading(offer);
        if heading != group {
            lines.extend(heading.map(OfferLine::Heading));
            group = heading;
        }
        lines.push(OfferLine::Offer(index, offer));
    }
    lines
}

fn draw_offers(buffer: &mut Buffer, area: Rect, state: &State, offers: &[Offer], selected: usize) {
    let lines = offer_lines(offers);
    let spare = area.height.saturating_sub(u16::try_from(lines.len()).unwrap_or(u16::MAX));
    let is_low = area.height <= 2 * MIN_DETAIL_LINES;
    let details = if is_low { area.height.min(4) / 2 } else { spare.clamp(MIN_DETAIL_LINES, MAX_DETAIL_LINES) };
    let list = Rect { height: area.height - details, ..area };
    let at = lines.iter().position(|line| matches!(line, OfferLine::Offer(index, _) if *index == selected));
    let top = (at.unwrap_or(0) + 1).saturating_sub(usize::from(list.height));
    for (y, line) in (list.top()..list.bottom()).zip(lines.iter().skip(top)) {
        match line {
            OfferLine::Heading(heading) => {
                put(buffer, list, list.left() + 1, y, heading, DIM);
            }
            OfferLine::Offer(index, offer) => {
                draw_offer(buffer, Rect { y, height: 1, ..list }, state, offer, *index == selected);
            }
        }
    }
    let Some(offer) = offers.get(selected).filter(|_| details > 0) else { return };
    let below = Rect { y: list.bottom(), height: details, ..area };
    put(buffer, below, below.left(), below.top(), &"─".repeat(usize::from(below.width)), DIM);
    let hidden = lines.len().saturating_sub(top + usize::from(list.height));
    put_right(buffer, below, below.top(), &count_hidden(top, hidden), DIM);
    draw_details(buffer, below, state, offer);
}

/// How many lines are above and below those that are seen.
fn count_hidden(above: usize, below: usize) -> String {
    let count = |arrow: &str, n: usize| if n > 0 { format!(" {arrow} {n} more ") } else { String::new() };
    count("↑", above) + &count("↓", below)
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
        put(buffer, area, x, y, &fit(row_note(offer), room), style(DIM));
        return;
    }
    let x = put(buffer, area, x, y, &fit_left(offer.name, NAME_COLUMNS), style(Style::new()));
    let fill = format_fill(offer, width);
    let x = put(buffer, area, x, y, &format!(" {fill}  "), style(palette.accent()));
    let room = usize::from(area.right().saturating_sub(x));
    let is_doubtful = offer.estimate.as_ref().is_some_and(|estimate| estimate.is_doubtful);
    let look = if is_doubtful { palette.doubtful() } else { DIM };
    put(buffer, area, x, y, &fit(row_note(offer), room), style(look));
}

fn row_note(offer: &Offer) -> &str {
    let estimated = offer.estimate.as_ref().map(|estimate| estimate.summary.as_str());
    let waiting = || if matches!(offer.way, Way::Carry | Way::Words) { "…" } else { "" };
    offer.note.as_deref().or(estimated).unwrap_or_else(waiting)
}

/// How much of the window is taken, in percent, and as a bar and in tokens where there is room.
fn format_fill(offer: &Offer, width: usize) -> String {
    let (has_bar, has_tokens) = (width >= BAR_FROM_COLUMNS, width >= TOKENS_FROM_COLUMNS);
    let Some((tokens, window)) = offer.estimate.as_ref().and_then(|estimate| estimate.fill) else {
        return " ".repeat(6 + if has_bar { 11 } else { 0 } + if has_tokens { 16 } else { 0 });
    };
    let percent = quantity::format_percent(tokens, window).replace("under ", "<");
    let mut fill = fit_right(&format!("{percent} %"), 6);
    if has_bar {
        fill = format!("{} {fill}", quantity::format_bar(tokens, window));
    }
    if has_tokens {
        let tokens = format!("{} of {}", quantity::format_tokens(tokens), quantity::format_tokens(window));
        fill = format!("{fill}  {}", fit_left(&tokens, 14));
    }
    fill
}

/// All that is to be known of the selected offer, below a line.
fn draw_details(buffer: &mut Buffer, area: Rect, state: &State, offer: &Offer) {
    let room = usize::from(area.width).saturating_sub(2);
    let does = describe_enter(offer, state.setup.launch);
    let notes = offer.estimate.iter().flat_map(|estimate| &estimate.notes);
    let texts = std::iter::once(does.as_str()).chain(offer.note.as_deref()).chain(notes.map(String::as_str));
    let text = texts.collect::<Vec<_>>().join("\n");
    let lines = wrap(&text, room, usize::from(area.height).saturating_sub(1));
    for (y, line) in (area.top() + 1..area.bottom()).zip(lines) {
        put(buffer, area, area.left() + 1, y, &line, DIM);
    }
}

/// What Enter does with an offer.
fn describe_enter(offer: &Offer, launch: bool) -> String {
    let gets_prompt = offer.estimate.as_ref().is_some_and(|estimate| estimate.gets_prompt);
    let name = offer.name;
    let what = match &offer.way {
        Way::Words if offer.is_editor => return format!("Enter leaves a brief where {name} reads its rules"),
        Way::Words => "writes a prompt, .carryover/RESUME.md".to_owned(),
        Way::Carry if gets_prompt => "writes a prompt, .carryover/RESUME.md".to_owned(),
        Way::Carry => "writes a new session that its own resume loads".to_owned(),
        Way::EarlierCopy(copy) => format!("goes on in the copy {} that was made before", fit(&copy.id, 13)),
        Way::OwnClient => "goes on in the session itself: nothing is copied".to_owned(),
    };
    match (launch, offer.is_installed) {
        (true, true) => format!("Enter {what}, and starts {name}"),
        (false, true) => format!("Enter {what}, and prints the command that goes on"),
        // Why it cannot hold the session stands below, and that is why.
        (_, false) if gets_prompt => format!("Enter {what}, and prints the command that goes on"),
        (_, false) => format!("{name} is not installed: Enter {what}, and prints the command that goes on"),
    }
}
