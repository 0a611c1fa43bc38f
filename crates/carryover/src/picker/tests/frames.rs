//! Frames at the sizes that must work.

use insta::assert_snapshot;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier};

use super::super::model::Limit;
use super::super::state::State;
use super::super::update::{Event, update};
use super::super::view;
use super::offer_frames::with_offers;
use super::sample::{self, empty_state, key, state};
use super::{frame, press, press_all, type_text};

fn buffer(state: &State) -> Buffer {
    let area = state.area();
    let mut terminal = Terminal::new(TestBackend::new(area.width, area.height)).unwrap();
    terminal.draw(|frame| view::draw(frame, state)).unwrap();
    terminal.backend().buffer().clone()
}

#[test]
fn a_small_terminal_shows_the_list_alone() {
    assert_snapshot!(frame(&state(60, 20)), @"
     carryover ›  type to filter                     6 sessions
     ~/calc
    ❯ claude-code   4m   12  fix the add bug             open  →
      codex        58m   12  fix the add bug                   ←
      pi            1d    –  make the parser faster        limit
     other projects
      pi            1w   12  shop: write the docs          drift
      codex        1mo   12  店: 日本語のとても長いタイトルで、…
      pi            1y   12  hidden: rm -rf evil Z̀́










     Enter continue in…   ? keys   Esc leave   Tab preview
    ");
}

#[test]
fn what_only_the_text_of_a_session_has_stands_behind_what_is_seen_and_is_marked() {
    let mut state = state(80, 14);
    type_text(&mut state, "parser");
    let sessions = vec![key("codex", "7cba91ff-0002"), key("pi", "0000aaaa-0003"), key("pi", "0000bbbb-0004")];
    update(&mut state, Event::FoundInText { words: "parser".to_owned(), sessions });
    assert_snapshot!(frame(&state), @"
     carryover › parser                                                      3 of 6
     ~/calc
    ❯ pi            1d    –  make the parser faster                            limit
      codex        58m   12  fix the add bug                                 text  ←
     other projects
      pi            1w   12  shop: write the docs                        text  drift







     Enter continue in…   Esc clear   F1 keys   Tab preview
    ");
}

#[test]
fn a_usual_terminal_shows_the_preview_below() {
    assert_snapshot!(frame(&state(80, 24)), @"
     carryover ›  type to filter                                         6 sessions
     ~/calc
    ❯ claude-code   4m   12  fix the add bug                                 open  →
      codex        58m   12  fix the add bug                                       ←
      pi            1d    –  make the parser faster                            limit
     other projects
      pi            1w   12  shop: write the docs                              drift
      codex        1mo   12  店: 日本語のとても長いタイトルで、どの列にも収まらない…
      pi            1y   12  hidden: rm -rf evil Z̀́



    ────────────────────────────────────────────────────────────────────────────────
     fix the add bug
     claude-code · ~/calc · main · 12 messages · 4 min ago
     open now: its client may go on writing
     → carried to codex 7cba91ff, pi 01a1dcb4

     State
     the agent had finished its turn and waits for the user

     Task
     fix the add bug in calc.py and run the tests
     Enter continue in…   ? keys   Esc leave   Tab preview   Ctrl-S show
    ");
}

#[test]
fn a_big_terminal_shows_the_preview_beside() {
    assert_snapshot!(frame(&state(200, 60)), @"
     carryover ›  type to filter                                                                                                                                                                 6 sessions
     ~/calc                                                                                                        │  fix the add bug
    ❯ claude-code   4m   12  fix the add bug                       open now  → codex 7cba91ff +1  main             │  claude-code · ~/calc · main · 12 messages · 4 min ago
      codex        58m   12  fix the add bug                              ← claude-code d2f488a7  feature/a-very-… │  open now: its client may go on writing
      pi            1d    –  make the parser faster                            limit until 14:30  main             │  → carried to codex 7cba91ff, pi 01a1dcb4
     other projects                                                                                                │
      pi            1w   12  shop: write the docs                                 format changed  main             │  State
      codex        1mo   12  店: 日本語のとても長いタイトルで、どの列にも収まらないもの 👩👩👧    main             │  the agent had finished its turn and waits for the user
      pi            1y   12  hidden: rm -rf evil Z̀́                                                main             │
                                                                                                                   │  Task
                                                                                                                   │  fix the add bug in calc.py and run the tests
                                                                                                                   │
                                                                                                                   │  Last exchange
                                                                                                                   │  you: and now?
                                                                                                                   │  agent: All tests pass. Shall I commit?
                                                                                                                   │
                                                                                                                   │  Files changed
                                                                                                                   │  calc.py modified
                                                                                                                   │  test_calc.py created
                                                                                                                   │
                                                                                                                   │  What would be carried
                                                                                                                   │  to Codex: 12 messages, 4 tool calls, about 13k of 258k tokens (6 %)
                                                                                                                   │
                                                                                                                   │
                                                                                                                   │
                                                                                                                   │
                                                                                                                   │
                                                                                                                   │
                                                                                                                   │
                                                                                                                   │
                                                                                                                   │
                                                                                                                   │
                                                                                                                   │
                                                                                                                   │
                                                                                                                   │
                                                                                                                   │
                                                                                                                   │
                                                                                                                   │
                                                                                                                   │
                                                                                                                   │
                                                                                                                   │
                                                                                                                   │
                                                                                                                   │
                                                                                                                   │
                                                                                                                   │
                                                                                                                   │
                                                                                                                   │
                                                                                                                   │
                                                                                                                   │
                                                                                                                   │
                                                                                                                   │
                                                                                                                   │
                                                                                                                   │
                                                                                                                   │
                                                                                                                   │
                                                                                                                   │
                                                                                                                   │
                                                                                                                   │
                                                                                                                   │
     Enter continue in…   ? keys   Esc leave   Tab preview   Ctrl-S show   Ctrl-O hand over   Ctrl-F fork   Ctrl-T take back
    ");
}

#[test]
fn a_filter_tells_how_many_fit() {
    let mut state = state(60, 20);
    type_text(&mut state, "add bug");
    assert_snapshot!(frame(&state), @"
     carryover › add bug                                 2 of 6
     ~/calc
    ❯ claude-code   4m   12  fix the add bug             open  →
      codex        58m   12  fix the add bug                   ←















     Enter continue in…   Esc clear   F1 keys   Tab preview
    ");
    press_all(&mut state, &["q", "q", "q"]);
    assert_snapshot!(frame(&state), @"
    carryover › add bugqqq                              0 of 6

     no session fits; Esc clears the filter
















    Enter continue in…   Esc clear   F1 keys   Tab preview
    ");
}

#[test]
fn a_preview_has_a_small_terminal_for_itself() {
    let mut state = state(60, 20);
    press(&mut state, "Tab");
    assert_snapshot!(frame(&state), @"
    carryover ›  type to filter                     6 sessions
    fix the add bug
    claude-code · ~/calc · main · 12 messages · 4 min ago
    open now: its client may go on writing
    → carried to codex 7cba91ff, pi 01a1dcb4

    State
    the agent had finished its turn and waits for the user

    Task
    fix the add bug in calc.py and run the tests

    Last exchange
    you: and now?
    agent: All tests pass. Shall I commit?

    Files changed
    calc.py modified
    test_calc.py created
    Tab back   ↑ ↓ scroll   Enter continue in…
    ");
}

#[test]
fn a_session_that_is_not_read_yet_shows_its_prompts() {
    let mut state = state(80, 24);
    let mut row = sample::rows().remove(1);
    row.first_prompt = Some("please fix the add bug".to_owned());
    row.last_prompt = Some("and run the tests".to_owned());
    update(&mut state, Event::Rows(vec![row]));
    press(&mut state, "Down");
    assert_snapshot!(frame(&state), @"
     carryover ›  type to filter                                         6 sessions
     ~/calc
      claude-code   4m   12  fix the add bug                                 open  →
    ❯ codex        58m   12  fix the add bug                                       ←
      pi            1d    –  make the parser faster                            limit
     other projects
      pi            1w   12  shop: write the docs                              drift
      codex        1mo   12  店: 日本語のとても長いタイトルで、どの列にも収まらない…
      pi            1y   12  hidden: rm -rf evil Z̀́



    ────────────────────────────────────────────────────────────────────────────────
     fix the add bug
     codex · ~/calc · feature/a-very-long-name-of-a-branch · 12 messages · 58 min
     ago
     ← carried from claude-code d2f488a7

     First prompt
     please fix the add bug

     Last prompt
     and run the tests
     Enter continue in…   ? keys   Esc leave   Tab preview   Ctrl-S show
    ");
    let error = "the session holds nothing that a model would see".to_owned();
    update(&mut state, Event::Previewed(key("codex", "7cba91ff-0002"), Err(error)));
    assert!(frame(&state).contains("holds nothing"));
}

#[test]
fn marks_are_said_in_short_before_one_is_left_out() {
    let mut state = state(200, 60);
    let mut row = sample::rows().remove(0);
    row.lineage.from = Some("gemini-cli 1392e77c".to_owned());
    row.limit = Some(Limit { until: None });
    update(&mut state, Event::Rows(vec![row]));
    let text = frame(&state);
    assert!(text.contains("open now  limit  ←  →"), "{text}");
}

#[test]
fn all_keys_fit_a_small_terminal() {
    let mut state = state(60, 20);
    press(&mut state, "?");
    assert_snapshot!(frame(&state), @"
     carryover ›  type to filter                     6 sessions
    ╭──────────────────────────────────────────────────────────╮
    │ columns             agent, age, messages, title, marks   │
    │ ← →                 carried from, carried to others      │
    │ letters             filter by title, prompts, project…   │
    │ ↑ ↓ Ctrl-P Ctrl-N   move                                 │
    │ PgUp PgDn Home End  move further                         │
    │ Enter               continue in…                         │
    │ Ctrl-F              copy it, also into its own agent     │
    │ Ctrl-O              hand it over as words, and copy them │
    │ Ctrl-S              show it                              │
    │ Ctrl-T              take back how it was carried over    │
    │ Tab                 the whole preview                    │
    │ Shift-↑ Shift-↓     scroll the preview                   │
    │ Ctrl-W Ctrl-U       clear a word, the filter             │
    │ Esc                 clear the filter; leave              │
    │ Ctrl-C Ctrl-Z       leave; put aside, `fg` comes back    │
    ╰──────────────────────────────────────────────────────────╯

     any key back
    ");
}

#[test]
fn an_empty_home_says_what_to_do() {
    let mut state = empty_state(60, 20);
    assert!(frame(&state).contains("looking for sessions"));
    update(&mut state, Event::Listed { found: [].into(), warnings: vec!["Codex: cannot be read".to_owned()] });
    assert_snapshot!(frame(&state), @"
    carryover ›  type to filter                     0 sessions

     no session of any agent was found here
     `carryover info` tells where carryover looks
     `carryover demo` shows it without any agent














    ? keys   Esc leave                    Codex: cannot be read
    ");
}

#[test]
fn taking_back_is_asked_about() {
    let mut state = state(60, 20);
    press(&mut state, "Ctrl-t");
    assert_snapshot!(frame(&state), @"
     carryover ›  type to filter                     6 sessions
     ~/calc
    ❯ claude-code   4m   12  fix the add bug             open  →
      codex        58m   12  fix the add bug                   ←
      pi            1d    –  make the parser faster        limit
     other projects
      pi            1w   12  shop: write the docs          drift
      ╭──────────────────────────────────────────────────────╮ …
      │ take back the copy codex 7cba91ff?                   │
      │                                                      │
      │ Enter yes · Esc no                                   │
      ╰──────────────────────────────────────────────────────╯
    ");
}

#[test]
fn a_box_keeps_its_edge_over_wide_characters() {
    for width in 118..128 {
        let mut state = state(width, 12);
        let wide = (0..20).map(|n| sample::row("pi", &format!("wide-{n:02}"), &"日本語".repeat(20))).collect();
        update(&mut state, Event::Rows(wide));
        press(&mut state, "Ctrl-t");
        let text = frame(&state);
        let edges = text.lines().filter(|line| line.matches('│').count() == 2).count();
        assert_eq!(edges, 3, "{text}");
    }
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
