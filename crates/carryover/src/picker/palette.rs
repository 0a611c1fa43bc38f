//! Styles: the terminal's own colours by name, so that light and dark are its matter, or none at all.

use ratatui::style::{Color, Modifier, Style};

pub(super) const DIM: Style = Style::new().add_modifier(Modifier::DIM);
pub(super) const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);
pub(super) const SELECTED: Style = Style::new().add_modifier(Modifier::REVERSED);

/// Colours, where they are wanted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Palette {
    pub(crate) has_colors: bool,
}

impl Palette {
    fn colored(self, color: Color) -> Style {
        if self.has_colors { Style::new().fg(color) } else { Style::new() }
    }

    pub(super) fn agent(self, color: Color) -> Style {
        self.colored(color)
    }

    pub(super) fn good(self) -> Style {
        self.colored(Color::Green)
    }

    pub(super) fn doubtful(self) -> Style {
        self.colored(Color::Yellow)
    }

    pub(super) fn bad(self) -> Style {
        self.colored(Color::Red)
    }

    pub(super) fn accent(self) -> Style {
        self.colored(Color::Cyan)
    }
}
