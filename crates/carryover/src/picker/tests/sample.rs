//! Sessions made up for tests.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use carryover_agents::{Env, Os};
use carryover_core::time::Timestamp;
use jiff::tz::TimeZone;
use ratatui::layout::Size;
use ratatui::style::Color;

use super::super::model::{Limit, Lineage, Offer, OfferEstimate, Preview, Row, RowKey, Section, Way};
use super::super::palette::Palette;
use super::super::state::{Setup, State};
use super::super::update::{Event, update};

pub(crate) fn now() -> Timestamp {
    Timestamp::parse("2026-11-15T10:00:00Z").unwrap()
}

pub(crate) fn key(agent: &'static str, id: &str) -> RowKey {
    RowKey { agent, id: id.to_owned() }
}

pub(crate) fn row(agent: &'static str, id: &str, title: &str) -> Row {
    Row {
        key: key(agent, id),
        agent_name: agent,
        color: Color::Cyan,
        title: Some(title.to_owned()),
        project: Some("~/calc".to_owned()),
        branch: Some("main".to_owned()),
        updated_at: Some(now().plus_millis(-3_600_000)),
        messages: Some(12),
        is_here: true,
        is_open: false,
        limit: None,
        has_drifted: false,
        lineage: Lineage::default(),
        first_prompt: None,
        last_prompt: None,
        folded: OnceCell::new(),
    }
}

/// One row of every kind.
pub(crate) fn rows() -> Vec<Row> {
    let aged = |mut row: Row, minutes: i64| {
        row.updated_at = Some(now().plus_millis(-minutes * 60_000));
        row
    };
    let elsewhere = |mut row: Row, project: &str| {
        row.is_here = false;
        row.project = Some(project.to_owned());
        row
    };
    let mut open = aged(row("claude-code", "d2f488a7-0001", "fix the add bug"), 4);
    open.is_open = true;
    open.lineage.to = vec!["codex 7cba91ff".to_owned(), "pi 01a1dcb4".to_owned()];
    open.lineage.undo = Some(("9f8e".to_owned(), "the copy codex 7cba91ff".to_owned()));
    let mut copy = aged(row("codex", "7cba91ff-0002", "fix the add bug"), 58);
    copy.lineage.from = Some("claude-code d2f488a7".to_owned());
    copy.branch = Some("feature/a-very-long-name-of-a-branch".to_owned());
    let mut limited = aged(row("pi", "0000aaaa-0003", "make the parser faster"), 60 * 26);
    limited.limit = Some(Limit { until: Some(now().plus_millis(16_200_000)) });
    limited.messages = None;
    let mut drifted = elsewhere(aged(row("pi", "0000bbbb-0004", "write the docs"), 60 * 24 * 9), "~/work/shop");
    drifted.has_drifted = true;
    let wide = elsewhere(
        aged(
            row(
                "codex",
                "0000cccc-0005",
                "日本語のとても長いタイトルで、どの列にも収まらないもの 👩\u{200d}👩\u{200d}👧",
            ),
            60 * 24 * 40,
        ),
        "~/work/店",
    );
    let hostile = elsewhere(
        aged(
            row(
                "pi",
                "0000dddd-0006",
                "\u{1b}[2J\u{1b}]0;pwned\u{7}rm -rf\r\n\u{202e}evil\u{9b}31m Z\u{300}\u{301}\u{302}\u{303}",
            ),
            60 * 24 * 400,
        ),
        "~/../\u{1b}[8mhidden",
    );
    vec![open, copy, limited, drifted, wide, hostile]
}

pub(crate) fn preview() -> Preview {
    let section = |heading, texts: &[&str]| Section { heading, texts: texts.iter().map(|&text| text.into()).collect() };
    Preview {
        sections: vec![
            section("State", &["the agent had finished its turn and waits for the user"]),
            section("Task", &["fix the add bug in calc.py and run the tests"]),
            section("Last exchange", &["you: and now?", "agent: All tests pass. \u{1b}[31mShall I commit?"]),
            section("Files changed", &["calc.py modified", "test_calc.py created"]),
            section("What would be carried", &["to Codex: 12 messages, 4 tool calls, about 13k of 258k tokens (6 %)"]),
        ],
    }
}

pub(crate) fn offers() -> Vec<Offer> {
    let offer = |target, name, way, is_installed| {
        let is_editor = target == "helix";
        Offer { target, name, way, is_editor, is_installed, note: None, estimate: None }
    };
    let estimate = |fill, note: &str, is_doubtful| {
        let summary = note.split(':').next().unwrap_or_default().to_owned();
        Some(OfferEstimate { fill, summary, notes: vec![note.to_owned()], is_doubtful, gets_prompt: false })
    };
    let cannot_hold = OfferEstimate {
        summary: "a prompt in words".to_owned(),
        notes: vec!["Amp Code cannot hold this session: Amp Code is not installed".to_owned()],
        gets_prompt: true,
        ..OfferEstimate::default()
    };
    vec![
        Offer {
            note: Some("58 min ago, gone on with".to_owned()),
            ..offer("codex", "Codex", Way::EarlierCopy(key("codex", "7cba91ff-0002")), true)
        },
        Offer {
            estimate: estimate(Some((13_000, 258_000)), "loses 3 pieces of thinking: sealed by its vendor", false),
            ..offer("codex", "Codex", Way::Carry, true)
        },
        Offer {
            estimate: estimate(Some((40_000, 40_000)), "loses 120 older messages: they do not fit its window", true),
            ..offer("roo-code", "Roo Code", Way::Carry, true)
        },
        Offer {
            note: Some("its own session d2f488a7".to_owned()),
            ..offer("claude-code", "Claude Code", Way::OwnClient, true)
        },
        offer("pi", "pi", Way::Carry, false),
        Offer { estimate: Some(cannot_hold), ..offer("amp", "Amp Code", Way::Carry, false) },
        Offer {
            estimate: estimate(Some((900, 38_000)), "a brief in words", false),
            ..offer("helix", "Helix", Way::Words, false)
        },
    ]
}

pub(crate) fn empty_state(width: u16, height: u16) -> State {
    State::new(Setup {
        project: "~/calc".to_owned(),
        palette: Palette { has_colors: true },
        launch: true,
        env: Env {
            home: "/h".into(),
            vars: BTreeMap::new(),
            os: Os::Linux,
            now: now(),
            zone: TimeZone::UTC,
            stores: BTreeMap::new(),
            projects: Vec::new(),
        },
        size: Size { width, height },
    })
}

/// A picker with a row of every kind, all of which are found.
pub(crate) fn state(width: u16, height: u16) -> State {
    let mut state = empty_state(width, height);
    let found = rows().into_iter().map(|row| row.key).collect();
    update(&mut state, Event::Rows(rows()));
    update(&mut state, Event::Listed { found, warnings: Vec::new() });
    update(&mut state, Event::Previewed(key("claude-code", "d2f488a7-0001"), Ok(preview())));
    state
}
