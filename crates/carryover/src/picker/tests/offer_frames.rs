//! Frames of *continue in…*.

use insta::assert_snapshot;

use super::super::model::OfferEstimate;
use super::super::state::State;
use super::super::update::{Event, update};
use super::sample::{self, key, state};
use super::{frame, press, press_all};

pub(super) fn with_offers(width: u16, height: u16) -> State {
    let mut state = state(width, height);
    press(&mut state, "Enter");
    let session = key("claude-code", "d2f488a7-0001");
    update(&mut state, Event::Offered { session, fork: false, answer: Ok(sample::offers()) });
    state
}

#[test]
fn where_to_continue_in_a_usual_terminal() {
    assert_snapshot!(frame(&with_offers(80, 24)), @"
     carryover ›  type to filter                                         6 sessions
     Continue “fix the add bug” in…
    ❯ Continue the copy in Codex  58 min ago, gone on with
      Codex              ▌░░░░░░░░░  5.0 %  loses 3 pieces of thinking
      Roo Code           ██████████  100 %  loses 120 older messages
      Claude Code                           its own session d2f488a7
     not installed here
      pi                                    …
      Amp Code                              a prompt in words
     editors
      Helix              ▎░░░░░░░░░  2.4 %  a brief in words


    ────────────────────────────────────────────────────────────────────────────────
     Enter goes on in the copy 7cba91ff-0002 that was made before, and starts Codex
     58 min ago, gone on with







     Enter do it   Esc back   Ctrl-F fork   Ctrl-O hand over as words   ? keys
    ");
}

#[test]
fn where_to_continue_in_a_small_terminal() {
    let mut state = with_offers(60, 20);
    press_all(&mut state, &["Down", "Down"]);
    assert_snapshot!(frame(&state), @"
     carryover ›  type to filter                     6 sessions
     Continue “fix the add bug” in…
      Continue the copy in Codex  58 min ago, gone on with
      Codex               5.0 %  loses 3 pieces of thinking
    ❯ Roo Code            100 %  loses 120 older messages
      Claude Code                its own session d2f488a7
     not installed here
      pi                         …
      Amp Code                   a prompt in words
     editors
      Helix               2.4 %  a brief in words
    ────────────────────────────────────────────────────────────
     Enter writes a new session that its own resume loads, and
     starts Roo Code
     loses 120 older messages: they do not fit its window




     Enter do it   Esc back   Ctrl-F fork
    ");
}

#[test]
fn where_to_continue_in_a_big_terminal() {
    assert_snapshot!(frame(&with_offers(200, 60)), @"
     carryover ›  type to filter                                                                                                                                                                 6 sessions
     Continue “fix the add bug” in…                                                                                │  fix the add bug
    ❯ Continue the copy in Codex  58 min ago, gone on with                                                         │  claude-code · ~/calc · main · 12 messages · 4 min ago
      Codex              ▌░░░░░░░░░  5.0 %  13k of 258k     loses 3 pieces of thinking                             │  open now: its client may go on writing
      Roo Code           ██████████  100 %  40k of 40k      loses 120 older messages                               │  → carried to codex 7cba91ff, pi 01a1dcb4
      Claude Code                                           its own session d2f488a7                               │
     not installed here                                                                                            │  State
      pi                                                    …                                                      │  the agent had finished its turn and waits for the user
      Amp Code                                              a prompt in words                                      │
     editors                                                                                                       │  Task
      Helix              ▎░░░░░░░░░  2.4 %  900 of 38k      a brief in words                                       │  fix the add bug in calc.py and run the tests
                                                                                                                   │
                                                                                                                   │  Last exchange
                                                                                                                   │  you: and now?
                                                                                                                   │  agent: All tests pass. Shall I commit?
                                                                                                                   │
                                                                                                                   │  Files changed
                                                                                                                   │  calc.py modified
                                                                                                                   │  test_calc.py created
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
    ────────────────────────────────────────────────────────────────────────────────────────────────────────────── │
     Enter goes on in the copy 7cba91ff-0002 that was made before, and starts Codex                                │
     58 min ago, gone on with                                                                                      │
                                                                                                                   │
                                                                                                                   │
                                                                                                                   │
                                                                                                                   │
                                                                                                                   │
                                                                                                                   │
                                                                                                                   │
     Enter do it   Esc back   Ctrl-F fork   Ctrl-O hand over as words   ? keys
    ");
}

#[test]
fn a_target_that_cannot_hold_the_session_gets_a_prompt() {
    let mut state = with_offers(60, 20);
    press_all(&mut state, &["End", "Up"]);
    assert_snapshot!(frame(&state), @"
     carryover ›  type to filter                     6 sessions
     Continue “fix the add bug” in…
      Continue the copy in Codex  58 min ago, gone on with
      Codex               5.0 %  loses 3 pieces of thinking
      Roo Code            100 %  loses 120 older messages
      Claude Code                its own session d2f488a7
     not installed here
      pi                         …
    ❯ Amp Code                   a prompt in words
     editors
      Helix               2.4 %  a brief in words
    ────────────────────────────────────────────────────────────
     Enter writes a prompt, .carryover/RESUME.md, and prints
     the command that goes on
     Amp Code cannot hold this session: Amp Code is not
     installed



     Enter do it   Esc back   Ctrl-F fork
    ");
    press(&mut state, "Up");
    let text = frame(&state);
    assert!(text.contains("pi is not installed: Enter writes a new session"), "{text}");
}

#[test]
fn what_has_no_room_is_counted_and_what_is_cut_has_a_mark() {
    let mut state = with_offers(60, 16);
    let session = key("claude-code", "d2f488a7-0001");
    let notes = vec!["loses 1 permission mode: permissions are the next client's matter".to_owned(); 4];
    let estimate = OfferEstimate { summary: "loses 1 permission mode".to_owned(), notes, ..OfferEstimate::default() };
    update(&mut state, Event::Estimated { session, fork: false, target: "roo-code", estimate });
    press_all(&mut state, &["Down", "Down"]);
    assert_snapshot!(frame(&state), @"
     carryover ›  type to filter                     6 sessions
     Continue “fix the add bug” in…
      Continue the copy in Codex  58 min ago, gone on with
      Codex               5.0 %  loses 3 pieces of thinking
    ❯ Roo Code                   loses 1 permission mode
      Claude Code                its own session d2f488a7
     not installed here
      pi                         …
      Amp Code                   a prompt in words
    ────────────────────────────────────────────────── ↓ 2 more
     Enter writes a new session that its own resume loads, and
     starts Roo Code
     loses 1 permission mode: permissions are the next client's
     matter
     loses 1 permission mode: permissions are the next client'…
     Enter do it   Esc back   Ctrl-F fork
    ");
    press(&mut state, "End");
    assert!(frame(&state).contains("↑ 2 more"), "{}", frame(&state));
}

#[test]
fn the_keys_of_offers_are_others_than_those_of_the_list() {
    let mut state = with_offers(60, 20);
    press(&mut state, "?");
    assert_snapshot!(frame(&state), @"
     carryover ›  type to filter                     6 sessions



    ╭──────────────────────────────────────────────────────────╮
    │ bar and percent     how much of its window is taken      │
    │ loses …             what it cannot take; why is below    │
    │ ↑ ↓ Ctrl-P Ctrl-N   move                                 │
    │ PgUp PgDn Home End  move further                         │
    │ Enter               do what is told below                │
    │ Ctrl-F              a copy, also into its own agent      │
    │ Ctrl-O              hand it over to this one as words    │
    │ Esc                 back to the list                     │
    │ Ctrl-C Ctrl-Z       leave; put aside, `fg` comes back    │
    ╰──────────────────────────────────────────────────────────╯




     any key back
    ");
}
