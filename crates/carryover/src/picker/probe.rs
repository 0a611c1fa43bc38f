//! The picker without a terminal, for measuring: the same state, the same frames, drawn into memory.

use std::path::Path;

use carryover_engine::context::Context;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Size;

use super::palette::Palette;
use super::state::{Setup, State};
use super::update::{Event, update};
use super::view;

const SIZE: Size = Size { width: 120, height: 40 };

/// A picker that was just opened.
pub struct PickerProbe {
    state: State,
    terminal: Terminal<TestBackend>,
}

impl PickerProbe {
    /// Opens the picker on what is remembered, and draws the first frame.
    pub fn open(context: &Context, project: &Path) -> Self {
        let setup = Setup {
            project: project.display().to_string(),
            palette: Palette { has_colors: true },
            launch: true,
            now: context.env.now,
            zone: context.env.zone.clone(),
            size: SIZE,
        };
        let mut state = State::new(setup);
        update(&mut state, Event::Rows(super::worker::load_remembered(context).1));
        let Ok(terminal) = Terminal::new(TestBackend::new(SIZE.width, SIZE.height));
        let mut probe = Self { state, terminal };
        probe.draw();
        probe
    }

    /// Presses a key, and draws the frame that follows.
    pub fn press(&mut self, letter: char) {
        let key = if letter == '\u{8}' { KeyCode::Backspace } else { KeyCode::Char(letter) };
        update(&mut self.state, Event::Key(KeyEvent::new(key, KeyModifiers::NONE)));
        self.draw();
    }

    /// How many rows fit what was typed.
    pub fn n_shown(&self) -> usize {
        self.state.n_shown()
    }

    fn draw(&mut self) {
        let Ok(_) = self.terminal.draw(|frame| view::draw(frame, &self.state));
    }
}
