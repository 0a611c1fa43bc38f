//! Whatever is pressed, at whatever size, with whatever titles: a frame comes of it.

use proptest::prelude::*;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Size;

use super::super::state::Mode;
use super::super::update::{Event, update};
use super::frame;
use super::sample::{self, key, row, state};

/// One thing that happens.
#[derive(Debug, Clone)]
enum Step {
    Key(KeyCode, KeyModifiers),
    Paste(String),
    Resize(u16, u16),
    Row(String, bool, i64),
    Gone,
    Offer,
    Preview(String),
}

fn key_code() -> impl Strategy<Value = KeyCode> {
    prop_oneof![
        any::<char>().prop_map(KeyCode::Char),
        proptest::char::range('a', 'z').prop_map(KeyCode::Char),
        (1..12u8).prop_map(KeyCode::F),
        proptest::sample::select(vec![
            KeyCode::Enter,
            KeyCode::Esc,
            KeyCode::Tab,
            KeyCode::Backspace,
            KeyCode::Up,
            KeyCode::Down,
            KeyCode::PageUp,
            KeyCode::PageDown,
            KeyCode::Home,
            KeyCode::End,
            KeyCode::Null,
        ]),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let modifiers = proptest::sample::select(vec![
        KeyModifiers::NONE,
        KeyModifiers::NONE,
        KeyModifiers::CONTROL,
        KeyModifiers::SHIFT,
        KeyModifiers::ALT,
    ]);
    prop_oneof![
        6 => (key_code(), modifiers).prop_map(|(code, modifiers)| Step::Key(code, modifiers)),
        1 => any::<String>().prop_map(Step::Paste),
        2 => (0..250u16, 0..80u16).prop_map(|(width, height)| Step::Resize(width, height)),
        2 => (any::<String>(), any::<bool>(), any::<i64>()).prop_map(|(title, here, at)| Step::Row(title, here, at)),
        1 => Just(Step::Gone),
        1 => Just(Step::Offer),
        1 => any::<String>().prop_map(Step::Preview),
    ]
}

fn take_step(state: &mut super::State, step: Step) {
    let event = match step {
        Step::Key(code, modifiers) => Event::Key(KeyEvent::new(code, modifiers)),
        Step::Paste(text) => Event::Paste(text),
        Step::Resize(width, height) => Event::Resized(Size { width, height }),
        Step::Row(title, is_here, at) => {
            let mut row = row("codex", &title, &title);
            row.is_here = is_here;
            row.branch = Some(title.clone());
            row.project = Some(title);
            row.updated_at = Some(carryover_core::time::Timestamp::from_millis(at));
            Event::Rows(vec![row])
        }
        Step::Gone => Event::Listed { found: [key("codex", "7cba91ff-0002")].into(), warnings: vec!["gone".into()] },
        Step::Offer => match &state.mode {
            Mode::Offers(offers) => {
                let (session, fork) = (offers.session.clone(), offers.fork);
                Event::Offered { session, fork, answer: Ok(sample::offers()) }
            }
            _ => return,
        },
        Step::Preview(text) => {
            let Some(row) = state.selected_row() else { return };
            let mut preview = sample::preview();
            preview.sections[0].texts.push(text);
            Event::Previewed(row.key.clone(), Ok(preview))
        }
    };
    update(state, event);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn nothing_that_is_typed_breaks_a_frame(steps in proptest::collection::vec(step(), 0..40)) {
        let mut state = state(80, 24);
        for step in steps {
            take_step(&mut state, step);
            let text = frame(&state);
            prop_assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
            let width = usize::from(state.setup.size.width);
            for line in text.lines() {
                prop_assert!(unicode_width::UnicodeWidthStr::width(line) <= width, "{line:?}");
            }
        }
    }
}
