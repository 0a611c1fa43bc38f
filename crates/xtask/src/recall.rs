//! `cargo xtask bench --recall`: does what matters of a session reach the next agent?
//!
//! Sessions are generated with planted facts, in wordings that the extractors were not written for, among noise of
//! realistic kinds; half of the wordings are held out by the seed. What is counted is what people would miss.

mod corpus;
mod noise;
mod score;
mod session;

use std::path::Path;

use carryover_core::render::{HandoffOptions, Protocol, ResumeOptions, handoff, resume_prompt};
use carryover_core::tokens::Counter;
use carryover_engine::context::Context;
use carryover_engine::handoff::{Options, distilled};
use carryover_engine::select::{self, Query};

use crate::say;
use corpus::Half;
use score::Table;
use session::Session;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Sessions of each half.
const SESSIONS: u64 = 60;

/// The budgets at which `RESUME.md` is looked at.
const BUDGETS: [u64; 4] = [4_000, 8_000, 19_000, 32_000];

/// Makes the sessions, distils them, and says what was found; fails where a target is missed.
///
/// On request it tells in which words of the open half something was not found. What is held out is not shown: who has
/// seen it would write extractors for it.
pub(crate) fn run(seed: u64, tell_misses: bool) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let mut missed = 0;
    for half in [Half::Open, Half::HeldOut] {
        let mut table = Table::new(half);
        for number in 0..SESSIONS {
            let session = Session::make(seed.wrapping_mul(1_000).wrapping_add(number), seed, half);
            measure(folder.path(), &session, number, &mut table)?;
        }
        for line in table.lines() {
            say(&line);
        }
        for miss in table.misses.iter().filter(|_| tell_misses) {
            say(&format!("  not found: {miss}"));
        }
        missed += table.missed();
    }
    if missed == 0 { Ok(()) } else { Err(format!("{missed} figures are missed").into()) }
}

fn measure(folder: &Path, session: &Session, number: u64, table: &mut Table) -> Result<()> {
    let home = folder.join(format!("{number}"));
    let project = home.join("project");
    fs_err::create_dir_all(&project)?;
    let file = home.join("session.jsonl");
    fs_err::write(&file, session.text(&project))?;
    let context = surroundings(&home, &project)?;
    let query = Query { words: Some(file.display().to_string()), agent: None, project: None };
    let selected = select::select(&context, &query)?.session;
    let distilled = distilled(&context, &selected, Options { project: Some(&project), redact: true })?;
    table.brief(&session.planted, &distilled.brief);
    let options = HandoffOptions { agent_name: "Agent", protocol: Protocol::Ask, show_command: "carryover show" };
    table.rendered("handoff.md", session, &handoff(&distilled.brief, &options));
    for budget in BUDGETS {
        let options = ResumeOptions {
            agent_name: "Agent",
            target_name: None,
            budget,
            counter: Counter::Exact,
            show_command: "carryover show",
        };
        let rendered = resume_prompt(&distilled.brief, &distilled.story, &distilled.workspace, &options);
        let text = rendered.map_err(|small| format!("{budget} tokens are too few: {small:?}"))?.text;
        table.rendered(&format!("RESUME.md {}k", budget / 1_000), session, &text);
    }
    Ok(())
}

fn surroundings(home: &Path, project: &Path) -> Result<Context> {
    let env = carryover_agents::Env {
        home: home.to_owned(),
        vars: std::collections::BTreeMap::new(),
        os: carryover_agents::Os::Linux,
        now: carryover_core::time::Timestamp::parse("2026-11-15T12:00:00.000Z").ok_or("a time")?,
        zone: jiff::tz::TimeZone::UTC,
        stores: std::collections::BTreeMap::new(),
        projects: Vec::new(),
    };
    Ok(Context::open(env, project.to_owned(), 1)?)
}
