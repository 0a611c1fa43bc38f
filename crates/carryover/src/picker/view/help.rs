//! All keys.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::super::cells::{fit, fit_left, put};
use super::super::state::State;
use super::open_box;

/// The keys, as they are told; `update` obeys them.
const KEYS: &[(&str, &str)] = &[
    ("letters", "filter by title, prompts, project, branch, agent"),
    ("↑ ↓  Ctrl-P Ctrl-N", "move"),
    ("PgUp PgDn Home End", "move further"),
    ("Enter", "continue in…"),
    ("Ctrl-F", "copy it, also into its own agent"),
    ("Ctrl-O", "hand it over as words"),
    ("Ctrl-Y", "copy a prompt to the clipboard"),
    ("Ctrl-S", "show it"),
    ("Ctrl-T", "take back how it was carried over"),
    ("Tab", "the whole preview"),
    ("Shift-↑ Shift-↓", "scroll the preview"),
    ("Ctrl-W Ctrl-U", "clear a word, the filter"),
    ("Esc", "clear the filter; leave"),
    ("Ctrl-C Ctrl-Z", "leave; put aside, `fg` comes back"),
];

const KEY_COLUMNS: usize = 20;
const WIDTH: usize = 70;

pub(super) fn draw(buffer: &mut Buffer, area: Rect, state: &State) {
    let palette = state.setup.palette;
    let width = WIDTH.min(usize::from(area.width).saturating_sub(4));
    let inner = open_box(buffer, area, width, KEYS.len());
    for (y, (keys, text)) in (inner.top()..inner.bottom()).zip(KEYS) {
        let x = put(buffer, inner, inner.left(), y, &fit_left(keys, KEY_COLUMNS), palette.accent());
        put(buffer, inner, x, y, &fit(text, width.saturating_sub(KEY_COLUMNS)), ratatui::style::Style::new());
    }
}
