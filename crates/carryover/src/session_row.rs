//! Sessions as lines of a table, for listings and for choosing one.

use std::path::Path;

use carryover_agents::Liveness;
use carryover_core::plain::one_line;
use carryover_engine::context::Context;
use carryover_engine::sessions::list::ListedSession;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::quantity;
use crate::relative_time::format_ago;
use crate::short_id::ShortIds;

/// The columns, without the title, which takes the rest.
const HEADINGS: [&str; 6] = ["AGENT", "SESSION", "WHEN", "MESSAGES", "SIZE", "MODEL"];

/// Numbers stand to the right.
const ALIGN_RIGHT: [bool; 6] = [false, false, false, true, true, false];

/// A table of sessions, ready to be printed line by line.
pub(crate) struct SessionTable {
    rows: Vec<([String; 6], String)>,
    widths: [usize; 6],
    width: usize,
}

impl SessionTable {
    pub(crate) fn new(context: &Context, sessions: &[ListedSession], ids: &ShortIds, width: usize) -> Self {
        let rows: Vec<_> =
            sessions.iter().map(|session| (row_cells(context, session, ids), row_title(context, session))).collect();
        let mut widths = HEADINGS.map(str::len);
        for (cells, _) in &rows {
            for (width, cell) in widths.iter_mut().zip(cells) {
                *width = (*width).max(cell.width());
            }
        }
        Self { rows, widths, width }
    }

    pub(crate) fn heading_line(&self) -> String {
        self.format_line(&HEADINGS.map(str::to_owned), "TITLE")
    }

    /// The lines, in the order of the sessions.
    pub(crate) fn lines(&self) -> impl Iterator<Item = String> + '_ {
        self.rows.iter().map(|(cells, title)| self.format_line(cells, title))
    }

    fn format_line(&self, cells: &[String; 6], title: &str) -> String {
        let mut line = String::new();
        for ((cell, width), right) in cells.iter().zip(self.widths).zip(ALIGN_RIGHT) {
            let gap = " ".repeat(width.saturating_sub(cell.width()));
            let (left, end) = if right { (&*gap, "") } else { ("", &*gap) };
            for piece in [left, cell, end, "  "] {
                line.push_str(piece);
            }
        }
        let room = self.width.saturating_sub(line.width()).max(10);
        line.push_str(&cut_to_width(title, room));
        line.trim_end().to_owned()
    }
}

fn row_cells(context: &Context, session: &ListedSession, ids: &ShortIds) -> [String; 6] {
    let found = &session.found;
    let when = match (found.live, found.updated_at) {
        (Liveness::Live, _) => "open now".to_owned(),
        (_, Some(at)) => format_ago(at, context.env.now),
        (_, None) => "–".to_owned(),
    };
    [
        session.agent.facts().id.to_owned(),
        one_line(ids.shorten(&found.id.0), 40),
        when,
        found.messages.map_or_else(|| "–".to_owned(), |count| count.to_string()),
        // A session among others in a database has no size of its own.
        if found.bytes == 0 { "–".to_owned() } else { quantity::format_bytes(found.bytes) },
        found.model.as_deref().map_or_else(|| "–".to_owned(), |model| one_line(model, 20)),
    ]
}

/// The title; sessions of other projects say which.
fn row_title(context: &Context, session: &ListedSession) -> String {
    let title = session.found.title.as_deref().map_or_else(|| "(no title)".to_owned(), |title| one_line(title, 200));
    match &session.found.project {
        Some(project) if !session.here => format!("{}: {title}", abbreviate_home(context, project)),
        _ => title,
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
