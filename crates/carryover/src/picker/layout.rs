//! Where everything stands, by the size of the terminal.

use ratatui::layout::Rect;

/// From so many columns on, the preview stands beside the list.
const BESIDE_FROM_COLUMNS: u16 = 110;

/// From so many lines on, it stands below where it is not beside.
const BELOW_FROM_LINES: u16 = 24;

/// The parts of the screen.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Panes {
    pub(crate) search: Rect,
    pub(crate) list: Rect,
    /// The line between list and preview; it is upright where they stand beside each other.
    pub(crate) rule: Option<Rect>,
    pub(crate) preview: Option<Rect>,
    pub(crate) footer: Rect,
}

impl Panes {
    /// Divides the screen; a preview that was asked for takes the list's place where both have no room.
    pub(crate) fn arrange(area: Rect, whole_preview: bool) -> Self {
        let [search, middle] = cut_top(area, 1);
        let [middle, footer] = cut_top(middle, middle.height.saturating_sub(1));
        let [list, rule, preview] = if whole_preview {
            let [none, preview] = cut_top(middle, 0);
            return Self { search, list: none, rule: None, preview: Some(preview), footer };
        } else if area.width >= BESIDE_FROM_COLUMNS {
            let [list, rest] = cut_left(middle, middle.width * 11 / 20);
            let [rule, preview] = cut_left(rest, 3);
            [list, rule, preview]
        } else if area.height >= BELOW_FROM_LINES {
            let [list, rest] = cut_top(middle, middle.height / 2);
            let [rule, preview] = cut_top(rest, 1);
            [list, rule, preview]
        } else {
            return Self { search, list: middle, rule: None, preview: None, footer };
        };
        Self { search, list, rule: Some(rule), preview: Some(preview), footer }
    }

    /// The same, with the room of a preview that stands below given to the list.
    pub(crate) fn without_lower_preview(self) -> Self {
        match self.preview {
            Some(preview) if preview.x == self.list.x => {
                let list = Rect { height: preview.bottom().saturating_sub(self.list.y), ..self.list };
                Self { list, rule: None, preview: None, ..self }
            }
            _ => self,
        }
    }
}

fn cut_top(area: Rect, height: u16) -> [Rect; 2] {
    let height = height.min(area.height);
    let below = Rect { y: area.y + height, height: area.height - height, ..area };
    [Rect { height, ..area }, below]
}

fn cut_left(area: Rect, width: u16) -> [Rect; 2] {
    let width = width.min(area.width);
    let beside = Rect { x: area.x + width, width: area.width - width, ..area };
    [Rect { width, ..area }, beside]
}
