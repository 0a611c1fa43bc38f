//! Frames: a state, drawn. Each pane has a file of its own.

mod footer;
mod help;
mod offers;
mod preview;
mod rows;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::{Clear, Widget};
use unicode_width::UnicodeWidthStr;

use super::cells::{fit, put, put_right, wrap};
use super::palette::{BOLD, DIM, SELECTED};
use super::state::{Mode, State};

pub(super) use preview::last_preview_top;

/// Draws a whole frame.
pub(crate) fn draw(frame: &mut Frame<'_>, state: &State) {
    let buffer = frame.buffer_mut();
    // A terminal may have become smaller than the last size that we were told.
    let area = state.area().intersection(buffer.area);
    if area.is_empty() {
        return;
    }
    let panes = state.panes();
    draw_search(buffer, panes.search, state);
    if let Some(rule) = panes.rule {
        draw_rule(buffer, rule);
    }
    match &state.mode {
        Mode::Offers(offers) => offers::draw(buffer, panes.list, state, offers),
        Mode::Help { .. } if state.is_offering() => {}
        _ => rows::draw(buffer, panes.list, state),
    }
    if let Some(area) = panes.preview {
        preview::draw(buffer, area, state);
    }
    match &state.mode {
        Mode::Help { .. } => help::draw(buffer, area, state),
        Mode::Confirm { question, .. } => draw_box(buffer, area, question, "Enter yes · Esc no"),
        Mode::Message(text) => draw_box(buffer, area, text, "any key goes on"),
        Mode::List | Mode::Offers(_) => {}
    }
    footer::draw(buffer, panes.footer, state);
}

/// What was typed, and how many rows fit it.
fn draw_search(buffer: &mut Buffer, area: Rect, state: &State) {
    let palette = state.setup.palette;
    let mut count = match (state.filter.trim().is_empty(), state.n_rows()) {
        (true, 1) => "1 session".to_owned(),
        (true, all) => format!("{all} sessions"),
        (false, all) => format!("{} of {all}", state.n_shown()),
    };
    if state.is_listing {
        count = format!("looking… {count}");
    }
    let room = usize::from(area.width).saturating_sub(count.len() + 16);
    let x = put(buffer, area, area.left(), area.top(), " carryover ", BOLD);
    let x = put(buffer, area, x, area.top(), "› ", palette.accent());
    if state.filter.is_empty() {
        let x = put(buffer, area, x, area.top(), " ", SELECTED);
        put(buffer, area, x, area.top(), &fit("type to filter", room), DIM);
    } else {
        let x = put(buffer, area, x, area.top(), &keep_end(&state.filter, room), Style::new());
        put(buffer, area, x, area.top(), " ", SELECTED);
    }
    put_right(buffer, area, area.top(), &format!("  {count} "), DIM);
}

/// The end of a long text, which is where its author writes.
fn keep_end(text: &str, room: usize) -> String {
    let plain = super::cells::plain_text(text);
    let count = plain.chars().count();
    let lines = |skip: usize| plain.chars().skip(skip).collect::<String>();
    (0..=count).map(lines).find(|end| end.width() <= room).unwrap_or_default()
}

fn draw_rule(buffer: &mut Buffer, area: Rect) {
    if area.height > 1 || area.width <= 3 {
        for y in area.top()..area.bottom() {
            put(buffer, area, area.left().saturating_add(1), y, "│", DIM);
        }
    } else {
        put(buffer, area, area.left(), area.top(), &"─".repeat(usize::from(area.width)), DIM);
    }
}

/// A framed box in the middle of the screen.
fn draw_box(buffer: &mut Buffer, area: Rect, text: &str, keys: &str) {
    let inner = usize::from(area.width).saturating_sub(8).clamp(1, 60);
    let lines = wrap(text, inner, 6);
    let frame = open_box(buffer, area, inner, lines.len() + 2);
    for (y, line) in (frame.top()..).zip(&lines) {
        put(buffer, frame, frame.left(), y, line, Style::new());
    }
    put(buffer, frame, frame.left(), frame.bottom().saturating_sub(1), &fit(keys, inner), DIM);
}

/// Takes away wide characters that reach from the left into a box, which would hide its edge.
fn clear_halves(buffer: &mut Buffer, area: Rect) {
    let Some(x) = area.left().checked_sub(1) else { return };
    for y in area.top()..area.bottom() {
        if let Some(cell) = buffer.cell_mut((x, y)).filter(|cell| cell.symbol().width() > 1) {
            cell.set_symbol(" ");
        }
    }
}

/// Clears and frames a box for so many columns and lines, and answers what is inside of it.
fn open_box(buffer: &mut Buffer, area: Rect, width: usize, height: usize) -> Rect {
    let width = u16::try_from(width + 4).unwrap_or(u16::MAX).min(area.width);
    let height = u16::try_from(height + 2).unwrap_or(u16::MAX).min(area.height);
    let frame = Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height };
    Clear.render(frame, buffer);
    clear_halves(buffer, frame);
    let line = "─".repeat(usize::from(width.saturating_sub(2)));
    put(buffer, frame, frame.left(), frame.top(), &format!("╭{line}╮"), DIM);
    for y in frame.top() + 1..frame.bottom().saturating_sub(1) {
        put(buffer, frame, frame.left(), y, "│", DIM);
        put_right(buffer, frame, y, "│", DIM);
    }
    if height > 1 {
        put(buffer, frame, frame.left(), frame.bottom() - 1, &format!("╰{line}╯"), DIM);
    }
    Rect {
        x: frame.x + 2.min(width),
        y: frame.y + 1.min(height),
        width: width.saturating_sub(4),
        height: height.saturating_sub(2),
    }
}
