//! The picker with 5,000 sessions that are remembered: from the start of a process to the first frame, and a keystroke.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use carryover::PickerProbe;
use carryover_engine::context::Context;

use super::figure::Figure;
use super::listing::{self, N_SESSIONS};
use super::{Binaries, Result, child, quickest_run};

const MAX_FIRST_FRAME: Duration = Duration::from_millis(50);
const MAX_KEYSTROKE: Duration = Duration::from_millis(10);

/// Letters that fit every row at first and none at last, and what takes some of them away again.
const TYPED: &str = "e\u{8}the parser err\u{8}\u{8}\u{8}main project zzzz";

pub(super) fn measure_picker(binaries: &Binaries, folder: &Path) -> Result<Vec<Figure>> {
    let home = listing::make_home(folder)?;
    child::run_child(&binaries.xtask, &["bench-child", "remember"], &home)?;
    let first = quickest_run(|| {
        let output = Command::new(&binaries.xtask).args(["bench-child", "first-frame"]).arg(&home).output()?;
        if output.status.success() { Ok(output) } else { Err(std::io::Error::other("no first frame")) }
    })?;
    let keystroke = child::run_child(&binaries.xtask, &["bench-child", "keystroke"], &home)?;
    Ok(vec![
        Figure::from_time(format!("pick among {N_SESSIONS}: start to first frame"), first, MAX_FIRST_FRAME),
        Figure::from_time("pick: the slowest keystroke", keystroke.elapsed, MAX_KEYSTROKE),
    ])
}

/// The child's side: the work by its name, and how long it took; none where it is not of this file.
pub(super) fn do_work(what: &str, home: &Path) -> Result<Option<Duration>> {
    let context = listing::make_context(home);
    match what {
        // Whoever started the process looks at the clock.
        "first-frame" => open_picker(&context).map(|_| Some(Duration::ZERO)),
        "keystroke" => slowest_keystroke(&context).map(Some),
        _ => Ok(None),
    }
}

fn open_picker(context: &Context) -> Result<PickerProbe> {
    let picker = PickerProbe::open(context);
    let shown = picker.n_shown();
    if shown as u64 == N_SESSIONS { Ok(picker) } else { Err(format!("{shown} of {N_SESSIONS} rows").into()) }
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
