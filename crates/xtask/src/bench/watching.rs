//! How long `carryover watch` takes until it watches, as the number of sessions grows.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::figure::Figure;
use super::{Binaries, Result, corpus};

const FEW: u64 = 2_000;
const TIMES: u32 = 4;
const SMALL: usize = 4 << 10;

/// Four times the sessions may cost four times as much, and a quarter more for noise.
pub(super) fn figure(binaries: &Binaries, folder: &Path) -> Result<Figure> {
    let few = corpus::many_sessions(folder, FEW, SMALL)?;
    let many = corpus::many_sessions(folder, FEW * u64::from(TIMES), SMALL)?;
    let mut best = (Duration::MAX, Duration::MAX);
    for _ in 0..3 {
        best = (best.0.min(start(binaries, &few)?), best.1.min(start(binaries, &many)?));
    }
    let name = format!("watch {} sessions: start", FEW * u64::from(TIMES));
    Ok(Figure::ratio(name, best.1, best.0, 1.25 * f64::from(TIMES), &format!("the start with {FEW}")))
}

/// Until the first line, which says what is watched.
fn start(binaries: &Binaries, home: &Path) -> Result<Duration> {
    let start = Instant::now();
    let mut child = Command::new(&binaries.carryover)
        .args(["watch", "--json"])
        .current_dir(home)
        .env_clear()
        .env("HOME", home)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut first = String::new();
    let read = child.stdout.take().map(|stdout| BufReader::new(stdout).read_line(&mut first));
    let elapsed = start.elapsed();
    child.kill()?;
    child.wait()?;
    match read {
        Some(Ok(_)) if first.contains("\"watching\"") => Ok(elapsed),
        _ => Err(format!("watch said {first:?}").into()),
    }
}
