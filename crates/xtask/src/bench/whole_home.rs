//! `carryover list` over one home with sessions of every agent, when our own caches are cold and the system's are warm.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use carryover_testkit::agents::{BENCH_STORES, LABS};
use carryover_testkit::lab::{BenchPlace, BenchStore, Lab};

use super::figure::Figure;
use super::fixture_corpus::{Fixtures, SessionGrower};
use super::stores::{create_parent, session_uuid, write_session};
use super::{Result, child};

/// All sessions together, and how big they are.
const N_SESSIONS: u64 = 5_000;
const ALL_BYTES: u64 = 5 << 30;
/// Most sessions are short; one in so many is as long as it takes to get to the size of all.
const SMALL_SESSION_BYTES: usize = 64 << 10;
const SMALL_FOR_EACH_BIG: u64 = 10;

const MAX_TIME: Duration = Duration::from_secs(1);
const MAX_PEAK_BYTES: u64 = 60 << 20;
const RUNS: u32 = 5;

/// Makes the home, measures a program that is built already, and removes the home: it is as big as a disk may bear.
pub(super) fn measure_list(root: &Path, folder: &Path, program: &Path) -> Result<Vec<Figure>> {
    let home = folder.join("whole-home");
    remove_folder(&home)?;
    let figures = make_home(root, &home).and_then(|made| measure(program, &home, &made));
    remove_folder(&home)?;
    figures
}

fn remove_folder(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs_err::remove_dir_all(folder)?;
    }
    Ok(())
}

/// The sessions that were made.
#[derive(Default)]
struct MadeHome {
    n_sessions: u64,
    bytes: u64,
}

fn measure(program: &Path, home: &Path, made: &MadeHome) -> Result<Vec<Figure>> {
    let mut best = Duration::MAX;
    let mut peak = 0;
    let listed: serde_json::Value = serde_json::from_slice(&list(program, home, &["--json"])?.output()?.stdout)?;
    let n_listed = listed["sessions"].as_array().map_or(0, Vec::len) as u64;
    if n_listed != made.n_sessions {
        return Err(format!("{n_listed} of {} sessions were listed", made.n_sessions).into());
    }
    for _ in 0..RUNS {
        let mut command = list(program, home, &[])?;
        let start = Instant::now();
        let mut running = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let (status, peak_now) = child::wait_with_peak(&mut running)?;
        best = best.min(start.elapsed());
        peak = peak.max(peak_now);
        if !status.success() {
            return Err("list failed".into());
        }
    }
    let name = format!("list {n_listed} sessions of {} agents, {} GB, cold", LABS.len(), made.bytes >> 30);
    Ok(vec![
        Figure::from_time(name, best, MAX_TIME),
        Figure::from_bytes("list: peak of memory", peak, MAX_PEAK_BYTES, "60 MB"),
    ])
}

/// The command, without anything that we remember of an earlier run.
fn list(program: &Path, home: &Path, more: &[&str]) -> Result<Command> {
    remove_folder(&home.join(".carryover"))?;
    let mut command = Command::new(program);
    command.args(["list", "--all"]).args(more).current_dir(home.join("project-0")).env_clear().env("HOME", home);
    Ok(command)
}

fn make_home(root: &Path, home: &Path) -> Result<MadeHome> {
    fs_err::create_dir_all(home.join("project-0"))?;
    // A history lies in its project, and of those only the one that is worked in is known.
    let spread = LABS.iter().filter(|lab| !matches!(lab.bench, BenchPlace::Markdown(_))).count() as u64;
    let in_files = LABS.iter().filter(|lab| matches!(lab.bench, BenchPlace::Lines(_))).count() as u64;
    let each = N_SESSIONS / spread;
    let n_big = in_files * each.div_ceil(SMALL_FOR_EACH_BIG);
    let small_bytes = N_SESSIONS * SMALL_SESSION_BYTES as u64;
    let beside_bytes: u64 = BENCH_STORES.iter().map(|store| store.bytes).sum();
    let big_bytes = (ALL_BYTES - small_bytes - beside_bytes) / n_big;
    let mut made = MadeHome::default();
    for lab in LABS {
        let fixtures = Fixtures::load(root, lab.id)?;
        let beside: Vec<&BenchStore> = BENCH_STORES.iter().copied().filter(|store| store.agent == lab.id).collect();
        let alone = each - beside.iter().map(|store| store.n_sessions).sum::<u64>();
        match lab.bench {
            BenchPlace::Lines(_) => write_line_files(lab, &fixtures, home, alone, big_bytes)?,
            BenchPlace::Markdown(_) => write_in_turn(lab, &fixtures, home, 1)?,
            BenchPlace::Rows(_) | BenchPlace::Events(_) => write_in_turn(lab, &fixtures, home, alone)?,
        }
        for store in beside {
            let sessions = if store.n_sessions == 0 { 0..alone } else { each..each + store.n_sessions };
            (store.write)(home, &sessions.map(session_uuid).collect::<Vec<_>>())?;
        }
        made.n_sessions += if matches!(lab.bench, BenchPlace::Markdown(_)) { 1 } else { each };
    }
    made.bytes = folder_bytes(home)?;
    Ok(made)
}

/// One session is grown; the others are the same under other names, and some of them many times as long.
fn write_line_files(lab: &Lab, fixtures: &Fixtures, home: &Path, count: u64, big_bytes: u64) -> Result<()> {
    let path = session_path(lab, home, 0)?;
    let grower = SessionGrower::new(fixtures, session_uuid(0), 1, SMALL_SESSION_BYTES);
    write_session(lab.bench, &path, 0, true, grower)?;
    let text = fs_err::read_to_string(&path)?;
    for n in 0..count {
        let text = text.replace(&session_uuid(0), &session_uuid(n));
        // The first line tells what the file is, once.
        let again = text.split_once('\n').map_or("", |(_, again)| again);
        let mut out = BufWriter::new(fs_err::File::create(session_path(lab, home, n)?)?);
        out.write_all(text.as_bytes())?;
        let mut written = text.len() as u64;
        while n % SMALL_FOR_EACH_BIG == 0 && written < big_bytes && !again.is_empty() {
            out.write_all(again.as_bytes())?;
            written += again.len() as u64;
        }
        out.flush()?;
    }
    Ok(())
}

fn write_in_turn(lab: &Lab, fixtures: &Fixtures, home: &Path, count: u64) -> Result<()> {
    for n in 0..count {
        let path = session_path(lab, home, n)?;
        let grower = SessionGrower::new(fixtures, session_uuid(n), n + 1, SMALL_SESSION_BYTES);
        write_session(lab.bench, &path, n, n == 0, grower)?;
    }
    Ok(())
}

fn session_path(lab: &Lab, home: &Path, n: u64) -> Result<PathBuf> {
    create_parent(home, &lab.bench.session_path(n, &session_uuid(n)))
}

fn folder_bytes(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs_err::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() { folder_bytes(&entry.path())? } else { metadata.len() };
    }
    Ok(bytes)
}
