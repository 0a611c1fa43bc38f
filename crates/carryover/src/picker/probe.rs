//! The picker without a terminal, for measuring: the same state, the same frames, drawn into memory.

use carryover_engine::context::Context;
use carryover_engine::sessions::copies::Copies;
use carryover_engine::sessions::glance::GlanceCache;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Size;

use super::adapter::RowMaker;
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
    pub fn open(context: &Context) -> Self {
        let setup = Setup {
            project: crate::session_row::abbreviate_home(context, &context.cwd),
            palette: Palette { has_colors: true },
            launch: true,
            env: context.env.clone(),
            size: SIZE,
        };
        let mut state = State::new(setup);
        update(&mut state, Event::Rows(super::worker::load_remembered(context).1));
        let Ok(terminal) = Terminal::new(TestBackend::new(SIZE.width, SIZE.height));
        let mut probe = Self { state, terminal };
        probe.draw();
        probe
    }

    /// Takes in what is remembered of each session beyond its row, as the picker does in the background.
    pub fn read_glances(&mut self, context: &Context) {
        let (cache, copies) = (GlanceCache::load(context), Copies::load(context));
        let maker = RowMaker::new(context, &copies);
        let sessions = super::worker::load_remembered(context).0;
        let known = sessions.iter().map(|session| (session, cache.find(&session.found.source)));
        let rows = known.map(|(session, glance)| maker.make_row(session, glance.as_ref()).fold()).collect();
        update(&mut self.state, Event::Rows(rows));
        self.draw();
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
