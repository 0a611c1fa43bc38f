//! The picker without a terminal: frames, keys, and anything that anybody may type.

mod anything;
mod frames;
mod keys;
mod offer_frames;
pub(super) mod sample;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::state::State;
use super::update::{Effect, Event, update};
use super::view;

/// A frame as text, without the blanks at the ends of lines.
fn frame(state: &State) -> String {
    let area = state.area();
    let mut terminal = Terminal::new(TestBackend::new(area.width, area.height)).unwrap();
    terminal.draw(|frame| view::draw(frame, state)).unwrap();
    let buffer = terminal.backend().buffer();
    let mut text = String::new();
    for y in 0..area.height {
        let mut line = String::new();
        let mut hidden = 0;
        for x in 0..area.width {
            let symbol = buffer[(x, y)].symbol();
            // A wide character covers the cell behind it.
            if hidden == 0 {
                line.push_str(symbol);
                hidden = unicode_width::UnicodeWidthStr::width(symbol).saturating_sub(1);
            } else {
                hidden -= 1;
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Presses one key, by the name that the help has for it.
fn press(state: &mut State, name: &str) -> Vec<Effect> {
    let (modifiers, name) = match name.split_once('-') {
        Some(("Ctrl", name)) => (KeyModifiers::CONTROL, name),
        Some(("Shift", name)) => (KeyModifiers::SHIFT, name),
        _ => (KeyModifiers::NONE, name),
    };
    let code = match name {
        "Enter" => KeyCode::Enter,
        "Esc" => KeyCode::Esc,
        "Tab" => KeyCode::Tab,
        "Backspace" => KeyCode::Backspace,
        "Up" => KeyCode::Up,
        "Down" => KeyCode::Down,
        "PgUp" => KeyCode::PageUp,
        "PgDn" => KeyCode::PageDown,
        "Home" => KeyCode::Home,
        "End" => KeyCode::End,
        "F1" => KeyCode::F(1),
        letter => KeyCode::Char(letter.chars().next().unwrap().to_ascii_lowercase()),
    };
    update(state, Event::Key(KeyEvent::new(code, modifiers)))
}

/// Presses keys one after the other, and answers what is to be done at the end.
fn press_all(state: &mut State, names: &[&str]) -> Vec<Effect> {
    names.iter().flat_map(|name| press(state, name)).collect()
}

fn type_text(state: &mut State, text: &str) {
    for letter in text.chars() {
        update(state, Event::Key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE)));
    }
}
