//! Sessions as lines of a table, for listings and for choosing one.

use std::path::Path;

use carryover_agents::Liveness;
use carryover_core::plain::one_line;
use carryover_engine::context::Context;
use carryover_engine::sessions::list::ListedSession;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::quantity;
use crate::relative_time::format_when;
use crate::short_id::ShortIds;
use crate::ui::{GOOD, Paint};

const AGENT: usize = 0;
const SESSION: usize = 1;
const WHEN: usize = 2;
const MESSAGES: usize = 3;
const SIZE: usize = 4;
const MODEL: usize = 5;
const BRANCH: usize = 6;
const N_COLUMNS: usize = 7;

/// The columns, without the title, which takes the rest.
const HEADINGS: [&str; N_COLUMNS] = ["AGENT", "SESSION", "WHEN", "MESSAGES", "SIZE", "MODEL", "BRANCH"];

/// Numbers stand to the right.
const ALIGN_RIGHT: [usize; 2] = [MESSAGES, SIZE];

/// The columns in the order of their worth: each is shown if the title keeps this much room.
const MIN_TITLE_BESIDE: [(usize, usize); N_COLUMNS] =
    [(SESSION, 0), (AGENT, 12), (WHEN, 24), (MESSAGES, 24), (BRANCH, 32), (MODEL, 32), (SIZE, 32)];

/// Columns that give way to marks, too.
const OPTIONAL: [usize; 3] = [BRANCH, MODEL, SIZE];

/// Below this width, times and projects are told in brief.
const BRIEF_BELOW_COLUMNS: usize = 72;
const FULL_PATHS_FROM_COLUMNS: usize = 100;

/// Longer paths are told by their last part: the title is what a session is known by.
const MAX_PATH_COLUMNS: usize = 24;

/// A title is not cut further to make room for marks.
const MIN_TITLE_BESIDE_MARKS: usize = 16;
const MAX_MARKS_ROOM: usize = 45;
const MARKS_INDENT: &str = "\n    ";
const GAP: &str = "  ";
const UNKNOWN: &str = "–";

/// A piece of a line in a style.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    pub(crate) text: String,
    pub(crate) paint: Paint,
}

impl Mark {
    fn painted(&self, room: usize) -> String {
        let Self { text, paint } = self;
        format!("{paint}{}{paint:#}", cut_to_width(text, room))
    }
}

/// A table of sessions, ready to be printed line by line.
pub(crate) struct SessionTable {
    rows: Vec<Row>,
    widths: [usize; N_COLUMNS],
    is_shown: [bool; N_COLUMNS],
    /// How wide the marks are, as far as they stand behind titles.
    marks_room: usize,
    width: usize,
}

struct Row {
    cells: [String; N_COLUMNS],
    paints: [Option<Paint>; N_COLUMNS],
    title: String,
    marks: Vec<Mark>,
}

impl SessionTable {
    pub(crate) fn new(context: &Context, sessions: &[ListedSession], ids: &ShortIds, width: usize) -> Self {
        let rows: Vec<Row> = sessions.iter().map(|session| Row::new(context, session, ids, width)).collect();
        let mut widths = HEADINGS.map(str::len);
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(&row.cells) {
                *width = (*width).max(cell.width());
            }
        }
        let mut table = Self { rows, widths, is_shown: [false; N_COLUMNS], marks_room: 0, width };
        table.choose_columns();
        table
    }

    /// The same with marks behind the titles, in the order of the sessions.
    pub(crate) fn with_marks(mut self, marks: impl IntoIterator<Item = Vec<Mark>>) -> Self {
        for (row, marks) in self.rows.iter_mut().zip(marks) {
            row.marks = marks;
        }
        let widest = self.rows.iter().map(Row::marks_width).filter(|width| *width <= MAX_MARKS_ROOM).max();
        self.marks_room = widest.unwrap_or(0);
        self.choose_columns();
        self
    }

    /// Shows the columns that there is room for; one of which nothing is known has no worth.
    fn choose_columns(&mut self) {
        self.is_shown = [false; N_COLUMNS];
        let mut used = 0;
        for (column, min_title) in MIN_TITLE_BESIDE {
            // A number of messages that is not known yet is worth saying so.
            let is_known = column == MESSAGES || self.rows.iter().any(|row| row.cells[column] != UNKNOWN);
            let marks_room = if OPTIONAL.contains(&column) { self.marks_room } else { 0 };
            let needed = used + self.widths[column] + GAP.len();
            if column == SESSION || (is_known && needed + min_title + marks_room <= self.width) {
                (self.is_shown[column], used) = (true, needed);
            }
        }
    }

    pub(crate) fn heading_line(&self) -> String {
        let mut line = self.format_cells(&HEADINGS.map(str::to_owned), &[None; N_COLUMNS]);
        line.push_str("TITLE");
        line
    }

    /// The lines, in the order of the sessions, without styles and marks.
    pub(crate) fn lines(&self) -> impl Iterator<Item = String> + '_ {
        self.rows
            .iter()
            .map(|row| self.format_cells(&row.cells, &[None; N_COLUMNS]) + &cut_to_width(&row.title, self.title_room()))
    }

    /// The same in colour and with marks; where these have no room, they follow on lines of their own.
    pub(crate) fn painted_lines(&self) -> impl Iterator<Item = String> + '_ {
        self.rows.iter().map(|row| self.format_painted(row))
    }

    fn title_room(&self) -> usize {
        let shown = (0..N_COLUMNS).filter(|column| self.is_shown[*column]);
        let used: usize = shown.map(|column| self.widths[column] + GAP.len()).sum();
        self.width.saturating_sub(used).max(10)
    }

    fn format_cells(&self, cells: &[String; N_COLUMNS], paints: &[Option<Paint>; N_COLUMNS]) -> String {
        let mut line = String::new();
        for column in (0..N_COLUMNS).filter(|column| self.is_shown[*column]) {
            let cell = &cells[column];
            let filling = " ".repeat(self.widths[column].saturating_sub(cell.width()));
            let cell = paints[column].map_or_else(|| cell.clone(), |paint| format!("{paint}{cell}{paint:#}"));
            let (left, right) = if ALIGN_RIGHT.contains(&column) { (&*filling, "") } else { ("", &*filling) };
            for piece in [left, &cell, right, GAP] {
                line.push_str(piece);
            }
        }
        line
    }

    fn format_painted(&self, row: &Row) -> String {
        let mut line = self.format_cells(&row.cells, &row.paints);
        let room = self.title_room();
        // Row by row: one with many marks is no reason to put those of the others below.
        let is_beside = row.marks_width() + row.title.width().min(MIN_TITLE_BESIDE_MARKS) <= room;
        if is_beside {
            line.push_str(&cut_to_width(&row.title, room - row.marks_width()));
            row.marks.iter().for_each(|mark| line.extend([GAP, &mark.painted(room)]));
        } else {
            line.push_str(&cut_to_width(&row.title, room));
            self.push_marks_below(&mut line, &row.marks);
        }
        line
    }

    fn push_marks_below(&self, line: &mut String, marks: &[Mark]) {
        let room = self.width.saturating_sub(MARKS_INDENT.len());
        let mut used = self.width;
        for mark in marks {
            let needed = GAP.len() + mark.text.width();
            let begins = used + needed > self.width;
            line.push_str(if begins { MARKS_INDENT } else { GAP });
            used = if begins { MARKS_INDENT.len() } else { used } + needed;
            line.push_str(&mark.painted(room));
        }
    }
}

impl Row {
    /// How wide its marks are, with the gaps before them.
    fn marks_width(&self) -> usize {
        self.marks.iter().map(|mark| mark.text.width() + GAP.len()).sum()
    }

    fn new(context: &Context, session: &ListedSession, ids: &ShortIds, width: usize) -> Self {
        let found = &session.found;
        let is_open = found.live == Liveness::Live;
        let when = match found.updated_at {
            _ if is_open => "open now".to_owned(),
            Some(at) => format_when(at, &context.env, width < BRIEF_BELOW_COLUMNS),
            None => UNKNOWN.to_owned(),
        };
        let text = |text: Option<&str>| text.map_or_else(|| UNKNOWN.to_owned(), |text| one_line(text, 20));
        let mut paints = [None; N_COLUMNS];
        paints[AGENT] = Some(Paint::for_agent(session.agent));
        paints[WHEN] = is_open.then_some(GOOD);
        Self {
            cells: [
                session.agent.facts().id.to_owned(),
                one_line(ids.shorten(&found.id.0), 40),
                when,
                found.messages.map_or_else(|| UNKNOWN.to_owned(), |count| count.to_string()),
                // A session among others in a database has no size of its own.
                if found.bytes == 0 { UNKNOWN.to_owned() } else { quantity::format_bytes(found.bytes) },
                text(found.model.as_deref()),
                text(found.branch.as_deref()),
            ],
            paints,
            title: row_title(context, session, width),
            marks: Vec::new(),
        }
    }
}

/// The title; sessions of other projects say which.
fn row_title(context: &Context, session: &ListedSession, width: usize) -> String {
    let title = session.found.title.as_deref().map(|title| one_line(title, 200)).filter(|title| !title.is_empty());
    let title = title.unwrap_or_else(|| "(no title)".to_owned());
    match &session.found.project {
        Some(project) if !session.here => format!("{}: {title}", project_name(context, project, width)),
        _ => title,
    }
}

/// The path of a project where it is short, else its last part.
fn project_name(context: &Context, project: &Path, width: usize) -> String {
    let path = abbreviate_home(context, project);
    match project.file_name() {
        Some(name) if width < FULL_PATHS_FROM_COLUMNS || path.width() > MAX_PATH_COLUMNS => {
            one_line(&name.to_string_lossy(), 20)
        }
        _ => one_line(&path, MAX_PATH_COLUMNS),
    }
}

/// A path as the user would type it.
pub(crate) fn abbreviate_home(context: &Context, path: &Path) -> String {
    let text = match path.strip_prefix(&context.env.home) {
        Ok(rest) if !rest.as_os_str().is_empty() => format!("~/{}", rest.display()),
        _ => path.display().to_string(),
    };
    one_line(&text, 200)
}

/// Cuts by columns: some characters take two.
pub(crate) fn cut_to_width(text: &str, room: usize) -> String {
    if text.width() <= room {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 1;
    for next in text.chars() {
        used += next.width().unwrap_or(0);
        if used > room {
            break;
        }
        kept.push(next);
    }
    kept.truncate(kept.trim_end().len());
    kept.push('…');
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_count_twice() {
        assert_eq!(cut_to_width("fix the add bug", 20), "fix the add bug");
        assert_eq!(cut_to_width("fix the add bug", 8), "fix the…");
        assert_eq!(cut_to_width("日本語テキスト", 7), "日本語…");
    }
}
