//! All keys, and what the columns are.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::super::cells::{fit, fit_left, put};
use super::super::state::State;
use super::open_box;

/// The keys of the list, as they are told; `update` obeys them.
const LIST_KEYS: &[(&str, &str)] = &[
    ("columns", "agent, age, messages, title, marks"),
    ("← →", "carried from, carried to others"),
    ("letters", "filter by title, prompts, project…"),
    ("↑ ↓ Ctrl-P Ctrl-N", "move"),
    ("PgUp PgDn Home End", "move further"),
    ("Enter", "continue in…"),
    ("Ctrl-F", "copy it, also into its own agent"),
    ("Ctrl-O", "hand it over as words, and copy them"),
    ("Ctrl-S", "show it"),
    ("Ctrl-T", "take back how it was carried over"),
    ("Tab", "the whole preview"),
    ("Shift-↑ Shift-↓", "scroll the preview"),
    ("Ctrl-W Ctrl-U", "clear a word, the filter"),
    ("Esc", "clear the filter; leave"),
    ("Ctrl-C Ctrl-Z", "leave; put aside, `fg` comes back"),
];

/// The keys of *continue in…*.
const OFFER_KEYS: &[(&str, &str)] = &[
    ("bar and percent", "how much of its window is taken"),
    ("loses …", "what it cannot take; why is below"),
    ("↑ ↓ Ctrl-P Ctrl-N", "move"),
    ("PgUp PgDn Home End", "move further"),
    ("Enter", "do what is told below"),
    ("Ctrl-F", "a copy, also into its own agent"),
    ("Ctrl-O", "hand it over to this one as words"),
    ("Esc", "back to the list"),
    ("Ctrl-C Ctrl-Z", "leave; put aside, `fg` comes back"),
];

const KEY_COLUMNS: usize = 20;
const WIDTH: usize = 70;

pub(super) fn draw(buffer: &mut Buffer, area: Rect, state: &State) {
    let palette = state.setup.palette;
    let keys = if state.is_offering() { OFFER_KEYS } else { LIST_KEYS };
    let width = WIDTH.min(usize::from(area.width).saturating_sub(4));
    let inner = open_box(buffer, area, width, keys.len());
    for (y, (key, text)) in (inner.top()..inner.bottom()).zip(keys) {
        let x = put(buffer, inner, inner.left(), y, &fit_left(key, KEY_COLUMNS), palette.accent());
        put(buffer, inner, x, y, &fit(text, width.saturating_sub(KEY_COLUMNS)), ratatui::style::Style::new());
    }
}
