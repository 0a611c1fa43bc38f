//! The keys that matter now, as many as there is room for.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr;

use super::super::cells::{fit, put, put_right};
use super::super::palette::DIM;
use super::super::state::{Mode, State};

const LIST: &[(&str, &str)] = &[
    ("Enter", "continue in…"),
    ("?", "keys"),
    ("Esc", "leave"),
    ("Tab", "preview"),
    ("Ctrl-S", "show"),
    ("Ctrl-O", "hand over"),
    ("Ctrl-F", "fork"),
    ("Ctrl-T", "take back"),
];
const FILTERED: &[(&str, &str)] = &[("Enter", "continue in…"), ("Esc", "clear"), ("F1", "keys"), ("Tab", "preview")];
const EMPTY: &[(&str, &str)] = &[("?", "keys"), ("Esc", "leave")];
const OFFERS: &[(&str, &str)] =
    &[("Enter", "do it"), ("Esc", "back"), ("Ctrl-F", "fork"), ("Ctrl-O", "hand over as words"), ("?", "keys")];
const HELP: &[(&str, &str)] = &[("any key", "back")];
const PREVIEW: &[(&str, &str)] = &[("Tab", "back"), ("↑ ↓", "scroll"), ("Enter", "continue in…")];

pub(super) fn draw(buffer: &mut Buffer, area: Rect, state: &State) {
    let palette = state.setup.palette;
    let keys = match &state.mode {
        Mode::Offers(_) => OFFERS,
        Mode::Help { .. } | Mode::Message(_) => HELP,
        Mode::Confirm { .. } => &[],
        Mode::List if state.is_preview_whole => PREVIEW,
        Mode::List if state.n_rows() == 0 => EMPTY,
        Mode::List if state.filter.is_empty() => LIST,
        Mode::List => FILTERED,
    };
    let mut x = area.left() + 1;
    for (key, word) in keys {
        let width = u16::try_from(key.width() + word.width() + 4).unwrap_or(u16::MAX);
        if x.saturating_add(width) > area.right() {
            break;
        }
        x = put(buffer, area, x, area.top(), key, Style::new());
        x = put(buffer, area, x, area.top(), &format!(" {word}   "), DIM);
    }
    if let Some(warning) = state.warnings.first() {
        let room = usize::from(area.right().saturating_sub(x)).saturating_sub(1);
        let more = if state.warnings.len() > 1 { format!(" (+{})", state.warnings.len() - 1) } else { String::new() };
        if room > 20 {
            put_right(buffer, area, area.top(), &fit(&format!("{warning}{more}"), room), palette.doubtful());
        }
    }
}
