//! How long `carryover watch` takes until it watches, as the number of sessions grows.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::figure::Figure;
use super::{Binaries, Result, corpus};

const FEW_SESSIONS: u64 = 2_000;
const MANY_FACTOR: u32 = 4;
const SESSION_BYTES: usize = 4 << 10;

/// Four times the sessions may cost four times as much, and a quarter more for noise.
pub(super) fn measure_start(binaries: &Binaries, folder: &Path) -> Result<Figure> {
    let few = corpus::make_many_sessions(folder, FEW_SESSIONS, SESSION_BYTES)?;
    let many = corpus::make_many_sessions(folder, FEW_SESSIONS * u64::from(MANY_FACTOR), SESSION_BYTES)?;
    let mut best = (Duration::MAX, Duration::MAX);
    for _ in 0..3 {
        best = (best.0.min(time_start(binaries, &few)?), best.1.min(time_start(binaries, &many)?));
    }
    let name = format!("watch {} sessions: start", FEW_SESSIONS * u64::from(MANY_FACTOR));
    Ok(Figure::from_ratio(
        name,
        best.1,
        best.0,
        1.25 * f64::from(MANY_FACTOR),
        &format!("the start with {FEW_SESSIONS}"),
    ))
}

/// Until the first line, which says what is watched.
fn time_start(binaries: &Binaries, home: &Path) -> Result<Duration> {
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
