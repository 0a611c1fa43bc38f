//! What the selected session is about.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::super::cells::{put, wrap};
use super::super::model::{CARRIED_HEADING, Preview, Row, Section};
use super::super::palette::{BOLD, DIM};
use super::super::state::{Answer, Mode, State};
use crate::relative_time::{format_until, format_when};

/// The most lines that one text of a section takes.
const MAX_TEXT_LINES: usize = 6;

/// A line of the preview, with its style.
type StyledLine = (String, Style);

pub(super) fn draw(buffer: &mut Buffer, area: Rect, state: &State) {
    let lines = preview_lines(state, area);
    let top = state.preview_top.min(lines.len().saturating_sub(1));
    for (y, (text, style)) in (area.top()..area.bottom()).zip(lines.iter().skip(top)) {
        put(buffer, area, area.left().saturating_add(1), y, text, *style);
    }
}

/// How far the preview can be scrolled: until its last line is the last on the screen.
pub(crate) fn last_preview_top(state: &State) -> usize {
    let Some(area) = state.panes().preview else { return 0 };
    preview_lines(state, area).len().saturating_sub(usize::from(area.height))
}

/// The session whose preview is shown: the selected one, or the one that is to be continued.
fn previewed_row(state: &State) -> Option<&Row> {
    match &state.mode {
        Mode::Offers(offers) => state.find_row(&offers.session),
        _ => state.selected_row(),
    }
}

fn preview_lines(state: &State, area: Rect) -> Vec<StyledLine> {
    let Some(row) = previewed_row(state) else { return Vec::new() };
    let room = usize::from(area.width).saturating_sub(2).max(2);
    let mut lines = head_lines(row, state, room);
    match state.preview_of(&row.key) {
        Some(Ok(preview)) => section_lines(preview, state, room, &mut lines),
        answer => unread_lines(row, answer, state, room, &mut lines),
    }
    lines
}

/// What the row has no room for.
fn head_lines(row: &Row, state: &State, room: usize) -> Vec<StyledLine> {
    let palette = state.setup.palette;
    let title = row.title.as_deref().or(row.first_prompt.as_deref()).unwrap_or("(no title)");
    let mut lines: Vec<StyledLine> = wrap(title, room, 2).into_iter().map(|line| (line, BOLD)).collect();
    let messages = row.messages.map(|count| format!("{count} {}", if count == 1 { "message" } else { "messages" }));
    let facts = [
        Some(row.agent_name.to_owned()),
        row.project.clone(),
        row.branch.clone(),
        messages,
        row.updated_at.map(|at| format_when(at, &state.setup.env, false)),
    ];
    let facts = facts.into_iter().flatten().collect::<Vec<_>>().join(" · ");
    lines.extend(wrap(&facts, room, 3).into_iter().map(|line| (line, DIM)));
    let mut note = |text: String, style| {
        lines.extend(wrap(&text, room, 2).into_iter().map(|line| (line, style)));
    };
    if row.has_drifted {
        note("its format has changed: run `carryover doctor`".to_owned(), palette.bad());
    }
    if row.is_open {
        note("open now: its client may go on writing".to_owned(), palette.good());
    }
    // A session that was read tells it under its state, with the service's words.
    let is_read = matches!(state.preview_of(&row.key), Some(Ok(_)));
    if let Some(limit) = row.limit.as_ref().filter(|_| !is_read) {
        let told = match limit.until {
            Some(until) if until <= state.setup.env.now => ", which is over".to_owned(),
            Some(until) => format!(" until {}", format_until(until, &state.setup.env)),
            None => String::new(),
        };
        note(format!("stopped at a limit{told}"), palette.doubtful());
    }
    if let Some(from) = &row.lineage.from {
        note(format!("← carried from {from}"), DIM);
    }
    if !row.lineage.to.is_empty() {
        note(format!("→ carried to {}", row.lineage.to.join(", ")), DIM);
    }
    lines
}

fn section_lines(preview: &Preview, state: &State, room: usize, lines: &mut Vec<StyledLine>) {
    // Offers tell what each target would get; the first one's would be read as that of the selected one.
    let is_told_elsewhere = |heading: &str| heading == CARRIED_HEADING && state.is_offering();
    let is_shown = |section: &&Section| !section.texts.is_empty() && !is_told_elsewhere(section.heading);
    for Section { heading, texts } in preview.sections.iter().filter(is_shown) {
        lines.push((String::new(), Style::new()));
        lines.push(((*heading).to_owned(), state.setup.palette.accent()));
        for text in texts {
            lines.extend(wrap(text, room, MAX_TEXT_LINES).into_iter().map(|line| (line, Style::new())));
        }
    }
}

/// What is known before the session was read, or where it cannot be.
fn unread_lines(row: &Row, answer: Option<&Answer<Preview>>, state: &State, room: usize, lines: &mut Vec<StyledLine>) {
    let palette = state.setup.palette;
    if let Some(Err(error)) = answer {
        lines.push((String::new(), Style::new()));
        lines.extend(wrap(error, room, 4).into_iter().map(|line| (line, palette.bad())));
    }
    let sections = [("First prompt", &row.first_prompt), ("Last prompt", &row.last_prompt)];
    let texts = |text: &Option<String>| text.iter().cloned().collect();
    let sections = sections.map(|(heading, text)| Section { heading, texts: texts(text) });
    section_lines(&Preview { sections: sections.into() }, state, room, lines);
    if answer.is_none() {
        lines.push((String::new(), Style::new()));
        lines.push(("reading…".to_owned(), DIM));
    }
}
