//! The picker with 5,000 sessions that are remembered: from the start of a process to the first frame, and a keystroke.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use carryover::PickerProbe;
use carryover_agents::{Env, Os};
use carryover_core::time::Timestamp;
use carryover_engine::context::Context;
use carryover_engine::own::config::Config;
use carryover_engine::sessions::catalog;
use carryover_engine::sessions::glance::look_at_sessions;
use carryover_engine::sessions::list::{self, Filter};

use super::figure::Figure;
use super::{Binaries, Result, child, corpus, quickest_run};

const SESSIONS: u64 = 5_000;
const SESSION_BYTES: usize = 4 << 10;
const MAX_FIRST_FRAME: Duration = Duration::from_millis(50);
const MAX_KEYSTROKE: Duration = Duration::from_millis(10);

/// Letters that fit every row at first and few at last, and what takes them away again.
const TYPED: &str = "e\u{8}the parser err\u{8}\u{8}\u{8}src zzz";

pub(super) fn measure_picker(binaries: &Binaries, folder: &Path) -> Result<Vec<Figure>> {
    let home = corpus::make_many_sessions(folder, SESSIONS, SESSION_BYTES)?;
    child::run_child(&binaries.xtask, &["bench-child", "pick:remember"], &home)?;
    let first = quickest_run(|| {
        let output = Command::new(&binaries.xtask).args(["bench-child", "pick:first"]).arg(&home).output()?;
        if output.status.success() { Ok(output) } else { Err(std::io::Error::other("no first frame")) }
    })?;
    let keystroke = child::run_child(&binaries.xtask, &["bench-child", "pick:keys"], &home)?;
    Ok(vec![
        Figure::from_time(format!("pick among {SESSIONS}: start to first frame"), first, MAX_FIRST_FRAME),
        Figure::from_time("pick: the slowest keystroke", keystroke.elapsed, MAX_KEYSTROKE),
    ])
}

/// The child's side: what is measured, in a process of its own. Answers the time where it is not that of the process.
pub(super) fn do_work(what: &str, home: &Path) -> Result<Option<Duration>> {
    let context = open_context(home);
    match what {
        "remember" => remember_sessions(&context)?,
        "first" => drop(open_picker(&context)?),
        _ => return Ok(Some(slowest_keystroke(&context)?)),
    }
    Ok(None)
}

/// Lists and reads everything once, as an earlier picker would have done.
fn remember_sessions(context: &Context) -> Result<()> {
    let mut listing = list::list_sessions(context, &Filter::default());
    look_at_sessions(context, &mut listing.sessions, &|| false);
    catalog::save_listing(context, &listing)?;
    Ok(())
}

fn open_picker(context: &Context) -> Result<PickerProbe> {
    let picker = PickerProbe::open(context);
    let shown = picker.n_shown();
    if shown as u64 == SESSIONS { Ok(picker) } else { Err(format!("{shown} of {SESSIONS} rows").into()) }
}

/// The quickest of some runs for each key, and of these the slowest: noise only ever adds.
fn slowest_keystroke(context: &Context) -> Result<Duration> {
    const RUNS: usize = 5;
    let mut best = vec![Duration::MAX; TYPED.chars().count()];
    for _ in 0..RUNS {
        let mut picker = open_picker(context)?;
        picker.read_glances(context);
        for (letter, best) in TYPED.chars().zip(&mut best) {
            let start = Instant::now();
            picker.press(letter);
            *best = start.elapsed().min(*best);
        }
        if picker.n_shown() != 0 {
            return Err("a word fits that is nowhere".into());
        }
    }
    Ok(best.into_iter().max().unwrap_or_default())
}

fn open_context(home: &Path) -> Context {
    let env = Env {
        home: home.to_owned(),
        now: Timestamp::EPOCH,
        os: Os::Linux,
        zone: jiff::tz::TimeZone::UTC,
        stores: BTreeMap::new(),
        projects: Vec::new(),
        vars: BTreeMap::new(),
    };
    Context::with_config(env, Config::default(), home.join(".carryover"), home.to_owned(), 0)
}
