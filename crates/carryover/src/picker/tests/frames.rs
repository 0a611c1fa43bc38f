//! Frames at the sizes that must work.

use insta::assert_snapshot;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier};

use super::super::state::State;
use super::super::update::{Event, update};
use super::super::view;
use super::sample::{self, empty_state, key, state};
use super::{frame, press, press_all, type_text};

fn buffer(state: &State) -> Buffer {
    let area = state.area();
    let mut terminal = Terminal::new(TestBackend::new(area.width, area.height)).unwrap();
    terminal.draw(|frame| view::draw(frame, state)).unwrap();
    terminal.backend().buffer().clone()
}

fn with_offers(width: u16, height: u16) -> State {
    let mut state = state(width, height);
    press(&mut state, "Enter");
    let session = key("claude-code", "d2f488a7-0001");
    update(&mut state, Event::Offered { session, fork: false, answer: Ok(sample::offers()) });
    state
}

#[test]
fn a_small_terminal_shows_the_list_alone() {
    assert_snapshot!(frame(&state(60, 20)), @"");
}

#[test]
fn a_usual_terminal_shows_the_preview_below() {
    assert_snapshot!(frame(&state(80, 24)), @"");
}

#[test]
fn a_big_terminal_shows_the_preview_beside() {
    assert_snapshot!(frame(&state(200, 60)), @"");
}

#[test]
fn a_filter_tells_how_many_fit() {
    let mut state = state(60, 20);
    type_text(&mut state, "add bug");
    assert_snapshot!(frame(&state), @"");
    press_all(&mut state, &["q", "q", "q"]);
    assert_snapshot!(frame(&state), @"");
}

#[test]
fn a_preview_has_a_small_terminal_for_itself() {
    let mut state = state(60, 20);
    press(&mut state, "Tab");
    assert_snapshot!(frame(&state), @"");
}

#[test]
fn a_session_that_is_not_read_yet_shows_its_prompts() {
    let mut state = state(80, 24);
    let mut row = sample::rows().remove(1);
    row.first_prompt = Some("please fix the add bug".to_owned());
    row.last_prompt = Some("and run the tests".to_owned());
    update(&mut state, Event::Rows(vec![row]));
    press(&mut state, "Down");
    assert_snapshot!(frame(&state), @"");
    let error = "the session holds nothing that a model would see".to_owned();
    update(&mut state, Event::Previewed(key("codex", "7cba91ff-0002"), Err(error)));
    assert!(frame(&state).contains("holds nothing"));
}

#[test]
fn where_to_continue_in_a_usual_terminal() {
    assert_snapshot!(frame(&with_offers(80, 24)), @"");
}

#[test]
fn where_to_continue_in_a_small_terminal() {
    let mut state = with_offers(60, 20);
    press_all(&mut state, &["Down", "Down"]);
    assert_snapshot!(frame(&state), @"");
}

#[test]
fn where_to_continue_in_a_big_terminal() {
    assert_snapshot!(frame(&with_offers(200, 60)), @"");
}

#[test]
fn all_keys_fit_a_small_terminal() {
    let mut state = state(60, 20);
    press(&mut state, "?");
    assert_snapshot!(frame(&state), @"");
}

#[test]
fn an_empty_home_says_what_to_do() {
    let mut state = empty_state(60, 20);
    assert!(frame(&state).contains("looking for sessions"));
    update(&mut state, Event::Listed { found: [].into(), warnings: vec!["Codex: cannot be read".to_owned()] });
    assert_snapshot!(frame(&state), @"");
}

#[test]
fn taking_back_is_asked_about() {
    let mut state = state(60, 20);
    press(&mut state, "Ctrl-t");
    assert_snapshot!(frame(&state), @"");
}

#[test]
fn colours_are_the_terminals_own_and_only_letters_have_them() {
    for state in [state(200, 60), with_offers(200, 60)] {
        for cell in &buffer(&state).content {
            assert_eq!(cell.bg, Color::Reset);
            assert!(!matches!(cell.fg, Color::Rgb(..) | Color::Indexed(_)), "{:?}", cell.fg);
            // In reverse a colour would be a fill.
            assert!(!cell.modifier.contains(Modifier::REVERSED) || cell.fg == Color::Reset);
        }
    }
}

#[test]
fn without_colours_there_are_none_and_the_words_are_the_same() {
    let colored = state(200, 60);
    let mut plain = state(200, 60);
    plain.setup.palette.has_colors = false;
    assert!(buffer(&colored).content.iter().any(|cell| cell.fg != Color::Reset));
    assert!(buffer(&plain).content.iter().all(|cell| cell.fg == Color::Reset));
    assert_eq!(frame(&plain), frame(&colored));
}
