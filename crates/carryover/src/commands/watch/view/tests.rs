//! Frames of the watcher.

use std::collections::BTreeMap;
use std::path::PathBuf;

use carryover_agents::{Env, Os};
use carryover_core::time::Timestamp;
use carryover_core::transcript::{Limit, SessionId, Tokens};
use carryover_engine::own::config::Config;
use carryover_engine::watch::{Activity, CallSummary, Doing, Event, LastUsage};
use jiff::tz::TimeZone;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;

use super::*;

const NOW: &str = "2026-11-15T10:00:00Z";

pub(in super::super) fn make_context() -> Context {
    let env = Env {
        home: "/home/you".into(),
        vars: BTreeMap::new(),
        os: Os::Linux,
        now: Timestamp::parse(NOW).unwrap(),
        zone: TimeZone::UTC,
        stores: BTreeMap::new(),
        projects: Vec::new(),
    };
    Context::with_config(env, Config::default(), "/home/you/.carryover".into(), "/home/you/calc".into(), 1)
}

fn activity(agent: &'static str, id: &str, title: &str, seconds_ago: i64, doing: Doing) -> Activity {
    Activity {
        agent,
        session: SessionId(id.to_owned()),
        project: Some(PathBuf::from("/home/you/calc")),
        title: Some(title.to_owned()),
        at: Timestamp::parse(NOW).unwrap().plus_millis(-seconds_ago * 1000),
        doing,
        usage: LastUsage::default(),
    }
}

fn call(action: &'static str, subject: &str) -> CallSummary {
    CallSummary { action, subject: subject.to_owned() }
}

/// Three sessions, one of them at a limit.
fn usual_board() -> Board {
    let tokens = Tokens { input: 125_500, output: 500, ..Tokens::default() };
    let limit = |used_percent, minutes| Limit { used_percent, window_minutes: Some(minutes), resets_at: None };
    let runs = Doing::Calling(call("run", "cargo test --workspace -- --nocapture"));
    let mut testing =
        activity("claude-code", "d3a03cdd-c689-41e6-9587-86a6223f5251", "Fix the bug in calc.py", 5, runs);
    testing.usage.tokens = Some(tokens);
    let message = "You've hit your usage limit".to_owned();
    let stopped = Doing::AtLimit { message, resets_at: Timestamp::parse("2026-11-15T12:00:00Z") };
    let mut codex =
        activity("codex", "01a1dcb4-8ab4-7e10-8000-000000000001", "Add a test for negative numbers", 130, stopped);
    codex.usage = LastUsage { tokens: Some(tokens), limits: vec![limit(100.0, 300), limit(7.0, 10_080)] };
    let waits = Doing::Replied { text: "All tests pass. Shall I commit?".to_owned() };
    let waiting = activity("gemini-cli", "1392e77c-7d87-44c4-8ad6-61d4a6f4e3a1", "Translate the README", 400, waits);
    let mut board = Board::default();
    for event in [
        Event::Watching { agents: vec!["claude-code", "codex", "gemini-cli"] },
        Event::Active(waiting),
        Event::Active(testing),
        Event::Active(codex),
    ] {
        board.apply_event(event, |_| Some("claude-code"));
    }
    board
}

fn draw_buffer(board: &Board, width: u16, height: u16, has_colors: bool) -> Buffer {
    let context = make_context();
    let surroundings = Surroundings { context: &context, has_colors };
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, board, &surroundings)).unwrap();
    terminal.backend().buffer().clone()
}

/// The lines of a frame, without the blanks at their ends.
fn draw_text(board: &Board, width: u16, height: u16) -> String {
    let buffer = draw_buffer(board, width, height, true);
    let rows = buffer.content().chunks(usize::from(width)).map(|cells| {
        let mut line = String::new();
        let mut skipped = 0;
        for cell in cells {
            if skipped == 0 {
                line.push_str(cell.symbol());
            }
            skipped = if skipped > 0 { skipped - 1 } else { cell.symbol().width().saturating_sub(1) };
        }
        line.trim_end().to_owned()
    });
    rows.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_small_terminal_shows_all_that_matters() {
    insta::assert_snapshot!(draw_text(&usual_board(), 60, 20), @"
    carryover watch  claude-code, codex…  3 active, 1 at a limit

      claude-code  ~/calc  Fix the bug in calc.py       just now
                   runs cargo test --workspace -- …  126k tokens

    ! codex        ~/calc  Add a test for negative n…  2 min ago
                   at a limit until 12:00: You've    100% of 5 h
                   hit your usage limit
                   go on: carryover claude-code 01a1dcb4

      gemini-cli   ~/calc  Translate the README        6 min ago
                   waits for you: All tests pass. Shall I …







    q leaves
    ");
}

#[test]
fn a_large_terminal_shows_ids_too() {
    insta::assert_snapshot!(draw_text(&usual_board(), 140, 16), @"
    carryover watch  claude-code, codex, gemini-cli                                                    3 active in the last 15 min, 1 at a limit

      claude-code  d3a03cdd  ~/calc  Fix the bug in calc.py                                                                             just now
                   runs cargo test --workspace -- --nocapture                                                                        126k tokens

    ! codex        01a1dcb4  ~/calc  Add a test for negative numbers                                                                   2 min ago
                   at a limit until 12:00: You've hit your usage limit                                       100% of 5 h, 7% of 7 d, 126k tokens
                   go on: carryover claude-code 01a1dcb4-8ab4-7e10-8000-000000000001

      gemini-cli   1392e77c  ~/calc  Translate the README                                                                              6 min ago
                   waits for you: All tests pass. Shall I commit?




    q leaves
    ");
}

#[test]
fn rows_for_which_there_is_no_room_are_counted_and_reached() {
    let mut board = Board::default();
    for n in 0..9 {
        let id = format!("0000000{n}-0000");
        let session = activity("codex", &id, &format!("Session {n}"), n * 60, Doing::Thinking);
        board.apply_event(Event::Active(session), |_| None);
    }
    let frame = draw_text(&board, 60, 10);
    assert!(
        frame.contains("Session 0") && !frame.contains("Session 4") && frame.contains("q leaves, ↓ 6 more"),
        "{frame}"
    );
    board.scroll_by(7);
    let frame = draw_text(&board, 60, 10);
    assert!(frame.contains("Session 8") && frame.contains("↑ 7 more") && !frame.contains('↓'), "{frame}");
    board.scroll_by(isize::MAX);
    assert!(draw_text(&board, 60, 10).contains("Session 8"));
    for n in 0..9 {
        let session = SessionId(format!("0000000{n}-0000"));
        board.apply_event(Event::Ended { agent: "codex", session, project: None, is_gone: false }, |_| None);
    }
    assert!(draw_text(&board, 60, 10).contains("0 active"));
}

#[test]
fn nothing_and_trouble_are_told() {
    let mut board = Board::default();
    assert!(draw_text(&board, 60, 20).contains("looking for sessions"));
    board.apply_event(Event::Watching { agents: vec!["codex"] }, |_| None);
    let trouble = Event::Trouble { agent: Some("codex"), message: "could not read \u{1b}[31m/a".to_owned() };
    board.apply_event(trouble, |_| None);
    let frame = draw_text(&board, 60, 20);
    assert!(frame.contains("no session was active in the last 15 min"), "{frame}");
    assert!(frame.ends_with("warning: codex: could not read /a                   q leaves"), "{frame}");
}

#[test]
fn hostile_titles_stay_in_their_line() {
    let title = "\u{1b}[2J\u{1b}]0;x\u{7}a\r\n👩\u{200d}👩\u{200d}👧 日本語テキスト e\u{301}\u{301}\u{301}\u{301}\u{301} \u{202e}end"
        .repeat(40);
    let hostile = Doing::Calling(call("run", &title));
    let mut board = Board::default();
    board.apply_event(Event::Active(activity("codex", &title, &title, 1, hostile)), |_| Some("claude-code"));
    let limit = Doing::AtLimit { message: title.clone(), resets_at: None };
    board.apply_event(Event::Active(activity("aider", "--force", &title, 1, limit)), |_| Some("claude-code"));
    for (width, height) in [(200, 60), (60, 20), (20, 6), (3, 2), (1, 1)] {
        let frame = draw_text(&board, width, height);
        assert!(!frame.contains(['\u{1b}', '\u{7}', '\u{202e}', '\u{200d}', '\r']), "{frame:?}");
        assert!(!frame.contains("\u{301}\u{301}\u{301}"), "{frame:?}");
        assert!(frame.lines().all(|line| line.width() <= usize::from(width)), "{frame}");
    }
    assert!(draw_text(&board, 200, 60).contains("go on: carryover list --all"), "such an id is in no command");
}

#[test]
fn without_colours_there_are_none() {
    let styles = |has_colors| {
        let buffer = draw_buffer(&usual_board(), 80, 20, has_colors);
        buffer.content().iter().any(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset)
    };
    assert!(styles(true) && !styles(false));
}

#[test]
fn a_row_goes_when_its_session_ends_and_a_limit_when_it_is_over() {
    let mut board = usual_board();
    let now = Timestamp::parse(NOW).unwrap();
    let stopped = |board: &Board| draw_text(board, 80, 20).contains("go on: carryover claude-code");
    assert!(stopped(&board));
    let message = String::new();
    let over = Doing::AtLimit { message, resets_at: Some(now.plus_millis(-1)) };
    let session = activity("codex", "01a1dcb4-8ab4-7e10-8000-000000000001", "Add a test", 130, over);
    board.apply_event(Event::Active(session), |_| Some("claude-code"));
    assert!(!stopped(&board));
    assert!(draw_text(&board, 80, 20).contains("its limit ended just now"));
}

#[test]
fn a_limit_is_told_to_the_end_of_the_services_words() {
    let message = "You've hit your usage limit for this model, which all of your sessions share; it resets at 5pm";
    let limit = Doing::AtLimit { message: message.to_owned(), resets_at: None };
    let mut board = Board::default();
    board.apply_event(Event::Active(activity("codex", "01a1dcb4", "Add a test", 1, limit)), |_| Some("claude-code"));
    let frame = draw_text(&board, 60, 20);
    assert!(frame.contains("resets at 5pm"), "{frame}");
}

#[test]
fn a_session_at_a_limit_stays_until_it_is_carried_on_or_gone() {
    let ended = |is_gone| Event::Ended {
        agent: "codex",
        session: SessionId("01a1dcb4-8ab4-7e10-8000-000000000001".to_owned()),
        project: None,
        is_gone,
    };
    let is_shown = |board: &Board| draw_text(board, 80, 20).contains("go on: carryover claude-code 01a1dcb4");
    let mut board = usual_board();
    board.apply_event(ended(false), |_| None);
    assert!(is_shown(&board) && draw_text(&board, 80, 20).contains("2 active in the last 15 min, 1 at a limit"));
    board.remove_carried(|activity| activity.agent != "codex");
    assert!(is_shown(&board) && board.rows.len() == 3, "those that are in use stay");
    board.remove_carried(|activity| activity.agent == "codex");
    assert!(!is_shown(&board));
    let mut board = usual_board();
    board.apply_event(ended(true), |_| None);
    assert!(!is_shown(&board));
}

#[test]
fn nothing_is_drawn_again_before_it_would_be_said_otherwise() {
    let mut board = Board::default();
    let now = Timestamp::parse(NOW).unwrap();
    assert_eq!(board.next_change(now), None, "an empty screen costs nothing");
    board.apply_event(Event::Active(activity("codex", "a", "t", 5, Doing::Thinking)), |_| None);
    assert_eq!(board.next_change(now).unwrap().as_secs(), 25);
    board.apply_event(Event::Active(activity("codex", "b", "t", 59, Doing::Thinking)), |_| None);
    assert_eq!(board.next_change(now).unwrap().as_secs(), 1);
    let soon = Doing::AtLimit { message: String::new(), resets_at: Some(now.plus_millis(100)) };
    board.apply_event(Event::Active(activity("codex", "b", "t", 0, soon)), |_| None);
    assert_eq!(board.next_change(now).unwrap().as_secs(), 1, "never more than once a second");
}
