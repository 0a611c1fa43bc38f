//! The list: a line for each session that is on the screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr;

use super::super::cells::{fit, fit_left, fit_right, put, wrap};
use super::super::model::Row;
use super::super::palette::{BOLD, DIM, SELECTED};
use super::super::state::{ListLine, State};
use super::super::times::short_age;
use crate::relative_time::format_until;

/// From so many columns on, branches have a column and marks are said in full.
const WIDE_FROM_COLUMNS: u16 = 90;

const AGENT_COLUMNS: usize = 11;
const AGE_COLUMNS: usize = 4;
const MESSAGE_COLUMNS: usize = 5;
const BRANCH_COLUMNS: usize = 16;

pub(super) fn draw(buffer: &mut Buffer, area: Rect, state: &State) {
    if state.n_shown() == 0 {
        return draw_empty(buffer, area, state);
    }
    for (y, line) in (area.top()..area.bottom()).zip(state.top..) {
        match state.line_at(line) {
            Some(ListLine::Project) => {
                let heading = fit(&state.setup.project, usize::from(area.width).saturating_sub(1));
                put(buffer, area, area.left() + 1, y, &heading, BOLD);
            }
            Some(ListLine::OtherProjects) => {
                put(buffer, area, area.left() + 1, y, "other projects", BOLD);
            }
            Some(ListLine::Row(index)) => {
                if let Some(row) = state.shown_row(index) {
                    draw_row(buffer, Rect { y, height: 1, ..area }, state, row, index == state.selected_index());
                }
            }
            None => return,
        }
    }
}

/// One session in one line: agent, age, messages, title, branch, marks.
fn draw_row(buffer: &mut Buffer, area: Rect, state: &State, row: &Row, is_selected: bool) {
    let palette = state.setup.palette;
    // One style for the whole line: colours in reverse would be fills.
    let style = |style: Style| if is_selected { SELECTED } else { style };
    if is_selected {
        buffer.set_style(area.intersection(buffer.area), SELECTED);
    }
    let (y, is_wide) = (area.top(), area.width >= WIDE_FROM_COLUMNS);
    let age = row.updated_at.map_or_else(|| "–".to_owned(), |at| short_age(at, state.setup.env.now));
    let pieces = [
        (if is_selected { "❯ " } else { "  " }.to_owned(), Style::new()),
        (fit_left(row.key.agent, AGENT_COLUMNS), palette.agent(row.color)),
        (fit_right(&age, AGE_COLUMNS + 1), DIM),
        (fit_right(&count_messages(row.messages), MESSAGE_COLUMNS), DIM),
        ("  ".to_owned(), Style::new()),
    ];
    let x = pieces.iter().fold(area.left(), |x, (text, look)| put(buffer, area, x, y, text, style(*look)));
    let left = usize::from(area.right().saturating_sub(x));
    let branch_width = if is_wide { BRANCH_COLUMNS + 2 } else { 0 };
    let marks = fit_marks(&collect_marks(row, state), is_wide, left.saturating_sub(branch_width) / 2);
    let marks_width: usize = marks.iter().map(|(text, _)| text.width() + 2).sum();
    let title = fit_left(&title_of(row), left.saturating_sub(marks_width + branch_width));
    let mut x = put(buffer, area, x, y, &title, style(Style::new()));
    for (mark, look) in marks {
        x = put(buffer, area, x, y, &format!("  {mark}"), style(look));
    }
    if is_wide {
        let branch = fit_left(row.branch.as_deref().unwrap_or_default(), BRANCH_COLUMNS);
        put(buffer, area, x, y, &format!("  {branch}"), style(DIM));
    }
}

/// The title; sessions of other projects say which.
fn title_of(row: &Row) -> String {
    let title = row.title.as_deref().or(row.first_prompt.as_deref()).unwrap_or("(no title)");
    let folder = row.project.as_deref().and_then(|project| project.rsplit(['/', '\\']).next());
    match folder {
        Some(folder) if !row.is_here && !folder.is_empty() => format!("{folder}: {title}"),
        _ => title.to_owned(),
    }
}

fn count_messages(messages: Option<u64>) -> String {
    match messages {
        None => "–".to_owned(),
        Some(count @ ..10_000) => count.to_string(),
        Some(count) => format!("{}k", count / 1_000),
    }
}

/// A mark, said in full and in short.
struct Mark {
    wide: String,
    narrow: &'static str,
    style: Style,
}

/// What is to be known of a session before it is chosen.
fn collect_marks(row: &Row, state: &State) -> Vec<Mark> {
    let palette = state.setup.palette;
    let mut marks = Vec::new();
    let mut add = |wide: String, narrow: &'static str, style| marks.push(Mark { wide, narrow, style });
    if state.is_found_in_text(row) {
        add("in its text".to_owned(), "text", DIM);
    }
    if row.has_drifted {
        add("format changed".to_owned(), "drift", palette.bad());
    }
    if row.is_open {
        add("open now".to_owned(), "open", palette.good());
    }
    if let Some(limit) = &row.limit {
        let told = match limit.until {
            Some(until) if until <= state.setup.env.now => "limit over".to_owned(),
            Some(until) => format!("limit until {}", format_until(until, &state.setup.env)),
            None => "limit".to_owned(),
        };
        add(told, "limit", palette.doubtful());
    }
    if let Some(from) = &row.lineage.from {
        add(format!("← {}", fit(from, 24)), "←", DIM);
    }
    if let Some(to) = row.lineage.to.first() {
        let more = if row.lineage.to.len() > 1 { format!(" +{}", row.lineage.to.len() - 1) } else { String::new() };
        add(format!("→ {}{more}", fit(to, 24)), "→", DIM);
    }
    marks
}

/// The marks that there is room for: the last ones are said in short before one is left out.
fn fit_marks(marks: &[Mark], is_wide: bool, room: usize) -> Vec<(String, Style)> {
    let n_wide = if is_wide { marks.len() } else { 0 };
    let all_with = |n_wide: usize| (marks.len(), n_wide);
    let fewer = (0..marks.len()).rev().map(|n_kept| (n_kept, 0));
    let mut choices = (0..=n_wide).rev().map(all_with).chain(fewer);
    let say = |(n_kept, n_wide): (usize, usize)| {
        let texts = marks[..n_kept].iter().enumerate().map(|(index, mark)| {
            let text = if index < n_wide { mark.wide.as_str() } else { mark.narrow };
            (text.to_owned(), mark.style)
        });
        texts.collect::<Vec<_>>()
    };
    let fits = |said: &Vec<(String, Style)>| said.iter().map(|(text, _)| text.width() + 2).sum::<usize>() <= room;
    choices.find_map(|choice| Some(say(choice)).filter(fits)).unwrap_or_default()
}

/// What to say where there is nothing to show.
fn draw_empty(buffer: &mut Buffer, area: Rect, state: &State) {
    let text = if state.n_rows() > 0 {
        "no session fits; Esc clears the filter"
    } else if state.is_listing {
        "looking for sessions…"
    } else {
        "no session of any agent was found here\n`carryover info` tells where carryover looks\n`carryover demo` shows it without any agent"
    };
    let room = usize::from(area.width).saturating_sub(4);
    for (y, line) in (area.top() + 1..area.bottom()).zip(wrap(text, room, 10)) {
        put(buffer, area, area.left() + 2, y, &line, DIM);
    }
}
